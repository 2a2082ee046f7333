// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model's names as numbers of the tape's texts, worked out once, so that reading a line compares numbers
// only.
#pragma once

#include <cstdint>
#include <dbc/model_info.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace dbc::io {

/// A constructor of a data type.
struct Constructor {
  int32_t data = -1, kind = -1;
};

struct Schema {
  Schema(const ModelInfo &model, const EntryInfo &entry);

  const ModelInfo &model;
  const EntryInfo &entry;
  int32_t entry_number = -1;                                 ///< in model.entries, by name
  std::vector<std::string> texts;                            ///< what the tape knows, no text twice
  uint32_t nodes, args, weight, target, nan, inf, minus_inf; ///< numbers of these words in `texts`

  /// By text: the constructors of that name ("Leaf"), or the one of that qualified name ("Tree.Leaf").
  std::vector<std::vector<Constructor>> constructors;
  /// Numbers of the fields' names, by data type and constructor.
  std::vector<std::vector<std::vector<uint32_t>>> fields;
  std::vector<uint32_t> arg_names; ///< of this entry
  std::vector<bool> other_args; ///< by text: whether another entry of the model has an argument of this name
  std::vector<std::string> constructor_names; ///< for hints
  int depth = 0;                              ///< containers that a line can nest
  size_t max_names = 0; ///< most fields in a constructor, arguments, or fields of a record

  std::string node_name(Constructor c) const { return model.datas[c.data].constructors[c.kind].name; }

private:
  uint32_t number(const std::string &text);
  std::unordered_map<std::string, uint32_t> numbers_;
};

/// A type as the source writes it: "index[10]", "[Tree]", "(f32, f32[3])".
std::string type_name(const ModelInfo &model, const TypeInfo &type);

/// Containers in a value of this type, one inside the other.
int nesting(const TypeInfo &type);

} // namespace dbc::io
