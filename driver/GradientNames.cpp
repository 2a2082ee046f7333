// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "driver/GradientNames.h"
#include "frontend/syntax/Diagnostics.h"
#include "oracle/Describe.h"
#include "llvm/ADT/STLExtras.h"
#include <dbc/batch.h>
#include <map>

namespace dbc::driver {

namespace {
/// A field, or an argument of an entry or loss.
struct Candidate {
  std::string why;          ///< it has no gradient; empty: it has
  std::vector<int> columns; ///< of its data type
};
using Candidates = std::map<std::string, Candidate>;
} // namespace

/// Why a value has no gradient; empty where it has one.
static std::string whyNone(const TypeInfo &type) {
  bool hasFloats = false;
  for (const ColumnInfo &part : flatten(type, ""))
    if (part.elem == Elem::F32) {
      hasFloats = true;
      if (part.depth > 1)
        return "holds lists of lists; gradients are of values and of lists of values";
    }
  return hasFloats ? "" : "holds no f32; only that has a gradient";
}

static Candidates candidatesOf(const ModelInfo &info) {
  Candidates candidates;
  for (const DataInfo &data : info.datas)
    for (const ConstructorInfo &constructor : data.constructors)
      for (const FieldInfo &field : constructor.fields) {
        Candidate &candidate = candidates[data.name + "." + field.name];
        if (llvm::is_contained(candidate.columns, field.column))
          continue;
        candidate.columns.push_back(field.column);
        candidate.why = candidate.columns.size() == 1
                            ? whyNone(field.type)
                            : "has another type in another constructor; give it another name there";
      }
  for (const EntryInfo &entry : info.entries)
    for (const ArgInfo &argument : entry.args)
      candidates[entry.name + "." + argument.name].why =
          entry.is_loss ? whyNone(argument.type)
                        : "is an argument of an entry; gradients are those of losses";
  return candidates;
}

llvm::Expected<std::vector<std::string>> gradientNames(mlir::ModuleOp module,
                                                       const std::vector<std::string> &asked) {
  const Candidates candidates = candidatesOf(oracle::describe(module));
  std::vector<std::string> names, known;
  for (const auto &[name, candidate] : candidates)
    if (candidate.why.empty())
      known.push_back(name);
  for (const std::string &name : asked) {
    if (name == "all") {
      for (const auto &[each, candidate] : candidates)
        if (candidate.why.empty())
          names.push_back(each);
      continue;
    }
    auto found = candidates.find(name);
    if (found == candidates.end()) {
      std::string hint = frontend::nearestName(name, known);
      return llvm::createStringError(
          "--gradient: there is no field or argument `" + name + "`" +
          (hint.empty() ? "; write DATA.FIELD, LOSS.ARGUMENT or all" : "; did you mean `" + hint + "`?"));
    }
    if (!found->second.why.empty())
      return llvm::createStringError("--gradient: `" + name + "` " + found->second.why);
    names.push_back(name);
  }
  return names;
}

std::set<std::pair<int32_t, int32_t>> gradientColumns(const ModelInfo &info, int32_t entry,
                                                      const std::vector<std::string> &names) {
  std::set<std::pair<int32_t, int32_t>> columns;
  for (const auto &[number, data] : llvm::enumerate(info.datas))
    for (const ConstructorInfo &constructor : data.constructors)
      for (const FieldInfo &field : constructor.fields)
        if (llvm::is_contained(names, data.name + "." + field.name))
          columns.insert({static_cast<int32_t>(number), field.column});
  const Batch batch(info);
  int32_t component = 0;
  for (const ArgInfo &argument : info.entries[entry].args)
    for (const ColumnInfo &part : flatten(argument.type, "")) {
      if (part.elem == Elem::F32 && llvm::is_contained(names, info.entries[entry].name + "." + argument.name))
        columns.insert({batch.args(), batch.arg_column(entry, component)});
      ++component;
    }
  return columns;
}

} // namespace dbc::driver
