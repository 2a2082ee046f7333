// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Metric.h"
#include "driver/train/Errors.h"
#include "frontend/syntax/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace dbc::driver {

using Form = TypeInfo::Form;

/// Whether a result is numbers only, in lists or not.
static bool isNumbers(const TypeInfo &type) {
  if (type.form == Form::List)
    return isNumbers(type.elements[0]);
  return type.form == Form::Value && type.elem != Elem::Node;
}

/// Whether it is a class, or scores of classes, or a list of these.
static bool isClasses(const TypeInfo &type) {
  if (type.form == Form::List)
    return isClasses(type.elements[0]);
  return isNumbers(type) && (type.elem != Elem::F32 || !type.extents.empty());
}

llvm::Expected<Metric> Metric::parse(const std::string &text, const ModelInfo &info) {
  auto [name, entryName] = llvm::StringRef(text).split(':');
  Kind kind = name == "mean" ? Kind::Mean : name == "accuracy" ? Kind::Accuracy : Kind::Pearson;
  if (entryName.empty() || (name != "mean" && name != "accuracy" && name != "pearson"))
    return error("--metric takes mean:ENTRY, accuracy:ENTRY or pearson:ENTRY, not `" + text + "`");
  auto entry = std::find_if(info.entries.begin(), info.entries.end(),
                            [&](const EntryInfo &each) { return each.name == entryName; });
  if (entry == info.entries.end()) {
    std::vector<std::string> names;
    for (const EntryInfo &each : info.entries)
      names.push_back(each.name);
    std::string near = frontend::didYouMean(entryName.str(), names);
    return error("--metric " + text + ": model `" + info.name + "` has no entry `" + entryName + "`" +
                 (near.empty() ? "" : "; ") + near);
  }
  const TypeInfo &type = entry->result;
  bool single = type.form == Form::Value && type.elem == Elem::F32 && type.extents.empty();
  const bool hasOutputs = entry->is_loss && type.form == Form::Tuple; // beside its value
  if (kind == Kind::Mean && !hasOutputs && !isNumbers(type))
    return error("--metric " + text + ": `" + entryName + "` gives no number, tensor or list of these");
  if (kind == Kind::Accuracy && !isClasses(type))
    return error(
        "--metric " + text + ": `" + entryName +
        "` gives neither a class (index, int or bool) nor scores of classes (f32[n]), nor a list of either");
  if (kind == Kind::Pearson && !single)
    return error("--metric " + text + ": `" + entryName + "` does not give one f32");
  return Metric(kind, static_cast<int32_t>(entry - info.entries.begin()), name.str());
}

/// All numbers, in order.
static void flatten(const Value &value, std::vector<double> &to) {
  if (value.kind == Value::Kind::List || value.kind == Value::Kind::Tuple)
    for (const Value &each : value.elements)
      flatten(each, to);
  else if (value.kind == Value::Kind::Tensor)
    to.insert(to.end(), value.data.begin(), value.data.end());
  else
    to.push_back(value.number);
}

/// All classes, in order: the largest score along the last axis, the first of equals.
static void flattenClasses(const Value &value, std::vector<double> &to) {
  if (value.kind == Value::Kind::List) {
    for (const Value &each : value.elements)
      flattenClasses(each, to);
  } else if (value.kind == Value::Kind::Tensor && value.element == Value::Kind::Number) {
    const auto classes = static_cast<size_t>(value.extents.back());
    for (size_t begin = 0; classes > 0 && begin < value.data.size(); begin += classes) {
      auto first = value.data.begin() + static_cast<ptrdiff_t>(begin);
      to.push_back(static_cast<double>(std::max_element(first, first + value.extents.back()) - first));
    }
  } else {
    flatten(value, to);
  }
}

void Metric::clear() { count_ = meanX_ = meanY_ = momentXX_ = momentXY_ = momentYY_ = 0; }

bool Metric::add(const Value &result, const std::vector<double> &target) {
  std::vector<double> found;
  if (kind_ == Kind::Accuracy)
    flattenClasses(result, found);
  else if (result.kind == Value::Kind::Tuple) // a loss with outputs
    flatten(result.elements[0], found);
  else
    flatten(result, found);
  if (needsTarget() && found.size() != target.size())
    return false;
  for (size_t i = 0; i < found.size(); ++i) {
    const double x = kind_ == Kind::Accuracy ? found[i] == target[i] : found[i];
    const double y = kind_ == Kind::Pearson ? target[i] : 0;
    // Welford's updates, which lose nothing to a large mean.
    count_ += 1;
    const double fromX = x - meanX_, fromY = y - meanY_;
    meanX_ += fromX / count_;
    meanY_ += fromY / count_;
    momentXX_ += fromX * (x - meanX_);
    momentXY_ += fromX * (y - meanY_);
    momentYY_ += fromY * (y - meanY_);
  }
  return true;
}

double Metric::value() const {
  if (count_ == 0)
    return std::numeric_limits<double>::quiet_NaN();
  return kind_ == Kind::Pearson ? momentXY_ / std::sqrt(momentXX_ * momentYY_) : meanX_;
}

} // namespace dbc::driver
