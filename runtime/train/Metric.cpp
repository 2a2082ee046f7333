// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Metric.h"
#include "../io/Nearest.h"
#include "../io/Result.h"
#include "Digits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dbc::train {

using Form = TypeInfo::Form;

/// Whether a result is numbers only, in lists or not.
static bool is_numbers(const TypeInfo &type) {
  if (type.form == Form::List)
    return is_numbers(type.elements[0]);
  return type.form == Form::Value && type.elem != Elem::Node;
}

/// How many classes there are; 0: that is not known.
static int64_t count_classes(const TypeInfo &type) {
  if (type.form == Form::List)
    return count_classes(type.elements[0]);
  if (type.elem == Elem::F32)
    return type.extents.back();
  return type.elem == Elem::Index ? type.bound : type.elem == Elem::Bool ? 2 : 0;
}

/// Whether it is a class, or scores of classes, or a list of these.
static bool is_classes(const TypeInfo &type) {
  if (type.form == Form::List)
    return is_classes(type.elements[0]);
  return is_numbers(type) && (type.elem != Elem::F32 || !type.extents.empty());
}

Status Metric::parse(const std::string &text, const ModelInfo &info, std::optional<Metric> &metric) {
  const auto bad = [&](const std::string &message) { return io::failure(message, Code::bad_call); };
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon), entry_name = text.substr(std::min(colon + 1, text.size()));
  const Kind kind = name == "mean" ? Kind::Mean : name == "accuracy" ? Kind::Accuracy : Kind::Pearson;
  if (entry_name.empty() || (name != "mean" && name != "accuracy" && name != "pearson"))
    return bad("--metric takes mean:ENTRY, accuracy:ENTRY or pearson:ENTRY, not `" + text + "`");
  const auto entry = std::find_if(info.entries.begin(), info.entries.end(),
                                  [&](const EntryInfo &each) { return each.name == entry_name; });
  if (entry == info.entries.end()) {
    std::vector<std::string> names;
    for (const EntryInfo &each : info.entries)
      names.push_back(each.name);
    return bad("--metric " + text + ": model `" + info.name + "` has no entry `" + entry_name + "`" +
               io::hint(entry_name, names, "it has"));
  }
  const TypeInfo &type = entry->result;
  const bool single = type.form == Form::Value && type.elem == Elem::F32 && type.extents.empty();
  const bool has_outputs = entry->is_loss && type.form == Form::Tuple; // beside its value
  if (kind == Kind::Mean && !has_outputs && !is_numbers(type))
    return bad("--metric " + text + ": `" + entry_name + "` gives no number, tensor or list of these");
  if (kind == Kind::Accuracy && !is_classes(type))
    return bad(
        "--metric " + text + ": `" + entry_name +
        "` gives neither a class (index, int or bool) nor scores of classes (f32[n]), nor a list of either" +
        (type.form == Form::Tuple ? "; an entry that gives the class alone can be asked for" : ""));
  if (kind == Kind::Pearson && !single)
    return bad("--metric " + text + ": `" + entry_name + "` does not give one f32");
  metric = Metric(kind, static_cast<int32_t>(entry - info.entries.begin()), name);
  if (kind == Kind::Accuracy)
    metric->classes_ = count_classes(type);
  return Status();
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

/// All classes, in order: the largest score along the last axis, the first of equals. NaN where a score is.
static void flatten_classes(const Value &value, std::vector<double> &to) {
  if (value.kind == Value::Kind::List) {
    for (const Value &each : value.elements)
      flatten_classes(each, to);
  } else if (value.kind == Value::Kind::Tensor && value.element == Value::Kind::Number) {
    const auto classes = static_cast<size_t>(value.extents.back());
    for (size_t begin = 0; classes > 0 && begin < value.data.size(); begin += classes) {
      const auto first = value.data.begin() + static_cast<ptrdiff_t>(begin),
                 last = first + value.extents.back();
      const bool numbers = std::none_of(first, last, [](double score) { return std::isnan(score); });
      to.push_back(numbers ? static_cast<double>(std::max_element(first, last) - first)
                           : std::numeric_limits<double>::quiet_NaN());
    }
  } else {
    flatten(value, to);
  }
}

std::string Metric::misfit(const std::vector<double> &target) const {
  if (kind_ == Kind::Accuracy)
    for (const double each : target)
      if (each != std::floor(each) || each < 0 || (classes_ > 0 && each >= static_cast<double>(classes_)))
        return general(each, 9) + " is no class" +
               (classes_ > 0 ? "; there are 0 .. " + std::to_string(classes_ - 1) : "");
  return "";
}

void Metric::clear() { count_ = hits_ = mean_x_ = mean_y_ = moment_xx_ = moment_xy_ = moment_yy_ = 0; }

std::vector<double> Metric::numbers_of(const Value &result) const {
  std::vector<double> found;
  if (kind_ == Kind::Accuracy)
    flatten_classes(result, found);
  else if (result.kind == Value::Kind::Tuple) // a loss with outputs
    flatten(result.elements[0], found);
  else
    flatten(result, found);
  return found;
}

std::string Metric::add(const std::vector<double> &found, const std::vector<double> &target) {
  if (needs_target() && found.size() != target.size())
    return "does not give as many numbers as the " + std::to_string(target.size()) + " to compare with";
  for (const double number : found)
    if (!std::isfinite(number)) // a mean of it would be no number to compare with
      return std::isnan(number) ? "gives nan" : number > 0 ? "gives inf" : "gives -inf";
  for (size_t i = 0; i < found.size(); ++i) {
    count_ += 1;
    if (kind_ == Kind::Accuracy) {
      hits_ += found[i] == target[i];
      continue;
    }
    const double x = found[i], y = kind_ == Kind::Pearson ? target[i] : 0;
    // Welford's updates, which lose nothing to a large mean.
    const double from_x = x - mean_x_, from_y = y - mean_y_;
    mean_x_ += from_x / count_;
    mean_y_ += from_y / count_;
    moment_xx_ += from_x * (x - mean_x_);
    moment_xy_ += from_x * (y - mean_y_);
    moment_yy_ += from_y * (y - mean_y_);
  }
  return "";
}

double Metric::value() const {
  if (count_ == 0)
    return std::numeric_limits<double>::quiet_NaN();
  switch (kind_) {
  case Kind::Accuracy:
    return hits_ / count_;
  case Kind::Pearson:
    return moment_xy_ / std::sqrt(moment_xx_ * moment_yy_);
  case Kind::Mean:
    break;
  }
  return mean_x_;
}

} // namespace dbc::train
