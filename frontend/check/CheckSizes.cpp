// What a short text makes large, by doubling: values of many parts, layers of many params, fns that call fns.
// Nothing else in a model becomes more than a small multiple of its text, so these have limits of their own.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"
#include "frontend/check/Components.h"

namespace dbc::frontend {

static constexpr size_t kMostParts = 1024;           ///< of a value
static constexpr size_t kMostParams = 16384;         ///< of a model, with those of its layers
static constexpr uint64_t kMostExpressions = 131072; ///< that fns add to a model
static constexpr unsigned kDeepest = 2500;           ///< expressions inside one another, fns put in

//===--------------------------------------------------------------------===//
// Values
//===--------------------------------------------------------------------===//

static const std::string kTooManyParts = "has more than " + std::to_string(kMostParts) +
                                         " parts, each of a tuple or record counted as all that it holds";
static const std::string kFewerParts = "numbers of one kind are one part as a tensor";

size_t Checker::partsOf(const Type *type) {
  auto sum = [&](const auto &parts, auto typeOf) {
    size_t count = 0;
    for (const auto &part : parts)
      count = std::min(count + partsOf(typeOf(part)), kMostParts + 1);
    return count;
  };
  switch (type->kind) {
  case Type::Kind::List:
    return partsOf(type->element);
  case Type::Kind::Record: {
    auto [at, isNew] = recordParts_.try_emplace(type->record, 0); // 0 while inside: then it is infinite
    if (isNew)
      at->second = sum(type->record->fields, [](const FieldInfo &field) { return field.type; });
    return at->second;
  }
  case Type::Kind::Tuple: {
    auto known = parts_.find(type);
    if (known == parts_.end())
      known = parts_.emplace(type, sum(type->parts, [](const Type *part) { return part; })).first;
    return known->second;
  }
  default:
    return 1;
  }
}

bool Checker::isBounded(const Type *type, SourceRange range) {
  if (!type || type->isError())
    return true;
  for (const std::vector<Shape> *shapes : {&type->extents, &type->arguments})
    for (const Shape &shape : *shapes)
      if (shape.overflowed()) {
        error(range, "an extent of " + quote(range) + " " + shape.excess(), "T1");
        return false;
      }
  if (type->bound.overflowed()) {
    error(range, "the bound of " + quote(range) + " " + type->bound.excess(), "T1");
    return false;
  }
  if (partsOf(type) <= kMostParts || (type->isRecord() && recordParts_[type->record] > kMostParts))
    return true; // a record: reported where it is declared
  error(range, quote(range) + " " + kTooManyParts, "T5").hint(kFewerParts);
  return false;
}

const Type *Checker::boundedType(TypeExpr &expr, TypePlace place) {
  const Type *type = resolveType(expr, place);
  return isBounded(type, expr.range) ? type : expr.type = types_.error();
}

/// Of records that hold each other the innermost is reported.
void Checker::checkRecordSizes() {
  std::vector<const RecordInfo *> tooLarge;
  for (const RecordInfo &info : out_.recordInfos)
    if (partsOf(types_.record(&info, {})) > kMostParts)
      tooLarge.push_back(&info);
  for (const RecordInfo *info : tooLarge) {
    bool holdsOther = false;
    for (const FieldInfo &field : info->fields)
      holdsOther |= holds(field.type, [&](const Type *part) {
        return part->isRecord() && recordParts_[part->record] > kMostParts;
      });
    if (!holdsOther)
      error(info->decl->name.range, "record `" + info->name + "` " + kTooManyParts, "T5").hint(kFewerParts);
  }
}

//===--------------------------------------------------------------------===//
// Layers
//===--------------------------------------------------------------------===//

/// The params of layers that hold layers, as the application sees them (N4).
void Checker::checkParamCount() {
  std::map<const LayerInfo *, size_t> counts;
  std::function<size_t(const Binding *)> countOf = [&](const Binding *member) -> size_t {
    const Type *type = member->type;
    if (!type || member->kind == Binding::Kind::Func)
      return 0;
    const LayerInfo *layer = type->isTable() ? type->element->layer : type->layer;
    if (!layer)
      return 1;
    auto [at, isNew] = counts.try_emplace(layer, 0);
    if (isNew)
      for (const Binding *inner : layer->members)
        at->second = std::min(at->second + countOf(inner), kMostParams + 1);
    return at->second;
  };
  size_t count = 0;
  for (const Binding *param : out_.params) {
    count += countOf(param);
    if (count <= kMostParams)
      continue;
    error(param->range,
          "with `" + param->name + "` the model has more than " + std::to_string(kMostParams) +
              " params, each of a layer counted as all that it holds",
          "N3")
        .hint("a table of n layers has the params of one: `[L; n]`");
    return;
  }
}

//===--------------------------------------------------------------------===//
// Fns
//===--------------------------------------------------------------------===//

static uint64_t plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
static uint64_t times(uint64_t a, uint64_t b) { return b && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/// What a function becomes; that of the fns that it calls is known.
Checker::Expanded Checker::expand(const FuncInfo *func) {
  const BodySize &size = sizes_[func];
  Expanded result{size.met - size.written, size.depth, nullptr};
  uint64_t most = 0;
  for (const CallSite &site : calls_[func]) {
    if (site.callee->decl->funcKind != FuncDecl::FuncKind::Fn)
      continue;
    const Expanded &callee = expanded_[site.callee];
    uint64_t adds = times(site.times, plus(callee.added, sizes_[site.callee].written));
    result.added = plus(result.added, adds);
    result.depth = std::max(result.depth, site.depth + callee.depth);
    if (adds > most)
      result.largest = &site;
    most = std::max(most, adds);
  }
  return result;
}

/// Fns are put in where they are called, so what calls two fns that call two fns .. grows by doubling; so
/// does a `while` in a `while`, which is put in twice.
void Checker::checkExpansion() {
  Graph<const FuncInfo> graph;
  for (const FuncInfo &func : out_.funcInfos)
    graph.node(&func);
  for (const auto &[caller, sites] : calls_)
    for (const CallSite &site : sites)
      graph.edge(caller, site.callee);
  uint64_t total = 0;
  for (const auto &component : graph.components()) // callees first; circles are of cells
    for (const FuncInfo *func : component) {
      const Expanded &mine = expanded_[func] = expand(func);
      if (func->decl->funcKind != FuncDecl::FuncKind::Fn)
        total = plus(total, mine.added);
      std::string name = "`" + func->name + "`", problem;
      if (mine.depth > kDeepest)
        problem =
            "in " + name + " more than " + std::to_string(kDeepest) + " expressions lie inside one another";
      else if (mine.added > kMostExpressions)
        problem = name + " becomes more than " + std::to_string(kMostExpressions) + " expressions";
      else if (total > kMostExpressions)
        problem = "with " + name + " the model becomes more than " + std::to_string(kMostExpressions) +
                  " expressions";
      if (!problem.empty())
        return reportExpansion(*func, problem);
    }
}

void Checker::reportExpansion(const FuncInfo &func, const std::string &problem) {
  const CallSite *largest = expanded_[&func].largest;
  Diagnostic &diagnostic = error(
      func.decl->name.range,
      problem + (largest ? ": a fn is put in where it is called" : ": what a `while` asks is put in twice"),
      largest ? "C1" : "S4");
  if (largest)
    diagnostic.note(largest->range, "most of it is `" + largest->callee->name + "`")
        .hint("call the fn once and use its value, or make it a `cell`");
  else
    diagnostic.hint("keep in the state what the inner `while` finds out");
}

} // namespace dbc::frontend
