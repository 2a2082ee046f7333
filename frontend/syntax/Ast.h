// The syntax tree of a .dyn file: plain C++, one class for each form of the manual's grammar. The parser
// builds it, the checker fills the annotation slots (`type`, `resolved`), lowering reads both.
//
// Nodes own their children through unique_ptr; names that are written in the source are `Ident`s, so that
// each has a range of its own. Which class a node has is asked with `node->as<NameExpr>()` (null if it is
// another) or `switch (node->kind)`; LLVM's isa / cast / dyn_cast work too (classof).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_AST_H
#define DBC_FRONTEND_AST_H

#include "frontend/syntax/Source.h"

#include <cassert>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace dbc::frontend {

struct Type;    // frontend/check/Types.h: what the checker finds out about a value
struct Binding; // frontend/check/Types.h: what a name stands for

struct Expr;
struct TypeExpr;
struct Pattern;
struct Decl;
struct File;
using ExprPtr = std::unique_ptr<Expr>;
using TypeExprPtr = std::unique_ptr<TypeExpr>;
using PatternPtr = std::unique_ptr<Pattern>;
using DeclPtr = std::unique_ptr<Decl>;

/// Gives a node class with a `kind` the member `as<T>()`, a checked downcast that is null for other classes.
template <typename Base> struct Castable {
  template <typename T> T *as() {
    auto *self = static_cast<Base *>(this);
    return T::classof(self) ? static_cast<T *>(self) : nullptr;
  }
  template <typename T> const T *as() const {
    auto *self = static_cast<const Base *>(this);
    return T::classof(self) ? static_cast<const T *>(self) : nullptr;
  }
};

/// A name as written, with its location. Empty text and an invalid range where a name is left out.
struct Ident {
  std::string text;
  SourceRange range;
  explicit operator bool() const { return !text.empty(); }
};

//===--------------------------------------------------------------------===//
// Patterns and blocks
//===--------------------------------------------------------------------===//

/// `x`, `_`, or `(p, q, ..)` with at least two elements.
struct Pattern {
  enum class Kind { Name, Wildcard, Tuple };
  Kind kind = Kind::Wildcard;
  SourceRange range;
  Ident name;                       ///< Kind::Name
  std::vector<PatternPtr> elements; ///< Kind::Tuple

  const Type *type = nullptr;  ///< set by the checker
  Binding *resolved = nullptr; ///< Kind::Name: what it declares; set by the checker
};

/// `let pattern [: type] = value;`
struct Let {
  SourceRange range;
  PatternPtr pattern;
  TypeExprPtr annotation; ///< null if no type is written
  ExprPtr value;
};

/// `{ lets result }`. The bodies of arms and binders, and an `else if`, are blocks too: without lets, and
/// with `braces` false if none are written.
struct CodeBlock {
  SourceRange range; ///< with the braces
  bool braces = true;
  std::vector<Let> lets;
  ExprPtr result; ///< never null
};

//===--------------------------------------------------------------------===//
// Expressions
//===--------------------------------------------------------------------===//

struct Expr : Castable<Expr> {
  enum class Kind {
    Number,
    Bool,
    Name,
    Tuple,
    Join,
    If,
    Match,
    Binder,
    Unary,
    Binary,
    Range,
    Member,
    Call,
    Subscript,
    Record
  };
  const Kind kind;
  SourceRange range;          ///< the whole expression; with its parentheses, if it has some of its own
  bool parenthesised = false; ///< written as `(e)`; a tuple's own parentheses do not count

  const Type *type = nullptr; ///< set by the checker
  Binding *resolved =
      nullptr; ///< what a name, member, call, binder or record literal refers to; set by the checker

  virtual ~Expr();

protected:
  Expr(Kind kind, SourceRange range) : kind(kind), range(range) {}
};

/// `3`, `0.5`, `1e-3`.
struct NumberExpr : Expr {
  bool isInteger;      ///< written without point and exponent
  int64_t integer = 0; ///< if isInteger; the parser refuses what does not fit
  double value = 0;    ///< always; finite
  NumberExpr(SourceRange r, bool isInteger, int64_t integer, double value)
      : Expr(Kind::Number, r), isInteger(isInteger), integer(integer), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Number; }
};

/// `true`, `false`.
struct BoolExpr : Expr {
  bool value;
  BoolExpr(SourceRange r, bool value) : Expr(Kind::Bool, r), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Bool; }
};

/// A bare name. Names of built-in functions and of the conversions `f32 int bool index` are names like any
/// other here.
struct NameExpr : Expr {
  std::string name;
  SourceRange nameRange; ///< the name alone, also where `range` has parentheses
  NameExpr(SourceRange r, std::string name) : Expr(Kind::Name, r), name(std::move(name)), nameRange(r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }
};

/// `(a, b, ..)`, at least two.
struct TupleExpr : Expr {
  std::vector<ExprPtr> elements;
  TupleExpr(SourceRange r, std::vector<ExprPtr> elements)
      : Expr(Kind::Tuple, r), elements(std::move(elements)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Tuple; }
};

/// `[a, b, ..]`: tensors joined along axis 0 (T3); `[]` is the empty list (L3).
struct JoinExpr : Expr {
  std::vector<ExprPtr> elements;
  JoinExpr(SourceRange r, std::vector<ExprPtr> elements)
      : Expr(Kind::Join, r), elements(std::move(elements)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Join; }
};

/// `if c { .. } else { .. }`. For `else if`, elseBlock holds the inner IfExpr and has no braces.
struct IfExpr : Expr {
  ExprPtr condition;
  CodeBlock thenBlock, elseBlock;
  IfExpr(SourceRange r, ExprPtr condition, CodeBlock thenBlock, CodeBlock elseBlock)
      : Expr(Kind::If, r), condition(std::move(condition)), thenBlock(std::move(thenBlock)),
        elseBlock(std::move(elseBlock)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::If; }
};

/// One name that an arm binds: `word`, or `word = w` (field word under the name w).
struct ArmField {
  Ident field;
  Ident name;                  ///< the same as `field` if not renamed
  Binding *resolved = nullptr; ///< set by the checker
};

/// `Leaf(word = w) => ..`, `Leaf => ..`, `_ => ..`.
struct MatchArm {
  SourceRange range;
  SourceRange patternRange; ///< up to before `=>`
  Ident constructor;        ///< empty for `_`
  std::vector<ArmField> fields;
  CodeBlock body;
  bool wildcard() const { return !constructor; }
};

struct MatchExpr : Expr {
  ExprPtr subject;
  std::vector<MatchArm> arms;
  MatchExpr(SourceRange r, ExprPtr subject, std::vector<MatchArm> arms)
      : Expr(Kind::Match, r), subject(std::move(subject)), arms(std::move(arms)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Match; }
};

/// `sum(x in xs if c) body`, `scan(x in xs if c, s = s0 while w) body`. The parser takes any name before `(`:
/// whether it is a binder, and whether it wants a state, is the checker's question.
struct BinderExpr : Expr {
  Ident name;
  PatternPtr element;
  ExprPtr list;
  ExprPtr filter;    ///< null if none
  PatternPtr state;  ///< null if none
  ExprPtr start;     ///< the state's first value; null exactly if `state` is
  ExprPtr condition; ///< `while`; null if none
  CodeBlock body;
  BinderExpr(SourceRange r, Ident name) : Expr(Kind::Binder, r), name(std::move(name)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binder; }
};

struct UnaryExpr : Expr {
  enum class Op { Minus, Not };
  Op op;
  ExprPtr operand;
  UnaryExpr(SourceRange r, Op op, ExprPtr operand)
      : Expr(Kind::Unary, r), op(op), operand(std::move(operand)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }
};

struct BinaryExpr : Expr {
  enum class Op { Or, And, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Append, Mul, Div, Mod, MatMul };
  Op op;
  SourceRange opRange;
  ExprPtr lhs, rhs;
  BinaryExpr(SourceRange r, Op op, SourceRange opRange, ExprPtr lhs, ExprPtr rhs)
      : Expr(Kind::Binary, r), op(op), opRange(opRange), lhs(std::move(lhs)), rhs(std::move(rhs)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }
};

/// `a..b`: the list of ints from a up to, not including, b.
struct RangeExpr : Expr {
  ExprPtr low, high;
  RangeExpr(SourceRange r, ExprPtr low, ExprPtr high)
      : Expr(Kind::Range, r), low(std::move(low)), high(std::move(high)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Range; }
};

/// `base.member`: a field, a layer's function, param or const, or a name of an imported module.
struct MemberExpr : Expr {
  ExprPtr base;
  Ident member;
  MemberExpr(SourceRange r, ExprPtr base, Ident member)
      : Expr(Kind::Member, r), base(std::move(base)), member(std::move(member)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Member; }
};

/// `name = value` among the arguments of a call.
struct NamedArg {
  Ident name;
  ExprPtr value;
  SourceRange range;
};

/// `callee(args, axis = a)`. The callee is a name, a member, a subscript of a table of layers (`ops[k](x)`),
/// or `index[n]`.
struct CallExpr : Expr {
  ExprPtr callee;
  std::vector<ExprPtr> args;      ///< the positional ones
  ExprPtr axis;                   ///< null if not given
  SourceRange axisRange;          ///< `axis = a`
  std::vector<NamedArg> settings; ///< `stride = s`, `padding = p`, each at most once
  CallExpr(SourceRange r, ExprPtr callee) : Expr(Kind::Call, r), callee(std::move(callee)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }
};

/// One subscript between the brackets of `x[i, a..b, ..]`.
struct Sub {
  SourceRange range;
  bool isSlice = false;
  ExprPtr index;     ///< if not a slice
  ExprPtr low, high; ///< bounds of a slice, each null if left out
};

struct SubscriptExpr : Expr {
  ExprPtr base;
  std::vector<Sub> subs; ///< at least one
  SubscriptExpr(SourceRange r, ExprPtr base, std::vector<Sub> subs)
      : Expr(Kind::Subscript, r), base(std::move(base)), subs(std::move(subs)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Subscript; }
};

/// `h = value` in a record literal.
struct FieldInit {
  Ident name;
  ExprPtr value;
};

/// `State { h = .., c = .. }`, `nn.State { .. }`.
struct RecordExpr : Expr {
  Ident module; ///< empty if none is written
  Ident record;
  std::vector<FieldInit> fields;
  RecordExpr(SourceRange r, Ident module, Ident record, std::vector<FieldInit> fields)
      : Expr(Kind::Record, r), module(std::move(module)), record(std::move(record)),
        fields(std::move(fields)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Record; }
};

//===--------------------------------------------------------------------===//
// Types as written
//===--------------------------------------------------------------------===//

/// Extents and layer arguments are expressions of dims, consts, numbers and + - * / (the parser lets nothing
/// else through).
struct TypeExpr {
  enum class Kind {
    F32,
    Int,
    Bool,
    Index, ///< a scalar, or with `shape` a tensor of it
    Named, ///< a data type, record or layer: [module.]name[shape]
    List,  ///< [element]
    Table, ///< [element; count], of layers
    Tuple  ///< (elements), at least two
  };
  Kind kind = Kind::F32;
  SourceRange range;
  ExprPtr bound;                     ///< Index: n of index[n]
  std::vector<ExprPtr> shape;        ///< scalars: the tensor's extents; Named: the arguments
  Ident module, name;                ///< Named; module may be empty
  std::vector<TypeExprPtr> elements; ///< List, Table: one; Tuple: all
  ExprPtr count;                     ///< Table

  const Type *type = nullptr;  ///< set by the checker
  Binding *resolved = nullptr; ///< Named: what the name refers to; set by the checker
};

//===--------------------------------------------------------------------===//
// Declarations
//===--------------------------------------------------------------------===//

struct Decl : Castable<Decl> {
  enum class Kind { Dim, Const, Param, Data, Record, Layer, Func };
  const Kind kind;
  /// Data, Record, Layer, Func: the whole declaration. Dim, Const, Param: this name's part of it (`embed =
  /// 300`).
  SourceRange range;
  Ident name;
  Binding *resolved = nullptr; ///< set by the checker
  virtual ~Decl();

protected:
  Decl(Kind kind, SourceRange range, Ident name) : kind(kind), range(range), name(std::move(name)) {}
};

/// One name of `dim a, b = 3, c = 2 * b;`.
struct DimDecl : Decl {
  ExprPtr value; ///< null if it must come from -D
  DimDecl(SourceRange r, Ident name, ExprPtr value)
      : Decl(Kind::Dim, r, std::move(name)), value(std::move(value)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Dim; }
};

/// `const EOS = 1;` (value) or `const E: f32[v, n];` (type).
struct ConstDecl : Decl {
  ExprPtr value;          ///< a NumberExpr, or the negation of one; null for a tensor
  TypeExprPtr annotation; ///< null for a number
  ConstDecl(SourceRange r, Ident name) : Decl(Kind::Const, r, std::move(name)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Const; }
};

/// How a param begins.
struct Init {
  enum class Kind { Number, Uniform, Normal, Glorot };
  Kind kind = Kind::Number;
  SourceRange range;
  double first = 0;  ///< the number; low; mean
  double second = 0; ///< high; deviation
};

/// One name of `param W: f32[m, n], b: f32[m] = 0;`.
struct ParamDecl : Decl {
  TypeExprPtr annotation;     ///< never null
  std::unique_ptr<Init> init; ///< null if none is written
  ParamDecl(SourceRange r, Ident name, TypeExprPtr annotation, std::unique_ptr<Init> init)
      : Decl(Kind::Param, r, std::move(name)), annotation(std::move(annotation)), init(std::move(init)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Param; }
};

/// `name: type` of a data type's constructor or of a record.
struct Field {
  SourceRange range;
  Ident name;
  TypeExprPtr annotation;
};

/// `Leaf(word: index[vocab]);`
struct Constructor {
  SourceRange range;
  Ident name;
  std::vector<Field> fields;
};

struct DataDecl : Decl {
  std::vector<Constructor> constructors; ///< at least one; `data A(..);` has one, named A
  DataDecl(SourceRange r, Ident name) : Decl(Kind::Data, r, std::move(name)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Data; }
};

struct RecordDecl : Decl {
  std::vector<Ident> dims;
  std::vector<Field> fields;
  RecordDecl(SourceRange r, Ident name) : Decl(Kind::Record, r, std::move(name)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Record; }
};

/// Members are ParamDecl, ConstDecl and FuncDecl (fn and cell).
struct LayerDecl : Decl {
  std::vector<Ident> dims;
  std::vector<DeclPtr> members;
  LayerDecl(SourceRange r, Ident name) : Decl(Kind::Layer, r, std::move(name)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Layer; }
};

/// `x: type` or `t in low..high`.
struct FuncArg {
  SourceRange range;
  Ident name;
  TypeExprPtr annotation;      ///< null for a ranged int
  ExprPtr low, high;           ///< of a ranged int, else null
  Binding *resolved = nullptr; ///< set by the checker
  bool ranged() const { return low != nullptr; }
};

struct FuncDecl : Decl {
  enum class FuncKind { Fn, Cell, Entry, Loss };
  FuncKind funcKind;
  std::vector<Ident> dims; ///< fn only
  std::vector<FuncArg> args;
  TypeExprPtr result; ///< null for a loss without a type
  ExprPtr measure;    ///< `by e`, cell only; null if none
  CodeBlock body;
  FuncDecl(SourceRange r, Ident name, FuncKind funcKind)
      : Decl(Kind::Func, r, std::move(name)), funcKind(funcKind) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Func; }
};

//===--------------------------------------------------------------------===//
// Files
//===--------------------------------------------------------------------===//

/// `import a.b;`; its names are used as `b.Name`.
struct Import {
  SourceRange range;       ///< `a.b`
  std::vector<Ident> path; ///< a, b
  File *file = nullptr;    ///< set by loadProgram
  const Ident &name() const { return path.back(); }
};

/// One parsed file. `model` for a model, `module` for a library.
struct File {
  uint32_t id = SourceRange::kNoFile; ///< in the SourceManager
  bool isModule = false;
  Ident name;
  std::vector<Import> imports;
  std::vector<DeclPtr> decls; ///< in the order of the text
};

//===--------------------------------------------------------------------===//
// Spelling and printing
//===--------------------------------------------------------------------===//

/// "fn", "cell", "entry", "loss".
const char *spelling(FuncDecl::FuncKind kind);
/// "+", "==", ...
const char *spelling(BinaryExpr::Op op);
const char *spelling(UnaryExpr::Op op);

/// Prints the tree as S-expressions, without locations; for tests.
void dump(const File &file, std::ostream &out);
void dump(const Expr &expr, std::ostream &out);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_AST_H
