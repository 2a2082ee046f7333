// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Sizes.h"

#include "frontend/check/Components.h"

namespace dbc::frontend {

static constexpr size_t kMostComponents = 1024; ///< of a value
static constexpr size_t kMostParams = 16384;    ///< of a model, with those of its layers

static const std::string kTooManyComponents =
    "has more than " + std::to_string(kMostComponents) +
    " components, each of a tuple or record counted as all that it holds";
static const std::string kFewerComponents = "numbers of one kind are one component as a tensor";

size_t Sizes::componentsOf(const Type *type) {
  auto sum = [&](const auto &elements, auto typeOf) {
    size_t count = 0;
    for (const auto &element : elements)
      count = std::min(count + componentsOf(typeOf(element)), kMostComponents + 1);
    return count;
  };
  switch (type->kind) {
  case Type::Kind::List:
    return componentsOf(type->element);
  case Type::Kind::Record: {
    auto [at, isNew] = recordComponents_.try_emplace(type->record, 0); // 0 while inside: then it is infinite
    if (isNew)
      at->second = sum(type->record->fields, [](const FieldInfo &field) { return field.type; });
    return at->second;
  }
  case Type::Kind::Tuple: {
    auto known = tupleComponents_.find(type);
    if (known == tupleComponents_.end())
      known = tupleComponents_.emplace(type, sum(type->elements, [](const Type *element) { return element; }))
                  .first;
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
  if (componentsOf(type) <= kMostComponents ||
      (type->isRecord() && recordComponents_[type->record] > kMostComponents))
    return true; // a record: reported where it is declared
  error(range, quote(range) + " " + kTooManyComponents, "T5").hint(kFewerComponents);
  return false;
}

namespace {

/// What a record or layer is directly made of.
void addContents(const Type *type, std::vector<const void *> &contents) {
  if (type->kind == Type::Kind::Record)
    contents.push_back(type->record);
  if (type->kind == Type::Kind::Layer)
    contents.push_back(type->layer);
  if (type->element)
    addContents(type->element, contents);
  for (const Type *element : type->elements)
    addContents(element, contents);
}

/// The records or layers that contain themselves.
std::map<const void *, size_t> inCircles(const std::map<const void *, std::vector<const void *>> &graph) {
  Graph<const void> edges;
  for (const auto &[from, contents] : graph)
    for (const void *to : contents)
      edges.edge(from, to);
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
      addContents(field.type, graph[&info]);
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
        addContents(member->type, graph[&info]);
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
    if (componentsOf(types_.record(&info, {})) > kMostComponents)
      tooLarge.push_back(&info);
  for (const RecordInfo *info : tooLarge) {
    bool holdsOther = false;
    for (const FieldInfo &field : info->fields)
      holdsOther |= holds(field.type, [&](const Type *inner) {
        return inner->isRecord() && recordComponents_[inner->record] > kMostComponents;
      });
    if (!holdsOther)
      error(info->decl->name.range, "record `" + info->name + "` " + kTooManyComponents, "T5")
          .hint(kFewerComponents);
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
