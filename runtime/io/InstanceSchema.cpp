// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model's names as numbers, see InstanceSchema.h.
#include "InstanceSchema.h"

#include <algorithm>

namespace dbc::io {

uint32_t Schema::number(const std::string &text) {
  auto [it, fresh] = numbers_.emplace(text, static_cast<uint32_t>(texts.size()));
  if (fresh)
    texts.push_back(text);
  return it->second;
}

int nesting(const TypeInfo &type) {
  if (type.form == TypeInfo::Form::Value)
    return static_cast<int>(type.extents.size());
  int most = 0;
  for (const TypeInfo &element : type.elements)
    most = std::max(most, nesting(element));
  return most + 1;
}

namespace {
size_t most_names(const TypeInfo &type) {
  size_t most = type.names.size();
  for (const TypeInfo &element : type.elements)
    most = std::max(most, most_names(element));
  return most;
}
} // namespace

Schema::Schema(const ModelInfo &model, const EntryInfo &entry) : model(model), entry(entry) {
  nodes = number("nodes");
  args = number("args");
  weight = number("weight");
  target = number("target");
  nan = number("nan");
  inf = number("inf");
  minus_inf = number("-inf");

  // Around a field's value stand the line's object, the array of nodes, the node's object and that of its
  // fields.
  int deepest = 4;
  for (const DataInfo &data : model.datas) {
    auto &of_data = fields.emplace_back();
    for (const ConstructorInfo &c : data.constructors) {
      auto &of_constructor = of_data.emplace_back();
      for (const FieldInfo &f : c.fields) {
        of_constructor.push_back(number(f.name));
        deepest = std::max(deepest, 4 + nesting(f.type));
      }
      max_names = std::max(max_names, c.fields.size());
    }
  }
  for (const ArgInfo &arg : entry.args) {
    arg_names.push_back(number(arg.name));
    deepest = std::max(deepest, 2 + nesting(arg.type));
    max_names = std::max(max_names, most_names(arg.type));
  }
  max_names = std::max(max_names, entry.args.size());
  // Arguments of other entries, which a line may hold too, may be deeper than anything here.
  for (const EntryInfo &other : model.entries) {
    if (other.name == entry.name)
      entry_number = static_cast<int32_t>(&other - model.entries.data());
    for (const ArgInfo &arg : other.args) {
      uint32_t n = number(arg.name);
      if (other_args.size() <= n)
        other_args.resize(n + 1);
      other_args[n] = true;
      deepest = std::max(deepest, 2 + nesting(arg.type));
    }
  }
  // A few more, so that one pair of brackets too many is reported at its field.
  depth = deepest + 4;

  for (size_t d = 0; d < model.datas.size(); ++d)
    for (size_t k = 0; k < model.datas[d].constructors.size(); ++k) {
      const std::string &name = model.datas[d].constructors[k].name;
      Constructor c{static_cast<int32_t>(d), static_cast<int32_t>(k)};
      for (uint32_t n : {number(name), number(model.datas[d].name + "." + name)}) {
        if (constructors.size() <= n)
          constructors.resize(n + 1);
        constructors[n].push_back(c);
      }
      if (std::find(constructor_names.begin(), constructor_names.end(), name) == constructor_names.end())
        constructor_names.push_back(name);
    }
  // Names of records' fields are looked up among the known texts too.
  std::vector<const TypeInfo *> types;
  for (const ArgInfo &arg : entry.args)
    types.push_back(&arg.type);
  while (!types.empty()) {
    const TypeInfo *t = types.back();
    types.pop_back();
    for (const std::string &name : t->names)
      number(name);
    for (const TypeInfo &element : t->elements)
      types.push_back(&element);
  }
  constructors.resize(texts.size());
  other_args.resize(texts.size());
}

std::string type_name(const ModelInfo &model, const TypeInfo &type) {
  std::string text;
  switch (type.form) {
  case TypeInfo::Form::List:
    return "[" + type_name(model, type.elements[0]) + "]";
  case TypeInfo::Form::Tuple:
    for (const TypeInfo &element : type.elements)
      text += (text.empty() ? "(" : ", ") + type_name(model, element);
    return text + ")";
  case TypeInfo::Form::Record:
    return type.name;
  case TypeInfo::Form::Value:
    break;
  }
  switch (type.elem) {
  case Elem::Index:
    text = "index[" + std::to_string(type.bound) + "]";
    break;
  case Elem::Int:
    text = "int";
    break;
  case Elem::Bool:
    text = "bool";
    break;
  case Elem::F32:
    text = "f32";
    break;
  case Elem::Node:
    text = model.datas[type.data].name;
    break;
  }
  for (size_t i = 0; i < type.extents.size(); ++i)
    text += (i ? ", " : "[") + std::to_string(type.extents[i]);
  return type.extents.empty() ? text : text + "]";
}

} // namespace dbc::io
