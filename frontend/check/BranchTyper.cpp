// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/BranchTyper.h"

#include <algorithm>

namespace dbc::frontend {

const Type *BranchTyper::inferIf(IfExpr &expr) {
  infer(*expr.condition);
  if (expr.condition->type->isTensor()) {
    coercion_.defaultLiterals(*expr.condition);
    error(expr.condition->range,
          "the condition " + quote(*expr.condition) + " is " + quote(expr.condition->type) +
              "; `if` asks one `bool`",
          "S3")
        .hint("elementwise: `select(c, x, y)`; or `any(c)`, `all(c)`");
  } else {
    coercion_.require(*expr.condition, types_.boolean(), "a condition is");
  }
  inference_.inferBlock(expr.thenBlock);
  inference_.inferBlock(expr.elseBlock);
  return unifyArms({&expr.thenBlock, &expr.elseBlock}, "`if`");
}

const Type *BranchTyper::inferMatch(MatchExpr &expr) {
  const Type *subject = value(*expr.subject);
  if (subject->isError())
    return fail();
  if (!subject->isNode())
    return refuse(expr.subject->range,
                  "`match` takes a node, but " + quote(*expr.subject) + " is " + quote(subject), "T6");
  const DataInfo &data = *subject->data;
  expr.resolved = data.decl->resolved;
  std::vector<CodeBlock *> bodies;
  std::map<std::string, const MatchArm *> seen;
  const MatchArm *wildcard = nullptr;
  bool allKnown = true;
  for (MatchArm &arm : expr.arms) {
    size_t mark = scopes_.mark();
    if (wildcard)
      error(arm.patternRange, "this arm is never reached: `_` before it takes what is left", "T6")
          .note(wildcard->patternRange, "`_` stands here");
    if (arm.wildcard()) {
      wildcard = &arm;
    } else {
      int index = data.constructorIndex(arm.constructor.text);
      auto [at, isNew] = seen.emplace(arm.constructor.text, &arm);
      if (index < 0) {
        allKnown = false;
        std::vector<std::string> names;
        for (const ConstructorInfo &constructor : data.constructors)
          names.push_back(constructor.name);
        error(arm.constructor.range, "`" + data.name + "` has no constructor `" + arm.constructor.text + "`",
              "T6")
            .note(data.decl->name.range, "`" + data.name + "` is declared here")
            .hint(didYouMean(arm.constructor.text, names));
        for (ArmField &field : arm.fields)
          field.resolved = scopes_.declareLocal(field.name, types_.error(), Binding::LocalKind::ArmField);
      } else {
        if (!isNew)
          error(arm.constructor.range, "`" + arm.constructor.text + "` has two arms", "T6")
              .note(at->second->patternRange, "the first is here");
        bindArm(arm, data.constructors[index]);
      }
    }
    inference_.inferBlock(arm.body);
    bodies.push_back(&arm.body);
    scopes_.leave(mark);
  }
  if (!wildcard && allKnown) // a misspelt arm is one error
    checkExhaustive(expr, data);
  return unifyArms(bodies, "`match`");
}

void BranchTyper::bindArm(MatchArm &arm, const ConstructorInfo &constructor) {
  for (size_t i = 0; i < arm.fields.size(); ++i) {
    ArmField &field = arm.fields[i];
    int index = constructor.fieldIndex(field.field.text);
    if (index < 0) {
      std::vector<std::string> names;
      for (const FieldInfo &candidate : constructor.fields)
        names.push_back(candidate.name);
      Diagnostic &unknown =
          error(field.field.range, "`" + constructor.name + "` has no field `" + field.field.text + "`", "T6")
              .note(constructor.range, "`" + constructor.name + "` is declared here");
      if (std::string near = didYouMean(field.field.text, names); !near.empty())
        unknown.hint(near);
      else if (!names.empty()) // as if arms took fields by position
        unknown.hint("fields are bound by name: `" + constructor.name + "(" + names[std::min(i, names.size() - 1)] +
                     " = " + field.name.text + ")`");
    }
    for (size_t k = 0; k < i; ++k)
      if (arm.fields[k].field.text == field.field.text)
        error(field.field.range, "`" + field.field.text + "` is bound twice", "T6")
            .note(arm.fields[k].field.range, "first bound here");
    const Type *type = index < 0 ? types_.error() : constructor.fields[index].type;
    field.resolved = scopes_.declareLocal(field.name, type, Binding::LocalKind::ArmField);
    field.resolved->index = static_cast<unsigned>(std::max(index, 0));
  }
}

void BranchTyper::checkExhaustive(const MatchExpr &expr, const DataInfo &data) {
  std::string missing;
  for (const ConstructorInfo &constructor : data.constructors) {
    bool found = std::any_of(expr.arms.begin(), expr.arms.end(),
                             [&](const MatchArm &arm) { return arm.constructor.text == constructor.name; });
    if (!found)
      missing += (missing.empty() ? "`" : ", `") + constructor.name + "`";
  }
  if (missing.empty())
    return;
  error(expr.subject->range, "this `match` on " + quote(*expr.subject) + " has no arm for " + missing, "T6")
      .note(data.decl->name.range, "`" + data.name + "` is declared here")
      .hint("add what is missing, or `_ => ..`");
}

const Type *BranchTyper::unifyArms(const std::vector<CodeBlock *> &arms, const char *what) {
  const Type *type = nullptr;
  const Expr *first = nullptr;
  for (CodeBlock *arm : arms) {
    const Expr &result = *arm->result;
    if (result.type->isError())
      continue;
    if (!coercion_.refuseLayer(result))
      return fail();
    if (!type) {
      type = result.type;
      first = &result;
      continue;
    }
    const Type *both = rules_.unify(type, result.type);
    if (!both) {
      Diagnostic &diagnostic = error(result.range,
                                     std::string("the arms of ") + what + " differ: this one gives " +
                                         quote(rules_.defaulted(result.type)) + ", an earlier one " +
                                         quote(rules_.defaulted(type)),
                                     Coercion::ruleFor(type, result.type));
      diagnostic.note(first->range, "this gives " + quote(rules_.defaulted(first->type)));
      reporter_.noteNamesakes(diagnostic, result.type, type);
      std::string hint = coercion_.hintFor(result, result.type, type);
      diagnostic.hint(hint.empty() ? coercion_.hintFor(*first, first->type, result.type) : hint);
      return fail();
    }
    type = both;
  }
  if (!type)
    return fail();
  // A literal beside an index is one too if it is assignable at every size, else both are ints.
  if (type->isScalar(Scalar::Index))
    for (CodeBlock *arm : arms) {
      std::optional<Shape> literal = CheckedProgram::asShape(*arm->result);
      if (arm->result->type->isScalar(Scalar::IntLiteral) &&
          !(literal && literal->provenNonNegative() &&
            (type->bound - *literal - Shape(1)).provenNonNegative()))
        type = types_.integer();
      if (!type->isScalar(Scalar::Index))
        break;
    }
  for (CodeBlock *arm : arms)
    coercion_.coerce(*arm->result, type);
  return type;
}

} // namespace dbc::frontend
