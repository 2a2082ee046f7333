// Syntax errors in declarations: the whole text of each message.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TestSupport.h"

#include <gtest/gtest.h>

using dbc::frontend::parsetest::syntaxErrors;

// A file begins with its kind and name.

TEST(DeclErrors, EmptyFile) {
  EXPECT_EQ(syntaxErrors(""),
            R"(
m.dyn:1:1: error: expected `model` or `module`, found the end of the file
    
    ^
hint: a file begins with `model name;`, a library with `module name;`
)");
}

TEST(DeclErrors, NoHeader) {
  EXPECT_EQ(syntaxErrors("dim a;"),
            R"(
m.dyn:1:1: error: expected `model` or `module`, found the reserved word `dim`
    dim a;
    ^~~
hint: a file begins with `model name;`, a library with `module name;`
)");
}

TEST(DeclErrors, HeaderWithoutName) {
  EXPECT_EQ(syntaxErrors(R"(model 3;
dim a;
dim;)"),
            R"(
m.dyn:1:7: error: expected a name after `model`, found `3`
    model 3;
          ^
m.dyn:3:4: error: expected a name after `dim`, found `;`
    dim;
       ^
)");
}

TEST(DeclErrors, HeaderWithoutSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model a
dim b;)"),
            R"(
m.dyn:1:8: error: expected `;` after `a`, found the reserved word `dim`
    model a
           ^
)");
}

TEST(DeclErrors, HeaderWithReservedWord) {
  EXPECT_EQ(syntaxErrors("model layer;"),
            R"(
m.dyn:1:7: error: expected a name after `model`, found the reserved word `layer`
    model layer;
          ^~~~~
hint: a reserved word cannot be a name
)");
}

// Imports come first.

TEST(DeclErrors, LateImport) {
  EXPECT_EQ(syntaxErrors(R"(model m;
dim x;
import b;)"),
            R"(
m.dyn:3:1: error: this import stands behind declarations; imports come first
    import b;
    ^~~~~~
)");
}

TEST(DeclErrors, ImportSyntax) {
  EXPECT_EQ(syntaxErrors(R"(model m;
import b c;
import c.3;)"),
            R"(
m.dyn:2:10: error: expected `;` after `b`, found `c`
    import b c;
             ^
m.dyn:3:10: error: expected a name after `.`, found `3`
    import c.3;
             ^
)");
}

// What begins no declaration is named, with the keyword that may be meant.

TEST(DeclErrors, MisspelledKeyword) {
  EXPECT_EQ(syntaxErrors(R"(model m;
func f() {}
param W: f32;
parm b: f32;)"),
            R"(
m.dyn:2:1: error: expected a declaration, found `func`
    func f() {}
    ^~~~
hint: functions are declared by `fn` and `cell`
m.dyn:4:1: error: expected a declaration, found `parm`
    parm b: f32;
    ^~~~
hint: did you mean `param`?
)");
}

TEST(DeclErrors, StrayBrace) {
  EXPECT_EQ(syntaxErrors(R"(model m;
})"),
            R"(
m.dyn:2:1: error: expected a declaration, found `}`
    }
    ^
hint: no `{` is open here
)");
}

TEST(DeclErrors, NestedComment) {
  EXPECT_EQ(syntaxErrors(R"(model m;
/* a /* b */ c */)"),
            R"(
m.dyn:2:14: error: expected a declaration, found `c`
    /* a /* b */ c */
                 ^
)");
}

TEST(DeclErrors, OpenComment) {
  EXPECT_EQ(syntaxErrors(R"(model m;
dim a;
/* hm)"),
            R"(
m.dyn:3:1: error: the comment that begins here is not closed; `/*` goes up to `*/`
    /* hm
    ^~
)");
}

// Dims, consts and params.

TEST(DeclErrors, DimWithoutValue) {
  EXPECT_EQ(syntaxErrors(R"(model m;
dim a = ;)"),
            R"(
m.dyn:2:9: error: expected an expression after `=`, found `;`
    dim a = ;
            ^
)");
}

TEST(DeclErrors, DimNotInteger) {
  EXPECT_EQ(syntaxErrors(R"(model m;
dim a = 3.5;)"),
            R"(
m.dyn:2:9: error: `3.5` is not an integer, which an extent is [T1]
    dim a = 3.5;
            ^~~
)");
}

TEST(DeclErrors, DimWithoutComma) {
  EXPECT_EQ(syntaxErrors(R"(model m;
dim a b;)"),
            R"(
m.dyn:2:7: error: expected `;` after `a`, found `b`
    dim a b;
          ^
)");
}

TEST(DeclErrors, ConstAlone) {
  EXPECT_EQ(syntaxErrors(R"(model m;
const a;)"),
            R"(
m.dyn:2:8: error: expected `=` or `:` after `a`, found `;`
    const a;
           ^
)");
}

TEST(DeclErrors, ConstComputed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
const a = 2 * b;)"),
            R"(
m.dyn:2:11: error: the value of `a` is not a number; a const is a number, or a tensor that is loaded
    const a = 2 * b;
              ^~~~~
hint: sizes are computed by `dim`, other values by a `fn` without parameters
)");
}

TEST(DeclErrors, MissingSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
param W: f32[m]
param b: f32;)"),
            R"(
m.dyn:2:16: error: expected `;` after the parameter, found the reserved word `param`
    param W: f32[m]
                   ^
)");
}

TEST(DeclErrors, ParamWithoutType) {
  EXPECT_EQ(syntaxErrors(R"(model m;
param a = 3;)"),
            R"(
m.dyn:2:9: error: expected `:` after `a`, found `=`
    param a = 3;
            ^
)");
}

TEST(DeclErrors, InitUnknown) {
  EXPECT_EQ(syntaxErrors(R"(model m;
param a: f32 = zero;)"),
            R"(
m.dyn:2:16: error: this is no initial value; a param begins as a number, `uniform(low, high)`, `normal(mean, deviation)` or `glorot()` [N6]
    param a: f32 = zero;
                   ^~~~
)");
}

TEST(DeclErrors, InitArguments) {
  EXPECT_EQ(syntaxErrors(R"(model m;
param a: f32 = uniform(1), b: f32 = normal(-1, x), c: f32 = glorot(1);)"),
            R"(
m.dyn:2:16: error: `uniform(1)` does not fit; `uniform` takes the bounds: `uniform(-0.1, 0.1)`
    param a: f32 = uniform(1), b: f32 = normal(-1, x), c: f32 = glorot(1);
                   ^~~~~~~~~~
m.dyn:2:37: error: `normal(-1, x)` does not fit; `normal` takes mean and deviation: `normal(0, 0.1)`
    param a: f32 = uniform(1), b: f32 = normal(-1, x), c: f32 = glorot(1);
                                        ^~~~~~~~~~~~~
m.dyn:2:61: error: `glorot(1)` does not fit; `glorot` takes nothing: `glorot()`
    param a: f32 = uniform(1), b: f32 = normal(-1, x), c: f32 = glorot(1);
                                                                ^~~~~~~~~
)");
}

// Data, records, layers.

TEST(DeclErrors, DataWithoutConstructor) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T { })"),
            R"(
m.dyn:2:6: error: `T` has no constructor; a data type has at least one
    data T { }
         ^
hint: write `data T(..);` or `data T { Name(..); }`
)");
}

TEST(DeclErrors, DataWithoutFields) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T;)"),
            R"(
m.dyn:2:7: error: expected `(` or `{` after `T`, found `;`
    data T;
          ^
)");
}

TEST(DeclErrors, ConstructorWithoutSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T { A(x: f32) B; })"),
            R"(
m.dyn:2:20: error: expected `;` after the fields, found `B`
    data T { A(x: f32) B; }
                       ^
)");
}

TEST(DeclErrors, DataWithoutSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T(x: f32)
data U(x: f32);)"),
            R"(
m.dyn:2:15: error: expected `;` after the fields, found the reserved word `data`
    data T(x: f32)
                  ^
)");
}

TEST(DeclErrors, FieldWithoutColon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T { A(x f32); })"),
            R"(
m.dyn:2:14: error: expected `:` after `x`, found `f32`
    data T { A(x f32); }
                 ^~~
)");
}

TEST(DeclErrors, FieldsWithSemicolon) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T { A(x: f32; y: f32); })"),
            R"(
m.dyn:2:18: error: expected `,` or `)` after the field, found `;`
    data T { A(x: f32; y: f32); }
                     ^
)");
}

TEST(DeclErrors, FieldsWithTwoCommas) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T(x: f32,, y: f32);)"),
            R"(
m.dyn:2:15: error: expected a field after `,`, found `,`
    data T(x: f32,, y: f32);
                  ^
)");
}

TEST(DeclErrors, FieldWithReservedName) {
  EXPECT_EQ(syntaxErrors(R"(model m;
data T(data: f32);)"),
            R"(
m.dyn:2:8: error: expected a field or `)` after `(`, found the reserved word `data`
    data T(data: f32);
           ^~~~
hint: a reserved word cannot be a name
)");
}

TEST(DeclErrors, RecordWithCommas) {
  EXPECT_EQ(syntaxErrors(R"(model m;
record R { h: f32, c: f32 })"),
            R"(
m.dyn:2:18: error: expected `;` after `f32`, found `,`
    record R { h: f32, c: f32 }
                     ^
)");
}

TEST(DeclErrors, RecordNotClosed) {
  EXPECT_EQ(syntaxErrors(R"(model m;
record R {
  h: f32;

dim a;)"),
            R"(
m.dyn:3:10: error: expected a field or `}` after the field, found the reserved word `dim`
      h: f32;
             ^
m.dyn:2:10: note: `{` was opened here
    record R {
             ^
)");
}

TEST(DeclErrors, DimsWithTwoCommas) {
  EXPECT_EQ(syntaxErrors(R"(model m;
record R[a,,b] { h: f32; })"),
            R"(
m.dyn:2:12: error: expected a name after `,`, found `,`
    record R[a,,b] { h: f32; }
               ^
)");
}

TEST(DeclErrors, LayerWithDim) {
  EXPECT_EQ(syntaxErrors(R"(model m;
layer L { dim a; })"),
            R"(
m.dyn:2:11: error: expected `param`, `const`, `fn`, `cell` or `}` after `{`, found the reserved word `dim`
    layer L { dim a; }
              ^~~
)");
}

TEST(DeclErrors, LayerWithEntry) {
  EXPECT_EQ(syntaxErrors(R"(model m;
layer L { entry e(x: f32) -> f32 { x } loss l(x: f32) { x } })"),
            R"(
m.dyn:2:17: error: the entry `e` stands in a layer; a layer has `param`, `const`, `fn` and `cell`
    layer L { entry e(x: f32) -> f32 { x } loss l(x: f32) { x } }
                    ^
m.dyn:2:45: error: the loss `l` stands in a layer; a layer has `param`, `const`, `fn` and `cell`
    layer L { entry e(x: f32) -> f32 { x } loss l(x: f32) { x } }
                                                ^
)");
}
