// Syntax errors in binders, if and match, characters and numbers: the whole text of each message.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TestSupport.h"

#include <gtest/gtest.h>

using dbc::frontend::parsetest::syntaxErrors;

// T7: an operator after a body without braces.

TEST(FormErrors, OperatorAfterBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { sum(k in ks) f(k) * w })"),
            R"(
m.dyn:2:44: error: `*` follows the body of `sum`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { sum(k in ks) f(k) * w }
                                               ^
m.dyn:2:26: note: this is the `sum`
    fn f(ks: [f32]) -> f32 { sum(k in ks) f(k) * w }
                             ^~~~~~~~~~~~~~~~~
hint: write `sum(k in ks) { f(k) } * w` or `sum(k in ks) { f(k) * w }`
)");
}

TEST(FormErrors, ComparisonAfterBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { 1 + sum(k in ks) f(k) < 2 })"),
            R"(
m.dyn:2:48: error: `<` follows the body of `sum`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { 1 + sum(k in ks) f(k) < 2 }
                                                   ^
m.dyn:2:30: note: this is the `sum`
    fn f(ks: [f32]) -> f32 { 1 + sum(k in ks) f(k) < 2 }
                                 ^~~~~~~~~~~~~~~~~
hint: write `sum(k in ks) { f(k) } < 2` or `sum(k in ks) { f(k) < 2 }`
)");
}

TEST(FormErrors, OperatorAfterMinus) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { -sum(k in ks) f(k) + 2 })"),
            R"(
m.dyn:2:45: error: `+` follows the body of `sum`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { -sum(k in ks) f(k) + 2 }
                                                ^
m.dyn:2:27: note: this is the `sum`
    fn f(ks: [f32]) -> f32 { -sum(k in ks) f(k) + 2 }
                              ^~~~~~~~~~~~~~~~~
hint: write `sum(k in ks) { f(k) } + 2` or `sum(k in ks) { f(k) + 2 }`
)");
}

TEST(FormErrors, OperatorAfterNestedBodies) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) y - 1 })"),
            R"(
m.dyn:2:54: error: `-` follows the body of `map`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) y - 1 }
                                                         ^
m.dyn:2:26: note: this is the `map`
    fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) y - 1 }
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: write `map(x in xs) { sum(y in ys) y } - 1`
)");
}

TEST(FormErrors, OperatorAfterHalfNested) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) { y } - 1 })"),
            R"(
m.dyn:2:58: error: `-` follows the body of `map`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) { y } - 1 }
                                                             ^
m.dyn:2:26: note: this is the `map`
    fn f(ks: [f32]) -> f32 { map(x in xs) sum(y in ys) { y } - 1 }
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: write `map(x in xs) { sum(y in ys) { y } } - 1` or `map(x in xs) { sum(y in ys) { y } - 1 }`
)");
}

TEST(FormErrors, RangeAfterBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { max(k in ks) k..n })"),
            R"(
m.dyn:2:40: error: `..` follows the body of `max`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { max(k in ks) k..n }
                                           ^~
m.dyn:2:26: note: this is the `max`
    fn f(ks: [f32]) -> f32 { max(k in ks) k..n }
                             ^~~~~~~~~~~~~~
hint: write `max(k in ks) { k }..n` or `max(k in ks) { k..n }`
)");
}

TEST(FormErrors, SliceAfterBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { ks[max(k in ks) k..n] })"),
            R"(
m.dyn:2:43: error: `..` follows the body of `max`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { ks[max(k in ks) k..n] }
                                              ^~
m.dyn:2:29: note: this is the `max`
    fn f(ks: [f32]) -> f32 { ks[max(k in ks) k..n] }
                                ^~~~~~~~~~~~~~
hint: write `max(k in ks) { k }..n` or `max(k in ks) { k..n }`
)");
}

TEST(FormErrors, OperatorAfterLongBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(ks: [f32]) -> f32 { sum(k in ks) cross_entropy(O @ tanh(W @ k + b), target) * weight })"),
            R"(
m.dyn:2:82: error: `*` follows the body of `sum`, which has no braces; only behind braces may an operator stand [T7]
    fn f(ks: [f32]) -> f32 { sum(k in ks) cross_entropy(O @ tanh(W @ k + b), target) * weight }
                                                                                     ^
m.dyn:2:26: note: this is the `sum`
    fn f(ks: [f32]) -> f32 { sum(k in ks) cross_entropy(O @ tanh(W @ k + b), target) * weight }
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: put its body in braces, and `*` inside or behind them
)");
}

// Binders.

TEST(FormErrors, PatternWithoutParentheses) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { sum(x, y in xs) x })"),
            R"(
m.dyn:2:31: error: expected `in` after `x`, found `,`
    fn f(xs: [f32]) -> f32 { sum(x, y in xs) x }
                                  ^
hint: a pattern of several names has parentheses: `(a, b) in ..`
)");
}

TEST(FormErrors, BinderPatternOfOne) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { sum((x) in xs) x })"),
            R"(
m.dyn:2:30: error: `(x)` has one element; a tuple has at least two
    fn f(xs: [f32]) -> f32 { sum((x) in xs) x }
                                 ^~~
hint: write the pattern without parentheses
)");
}

TEST(FormErrors, WhileWithoutState) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { scan(x in xs while c) x })"),
            R"(
m.dyn:2:39: error: expected `if`, `,` or `)` after `xs`, found the reserved word `while`
    fn f(xs: [f32]) -> f32 { scan(x in xs while c) x }
                                          ^~~~~
hint: `while` follows a state: `scan(x in xs, s = start while c)`
)");
}

TEST(FormErrors, FilterAfterState) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { scan(x in xs, s = 1 if c) x })"),
            R"(
m.dyn:2:46: error: expected `,` or `)` after the state, found the reserved word `if`
    fn f(xs: [f32]) -> f32 { scan(x in xs, s = 1 if c) x }
                                                 ^~
hint: the filter stands before the state: `scan(x in xs if c, s = start)`
)");
}

TEST(FormErrors, StateWithoutStart) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { scan(x in xs, s) x })"),
            R"(
m.dyn:2:41: error: expected `=` after `s`, found `)`
    fn f(xs: [f32]) -> f32 { scan(x in xs, s) x }
                                            ^
)");
}

TEST(FormErrors, BinderWithoutBody) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { let x = map(x in xs); x })"),
            R"(
m.dyn:2:46: error: expected an expression after `)`, found `;`
    fn f(xs: [f32]) -> f32 { let x = map(x in xs); x }
                                                 ^
)");
}

TEST(FormErrors, ForLoop) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(xs: [f32]) -> f32 { for x in xs { x } })"),
            R"(
m.dyn:2:30: error: expected `}` after `for`, found `x`
    fn f(xs: [f32]) -> f32 { for x in xs { x } }
                                 ^
hint: there are no loops; a list is gone through with `map`, `scan`, `fold`, `sum` ..
)");
}

// If and match.

TEST(FormErrors, IfWithoutElse) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { if a { 1 } })"),
            R"(
m.dyn:2:23: error: this `if` has no `else`; an `if` is a value and needs both
    fn f(a: f32) -> f32 { if a { 1 } }
                          ^~
hint: write `if c { a } else { b }`
)");
}

TEST(FormErrors, IfWithAssignment) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { if a = 1 { 1 } else { 2 } })"),
            R"(
m.dyn:2:28: error: expected `{` after `a`, found `=`
    fn f(a: f32) -> f32 { if a = 1 { 1 } else { 2 } }
                               ^
hint: equality is written `==`
)");
}

TEST(FormErrors, IfWithoutBraces) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { if a 1 else 2 })"),
            R"(
m.dyn:2:28: error: expected `{` after `a`, found `1`
    fn f(a: f32) -> f32 { if a 1 else 2 }
                               ^
)");
}

TEST(FormErrors, ElseWithoutBraces) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { if a { 1 } else 2 })"),
            R"(
m.dyn:2:39: error: expected `{` or `if` after `else`, found `2`
    fn f(a: f32) -> f32 { if a { 1 } else 2 }
                                          ^
)");
}

TEST(FormErrors, ElifWord) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { if a { 1 } elif b { 2 } else { 3 } })"),
            R"(
m.dyn:2:34: error: expected `}` after the expression, found `elif`
    fn f(a: f32) -> f32 { if a { 1 } elif b { 2 } else { 3 } }
                                     ^~~~
hint: write `else if`
)");
}

TEST(FormErrors, ReturnWord) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { return a })"),
            R"(
m.dyn:2:30: error: expected `}` after `return`, found `a`
    fn f(a: f32) -> f32 { return a }
                                 ^
hint: the value of a block is its last expression; there is no `return`
)");
}

TEST(FormErrors, MatchWithoutArms) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { } })"),
            R"(
m.dyn:2:31: error: expected an arm after `{`, found `}`
    fn f(t: T) -> f32 { match t { } }
                                  ^
)");
}

TEST(FormErrors, ArmWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A => 1 B => 2 } })"),
            R"(
m.dyn:2:38: error: expected `,` after the arm, found `B`
    fn f(t: T) -> f32 { match t { A => 1 B => 2 } }
                                         ^
hint: only an arm in braces, or the last one, does without `,`
)");
}

TEST(FormErrors, ArmWithoutCommaOnItsLine) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 {
  match t {
    A => 1
    B => 2,
  }
})"),
            R"(
m.dyn:4:11: error: expected `,` after the arm, found `B`
        A => 1
              ^
hint: only an arm in braces, or the last one, does without `,`
)");
}

TEST(FormErrors, ArmWithSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A => 1; } })"),
            R"(
m.dyn:2:37: error: expected `,` or `}` after the arm, found `;`
    fn f(t: T) -> f32 { match t { A => 1; } }
                                        ^
hint: arms end in `,`
)");
}

TEST(FormErrors, BlockArmWithSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A => { 1 }; B => 2 } })"),
            R"(
m.dyn:2:41: error: expected an arm or `}` after the arm, found `;`
    fn f(t: T) -> f32 { match t { A => { 1 }; B => 2 } }
                                            ^
hint: arms end in `,`
)");
}

TEST(FormErrors, ArmWithThinArrow) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A -> 1 } })"),
            R"(
m.dyn:2:33: error: expected `=>` after `A`, found `->`
    fn f(t: T) -> f32 { match t { A -> 1 } }
                                    ^~
)");
}

TEST(FormErrors, ArmWithPatternOfNumber) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A(x = 1) => 1 } })"),
            R"(
m.dyn:2:37: error: expected a name after `=`, found `1`
    fn f(t: T) -> f32 { match t { A(x = 1) => 1 } }
                                        ^
)");
}

TEST(FormErrors, ArmWithEquals) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(t: T) -> f32 { match t { A = 1 } })"),
            R"(
m.dyn:2:39: error: expected `{` after the expression, found `}`
    fn f(t: T) -> f32 { match t { A = 1 } }
                                          ^
hint: a match is written `match e { Name => value, .. }`
)");
}

// Characters and numbers.

TEST(FormErrors, ForeignCharacters) {
  EXPECT_EQ(syntaxErrors("model m;\nfn f(a: f32) -> f32 { a & b | $ \"hello\" # x ^ é \x01 }"),
            R"(
m.dyn:2:25: error: `&` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                            ^
hint: `and` of two bools is written `&&`
m.dyn:2:29: error: `|` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                ^
hint: `or` of two bools is written `||`
m.dyn:2:31: error: `$` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                  ^
m.dyn:2:33: error: `"` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                    ^
hint: there are no strings and characters
m.dyn:2:39: error: `"` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                          ^
hint: there are no strings and characters
m.dyn:2:41: error: `#` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                            ^
hint: comments begin with `//`
m.dyn:2:45: error: `^` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                                ^
hint: powers are written `pow(x, y)`
m.dyn:2:47: error: `é` is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                                  ^
m.dyn:2:49: error: this is no part of the language
    fn f(a: f32) -> f32 { a & b | $ "hello" # x ^ é ? }
                                                    ^
)");
}

// Of other languages: a choice, and a type that may be absent.
TEST(FormErrors, QuestionMarks) {
  EXPECT_EQ(syntaxErrors("model m;\nfn f(x: f32[3], t: T?, u: T? ) -> f32 { x[0] > 0 ? 1 : 2 }"), R"(
m.dyn:2:21: error: `?` is no part of the language
    fn f(x: f32[3], t: T?, u: T? ) -> f32 { x[0] > 0 ? 1 : 2 }
                        ^
hint: what may be absent is a list of none or one
m.dyn:2:28: error: `?` is no part of the language
    fn f(x: f32[3], t: T?, u: T? ) -> f32 { x[0] > 0 ? 1 : 2 }
                               ^
hint: what may be absent is a list of none or one
m.dyn:2:50: error: `?` is no part of the language
    fn f(x: f32[3], t: T?, u: T? ) -> f32 { x[0] > 0 ? 1 : 2 }
                                                     ^
hint: write `if c { a } else { b }`; elementwise it is `select(c, a, b)`
)");
}

TEST(FormErrors, Numbers) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if })"),
            R"(
m.dyn:2:23: error: `2x` is neither a number nor a name
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                          ^~
m.dyn:2:28: error: `1.` is not a number; digits stand on both sides of the point
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                               ^~
m.dyn:2:33: error: `.5` is not a number; digits stand on both sides of the point
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                                    ^~
m.dyn:2:38: error: `1.5.` is not a number; digits stand on both sides of the point
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                                         ^~~~
m.dyn:2:46: error: `1e` is neither a number nor a name
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                                                 ^~
m.dyn:2:51: error: `1if` is neither a number nor a name
    fn f(a: f32) -> f32 { 2x + 1. + .5 + 1.5.2 + 1e + 1if }
                                                      ^~~
)");
}

TEST(FormErrors, TooLarge) {
  EXPECT_EQ(syntaxErrors(R"(model m;
fn f(a: f32) -> f32 { 99999999999999999999 + 1e999 + 1e-999 })"),
            R"(
m.dyn:2:23: error: `99999999999999999999` is too large for a number without a point
    fn f(a: f32) -> f32 { 99999999999999999999 + 1e999 + 1e-999 }
                          ^~~~~~~~~~~~~~~~~~~~
hint: write `99999999999999999999.0` if it is no int
m.dyn:2:46: error: `1e999` is too large for a number
    fn f(a: f32) -> f32 { 99999999999999999999 + 1e999 + 1e-999 }
                                                 ^~~~~
)");
}
