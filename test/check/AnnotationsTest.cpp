// What lowering relies on: in every program without errors, each expression that is a value has a final type,
// and each name, call, member and subscript is resolved.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"

#include <gtest/gtest.h>

using namespace dbc::frontend;

namespace {

/// Walks a tree and notes what is missing.
class Auditor {
public:
  explicit Auditor(const SourceManager &sources) : sources_(sources) {}
  std::string missing;

  void block(const CodeBlock &block) {
    for (const Let &let : block.lets) {
      value(*let.value);
      pattern(*let.pattern);
    }
    value(*block.result);
  }

  void pattern(const Pattern &pattern) {
    expect(isFinal(pattern.type), pattern.range, "no type");
    expect(pattern.kind != Pattern::Kind::Name || pattern.resolved, pattern.range, "declares nothing");
    for (const PatternPtr &element : pattern.elements)
      this->pattern(*element);
  }

  void value(const Expr &expr) {
    expect(isFinal(expr.type), expr.range, "no type");
    switch (expr.kind) {
    case Expr::Kind::Number:
    case Expr::Kind::Bool:
      break;
    case Expr::Kind::Name:
      expect(expr.resolved, expr.range, "not resolved");
      break;
    case Expr::Kind::Tuple:
      each(static_cast<const TupleExpr &>(expr).elements);
      break;
    case Expr::Kind::Join:
      each(static_cast<const JoinExpr &>(expr).elements);
      break;
    case Expr::Kind::If: {
      auto &conditional = static_cast<const IfExpr &>(expr);
      value(*conditional.condition);
      block(conditional.thenBlock);
      block(conditional.elseBlock);
      break;
    }
    case Expr::Kind::Match: {
      auto &match = static_cast<const MatchExpr &>(expr);
      expect(expr.resolved, expr.range, "not resolved");
      value(*match.subject);
      for (const MatchArm &arm : match.arms) {
        for (const ArmField &field : arm.fields)
          expect(field.resolved && isFinal(field.resolved->type), field.name.range, "declares nothing");
        block(arm.body);
      }
      break;
    }
    case Expr::Kind::Binder: {
      auto &binder = static_cast<const BinderExpr &>(expr);
      expect(expr.resolved, expr.range, "not resolved");
      value(*binder.list);
      pattern(*binder.element);
      if (binder.state) {
        pattern(*binder.state);
        value(*binder.start);
        expect(binder.state->type == binder.start->type, binder.start->range, "is not of the state's type");
        expect(binder.body.result->type == binder.start->type || !binder.start->type->isNumber(),
               binder.body.result->range, "is not of the state's type");
      }
      block(binder.body);
      break;
    }
    case Expr::Kind::Unary:
      value(*static_cast<const UnaryExpr &>(expr).operand);
      break;
    case Expr::Kind::Binary:
      value(*static_cast<const BinaryExpr &>(expr).lhs);
      value(*static_cast<const BinaryExpr &>(expr).rhs);
      break;
    case Expr::Kind::Range:
      value(*static_cast<const RangeExpr &>(expr).low);
      value(*static_cast<const RangeExpr &>(expr).high);
      break;
    case Expr::Kind::Member: {
      auto &base = *static_cast<const MemberExpr &>(expr).base;
      expect(expr.resolved, expr.range, "not resolved");
      if (base.type)
        value(base);
      break;
    }
    case Expr::Kind::Call: {
      auto &call = static_cast<const CallExpr &>(expr);
      expect(expr.resolved && expr.resolved->kind == Binding::Kind::Call, expr.range, "is no call");
      each(call.args);
      if (call.axis)
        value(*call.axis);
      if (expr.resolved && static_cast<const Call &>(*expr.resolved).receiver)
        value(*static_cast<const Call &>(*expr.resolved).receiver);
      break;
    }
    case Expr::Kind::Subscript: {
      auto &subscript = static_cast<const SubscriptExpr &>(expr);
      expect(expr.resolved, expr.range, "not resolved");
      value(*subscript.base);
      for (const Sub &sub : subscript.subs)
        for (const Expr *operand : {sub.index.get(), sub.low.get(), sub.high.get()})
          if (operand)
            value(*operand);
      break;
    }
    case Expr::Kind::Record:
      for (const FieldInit &field : static_cast<const RecordExpr &>(expr).fields)
        value(*field.value);
      break;
    }
  }

private:
  void each(const std::vector<ExprPtr> &exprs) {
    for (const ExprPtr &expr : exprs)
      value(*expr);
  }

  static bool isFinal(const Type *type) {
    if (!type || type->isError())
      return false;
    if (type->isNumber() && (type->scalar == Scalar::IntLiteral || type->scalar == Scalar::FloatLiteral))
      return false;
    if (type->element && !isFinal(type->element))
      return false;
    for (const Type *element : type->elements)
      if (!isFinal(element))
        return false;
    return true;
  }

  void expect(bool fine, SourceRange range, const char *what) {
    if (!fine)
      missing += std::string(sources_.text(range)) + ": " + what + "\n";
  }

  const SourceManager &sources_;
};

} // namespace

TEST(Annotations, Complete) {
  size_t audited = 0;
  for (const checktest::Case &one : checktest::allCases()) {
    SourceManager sources;
    DiagnosticEngine diags(sources);
    LoadOptions options;
    options.libraryDir = DBC_SOURCE_DIR "/dsl/lib";
    auto program = loadProgramText("m.dyn", one.source, options, sources, diags);
    if (!program)
      continue;
    auto checked = check(*program, diags);
    if (diags.hasErrors())
      continue;
    ++audited;
    Auditor auditor(sources);
    for (const FuncInfo *func : checked->allFunctions)
      auditor.block(func->decl->body);
    EXPECT_EQ(auditor.missing, "") << one.source;
  }
  EXPECT_GT(audited, 10u);
}
