// Syntax errors in blocks and expressions: the whole text of each message.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TestSupport.h"

#include <gtest/gtest.h>

using dbc::frontend::parsetest::syntaxErrors;

// Blocks end with a value; names are given by `let`.

TEST(ExprErrors, MissingOperand) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { x + })"),
            R"(
m.dyn:2:27: error: expected an expression after `+`, found `}`
    fn f(x: f32) -> f32 { x + }
                              ^
)");
}

TEST(ExprErrors, SemicolonAfterValue) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { x; })"),
            R"(
m.dyn:2:24: error: expected `}` after `x`, found `;`
    fn f(x: f32) -> f32 { x; }
                           ^
hint: the last expression of a block is its value; no `;` follows it
)");
}

TEST(ExprErrors, NoValue) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { let y = x; })"),
            R"(
m.dyn:2:34: error: expected an expression after the `let`, found `}`
    fn f(x: f32) -> f32 { let y = x; }
                                     ^
hint: a block ends with an expression, its value
)");
}

TEST(ExprErrors, EmptyBlock) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 {})"),
            R"(
m.dyn:2:22: error: expected an expression after `{`, found `}`
    fn f(x: f32) -> f32 {}
                         ^
hint: a block ends with an expression, its value
)");
}

TEST(ExprErrors, NoLetFirst) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { y = x; y })"),
            R"(
m.dyn:2:23: error: expected an expression or `let` after `{`, found `y =`
    fn f(x: f32) -> f32 { y = x; y }
                          ^
hint: a name is given to a value with `let y = ..;`
)");
}

TEST(ExprErrors, NoLetThen) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { let z = 1; y = x; y })"),
            R"(
m.dyn:2:36: error: expected `}` after `y`, found `=`
    fn f(x: f32) -> f32 { let z = 1; y = x; y }
                                       ^
hint: a name is given to a value with `let y = ..;`
)");
}

TEST(ExprErrors, NoLetBehindName) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { if x { y = x; y } else { x } })"),
            R"(
m.dyn:2:35: error: expected `,` or `}` after the field, found `;`
    fn f(x: f32) -> f32 { if x { y = x; y } else { x } }
                                      ^
hint: if this is no record literal: a name is given to a value with `let`
)");
}

TEST(ExprErrors, LetWithoutSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 {
  let x = 3
  a
})"),
            R"(
m.dyn:3:12: error: expected `;` after `3`, found `a`
      let x = 3
               ^
)");
}

TEST(ExprErrors, LetWithoutType) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { let x: = 3; x })"),
            R"(
m.dyn:2:30: error: expected a type after `:`, found `=`
    fn f(a: f32) -> f32 { let x: = 3; x }
                                 ^
)");
}

TEST(ExprErrors, LetWithoutPattern) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { let 3 = 3; a })"),
            R"(
m.dyn:2:27: error: expected a pattern after `let`, found `3`
    fn f(a: f32) -> f32 { let 3 = 3; a }
                              ^
)");
}

TEST(ExprErrors, LetWithReservedName) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { let data = 3; a })"),
            R"(
m.dyn:2:27: error: expected a pattern after `let`, found the reserved word `data`
    fn f(a: f32) -> f32 { let data = 3; a }
                              ^~~~
hint: a reserved word cannot be a name
)");
}

TEST(ExprErrors, PatternOfOne) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { let (b) = a; b })"),
            R"(
m.dyn:2:27: error: `(b)` has one element; a tuple has at least two
    fn f(a: f32) -> f32 { let (b) = a; b }
                              ^~~
hint: write the pattern without parentheses
)");
}

TEST(ExprErrors, BlockNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 {
  a)"),
            R"(
m.dyn:3:4: error: expected `}` after `a`, found the end of the file
      a
       ^
m.dyn:2:21: note: `{` was opened here
    fn f(a: f32) -> f32 {
                        ^
)");
}

// Brackets.

TEST(ExprErrors, CallNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 {
  sigmoid(x
}
fn g(x: f32) -> f32 { x })"),
            R"(
m.dyn:3:12: error: expected `,` or `)` after `x`, found `}`
      sigmoid(x
               ^
)");
}

TEST(ExprErrors, CallNotClosedLater) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 {
  pow(
    x,
    2;
})"),
            R"(
m.dyn:5:6: error: expected `,` or `)` after `2`, found `;`
        2;
         ^
m.dyn:3:6: note: `(` was opened here
      pow(
         ^
)");
}

TEST(ExprErrors, CallWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { pow(x x) })"),
            R"(
m.dyn:2:29: error: expected `,` or `)` after `x`, found `x`
    fn f(x: f32) -> f32 { pow(x x) }
                                ^
)");
}

TEST(ExprErrors, CallWithTwoCommas) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { pow(x,, x) })"),
            R"(
m.dyn:2:29: error: expected an argument after `,`, found `,`
    fn f(x: f32) -> f32 { pow(x,, x) }
                                ^
)");
}

TEST(ExprErrors, CallWithOnlyComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { g(,) })"),
            R"(
m.dyn:2:25: error: expected an argument or `)` after `(`, found `,`
    fn f(x: f32) -> f32 { g(,) }
                            ^
)");
}

TEST(ExprErrors, JoinOfNothing) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { [,] })"),
            R"(
m.dyn:2:24: error: expected an expression or `]` after `[`, found `,`
    fn f(a: f32) -> f32 { [,] }
                           ^
)");
}

TEST(ExprErrors, EmptyTuple) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { () })"),
            R"(
m.dyn:2:24: error: expected an expression after `(`, found `)`
    fn f(a: f32) -> f32 { () }
                           ^
)");
}

TEST(ExprErrors, TupleOfOneValue) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { (a,) })"),
            R"(
m.dyn:2:23: error: `(a,)` has one element; a tuple has at least two
    fn f(a: f32) -> f32 { (a,) }
                          ^~~~
)");
}

TEST(ExprErrors, EmptySubscript) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a[] })"),
            R"(
m.dyn:2:25: error: expected an index or a slice after `[`, found `]`
    fn f(a: f32) -> f32 { a[] }
                            ^
)");
}

TEST(ExprErrors, SubscriptWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a[1 2] })"),
            R"(
m.dyn:2:27: error: expected `,` or `]` after `1`, found `2`
    fn f(a: f32) -> f32 { a[1 2] }
                              ^
)");
}

TEST(ExprErrors, SubscriptAfterComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a[1,; })"),
            R"(
m.dyn:2:27: error: expected an index or `]` after `,`, found `;`
    fn f(a: f32) -> f32 { a[1,; }
                              ^
)");
}

// Arguments by name, members, record literals.

TEST(ExprErrors, NamedArgument) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { g(x = 1) })"),
            R"(
m.dyn:2:25: error: `x =` names an argument; only `axis`, `stride` and `padding` are given by name
    fn f(a: f32) -> f32 { g(x = 1) }
                            ^
hint: give arguments in order; equality is written `==`
)");
}

TEST(ExprErrors, TwoAxes) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { max(a, axis = 1, axis = 0) })"),
            R"(
m.dyn:2:40: error: `axis` is given a second time
    fn f(a: f32) -> f32 { max(a, axis = 1, axis = 0) }
                                           ^~~~~~~~
m.dyn:2:30: note: here it is given first
    fn f(a: f32) -> f32 { max(a, axis = 1, axis = 0) }
                                 ^~~~~~~~
)");
}

TEST(ExprErrors, MemberNumber) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a.3 })"),
            R"(
m.dyn:2:25: error: expected a name after `.`, found `3`
    fn f(a: f32) -> f32 { a.3 }
                            ^
)");
}

TEST(ExprErrors, RecordWithSemicolons) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { State { h = 1; c = 2 } })"),
            R"(
m.dyn:2:36: error: expected `,` or `}` after the field, found `;`
    fn f(a: f32) -> f32 { State { h = 1; c = 2 } }
                                       ^
hint: if this is no record literal: a name is given to a value with `let`
)");
}

TEST(ExprErrors, RecordWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { State { h = 1 c = 2 } })"),
            R"(
m.dyn:2:37: error: expected `,` or `}` after the field, found `c`
    fn f(a: f32) -> f32 { State { h = 1 c = 2 } }
                                        ^
)");
}

TEST(ExprErrors, RecordOfCall) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { g(a) { h = 1 } })"),
            R"(
m.dyn:2:23: error: `{ h = ..` follows what is not a record's name [T5]
    fn f(a: f32) -> f32 { g(a) { h = 1 } }
                          ^~~~
hint: a record literal is `Name { field = value, .. }` or `module.Name { .. }`
)");
}

TEST(ExprErrors, RecordOfDeepPath) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a.b.C { h = 1 } })"),
            R"(
m.dyn:2:23: error: `{ h = ..` follows what is not a record's name [T5]
    fn f(a: f32) -> f32 { a.b.C { h = 1 } }
                          ^~~~~
hint: a record literal is `Name { field = value, .. }` or `module.Name { .. }`
)");
}

// Fields as other languages write them.
TEST(ExprErrors, RecordWithColons) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { g(State { h: 1, c: a }) })"),
            R"(
m.dyn:2:31: error: expected `,` or `)` after `State`, found `{`
    fn f(a: f32) -> f32 { g(State { h: 1, c: a }) }
                                  ^
hint: a record literal is `Name { field = value, .. }` or `module.Name { .. }`
)");
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { let s = State { h = a, c: 1 }; s.h })"),
            R"(
m.dyn:2:47: error: expected `=` after `c`, found `:`
    fn f(a: f32) -> f32 { let s = State { h = a, c: 1 }; s.h }
                                                  ^
hint: a record literal is `Name { field = value, .. }` or `module.Name { .. }`
)");
  // Elsewhere a brace is something else.
  EXPECT_EQ(syntaxErrors(R"(model m;
data Tree { Leaf { x: f32 } })"),
            R"(
m.dyn:2:18: error: expected `;` after `Leaf`, found `{`
    data Tree { Leaf { x: f32 } }
                     ^
)");
}

// Operators.

TEST(ExprErrors, ChainedComparison) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { a < b <= c })"),
            R"(
m.dyn:2:29: error: `<=` follows the comparison `a < b`; comparisons do not chain
    fn f(a: f32) -> f32 { a < b <= c }
                                ^~
hint: write `a < b && b <= c`
)");
}

TEST(ExprErrors, ChainedRange) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { 0..1..2 })"),
            R"(
m.dyn:2:27: error: a second `..` follows a range; a range is `low..high`
    fn f(a: f32) -> f32 { 0..1..2 }
                              ^~
)");
}

TEST(ExprErrors, TwoOperators) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { x @@ y })"),
            R"(
m.dyn:2:26: error: expected an expression after `@`, found `@`
    fn f(a: f32) -> f32 { x @@ y }
                             ^
)");
}

TEST(ExprErrors, AndWord) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: bool) -> bool { a and b })"),
            R"(
m.dyn:2:27: error: expected `}` after `a`, found `and`
    fn f(a: bool) -> bool { a and b }
                              ^~~
hint: `and` of two bools is written `&&`
)");
}

TEST(ExprErrors, Power) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32) -> f32 { x ** 2 })"),
            R"(
m.dyn:2:26: error: expected an expression after `*`, found `*`
    fn f(x: f32) -> f32 { x ** 2 }
                             ^
hint: a power is written `pow(x, y)`, a square `square(x)`
)");
}

TEST(ExprErrors, SliceWithColon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(x: f32[3]) -> f32[2] { x[0:2] })"),
            R"(
m.dyn:2:32: error: expected `,` or `]` after `0`, found `:`
    fn f(x: f32[3]) -> f32[2] { x[0:2] }
                                   ^
hint: a slice is written `a..b`; `a..` goes on to the end, `..b` begins at the start
)");
}

TEST(ExprErrors, OrWord) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: bool) -> bool { a or b })"),
            R"(
m.dyn:2:27: error: expected `}` after `a`, found `or`
    fn f(a: bool) -> bool { a or b }
                              ^~
hint: `or` of two bools is written `||`
)");
}

TEST(ExprErrors, NotWord) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: bool) -> bool { not a })"),
            R"(
m.dyn:2:29: error: expected `}` after `not`, found `a`
    fn f(a: bool) -> bool { not a }
                                ^
hint: `not` is written `!`
)");
}
