// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "DataSet.h"
#include "../io/Result.h"
#include "Json.h"
#include "WholeFiles.h"

#include <algorithm>
#include <dbc/batch.h>
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

/// False: the line has none.
static bool read_target(const Json &line, const EntryInfo &entry, const TargetPath &path,
                        std::vector<double> &to) {
  if (const Json *target = member(&line, "target"))
    return read_numbers(*target, to);
  const Json *args = member(&line, "args");
  if (const Json *argument = member(args, path.name))
    return read_numbers(*argument, to);
  const Json *first = entry.args.empty() ? nullptr : member(args, entry.args[0].name);
  if (first == nullptr)
    return false;
  const auto read_field = [&](const Json &node) {
    const Json *field = field_of(line, node, path.name);
    return field != nullptr && read_numbers(*field, to);
  };
  return first->is_array() ? std::all_of(first->begin(), first->end(), read_field) : read_field(*first);
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
    if (target != nullptr && !read_target(Json::parse(line), entry, *target, to))
      refuse("nothing to compare with: the line has no number or list of numbers \"target\", and `" +
             entry.name + "` has no argument, and its first argument no field, `" + target->name +
             "` (--target takes another name)");
  }
  if (wrong_lines > 0)
    return io::failure(file + ": " + std::to_string(wrong_lines) +
                           (wrong_lines == 1 ? " line does" : " lines do") + " not fit `" + entry.name + "`" +
                           wrong + (wrong_lines > kMostWrong ? "\n  .." : ""),
                       Code::bad_input);
  if (found.lines_.empty())
    return io::failure(file + ": has no lines", Code::bad_input);
  data = std::move(found);
  return Status();
}

} // namespace dbc::train
