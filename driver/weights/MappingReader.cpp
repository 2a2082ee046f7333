// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// From JSON to expressions, and back.

#include "driver/weights/Json.h"
#include "driver/weights/Mapping.h"
#include "runtime/io/JsonText.h"
#include "runtime/io/Nearest.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace dbc::driver {

using frontend::DiagnosticEngine;
using Kind = MapExpr::Kind;

namespace {

/// An operation: its name, and the keys that may stand beside it.
struct Operation {
  const char *name;
  Kind kind;
  std::vector<std::string> options;
};

const std::vector<Operation> &operations() {
  static const std::vector<Operation> all = {{"transpose", Kind::Transpose, {}},
                                             {"permute", Kind::Permute, {"axes"}},
                                             {"reshape", Kind::Reshape, {"shape"}},
                                             {"gates", Kind::Gates, {"from", "to", "axis"}},
                                             {"concat", Kind::Concat, {"axis"}},
                                             {"add", Kind::Add, {}},
                                             {"stack", Kind::Stack, {"index", "first", "last"}}};
  return all;
}

constexpr const char *kOperations =
    "an operation is transpose, permute, reshape, gates, concat, add or stack";

/// Makes expressions of JSON values; what has an error has no expression.
class Reader {
public:
  explicit Reader(DiagnosticEngine &diagnostics) : diagnostics_(diagnostics) {}

  std::optional<MapExpr> read(const JsonValue &value) {
    switch (value.kind) {
    case JsonValue::Kind::String: {
      MapExpr expr = tensorExpr(value.text);
      expr.range = value.range;
      return expr;
    }
    case JsonValue::Kind::Object:
      return readOperation(value);
    case JsonValue::Kind::Array:
      diagnostics_.error(value.range, "a list does not say what becomes of its elements")
          .hint(R"({"concat": [..]}, {"add": [..]} or {"stack": [..]})");
      return std::nullopt;
    default:
      diagnostics_.error(value.range, "a tensor's name or an operation must stand here")
          .hint(R"("encoder.weight", or {"transpose": "encoder.weight"})");
      return std::nullopt;
    }
  }

private:
  /// The one key of an object that is an operation.
  const Operation *findOperation(const JsonValue &object, size_t &at) {
    const Operation *found = nullptr;
    for (size_t i = 0; i < object.keys.size(); ++i)
      for (const Operation &each : operations())
        if (object.keys[i].text == each.name) {
          if (found) {
            diagnostics_
                .error(object.keys[i].range, "a second operation beside `" + std::string(found->name) + "`")
                .hint("an operation on what another one gives stands inside it");
            return nullptr;
          }
          found = &each;
          at = i;
        }
    if (found)
      return found;
    std::vector<std::string> names;
    for (const Operation &each : operations())
      names.push_back(each.name);
    std::string hint = object.keys.empty() ? "" : frontend::didYouMean(object.keys[0].text, names);
    diagnostics_
        .error(object.keys.empty() ? object.range : object.keys[0].range,
               object.keys.empty() ? "an empty object: an operation must stand here"
                                   : "`" + io::shown(object.keys[0].text) + "` is no operation")
        .hint(hint.empty() ? kOperations : hint);
    return nullptr;
  }

  std::optional<MapExpr> readOperation(const JsonValue &object) {
    size_t at = 0;
    const Operation *operation = findOperation(object, at);
    if (!operation)
      return std::nullopt;
    MapExpr expr;
    expr.kind = operation->kind;
    expr.range = object.keys[at].range;
    bool fine = readOperands(object.values[at], expr);
    std::map<std::string, const JsonValue *> options;
    for (size_t i = 0; i < object.keys.size(); ++i) {
      const JsonValue &key = object.keys[i];
      if (i == at)
        continue;
      if (std::find(operation->options.begin(), operation->options.end(), key.text) ==
          operation->options.end()) {
        diagnostics_
            .error(key.range, "`" + std::string(operation->name) + "` has no `" + io::shown(key.text) + "`")
            .hint(frontend::didYouMean(key.text, operation->options));
        fine = false;
      } else if (!options.emplace(key.text, &object.values[i]).second) {
        diagnostics_.error(key.range, "`" + key.text + "` stands twice");
        fine = false;
      }
    }
    fine = readOptions(options, expr) && fine && isWhole(expr);
    return fine ? std::optional(std::move(expr)) : std::nullopt;
  }

  bool readOperands(const JsonValue &value, MapExpr &expr) {
    const bool takesList = expr.kind == Kind::Concat || expr.kind == Kind::Add || expr.kind == Kind::Stack;
    if (takesList && value.kind == JsonValue::Kind::Array) {
      bool fine = true;
      for (const JsonValue &each : value.values)
        if (std::optional<MapExpr> operand = read(each))
          expr.operands.push_back(std::move(*operand));
        else
          fine = false;
      if (fine && expr.operands.empty())
        diagnostics_.error(value.range, "an empty list: a tensor at least must stand here");
      return fine && !expr.operands.empty();
    }
    if (takesList && expr.kind != Kind::Stack) {
      diagnostics_.error(value.range, "this operation takes a list of tensors")
          .hint(R"(["a.weight", "b.weight"])");
      return false;
    }
    expr.isPattern = expr.kind == Kind::Stack;
    std::optional<MapExpr> operand = read(value);
    if (operand)
      expr.operands.push_back(std::move(*operand));
    return operand.has_value();
  }

  bool readOptions(const std::map<std::string, const JsonValue *> &options, MapExpr &expr) {
    bool fine = true;
    for (const auto &[name, value] : options) {
      if (name == "axes")
        fine &= readIntegers(*value, expr.axes);
      else if (name == "shape")
        fine &= readIntegers(*value, expr.shape.emplace());
      else if (name == "axis")
        fine &= readInteger(*value, expr.axis);
      else if (name == "first")
        fine &= readInteger(*value, expr.first.emplace());
      else if (name == "last")
        fine &= readInteger(*value, expr.last.emplace());
      else if (name == "index")
        fine &= readIndex(*value, expr.index);
      else
        fine &= readGates(*value, name == "from" ? expr.from : expr.to);
    }
    return fine;
  }
  bool readInteger(const JsonValue &value, int64_t &integer) {
    if (value.kind != JsonValue::Kind::Number || !value.isInteger) {
      diagnostics_.error(value.range, "an integer must stand here");
      return false;
    }
    integer = static_cast<int64_t>(value.number);
    return true;
  }
  bool readIntegers(const JsonValue &value, std::vector<int64_t> &integers) {
    if (value.kind != JsonValue::Kind::Array) {
      diagnostics_.error(value.range, "a list of integers must stand here");
      return false;
    }
    return std::all_of(value.values.begin(), value.values.end(),
                       [&](const JsonValue &each) { return readInteger(each, integers.emplace_back()); });
  }
  bool readIndex(const JsonValue &value, std::string &index) {
    index = value.text;
    const bool isName =
        std::all_of(index.begin(), index.end(), [](unsigned char c) { return std::isalpha(c); });
    if (value.kind == JsonValue::Kind::String && !index.empty() && isName)
      return true;
    diagnostics_.error(value.range, "the name of an index must stand here: letters").hint(R"("index": "j")");
    return false;
  }
  /// "ifgo", a character each, or ["i", "fl", "fr", "g", "o"].
  bool readGates(const JsonValue &value, std::vector<std::string> &gates) {
    bool fine = value.kind == JsonValue::Kind::String || value.kind == JsonValue::Kind::Array;
    for (char c : value.text)
      if ((static_cast<unsigned char>(c) & 0xC0) == 0x80 && !gates.empty()) // a further byte of the character
        gates.back() += c;
      else if (c != ' ')
        gates.emplace_back(1, c);
    for (const JsonValue &each : value.values) {
      fine &= value.kind == JsonValue::Kind::Array && each.kind == JsonValue::Kind::String;
      gates.push_back(each.text);
    }
    if (!fine || gates.empty()) {
      diagnostics_.error(value.range, "names of gates must stand here")
          .hint(R"("ifgo", or ["in", "forget", "out"])");
      return false;
    }
    std::vector<std::string> sorted = gates;
    std::sort(sorted.begin(), sorted.end());
    auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice == sorted.end())
      return true;
    diagnostics_.error(value.range, "gate `" + io::shown(*twice) + "` stands twice");
    return false;
  }

  /// That nothing is missing, and what stands side by side goes together.
  bool isWhole(const MapExpr &expr) {
    if (expr.kind == Kind::Permute && expr.axes.empty()) {
      diagnostics_.error(expr.range, "`permute` does not say in which order").hint(R"("axes": [2, 0, 1])");
      return false;
    }
    if (expr.kind == Kind::Gates && (expr.from.empty() || expr.to.empty())) {
      diagnostics_.error(expr.range, "`gates` does not say in which order they stand and shall stand")
          .hint(R"("from": "ifgo", "to": "ifog")");
      return false;
    }
    for (const std::string &gate : expr.to)
      if (std::find(expr.from.begin(), expr.from.end(), gate) == expr.from.end()) {
        diagnostics_.error(expr.range, "gate `" + io::shown(gate) + "` of `to` is none of `from`");
        return false;
      }
    if (expr.kind == Kind::Stack && !expr.isPattern && (expr.first || expr.last || expr.index != "i")) {
      diagnostics_
          .error(expr.range, "`index`, `first` and `last` are of a `stack` of one pattern, not of a list")
          .hint(R"({"stack": "blocks.{i}.weight", "first": 1})");
      return false;
    }
    return true;
  }

  DiagnosticEngine &diagnostics_;
};

/// The expression of an entry, where a number may stand too.
std::optional<MapExpr> readEntry(const JsonValue &value, const ParamInfo &param,
                                 DiagnosticEngine &diagnostics) {
  if (value.kind == JsonValue::Kind::Number) {
    if (std::abs(value.number) > std::numeric_limits<float>::max()) {
      diagnostics.error(value.range, "the number is beyond f32");
      return std::nullopt;
    }
    MapExpr expr;
    expr.kind = Kind::Number;
    expr.number = value.number;
    expr.range = value.range;
    return expr;
  }
  if (value.kind == JsonValue::Kind::Null) {
    diagnostics.error(value.range, "nothing is said of what `" + param.name + "` is made of")
        .hint("a tensor's name, an operation, or a number for each element");
    return std::nullopt;
  }
  return Reader(diagnostics).read(value);
}

/// A list of names: "ifgo" where each is a letter.
std::string shownGates(const std::vector<std::string> &gates) {
  std::string letters, list;
  bool areLetters = true;
  for (const std::string &gate : gates) {
    areLetters &= gate.size() == 1 && std::isalpha(static_cast<unsigned char>(gate[0]));
    letters += gate;
    list += list.empty() ? "" : ", ";
    io::append_string(list, gate);
  }
  return areLetters ? "\"" + letters + "\"" : "[" + list + "]";
}

} // namespace

bool MapExpr::operator==(const MapExpr &other) const {
  return kind == other.kind && name == other.name && number == other.number && operands == other.operands &&
         axes == other.axes && shape == other.shape && axis == other.axis && from == other.from &&
         to == other.to && isPattern == other.isPattern && index == other.index && first == other.first &&
         last == other.last;
}

MapExpr tensorExpr(const std::string &name) {
  MapExpr expr;
  expr.name = name;
  return expr;
}

MapExpr operation(Kind kind, std::vector<MapExpr> operands) {
  MapExpr expr;
  expr.kind = kind;
  expr.operands = std::move(operands);
  return expr;
}

std::string shownExpr(const MapExpr &expr) {
  std::string text;
  if (expr.kind == Kind::Tensor) {
    io::append_string(text, expr.name);
    return text;
  }
  if (expr.kind == Kind::Number) {
    io::append_f64(text, expr.number);
    return text;
  }
  auto list = [](const auto &elements, auto &&show) {
    std::string all;
    for (const auto &each : elements)
      all += (all.empty() ? "" : ", ") + show(each);
    return "[" + all + "]";
  };
  auto integers = [&](const std::vector<int64_t> &all) {
    return list(all, [](int64_t each) { return std::to_string(each); });
  };
  for (const Operation &each : operations())
    if (each.kind == expr.kind)
      text = "{\"" + std::string(each.name) + "\": ";
  const bool isList =
      expr.kind == Kind::Concat || expr.kind == Kind::Add || (expr.kind == Kind::Stack && !expr.isPattern);
  text += isList ? list(expr.operands, shownExpr) : shownExpr(expr.operands[0]);
  if (expr.kind == Kind::Gates)
    text += ", \"from\": " + shownGates(expr.from) + ", \"to\": " + shownGates(expr.to);
  if (!expr.axes.empty())
    text += ", \"axes\": " + integers(expr.axes);
  if (expr.shape)
    text += ", \"shape\": " + integers(*expr.shape);
  if (expr.axis != 0)
    text += ", \"axis\": " + std::to_string(expr.axis);
  if (expr.index != "i")
    text += ", \"index\": \"" + expr.index + "\"";
  if (expr.first)
    text += ", \"first\": " + std::to_string(*expr.first);
  if (expr.last)
    text += ", \"last\": " + std::to_string(*expr.last);
  return text + "}";
}

std::optional<Mapping> readMapping(uint32_t file, const ModelInfo &model, DiagnosticEngine &diagnostics) {
  std::optional<JsonValue> json = parseJson(file, diagnostics);
  if (!json)
    return std::nullopt;
  if (json->kind != JsonValue::Kind::Object) {
    diagnostics.error(json->range, "a mapping is an object with an entry for each param")
        .hint(R"({"head.W": "head.weight", "head.b": "head.bias"})");
    return std::nullopt;
  }
  std::vector<std::string> names;
  std::map<std::string, int32_t> numbers;
  for (const ParamInfo &param : model.params) {
    numbers.emplace(param.name, static_cast<int32_t>(names.size()));
    names.push_back(param.name);
  }
  Mapping mapping;
  mapping.end = json->end;
  mapping.isGiven.resize(model.params.size());
  std::map<int32_t, frontend::SourceRange> seen;
  for (size_t i = 0; i < json->keys.size(); ++i) {
    const JsonValue &key = json->keys[i];
    auto number = numbers.find(key.text);
    if (number == numbers.end()) {
      diagnostics.error(key.range, "model `" + model.name + "` has no param `" + io::shown(key.text) + "`")
          .hint(frontend::didYouMean(key.text, names));
      continue;
    }
    if (auto [first, isNew] = seen.emplace(number->second, key.range); !isNew) {
      diagnostics.error(key.range, "`" + key.text + "` is given twice").note(first->second, "first here");
      continue;
    }
    const ParamInfo &param = model.params[static_cast<size_t>(number->second)];
    mapping.isGiven[static_cast<size_t>(number->second)] = true;
    MapEntry entry;
    entry.param = number->second;
    entry.key = key.range;
    if (std::optional<MapExpr> value = readEntry(json->values[i], param, diagnostics)) {
      entry.value = std::move(*value);
      mapping.entries.push_back(std::move(entry));
    }
  }
  return mapping;
}

} // namespace dbc::driver
