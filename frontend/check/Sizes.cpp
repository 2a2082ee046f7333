// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Sizes.h"

#include "frontend/check/Components.h"

namespace dbc::frontend {

static constexpr size_t kMostParts = 1024;   ///< of a value
static constexpr size_t kMostParams = 16384; ///< of a model, with those of its layers

static const std::string kTooManyParts = "has more than " + std::to_string(kMostParts) +
                                         " parts, each of a tuple or record counted as all that it holds";
static const std::string kFewerParts = "numbers of one kind are one part as a tensor";

size_t Sizes::partsOf(const Type *type) {
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

bool Sizes::isBounded(const Type *type, SourceRange range) {
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

namespace {

/// What a record or layer is directly made of.
void addParts(const Type *type, std::vector<const void *> &parts) {
  if (type->kind == Type::Kind::Record)
    parts.push_back(type->record);
  if (type->kind == Type::Kind::Layer)
    parts.push_back(type->layer);
  if (type->element)
    addParts(type->element, parts);
  for (const Type *part : type->parts)
    addParts(part, parts);
}

/// The records or layers that contain themselves.
std::map<const void *, size_t> inCircles(const std::map<const void *, std::vector<const void *>> &graph) {
  Graph<const void> edges;
  for (const auto &[from, parts] : graph)
    for (const void *part : parts)
      edges.edge(from, part);
  return edges.circleNumbers();
}

/// Depth-first search for a way from `start` back to itself.
bool reaches(const void *from, const void *start, std::map<const void *, std::vector<const void *>> &graph,
             std::set<const void *> &seen, std::vector<const void *> &chain) {
  for (const void *next : graph[from]) {
    if (next == start)
      return true;
    if (!seen.insert(next).second)
      continue;
    chain.push_back(next);
    if (reaches(next, start, graph, seen, chain))
      return true;
    chain.pop_back();
  }
  return false;
}

} // namespace

void Sizes::checkRecords() {
  std::map<const void *, std::vector<const void *>> graph;
  for (RecordInfo &info : out_.recordInfos)
    for (FieldInfo &field : info.fields)
      addParts(field.type, graph[&info]);
  std::map<const void *, size_t> infinite = inCircles(graph);
  for (RecordInfo &info : out_.recordInfos)
    if (infinite.count(&info))
      error(info.decl->name.range, "record `" + info.name + "` contains itself", "T5")
          .hint("recursive structure is `data`, which comes from the application");
  if (infinite.empty())
    checkRecordSizes();
}

bool Sizes::checkLayers() {
  std::map<const void *, std::vector<const void *>> graph;
  for (LayerInfo &info : out_.layerInfos)
    for (const Binding *member : info.members)
      if (member->kind == Binding::Kind::Param)
        addParts(member->type, graph[&info]);
  std::map<const void *, size_t> infinite = inCircles(graph);
  std::set<const void *> reported; // a circle is one error
  for (LayerInfo &info : out_.layerInfos) {
    if (!infinite.count(&info) || reported.count(&info))
      continue;
    std::set<const void *> seen;
    std::vector<const void *> chain;
    reaches(&info, &info, graph, seen, chain);
    reported.insert(chain.begin(), chain.end());
    reported.insert(&info);
    std::string text = "`" + info.name + "`";
    for (const void *via : chain)
      text += " has `" + static_cast<const LayerInfo *>(via)->name + "`, which";
    Diagnostic &diagnostic = error(info.decl->name.range,
                                   "layer " + text + (chain.empty() ? " contains itself" : " has it again") +
                                       "; a layer is a fixed set of params",
                                   "N3");
    const void *first = chain.empty() ? &info : chain[0];
    for (const Binding *member : info.members)
      if (member->kind == Binding::Kind::Param && member->type->layer == first)
        diagnostic.note(member->range, "through this param");
  }
  if (reported.empty())
    checkParamCount();
  return reported.empty();
}

/// Of records that hold each other the innermost is reported.
void Sizes::checkRecordSizes() {
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

/// The params of layers that hold layers, as the application sees them (N4).
void Sizes::checkParamCount() {
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

} // namespace dbc::frontend
