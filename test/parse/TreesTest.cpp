// What each form of the grammar becomes.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/syntax/Parse.h"

#include <gtest/gtest.h>

using dbc::frontend::parsetest::exprTree;
using dbc::frontend::parsetest::tree;

// `||` binds least, then `&&`, comparisons, `+ -`, `* / % @` on one level, unary, postfix; all from left to
// right.
TEST(Trees, Precedence) {
  EXPECT_EQ(exprTree("a || b && c == d + e * f"), "(|| a (&& b (== c (+ d (* e f)))))");
  EXPECT_EQ(exprTree("a * b @ c / d % e"), "(% (/ (@ (* a b) c) d) e)");
  EXPECT_EQ(exprTree("a - b - c + d"), "(+ (- (- a b) c) d)");
  EXPECT_EQ(exprTree("-a.b * !c[0]"), "(* (- (. a b)) (! (at c 0)))");
  EXPECT_EQ(exprTree("--a - -b"), "(- (- (- a)) (- b))");
  EXPECT_EQ(exprTree("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(exprTree("a + 1..n - 1"), "(.. (+ a 1) (- n 1))");
  for (const char *op : {"==", "!=", "<", "<=", ">", ">="})
    EXPECT_EQ(exprTree(std::string("a ") + op + " b + c"), std::string("(") + op + " a (+ b c))");
}

TEST(Trees, Numbers) {
  EXPECT_EQ(exprTree("[0, 12, 0.5, 1e-3, 2.50E+2, 3e0]"), "(join 0 12 0.5 0.001 250.0 3.0)");
  EXPECT_EQ(exprTree("0..n"), "(.. 0 n)"); // not `0.` and `.n`
  EXPECT_EQ(exprTree("9223372036854775807"), "9223372036854775807");
}

TEST(Trees, Postfix) {
  EXPECT_EQ(exprTree("ops[k](x).h[0, -1]"), "(at (. (call (at ops k) x) h) 0 (- 1))");
  EXPECT_EQ(exprTree("x[..]"), "(at x (slice _ _))");
  EXPECT_EQ(exprTree("x[a.., ..b, a..b, i]"), "(at x (slice a _) (slice _ b) (slice a b) i)");
  EXPECT_EQ(exprTree("max(T + a, axis = 1)"), "(call max (+ T a) (axis 1))");
  EXPECT_EQ(exprTree("index[n](i)"), "(call (at index n) i)");
  EXPECT_EQ(exprTree("f()"), "(call f)");
  EXPECT_EQ(exprTree("nn.State { h = a, c = b }.h"), "(. (record nn.State (h a) (c b)) h)");
}

// A last comma may stand before `)`, `]` and `}`.
TEST(Trees, LastCommas) {
  EXPECT_EQ(exprTree("f(a,)[1,] + [b,]"), "(+ (at (call f a) 1) (join b))");
  EXPECT_EQ(exprTree("xs ++ [] - y ++ [z]"), "(++ (- (++ xs (join)) y) (join z))");
  EXPECT_EQ(exprTree("(a, b,)"), "(tuple a b)");
  EXPECT_EQ(exprTree("S { a = 1, }"), "(record S (a 1))");
  EXPECT_EQ(exprTree("map((a, b,) in xs,) a"), "(binder map (tuple a b) xs a)");
  EXPECT_EQ(exprTree("fold(x in xs, s = a,) s"), "(binder fold x xs (state s a) s)");
  EXPECT_EQ(tree("fn f[n,](a: (int, bool,), b: f32[n,],) -> int { 1 }"),
            "(fn f (dims n) (args (a (tuple int bool)) (b (tensor f32 n))) (result int) (block 1))");
  EXPECT_EQ(tree("data A(x: int,);"), "(data A (A (x int)))");
}

// A name before `(`, a pattern and `in` is a binder, whatever the name; it is an ordinary name elsewhere.
TEST(Trees, Binders) {
  EXPECT_EQ(exprTree("sum(xs)"), "(call sum xs)");
  EXPECT_EQ(exprTree("sum(x in xs) x"), "(binder sum x xs x)");
  EXPECT_EQ(exprTree("sum + map(scan)"), "(+ sum (call map scan))");
  EXPECT_EQ(exprTree("each(_ in xs) 1"), "(binder each _ xs 1)");
  EXPECT_EQ(exprTree("sum((x, (y, _)) in xs if x > 0) { y }"),
            "(binder sum (tuple x (tuple y _)) xs (if (> x 0)) (block y))");
  EXPECT_EQ(exprTree("scan(x in xs if c, (a, b) = (1, 2) while a > 0) { (b, a) }"),
            "(binder scan x xs (if c) (state (tuple a b) (tuple 1 2)) (while (> a 0)) (block (tuple b a)))");
  EXPECT_EQ(exprTree("f((a, b), (c, d))"), "(call f (tuple a b) (tuple c d))");
}

// Without braces the body is one postfix expression; behind braces everything applies to the result.
TEST(Trees, BinderBodies) {
  EXPECT_EQ(exprTree("sum(x in xs) f(x).y[0]"), "(binder sum x xs (at (. (call f x) y) 0))");
  EXPECT_EQ(exprTree("sum(x in xs) { f(x) }[0] * w"), "(* (at (binder sum x xs (block (call f x))) 0) w)");
  EXPECT_EQ(exprTree("map(x in xs) sum(y in x) { y }"), "(binder map x xs (binder sum y x (block y)))");
  EXPECT_EQ(exprTree("map(x in xs) (x + 1)"), "(binder map x xs (+ x 1))");
  EXPECT_EQ(exprTree("map(x in xs) S { h = x }"), "(binder map x xs (record S (h x)))");
  EXPECT_EQ(exprTree("a - sum(x in xs) x"), "(- a (binder sum x xs x))");
  EXPECT_EQ(exprTree("(sum(x in xs) x) * w"), "(* (binder sum x xs x) w)");
  EXPECT_EQ(exprTree("f(sum(x in xs) x, w)"), "(call f (binder sum x xs x) w)");
}

// `{` after an expression opens a record literal only before `name =`.
TEST(Trees, BracesAfterNames) {
  EXPECT_EQ(exprTree("if x { a } else { b }"), "(if x (block a) (block b))");
  EXPECT_EQ(exprTree("if x { a == b } else { c }"), "(if x (block (== a b)) (block c))");
  EXPECT_EQ(exprTree("if x == S { a = 1 } { a } else { b }"),
            "(if (== x (record S (a 1))) (block a) (block b))");
  EXPECT_EQ(exprTree("match t { Leaf(word) => word, _ => 0 }"), "(match t (arm Leaf word word) (arm _ 0))");
  EXPECT_EQ(exprTree("match t { Leaf => 1 }"), "(match t (arm Leaf 1))");
  EXPECT_EQ(tree("cell f(i in 0..n) -> State by n - i { i }"),
            "(cell f (args (i (in 0 n))) (result State) (by (- n i)) (block i))");
}

TEST(Trees, IfAndMatch) {
  EXPECT_EQ(exprTree("if a { 1 } else if b { 2 } else { let x = 3; x }"),
            "(if a (block 1) (if b (block 2) (block (let x 3) x)))");
  EXPECT_EQ(exprTree("if a { b } else { c }[0]"), "(at (if a (block b) (block c)) 0)");
  EXPECT_EQ(exprTree("match a.b { A(x = y, z) => { y } B => { 2 }, C => 3, }"),
            "(match (. a b) (arm A (x y) z (block y)) (arm B (block 2)) (arm C 3))");
}

TEST(Trees, Lets) {
  EXPECT_EQ(exprTree("{ 1 }").substr(0, 6), "\nm.dyn"); // a block is no expression
  EXPECT_EQ(tree("fn f() -> int { let x: f32[n] = a; let (y, _) = b; x }"),
            "(fn f (args) (result int) (block (let x (tensor f32 n) a) (let (tuple y _) b) x))");
}

TEST(Trees, Types) {
  EXPECT_EQ(tree("fn f(a: f32, b: int[2], c: index[n], d: index[n][2, m], e: bool[n], g: [[Tree]]) -> (int, "
                 "[nn.State[m, 2 * n]]) { 1 }"),
            R"((fn f
  (args
    (a f32)
    (b (tensor int 2))
    (c (index n))
    (d (tensor (index n) 2 m))
    (e (tensor bool n))
    (g (list (list Tree))))
  (result (tuple int (list (nn.State m (* 2 n)))))
  (block 1)))");
  EXPECT_EQ(tree("param ops: [nn.Linear[n, m]; kinds + 1];"),
            "(param ops (table (nn.Linear n m) (+ kinds 1)))");
}

TEST(Trees, Declarations) {
  EXPECT_EQ(tree("dim a, b = 3, c = 2 * a / b - 1;"), "(dim a)\n(dim b 3)\n(dim c (- (/ (* 2 a) b) 1))");
  EXPECT_EQ(tree("const A = -1.5; const B = 2; const E: f32[a];"),
            "(const A (- 1.5))\n(const B 2)\n(const E (tensor f32 a))");
  EXPECT_EQ(tree("param a: f32 = 1, b: f32 = -0.5, c: f32 = uniform(-1, 1), d: f32 = normal(0, 0.1), e: f32 "
                 "= glorot(), g: f32;"),
            "(param a f32 1.0)\n(param b f32 -0.5)\n(param c f32 (uniform -1.0 1.0))\n(param d f32 (normal "
            "0.0 0.1))\n"
            "(param e f32 (glorot))\n(param g f32)");
  EXPECT_EQ(tree("data T { A; B(); C(x: T, ys: [T]); } data U(t: T);"),
            "(data T (A) (B) (C (x T) (ys (list T))))\n(data U (U (t T)))");
  EXPECT_EQ(tree("record R[a, b] { x: f32[a]; y: f32[b]; }"),
            "(record R (dims a b) (x (tensor f32 a)) (y (tensor f32 b)))");
  EXPECT_EQ(
      tree("layer L[n] { param W: f32[n]; const K = 2; fn f() -> int { K } cell g(t: T) -> int { 1 } }"),
      R"((layer L
  (dims n)
  (param W (tensor f32 n))
  (const K 2)
  (fn f (args) (result int) (block K))
  (cell g (args (t T)) (result int) (block 1))))");
  EXPECT_EQ(
      tree("loss l(t: T) { 1 } loss k(t: T) -> (f32, int) { (1, 2) }"),
      "(loss l (args (t T)) (block 1))\n(loss k (args (t T)) (result (tuple f32 int)) (block (tuple 1 2)))");
}

// None of these are reserved.
TEST(Trees, OrdinaryNames) {
  EXPECT_EQ(
      exprTree("axis + uniform + normal + glorot + map + index + f32 + int + bool + by_ + _x"),
      "(+ (+ (+ (+ (+ (+ (+ (+ (+ (+ axis uniform) normal) glorot) map) index) f32) int) bool) by_) _x)");
}

TEST(Trees, Comments) {
  EXPECT_EQ(exprTree("a // b\n + /* c\n // d */ e /**/ /***/ // f"), "(+ a e)");
  EXPECT_EQ(tree("// only a comment"), "(model m)");
}

// Ranges are bytes, whatever stands before them.
TEST(Trees, Ranges) {
  using namespace dbc::frontend;
  SourceManager sources;
  DiagnosticEngine diags(sources);
  uint32_t id = sources.add(
      "m.dyn", "\xEF\xBB\xBFmodel m; // \xE2\x82\xAC\r\nfn f(t: T) -> f32 { /* \xC3\xA9 */ (a + b) * c }");
  auto file = parseFile(id, diags);
  ASSERT_TRUE(file) << diags.str();
  auto *f = file->decls[0]->as<FuncDecl>();
  EXPECT_EQ(sources.text(f->name.range), "f");
  EXPECT_EQ(sources.text(f->args[0].annotation->range), "T");
  auto *product = f->body.result->as<BinaryExpr>();
  ASSERT_TRUE(product);
  EXPECT_EQ(sources.text(product->range), "(a + b) * c");
  EXPECT_EQ(sources.text(product->opRange), "*");
  EXPECT_EQ(sources.text(product->lhs->range), "(a + b)");
  EXPECT_TRUE(product->lhs->parenthesised);
  EXPECT_EQ(sources.text(f->body.range), "{ /* \xC3\xA9 */ (a + b) * c }");
}
