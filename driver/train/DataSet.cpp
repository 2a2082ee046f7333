// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/DataSet.h"
#include "driver/Files.h"
#include "driver/Lines.h"
#include "driver/train/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <dbc/batch.h>

namespace dbc::driver {

namespace json = llvm::json;

/// So many lines are named.
constexpr size_t kMostWrong = 5;

/// A number, a bool, or a list of these.
static bool readNumbers(const json::Value &value, std::vector<double> &to) {
  if (std::optional<double> number = value.getAsNumber()) {
    to.push_back(*number);
    return true;
  }
  if (std::optional<bool> truth = value.getAsBoolean()) {
    to.push_back(*truth);
    return true;
  }
  const json::Array *list = value.getAsArray();
  return list && llvm::all_of(*list, [&](const json::Value &each) { return readNumbers(each, to); });
}

/// The field of a node of the line, which is {"Constructor": {fields}}.
static const json::Value *fieldOf(const json::Object &line, const json::Value &node, llvm::StringRef name) {
  const json::Array *nodes = line.getArray("nodes");
  std::optional<int64_t> number = node.getAsInteger();
  if (!nodes || !number || *number < 0 || static_cast<size_t>(*number) >= nodes->size())
    return nullptr;
  const json::Object *constructor = (*nodes)[*number].getAsObject();
  if (!constructor || constructor->empty())
    return nullptr;
  const json::Object *fields = constructor->begin()->second.getAsObject();
  return fields ? fields->get(name) : nullptr;
}

/// False: the line has none.
static bool readTarget(const json::Object &line, const EntryInfo &entry, const TargetPath &path,
                       std::vector<double> &to) {
  if (const json::Value *target = line.get("target"))
    return readNumbers(*target, to);
  const json::Object *args = line.getObject("args");
  if (!args)
    return false;
  if (const json::Value *argument = args->get(path.name))
    return readNumbers(*argument, to);
  const json::Value *first = entry.args.empty() ? nullptr : args->get(entry.args[0].name);
  if (!first)
    return false;
  auto readField = [&](const json::Value &node) {
    const json::Value *field = fieldOf(line, node, path.name);
    return field && readNumbers(*field, to);
  };
  const json::Array *list = first->getAsArray();
  return list ? llvm::all_of(*list, readField) : readField(*first);
}

llvm::Expected<DataSet> DataSet::read(const std::string &file, const ModelInfo &info, const EntryInfo &entry,
                                      const TargetPath *target) {
  llvm::Expected<std::string> text = readFile(file);
  if (!text)
    return text.takeError();
  DataSet data;
  data.file_ = file;
  data.hash_ = hashOf({*text});
  InstanceReader reader(info, entry);
  Batch batch(info);
  std::string wrong;
  size_t wrongLines = 0;
  auto refuse = [&](const std::string &message) {
    if (++wrongLines <= kMostWrong)
      wrong += "\n  " + data.name(data.lines_.size() - 1) + ": " + message;
  };
  llvm::StringRef rest = llvm::StringRef(*text).rtrim(); // blank lines at the end are none
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    data.lines_.push_back(reader.read(std::string_view(line.data(), line.size())));
    std::vector<double> &to = data.targets_.emplace_back();
    reader.clear(batch);
    if (Status status = reader.append(*data.lines_.back(), batch); !status.ok()) {
      refuse(withoutInput(status.message));
      continue;
    }
    if (!target)
      continue;
    llvm::Expected<json::Value> parsed = json::parse(line);
    if (!parsed)
      return parsed.takeError(); // of what the reader has taken
    if (!readTarget(*parsed->getAsObject(), entry, *target, to))
      refuse("nothing to compare with: the line has no number or list of numbers \"target\", and `" +
             entry.name + "` has no argument, and its first argument no field, `" + target->name +
             "` (--target takes another name)");
  }
  if (wrongLines > 0)
    return error(file + ": " + llvm::Twine(wrongLines) + (wrongLines == 1 ? " line does" : " lines do") +
                 " not fit `" + entry.name + "`" + wrong + (wrongLines > kMostWrong ? "\n  .." : ""));
  if (data.lines_.empty())
    return error(file + ": has no lines");
  return data;
}

} // namespace dbc::driver
