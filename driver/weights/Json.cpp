// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The JSON library's events, each with the place that its reader has come to.

#include "driver/weights/Json.h"
#include "runtime/io/JsonSax.h"
#include <iterator>

namespace dbc::driver {

namespace {

constexpr size_t kDeepest = 64;

/// Goes over a text and says how far it has come.
class Cursor {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;
  Cursor(const char *at, const char **furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  Cursor &operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  bool operator==(const Cursor &other) const { return at_ == other.at_; }
  bool operator!=(const Cursor &other) const { return at_ != other.at_; }

private:
  const char *at_;
  const char **furthest_;
};

class Builder : public io::JsonEvents {
public:
  Builder(uint32_t file, const std::string &text, const char *const &furthest)
      : file_(file), text_(text), furthest_(furthest) {}
  JsonValue top;
  size_t errorAt = 0; ///< the byte that an error is about

  bool null() { return add(JsonValue::Kind::Null, wordRange()) != nullptr; }
  bool boolean(bool) { return add(JsonValue::Kind::Bool, wordRange()) != nullptr; }
  bool number_integer(int64_t v) { return number(static_cast<double>(v), v > -mostInteger); }
  bool number_unsigned(uint64_t v) { return number(static_cast<double>(v), v < uint64_t(mostInteger)); }
  bool number_float(double v, const std::string &) { return number(v, false); }
  bool string(std::string &s) {
    JsonValue *value = add(JsonValue::Kind::String, stringRange());
    if (value)
      value->text = s;
    return value;
  }
  bool key(std::string &s) {
    JsonValue key;
    key.kind = JsonValue::Kind::String;
    key.range = stringRange();
    key.text = s;
    open_.back()->keys.push_back(std::move(key));
    return true;
  }
  bool start_object(size_t) { return enter(JsonValue::Kind::Object); }
  bool start_array(size_t) { return enter(JsonValue::Kind::Array); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  template <typename Exception>
  bool parse_error(size_t position, const std::string &token, const Exception &e) {
    errorAt = position > 0 ? position - 1 : 0;
    JsonEvents::parse_error(position, token, e);
    error = "not valid JSON" +
            error.substr(std::min(error.find(": "), error.size())); // without the byte's number
    return false;
  }

private:
  static constexpr int64_t mostInteger = int64_t(1) << 53;

  /// Behind the last byte that was read.
  uint32_t here() const { return static_cast<uint32_t>(furthest_ - text_.data()); }
  frontend::SourceRange lastByte() const { return {file_, here() - 1, here()}; }
  /// The string that ends here: from the quote that no backslash stands before.
  frontend::SourceRange stringRange() const {
    uint32_t begin = here() - 1;
    for (bool escaped = true; escaped;) {
      begin = static_cast<uint32_t>(text_.rfind('"', begin - 1));
      uint32_t backslashes = 0;
      while (backslashes < begin && text_[begin - 1 - backslashes] == '\\')
        ++backslashes;
      escaped = backslashes % 2 == 1;
    }
    return {file_, begin, here()};
  }
  /// The number or word that ends here; behind a number one byte more is read.
  frontend::SourceRange wordRange() const {
    auto isPart = [&](uint32_t at) {
      return std::isalnum(static_cast<unsigned char>(text_[at])) || std::strchr("+-.", text_[at]);
    };
    uint32_t end = here();
    while (end > 0 && !isPart(end - 1))
      --end;
    uint32_t begin = end;
    while (begin > 0 && isPart(begin - 1))
      --begin;
    return {file_, begin, end};
  }

  JsonValue *add(JsonValue::Kind kind, frontend::SourceRange range) {
    JsonValue *value = &top;
    if (!open_.empty())
      value = &open_.back()->values.emplace_back();
    value->kind = kind;
    value->range = range;
    return value;
  }
  bool number(double v, bool isInteger) {
    JsonValue *value = add(JsonValue::Kind::Number, wordRange());
    value->number = v;
    value->isInteger = isInteger;
    return true;
  }
  /// Containers that are open do not move: each is the last value of the one around it.
  bool enter(JsonValue::Kind kind) {
    if (open_.size() == kDeepest) {
      error = "nested deeper than " + std::to_string(kDeepest) + " levels";
      errorAt = here() - 1;
      return false;
    }
    open_.push_back(add(kind, lastByte()));
    return true;
  }
  bool leave() {
    open_.back()->end = lastByte();
    open_.pop_back();
    return true;
  }

  uint32_t file_;
  const std::string &text_;
  const char *const &furthest_;
  std::vector<JsonValue *> open_;
};

} // namespace

std::optional<JsonValue> parseJson(uint32_t file, frontend::DiagnosticEngine &diagnostics) {
  const std::string &text = diagnostics.sources().file(file).text();
  const char *furthest = text.data();
  Builder builder(file, text, furthest);
  const size_t zero = text.find('\0');
  // The library takes a zero byte for the end of the text.
  if (zero != std::string::npos) {
    builder.error = "a zero byte";
    builder.errorAt = zero;
  } else if (nlohmann::json::sax_parse(
                 Cursor(text.data(), &furthest), Cursor(text.data() + text.size(), &furthest), &builder,
                 nlohmann::json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true)) {
    return std::move(builder.top);
  }
  const uint32_t at = static_cast<uint32_t>(std::min(builder.errorAt, text.empty() ? 0 : text.size() - 1));
  diagnostics.error({file, at, at + 1}, builder.error);
  return std::nullopt;
}

} // namespace dbc::driver
