// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "DataSet.h"
#include "../io/Nearest.h"
#include "../io/Result.h"
#include "Json.h"
#include "WholeFiles.h"

#include <algorithm>
#include <dbc/batch.h>
#include <dbc/counted.h>
#include <string_view>
#include <utility>

namespace dbc::train {

/// So many lines are named.
constexpr size_t kMostWrong = 5;

/// The member of an object; null where it has none, or is none.
static const Json *member(const Json *object, const std::string &name) {
  if (object == nullptr || !object->is_object())
    return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

/// A number, a bool, or a list of these.
static bool read_numbers(const Json &value, std::vector<double> &to) {
  if (value.is_number() || value.is_boolean()) {
    to.push_back(value.is_number() ? value.get<double>() : value.get<bool>());
    return true;
  }
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [&](const Json &each) { return read_numbers(each, to); });
}

/// The field of a node of the line, which is {"Constructor": {fields}}.
static const Json *field_of(const Json &line, const Json &node, const std::string &name) {
  const Json *nodes = member(&line, "nodes");
  if (nodes == nullptr || !nodes->is_array() || !node.is_number_unsigned() ||
      node.get<uint64_t>() >= nodes->size())
    return nullptr;
  const Json &constructor = (*nodes)[node.get<uint64_t>()];
  return constructor.is_object() && !constructor.empty() ? member(&*constructor.begin(), name) : nullptr;
}

/// What is wrong with what the line is to be compared with, in words; empty: it is in `to`.
static std::string read_target(const Json &line, const EntryInfo &entry, const TargetPath &path,
                               std::vector<double> &to) {
  const auto take = [&](const Json &value, const std::string &what) {
    return read_numbers(value, to) ? "" : what + " is neither a number or bool nor a list of these";
  };
  if (const Json *target = member(&line, "target"))
    return take(*target, "\"target\"");
  const Json *args = member(&line, "args");
  if (const Json *argument = member(args, path.name))
    return take(*argument, "the argument `" + path.name + "`");
  const std::string absent =
      "nothing to compare with: the line has no \"target\", and no `" + path.name + "` among its args" +
      (entry.args.empty() ? std::string() : " or the fields of what `" + entry.args[0].name + "` names") +
      " (--label takes another name)";
  const Json *first = entry.args.empty() ? nullptr : member(args, entry.args[0].name);
  if (first == nullptr)
    return absent;
  const auto take_field = [&](const Json &node) {
    const Json *field = field_of(line, node, path.name);
    return field == nullptr ? absent : take(*field, "the field `" + path.name + "`");
  };
  if (!first->is_array())
    return take_field(*first);
  for (const Json &node : *first)
    if (std::string wrong = take_field(node); !wrong.empty())
      return wrong;
  return "";
}

/// Where a line may hold what is compared with: arguments, which may be those of any entry, and fields of the
/// nodes that the first argument names.
static std::vector<std::string> places(const ModelInfo &info, const EntryInfo &entry) {
  std::vector<std::string> names;
  const auto add = [&](const std::string &name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const EntryInfo &each : info.entries)
    for (const ArgInfo &arg : each.args)
      add(arg.name);
  const TypeInfo *type = entry.args.empty() ? nullptr : &entry.args[0].type;
  if (type && type->form == TypeInfo::Form::List)
    type = &type->elements[0];
  if (type && type->form == TypeInfo::Form::Value && type->elem == Elem::Node)
    for (const ConstructorInfo &constructor : info.datas[type->data].constructors)
      for (const FieldInfo &field : constructor.fields)
        add(field.name);
  return names;
}

/// The nodes, and the elements of lists, of a batch that was filled.
static int64_t count_elements(Batch &batch) {
  batch.finish();
  int64_t elements = 0;
  for (int32_t table = 0; table <= batch.args(); ++table) {
    if (table < batch.args())
      elements += batch.rows(table);
    for (int32_t column = 0; column < batch.columns(table); ++column)
      if (batch.column_info(table, column).depth > 0 && batch.column(table, column).given)
        elements += batch.values(table, column);
  }
  return elements;
}

Status DataSet::read(const std::string &file, const ModelInfo &info, const EntryInfo &entry,
                     const TargetPath *target, std::optional<DataSet> &data) {
  std::string text;
  if (Status status = read_file(file, text); !status.ok())
    return status;
  DataSet found;
  found.file_ = file;
  found.hash_ = hash_of(text);
  InstanceReader reader(info, entry);
  Batch batch(info);
  std::string wrong;
  size_t wrong_lines = 0;
  auto refuse = [&](const std::string &message) {
    if (++wrong_lines <= kMostWrong)
      wrong += "\n  " + found.name(found.lines_.size() - 1) + ": " + message;
  };
  // Blank lines at the end are none.
  std::string_view rest = std::string_view(text).substr(0, text.find_last_not_of(" \t\n\v\f\r") + 1);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    found.lines_.push_back(reader.read(line));
    std::vector<double> &to = found.targets_.emplace_back();
    reader.clear(batch);
    if (Status status = reader.append(*found.lines_.back(), batch); !status.ok()) {
      refuse(without_input(status.message));
      continue;
    }
    found.costs_.push_back(count_elements(batch));
    if (target == nullptr)
      continue;
    const std::string unfit = read_target(Json::parse(line), entry, *target, to);
    if (unfit.empty())
      continue;
    if (const std::vector<std::string> known = places(info, entry);
        target->given && std::find(known.begin(), known.end(), target->name) == known.end())
      return io::failure("--label: model `" + info.name + "` has no argument `" + target->name +
                             "`, and no field that `" + entry.name + "` could be compared with" +
                             io::hint(target->name, known, "there are"),
                         Code::bad_call);
    refuse(unfit);
  }
  if (wrong_lines > 0)
    return io::failure(file + ": " + counted(wrong_lines, "line does", "lines do") + " not fit `" +
                           entry.name + "`" + wrong + (wrong_lines > kMostWrong ? "\n  .." : ""),
                       Code::bad_input);
  if (found.lines_.empty())
    return io::failure(file + ": has no lines", Code::bad_input);
  data = std::move(found);
  return Status();
}

} // namespace dbc::train
