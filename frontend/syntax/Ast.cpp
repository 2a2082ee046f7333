// Spelling of operators, and the tree as S-expressions.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Ast.h"

#include <charconv>
#include <ostream>

namespace dbc::frontend {

// Here, so that the classes' tables are made once.
Expr::~Expr() = default;
Decl::~Decl() = default;

const char *spelling(FuncDecl::FuncKind kind) {
  switch (kind) {
  case FuncDecl::FuncKind::Fn:
    return "fn";
  case FuncDecl::FuncKind::Cell:
    return "cell";
  case FuncDecl::FuncKind::Entry:
    return "entry";
  case FuncDecl::FuncKind::Loss:
    return "loss";
  }
  return "";
}

const char *spelling(BinaryExpr::Op op) {
  using Op = BinaryExpr::Op;
  switch (op) {
  case Op::Or:
    return "||";
  case Op::And:
    return "&&";
  case Op::Eq:
    return "==";
  case Op::Ne:
    return "!=";
  case Op::Lt:
    return "<";
  case Op::Le:
    return "<=";
  case Op::Gt:
    return ">";
  case Op::Ge:
    return ">=";
  case Op::Add:
    return "+";
  case Op::Append:
    return "++";
  case Op::Sub:
    return "-";
  case Op::Mul:
    return "*";
  case Op::Div:
    return "/";
  case Op::Mod:
    return "%";
  case Op::MatMul:
    return "@";
  }
  return "";
}

const char *spelling(UnaryExpr::Op op) { return op == UnaryExpr::Op::Minus ? "-" : "!"; }

namespace {

/// An S-expression: an atom, or a list.
struct Sexp {
  std::string atom;
  std::vector<Sexp> elements;

  Sexp(std::string atom) : atom(std::move(atom)) {}
  Sexp(const char *atom) : atom(atom) {}
  static Sexp list(std::string head) {
    Sexp s("");
    s.elements.push_back(Sexp(std::move(head)));
    return s;
  }
  Sexp &add(Sexp element) {
    elements.push_back(std::move(element));
    return *this;
  }

  /// Characters on one line; stops counting at `limit`.
  size_t width(size_t limit) const {
    if (elements.empty())
      return atom.size();
    size_t sum = 1 + elements.size();
    for (const Sexp &p : elements) {
      if (sum > limit)
        break;
      sum += p.width(limit);
    }
    return sum;
  }

  void print(std::ostream &out, size_t indent) const {
    if (elements.empty()) {
      out << atom;
      return;
    }
    bool oneLine = indent + width(100) <= 100;
    out << '(';
    for (size_t i = 0; i < elements.size(); ++i) {
      // Atoms at the front stay beside the head.
      bool beside = i == 0 || oneLine || (elements[i].elements.empty() && elements[i - 1].elements.empty());
      if (i > 0 && beside)
        out << ' ';
      if (!beside)
        out << '\n' << std::string(indent + 2, ' ');
      elements[i].print(out, indent + 2);
    }
    out << ')';
  }
};

Sexp sexp(const Expr &e);
Sexp sexp(const TypeExpr &t);

Sexp sexp(const Pattern &p) {
  if (p.kind == Pattern::Kind::Wildcard)
    return "_";
  if (p.kind == Pattern::Kind::Name)
    return p.name.text;
  Sexp s = Sexp::list("tuple");
  for (const PatternPtr &element : p.elements)
    s.add(sexp(*element));
  return s;
}

Sexp sexp(const CodeBlock &b) {
  if (!b.braces)
    return sexp(*b.result);
  Sexp s = Sexp::list("block");
  for (const Let &l : b.lets) {
    Sexp let = Sexp::list("let");
    let.add(sexp(*l.pattern));
    if (l.annotation)
      let.add(sexp(*l.annotation));
    s.add(let.add(sexp(*l.value)));
  }
  return s.add(sexp(*b.result));
}

Sexp sexpOf(const char *head, const std::vector<ExprPtr> &elements) {
  Sexp s = Sexp::list(head);
  for (const ExprPtr &e : elements)
    s.add(sexp(*e));
  return s;
}

std::string qualified(const Ident &module, const Ident &name) {
  return module ? module.text + "." + name.text : name.text;
}

std::string numberText(double value) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  // 2.0 and 2 are different numbers of the language.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Sexp sexp(const MatchExpr &m) {
  Sexp s = Sexp::list("match");
  s.add(sexp(*m.subject));
  for (const MatchArm &a : m.arms) {
    Sexp arm = Sexp::list("arm");
    arm.add(a.wildcard() ? "_" : a.constructor.text);
    for (const ArmField &f : a.fields)
      arm.add(f.field.text == f.name.text ? Sexp(f.field.text) : Sexp::list(f.field.text).add(f.name.text));
    s.add(arm.add(sexp(a.body)));
  }
  return s;
}

Sexp sexp(const BinderExpr &b) {
  Sexp s = Sexp::list("binder");
  s.add(b.name.text).add(sexp(*b.element)).add(sexp(*b.list));
  if (b.filter)
    s.add(Sexp::list("if").add(sexp(*b.filter)));
  if (b.state)
    s.add(Sexp::list("state").add(sexp(*b.state)).add(sexp(*b.start)));
  if (b.condition)
    s.add(Sexp::list("while").add(sexp(*b.condition)));
  return s.add(sexp(b.body));
}

Sexp sexp(const SubscriptExpr &e) {
  Sexp s = Sexp::list("at");
  s.add(sexp(*e.base));
  for (const Sub &sub : e.subs) {
    if (!sub.isSlice) {
      s.add(sexp(*sub.index));
      continue;
    }
    Sexp slice = Sexp::list("slice");
    slice.add(sub.low ? sexp(*sub.low) : Sexp("_"));
    s.add(slice.add(sub.high ? sexp(*sub.high) : Sexp("_")));
  }
  return s;
}

Sexp sexp(const Expr &e) {
  switch (e.kind) {
  case Expr::Kind::Number: {
    auto &n = *e.as<NumberExpr>();
    return n.isInteger ? std::to_string(n.integer) : numberText(n.value);
  }
  case Expr::Kind::Bool:
    return e.as<BoolExpr>()->value ? "true" : "false";
  case Expr::Kind::Name:
    return e.as<NameExpr>()->name;
  case Expr::Kind::Tuple:
    return sexpOf("tuple", e.as<TupleExpr>()->elements);
  case Expr::Kind::Join:
    return sexpOf("join", e.as<JoinExpr>()->elements);
  case Expr::Kind::If: {
    auto &i = *e.as<IfExpr>();
    return Sexp::list("if").add(sexp(*i.condition)).add(sexp(i.thenBlock)).add(sexp(i.elseBlock));
  }
  case Expr::Kind::Match:
    return sexp(*e.as<MatchExpr>());
  case Expr::Kind::Binder:
    return sexp(*e.as<BinderExpr>());
  case Expr::Kind::Unary: {
    auto &u = *e.as<UnaryExpr>();
    return Sexp::list(spelling(u.op)).add(sexp(*u.operand));
  }
  case Expr::Kind::Binary: {
    auto &b = *e.as<BinaryExpr>();
    return Sexp::list(spelling(b.op)).add(sexp(*b.lhs)).add(sexp(*b.rhs));
  }
  case Expr::Kind::Range: {
    auto &r = *e.as<RangeExpr>();
    return Sexp::list("..").add(sexp(*r.low)).add(sexp(*r.high));
  }
  case Expr::Kind::Member: {
    auto &m = *e.as<MemberExpr>();
    return Sexp::list(".").add(sexp(*m.base)).add(m.member.text);
  }
  case Expr::Kind::Call: {
    auto &c = *e.as<CallExpr>();
    Sexp s = Sexp::list("call");
    s.add(sexp(*c.callee));
    for (const ExprPtr &a : c.args)
      s.add(sexp(*a));
    if (c.axis)
      s.add(Sexp::list("axis").add(sexp(*c.axis)));
    for (const NamedArg &setting : c.settings)
      s.add(Sexp::list(setting.name.text).add(sexp(*setting.value)));
    return s;
  }
  case Expr::Kind::Subscript:
    return sexp(*e.as<SubscriptExpr>());
  case Expr::Kind::Record: {
    auto &r = *e.as<RecordExpr>();
    Sexp s = Sexp::list("record");
    s.add(qualified(r.module, r.record));
    for (const FieldInit &f : r.fields)
      s.add(Sexp::list(f.name.text).add(sexp(*f.value)));
    return s;
  }
  }
  return "";
}

Sexp sexp(const TypeExpr &t) {
  using Kind = TypeExpr::Kind;
  Sexp head("");
  switch (t.kind) {
  case Kind::F32:
    head = "f32";
    break;
  case Kind::Int:
    head = "int";
    break;
  case Kind::Bool:
    head = "bool";
    break;
  case Kind::Index:
    head = Sexp::list("index").add(sexp(*t.bound));
    break;
  case Kind::List:
    return Sexp::list("list").add(sexp(*t.elements[0]));
  case Kind::Table:
    return Sexp::list("table").add(sexp(*t.elements[0])).add(sexp(*t.count));
  case Kind::Tuple: {
    Sexp s = Sexp::list("tuple");
    for (const TypeExprPtr &element : t.elements)
      s.add(sexp(*element));
    return s;
  }
  case Kind::Named: {
    std::string name = qualified(t.module, t.name);
    return t.shape.empty() ? Sexp(name) : sexpOf(name.c_str(), t.shape);
  }
  }
  if (t.shape.empty())
    return head;
  Sexp s = Sexp::list("tensor");
  s.add(std::move(head));
  for (const ExprPtr &extent : t.shape)
    s.add(sexp(*extent));
  return s;
}

void addDims(Sexp &s, const std::vector<Ident> &dims) {
  if (dims.empty())
    return;
  Sexp list = Sexp::list("dims");
  for (const Ident &d : dims)
    list.add(d.text);
  s.add(std::move(list));
}

void addFields(Sexp &s, const std::vector<Field> &fields) {
  for (const Field &f : fields)
    s.add(Sexp::list(f.name.text).add(sexp(*f.annotation)));
}

Sexp sexp(const Init &init) {
  switch (init.kind) {
  case Init::Kind::Number:
    return numberText(init.first);
  case Init::Kind::Uniform:
    return Sexp::list("uniform").add(numberText(init.first)).add(numberText(init.second));
  case Init::Kind::Normal:
    return Sexp::list("normal").add(numberText(init.first)).add(numberText(init.second));
  case Init::Kind::Glorot:
    return Sexp::list("glorot");
  }
  return "";
}

Sexp sexp(const FuncDecl &f) {
  Sexp s = Sexp::list(spelling(f.funcKind));
  s.add(f.name.text);
  addDims(s, f.dims);
  Sexp args = Sexp::list("args");
  for (const FuncArg &a : f.args) {
    Sexp arg = Sexp::list(a.name.text);
    args.add(a.ranged() ? arg.add(Sexp::list("in").add(sexp(*a.low)).add(sexp(*a.high)))
                        : arg.add(sexp(*a.annotation)));
  }
  s.add(std::move(args));
  if (f.result)
    s.add(Sexp::list("result").add(sexp(*f.result)));
  if (f.measure)
    s.add(Sexp::list("by").add(sexp(*f.measure)));
  return s.add(sexp(f.body));
}

Sexp sexp(const Decl &d) {
  switch (d.kind) {
  case Decl::Kind::Dim: {
    auto &dim = *d.as<DimDecl>();
    Sexp s = Sexp::list("dim").add(d.name.text);
    return dim.value ? s.add(sexp(*dim.value)) : s;
  }
  case Decl::Kind::Const: {
    auto &c = *d.as<ConstDecl>();
    return Sexp::list("const").add(d.name.text).add(c.value ? sexp(*c.value) : sexp(*c.annotation));
  }
  case Decl::Kind::Param: {
    auto &p = *d.as<ParamDecl>();
    Sexp s = Sexp::list("param").add(d.name.text).add(sexp(*p.annotation));
    return p.init ? s.add(sexp(*p.init)) : s;
  }
  case Decl::Kind::Data: {
    Sexp s = Sexp::list("data").add(d.name.text);
    for (const Constructor &c : d.as<DataDecl>()->constructors) {
      Sexp constructor = Sexp::list(c.name.text);
      addFields(constructor, c.fields);
      s.add(std::move(constructor));
    }
    return s;
  }
  case Decl::Kind::Record: {
    auto &r = *d.as<RecordDecl>();
    Sexp s = Sexp::list("record").add(d.name.text);
    addDims(s, r.dims);
    addFields(s, r.fields);
    return s;
  }
  case Decl::Kind::Layer: {
    auto &l = *d.as<LayerDecl>();
    Sexp s = Sexp::list("layer").add(d.name.text);
    addDims(s, l.dims);
    for (const DeclPtr &member : l.members)
      s.add(sexp(*member));
    return s;
  }
  case Decl::Kind::Func:
    return sexp(*d.as<FuncDecl>());
  }
  return "";
}

} // namespace

void dump(const Expr &expr, std::ostream &out) {
  sexp(expr).print(out, 0);
  out << '\n';
}

void dump(const File &file, std::ostream &out) {
  out << '(' << (file.isModule ? "module " : "model ") << file.name.text << ")\n";
  for (const Import &import : file.imports) {
    out << "(import";
    for (const Ident &name : import.path)
      out << ' ' << name.text;
    out << ")\n";
  }
  for (const DeclPtr &d : file.decls) {
    sexp(*d).print(out, 0);
    out << '\n';
  }
}

} // namespace dbc::frontend
