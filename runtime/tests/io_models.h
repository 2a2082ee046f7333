// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Models for the tests of runtime/io, as generated code would describe them.
#pragma once

#include <algorithm>
#include <dbc/model_info.h>
#include <string>
#include <utility>
#include <vector>

namespace dbc::test {

inline TypeInfo value(Elem elem, std::vector<int64_t> extents = {}) {
  TypeInfo t;
  t.elem = elem;
  t.extents = std::move(extents);
  return t;
}
inline TypeInfo f32(std::vector<int64_t> extents = {}) { return value(Elem::F32, std::move(extents)); }
inline TypeInfo index(int32_t bound, std::vector<int64_t> extents = {}) {
  TypeInfo t = value(Elem::Index, std::move(extents));
  t.bound = bound;
  return t;
}
inline TypeInfo node(int32_t data) {
  TypeInfo t = value(Elem::Node);
  t.data = data;
  return t;
}
inline TypeInfo list(TypeInfo element) {
  TypeInfo t;
  t.form = TypeInfo::Form::List;
  t.elements = {std::move(element)};
  return t;
}
inline TypeInfo tuple(std::vector<TypeInfo> elements) {
  TypeInfo t;
  t.form = TypeInfo::Form::Tuple;
  t.elements = std::move(elements);
  return t;
}
inline TypeInfo record(std::string name, std::vector<std::pair<std::string, TypeInfo>> fields) {
  TypeInfo t;
  t.form = TypeInfo::Form::Record;
  t.name = std::move(name);
  for (auto &[field, type] : fields) {
    t.names.push_back(field);
    t.elements.push_back(type);
  }
  return t;
}

using Fields = std::vector<std::pair<std::string, TypeInfo>>;

/// A data type; fields of one name share a column (their types agree in these models).
inline DataInfo data(std::string name, std::vector<std::pair<std::string, Fields>> constructors) {
  DataInfo d;
  d.name = std::move(name);
  std::vector<std::string> columns;
  for (auto &[constructor, fields] : constructors) {
    ConstructorInfo c;
    c.name = constructor;
    for (auto &[field, type] : fields) {
      auto at = std::find(columns.begin(), columns.end(), field);
      c.fields.push_back({field, type, static_cast<int32_t>(at - columns.begin())});
      if (at == columns.end())
        columns.push_back(field);
    }
    d.constructors.push_back(c);
  }
  d.columns = static_cast<int32_t>(columns.size());
  return d;
}

inline EntryInfo entry(std::string name, Fields args, TypeInfo result) {
  EntryInfo e;
  e.name = std::move(name);
  for (auto &[arg, type] : args)
    e.args.push_back({arg, type});
  e.result = std::move(result);
  return e;
}

/// Binary trees with a word at each leaf.
inline ModelInfo tree_model() {
  ModelInfo m;
  m.name = "tree_lstm";
  m.datas = {data("Tree", {{"Leaf", {{"word", index(10)}, {"label", index(5)}}},
                           {"Node", {{"left", node(0)}, {"right", node(0)}, {"label", index(5)}}}})};
  m.params = {{"E", {10, 3}, {}, false},
              {"fwd.W", {2, 3}, {}, false},
              {"fwd.b", {2}, {}, false},
              {"s", {}, {}, true}};
  m.entries = {entry("sentiment", {{"t", node(0)}}, f32({5})),
               entry("kl", {{"t", node(0)}, {"target", f32({2})}}, f32())};
  return m;
}

/// Trees of any width: recursion through a list only.
inline ModelInfo wide_model() {
  ModelInfo m;
  m.name = "wide";
  m.datas = {data("Tree", {{"Tree", {{"word", index(7)}, {"children", list(node(0))}}}})};
  m.entries = {entry("pair", {{"a", node(0)}, {"b", node(0)}}, f32())};
  return m;
}

/// A lattice: two types that refer to each other.
inline ModelInfo lattice_model() {
  ModelInfo m;
  m.name = "lattice";
  m.datas = {
      data("Char", {{"Char", {{"glyph", index(9)}, {"before", list(node(0))}, {"ending", list(node(1))}}}}),
      data("Word", {{"Word", {{"form", index(4)}, {"start", node(0)}}}})};
  m.entries = {entry("tag", {{"f", list(node(0))}, {"b", list(node(0))}}, list(index(3)))};
  return m;
}

/// Every kind of field and argument, and a constructor name that two types have.
inline ModelInfo kinds_model() {
  ModelInfo m;
  m.name = "kinds";
  TypeInfo state = record("State", {{"h", f32({2})}, {"n", value(Elem::Int)}, {"at", node(0)}});
  m.datas = {data("Thing", {{"Plain",
                             {{"i", value(Elem::Int)},
                              {"b", value(Elem::Bool)},
                              {"f", f32()},
                              {"m", f32({2, 2})},
                              {"iv", index(4, {3})},
                              {"bv", value(Elem::Bool, {2})}}},
                            {"Lists",
                             {{"ks", list(index(4))},
                              {"bs", list(value(Elem::Bool))},
                              {"fs", list(f32())},
                              {"vs", list(f32({2}))},
                              {"nest", list(list(node(0)))},
                              {"holders", list(node(1))}}},
                            {"Empty", {}}}),
             data("Holder", {{"Empty", {}}, {"Full", {{"thing", node(0)}, {"holder", node(1)}}}})};
  m.entries = {entry("all",
                     {{"s", state},
                      {"pairs", list(tuple({value(Elem::Bool), node(1)}))},
                      {"deep", list(list(record("Pair", {{"x", f32()}, {"y", index(6, {2})}})))}},
                     tuple({f32(), list(state), list(list(tuple({value(Elem::Bool), node(0)})))})),
               entry("none", {}, value(Elem::Int))};
  return m;
}

} // namespace dbc::test
