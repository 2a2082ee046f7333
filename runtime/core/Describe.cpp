// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/describe.h>

#include <utility>

namespace dbc::types {

TypeInfo value(Elem elem, std::initializer_list<int64_t> extents) {
  TypeInfo t;
  t.elem = elem;
  t.extents = extents;
  return t;
}

TypeInfo index(int32_t bound, std::initializer_list<int64_t> extents) {
  TypeInfo t = value(Elem::Index, extents);
  t.bound = bound;
  return t;
}

TypeInfo node(int32_t data) {
  TypeInfo t = value(Elem::Node);
  t.data = data;
  return t;
}

TypeInfo list(TypeInfo element) {
  TypeInfo t;
  t.form = TypeInfo::Form::List;
  t.elements.push_back(std::move(element));
  return t;
}

TypeInfo tuple(std::initializer_list<TypeInfo> elements) {
  TypeInfo t;
  t.form = TypeInfo::Form::Tuple;
  t.elements = elements;
  return t;
}

TypeInfo record(const char *name, std::initializer_list<const char *> names,
                std::initializer_list<TypeInfo> elements) {
  TypeInfo t = tuple(elements);
  t.form = TypeInfo::Form::Record;
  t.name = name;
  t.names.assign(names.begin(), names.end());
  return t;
}

void add_data(ModelInfo &model, const char *name, int32_t columns) {
  model.datas.push_back({name, {}, columns});
}

void add_constructor(ModelInfo &model, const char *name, std::initializer_list<FieldInfo> fields) {
  model.datas.back().constructors.push_back({name, fields});
}

FieldInfo field(const char *name, TypeInfo type, int32_t column) { return {name, std::move(type), column}; }

InitInfo init(InitInfo::Kind kind, double a, double b) {
  InitInfo i;
  i.kind = kind;
  i.a = a;
  i.b = b;
  return i;
}

void add_parameter(ModelInfo &model, const char *path, std::initializer_list<int64_t> extents,
                   const InitInfo &init, bool is_const) {
  model.params.push_back({path, extents, init, is_const});
}

void add_entry(ModelInfo &model, const char *name, bool is_loss, TypeInfo result) {
  model.entries.push_back({name, is_loss, {}, std::move(result)});
}

void add_argument(ModelInfo &model, const char *name, TypeInfo type) {
  model.entries.back().args.push_back({name, std::move(type)});
}

} // namespace dbc::types
