// Syntax errors in functions and types, and what follows an error: the whole text of each message.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TestSupport.h"

#include <gtest/gtest.h>

using dbc::frontend::parsetest::syntaxErrors;

// Functions.

TEST(FuncErrors, NoResultType) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) { x })"),
            R"(
m.dyn:2:4: error: the fn `f` has no result type; only a loss may do without
    fn f(x: f32) { x }
       ^
hint: write `-> type` after the parameters
)");
}

TEST(FuncErrors, ResultAfterColon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32): f32 { x })"),
            R"(
m.dyn:2:13: error: expected `->` or `{` after the parameters, found `:`
    fn f(x: f32): f32 { x }
                ^
hint: the type of the result follows `->`
)");
}

TEST(FuncErrors, ParametersNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32 -> f32 { x })"),
            R"(
m.dyn:2:13: error: expected `,` or `)` after the parameter, found `->`
    fn f(x: f32 -> f32 { x }
                ^~
)");
}

TEST(FuncErrors, ParametersWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32 y: f32) -> f32 { x })"),
            R"(
m.dyn:2:13: error: expected `,` or `)` after the parameter, found `y`
    fn f(x: f32 y: f32) -> f32 { x }
                ^
)");
}

TEST(FuncErrors, ParameterWithoutType) {
  EXPECT_EQ(syntaxErrors(R"(model m;
cell f(x) -> f32 { x })"),
            R"(
m.dyn:2:9: error: expected `:` or `in` after `x`, found `)`
    cell f(x) -> f32 { x }
            ^
)");
}

TEST(FuncErrors, ParameterWithDefault) {
  EXPECT_EQ(syntaxErrors(R"(model m;
cell f(x = 1) -> f32 { x })"),
            R"(
m.dyn:2:10: error: expected `:` or `in` after `x`, found `=`
    cell f(x = 1) -> f32 { x }
             ^
hint: parameters have a type, and no default: `x: f32`
)");
}

TEST(FuncErrors, ParameterWithReservedName) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(layer: f32) -> f32 { 1 })"),
            R"(
m.dyn:2:6: error: expected a parameter or `)` after `(`, found the reserved word `layer`
    fn f(layer: f32) -> f32 { 1 }
         ^~~~~
hint: a reserved word cannot be a name
)");
}

TEST(FuncErrors, ParameterInList) {
  EXPECT_EQ(syntaxErrors(R"(model m;
cell f(x in xs) -> f32 { x })"),
            R"(
m.dyn:2:13: error: `xs` is no range; a parameter with `in` is an int within bounds [C2]
    cell f(x in xs) -> f32 { x }
                ^~
hint: write `x in low..high`, or `x: type`
)");
}

TEST(FuncErrors, DimsOnCell) {
  EXPECT_EQ(syntaxErrors(R"(model m;
cell f[n](x: f32) -> f32 { x })"),
            R"(
m.dyn:2:7: error: the cell `f` has dims of its own; only a `fn`, a record or a layer has them
    cell f[n](x: f32) -> f32 { x }
          ^~~
)");
}

TEST(FuncErrors, MeasureOnFn) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 by x { x })"),
            R"(
m.dyn:2:24: error: the fn `f` states a measure; only a `cell` has `by` [C3]
    fn f(x: f32) -> f32 by x { x }
                           ^
)");
}

// Types and extents.

TEST(FuncErrors, NoType) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: ) -> f32 { 1 })"),
            R"(
m.dyn:2:9: error: expected a type after `:`, found `)`
    fn f(a: ) -> f32 { 1 }
            ^
)");
}

TEST(FuncErrors, ListNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: [f32) -> f32 { 1 })"),
            R"(
m.dyn:2:13: error: expected `;` or `]` after `f32`, found `)`
    fn f(a: [f32) -> f32 { 1 }
                ^
)");
}

TEST(FuncErrors, TableNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: [f32; 3) -> f32 { 1 })"),
            R"(
m.dyn:2:16: error: expected `]` after `3`, found `)`
    fn f(a: [f32; 3) -> f32 { 1 }
                   ^
)");
}

TEST(FuncErrors, ExtentsNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
const a: f32[n)"),
            R"(
m.dyn:2:15: error: expected `,` or `]` after `n`, found the end of the file
    const a: f32[n
                  ^
)");
}

TEST(FuncErrors, TupleOfOne) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: (f32)) -> f32 { 1 })"),
            R"(
m.dyn:2:9: error: `(f32)` has one element; a tuple has at least two
    fn f(t: (f32)) -> f32 { 1 }
            ^~~~~
hint: write the type without parentheses
)");
}

TEST(FuncErrors, IndexWithoutBound) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: index) -> f32 { 1 })"),
            R"(
m.dyn:2:9: error: `index` stands without its bound; the numbers 0..n-1 are `index[n]` [T4]
    fn f(t: index) -> f32 { 1 }
            ^~~~~
)");
}

TEST(FuncErrors, IndexWithTwoBounds) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: index[a, b]) -> f32 { 1 })"),
            R"(
m.dyn:2:14: error: `index[a, b]` gives `index` more than one bound; it has one [T4]
    fn f(t: index[a, b]) -> f32 { 1 }
                 ^~~~~~
hint: a tensor of them is `index[n][shape]`
)");
}

TEST(FuncErrors, TwoPairsOfBrackets) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: f32[a][b]) -> f32 { 1 })"),
            R"(
m.dyn:2:15: error: `[b]` is one pair of brackets too many; all extents stand in one
    fn f(t: f32[a][b]) -> f32 { 1 }
                  ^~~
hint: write `f32[a, b]`
)");
}

TEST(FuncErrors, NoExtent) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: f32[len(xs)], u: f32[1.5], v: f32[a..b], w: f32[a % 2]) -> f32 { 1 })"),
            R"(
m.dyn:2:13: error: `len(xs)` is no extent; extents are made of dims, consts, integers and `+ - * /` [T1]
    fn f(t: f32[len(xs)], u: f32[1.5], v: f32[a..b], w: f32[a % 2]) -> f32 { 1 }
                ^~~~~~~
m.dyn:2:30: error: `1.5` is not an integer, which an extent is [T1]
    fn f(t: f32[len(xs)], u: f32[1.5], v: f32[a..b], w: f32[a % 2]) -> f32 { 1 }
                                 ^~~
m.dyn:2:43: error: `a..b` is no extent; extents are made of dims, consts, integers and `+ - * /` [T1]
    fn f(t: f32[len(xs)], u: f32[1.5], v: f32[a..b], w: f32[a % 2]) -> f32 { 1 }
                                              ^~~~
m.dyn:2:57: error: `a % 2` is no extent; extents are made of dims, consts, integers and `+ - * /` [T1]
    fn f(t: f32[len(xs)], u: f32[1.5], v: f32[a..b], w: f32[a % 2]) -> f32 { 1 }
                                                            ^~~~~
)");
}

// One mistake is one error: after it the next declaration is read as if nothing had happened.

TEST(FuncErrors, Recovery) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { x + }
param a: f32;
param b;
layer L { fn g() -> f32 { 1 + } fn h() -> f32 { 2 } }
dim c d;)"),
            R"(
m.dyn:2:27: error: expected an expression after `+`, found `}`
    fn f(x: f32) -> f32 { x + }
                              ^
m.dyn:4:8: error: expected `:` after `b`, found `;`
    param b;
           ^
m.dyn:5:31: error: expected an expression after `+`, found `}`
    layer L { fn g() -> f32 { 1 + } fn h() -> f32 { 2 } }
                                  ^
m.dyn:6:7: error: expected `;` after `c`, found `d`
    dim c d;
          ^
)");
}

TEST(FuncErrors, NoFollowingErrors) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 {
  x
fn g(x: f32) -> f32 { x } }
fn h() -> { })"),
            R"(
m.dyn:3:4: error: expected `}` after `x`, found the reserved word `fn`
      x
       ^
m.dyn:2:21: note: `{` was opened here
    fn f(x: f32) -> f32 {
                        ^
m.dyn:5:11: error: expected a type after `->`, found `{`
    fn h() -> { }
              ^
)");
}
