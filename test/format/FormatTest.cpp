// Spaces, empty lines, the ends of lines and of the file.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace dbc::frontend::formattest;

TEST(Format, Spaces) {
  EXPECT_EQ(declarations("param W :f32[ 4,3 ]=uniform( -1,1 ),k:[nn . L [a];n] ;"),
            "param W: f32[4, 3] = uniform(-1, 1), k: [nn.L[a]; n];\n");
  EXPECT_EQ(declarations("data A( x:f32 );data B{C(x:A,);D;}record R [n]{x:f32[n];}"),
            "data A(x: f32);\ndata B { C(x: A,); D; }\nrecord R[n] { x: f32[n]; }\n");
  EXPECT_EQ(declarations("cell f (t:T,i in 0 .. n)->( f32,int )by i{x}fn g [n]( )->f32{1}"),
            "cell f(t: T, i in 0..n) -> (f32, int) by i { x }\nfn g[n]() -> f32 { 1 }\n");
  EXPECT_EQ(expression("- a*( b+c )@- ! d%x [ 1 .. ,..-1,i ]. h (y ,axis=0)"),
            "-a * (b + c) @ -!d % x[1.., ..-1, i].h(y, axis = 0)\n");
  EXPECT_EQ(expression("map( (x,_)in xs if x>0 ) (x*2)"), "map((x, _) in xs if x > 0) (x * 2)\n");
  EXPECT_EQ(expression("fold(x in xs,s=State{h=0}while s.h<1){s}"),
            "fold(x in xs, s = State { h = 0 } while s.h < 1) { s }\n");
  EXPECT_EQ(expression("match t{A(x=y)=>{y},_=>[ ]}"), "match t { A(x = y) => { y }, _ => [] }\n");
  EXPECT_EQ(expression("if a&&b{1}else if c{2}else{3}"), "if a && b { 1 } else if c { 2 } else { 3 }\n");
}

// What stood on lines of its own without need is joined; a body that was broken stays so, and each thing in
// it has a line.
TEST(Format, Bodies) {
  EXPECT_EQ(declarations("fn\nf(x\n: f32)\n->\nf32\n{\nx }"), "fn f(x: f32) -> f32 {\n  x\n}\n");
  EXPECT_EQ(declarations("fn f() -> f32 { let a = 1; let b = 2;\na }"),
            "fn f() -> f32 {\n  let a = 1;\n  let b = 2;\n  a\n}\n");
  EXPECT_EQ(declarations("fn f() -> f32 { let a = 1; a\n}"), "fn f() -> f32 {\n  let a = 1;\n  a\n}\n");
  EXPECT_EQ(declarations("data T { A; B(x: f32);\n C; }"), "data T {\n  A;\n  B(x: f32);\n  C;\n}\n");
  EXPECT_EQ(declarations("layer L { param W: f32; fn f() -> f32 { W }\n}"),
            "layer L {\n  param W: f32;\n  fn f() -> f32 { W }\n}\n");
  EXPECT_EQ(expression("match t { A => 1,\n B => 2 }"), "match t {\n  A => 1,\n  B => 2\n}\n");
  // One arm of an `if` may be short.
  EXPECT_EQ(expression("if c { 1 }\nelse\n{\n2 }"), "if c { 1 } else {\n  2\n}\n");
  // A line end deep inside is one as well.
  EXPECT_EQ(expression("map(x in xs) { g(map(y in ys) {\ny }) }"),
            "map(x in xs) {\n  g(map(y in ys) {\n    y\n  })\n}\n");
}

TEST(Format, Lists) {
  EXPECT_EQ(expression("f(\na, b,\nc)"), "f(\n  a, b,\n  c\n)\n");
  EXPECT_EQ(expression("f(a, b,\nc,\n)"), "f(\n  a, b,\n  c,\n)\n");
  EXPECT_EQ(expression("f(a, b, c\n)"), "f(a, b, c)\n");
  EXPECT_EQ(expression("State { h = 1,\nc = 2 }"), "State {\n  h = 1,\n  c = 2\n}\n");
  EXPECT_EQ(declarations("param a: f32,\n\n      b: f32;"), "param a: f32,\n  b: f32;\n");
}

// A line goes on with the operator.
TEST(Format, Operators) {
  EXPECT_EQ(expression("a +\nb"), "a\n  + b\n");
  EXPECT_EQ(expression("a\n    + b *\nc"), "a\n  + b\n  * c\n");
  EXPECT_EQ(expression("f(a +\nb)"), "f(\n  a\n    + b\n)\n");
  EXPECT_EQ(declarations("fn f() -> f32 {\nlet x =\na\n+ b; x }"),
            "fn f() -> f32 {\n  let x =\n    a\n      + b;\n  x\n}\n");
}

TEST(Format, EmptyLines) {
  EXPECT_EQ(formatted("\n\nmodel m;\n\n\n\nimport a;\nfn f() -> f32 {\n\n\nlet a = 1;\n\n\na\n\n}\n\n\n"),
            "model m;\n\nimport a;\nfn f() -> f32 {\n  let a = 1;\n\n  a\n}\n");
  EXPECT_EQ(formatted("model m;"), "model m;\n");
  EXPECT_EQ(formatted("model m; import nn; dim a;"), "model m;\nimport nn;\ndim a;\n");
}

TEST(Format, LineEnds) {
  EXPECT_EQ(formatted("model m;\r\ndim a; // b\r\n/* c\r\n d */\r\n"),
            "model m;\r\ndim a; // b\r\n/* c\r\n d */\r\n");
  EXPECT_EQ(formatted("model m;\ndim a; // b\r\n/* c\r\n d */\r\n"), "model m;\ndim a; // b\n/* c\n d */\n");
  EXPECT_EQ(formatted("model m;\n\tdim\ta;\t// b\t\n"), "model m;\ndim a; // b\n");
  EXPECT_EQ(formatted("\xEF\xBB\xBFmodel m; // \xC3\xBC"), "model m; // \xC3\xBC\n");
}

// What does not parse is told, and nothing is made of it.
TEST(Format, Errors) {
  EXPECT_EQ(formatted("model m;\ndim a\n/ b\n/ c;\ndim d;").substr(0, 17), "m.dyn:2:6: error:");
  EXPECT_EQ(formatted("").substr(0, 54), "m.dyn:1:1: error: expected `model` or `module`, found ");
  EXPECT_EQ(formatted("model m;\nfn f( -> f32 { 1 }").substr(0, 17), "m.dyn:2:7: error:");
  // What the grammar lets through but the language does not.
  EXPECT_NE(formatted("model m;\nfn f() -> bool { 1 < 2 < 3 }").find("error:"), std::string::npos);
}
