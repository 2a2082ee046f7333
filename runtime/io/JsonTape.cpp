// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Filling a tape from the JSON library's events.
#include "JsonTape.h"
#include "JsonSax.h"

#include <charconv>
#include <cmath>
#include <dbc/counted.h>
#include <limits>

namespace dbc::io {

struct TapeHandler : JsonEvents {
  Tape &tape;
  int depth;
  std::vector<uint64_t> open; ///< the containers around the next token
  TapeHandler(Tape &tape, int depth) : tape(tape), depth(depth) {
    of_nans = "; numbers that are not finite are \"nan\", \"inf\", \"-inf\" in quotes";
  }

  /// Appends a token and counts it in the container around it: an array counts values, an object its keys.
  bool push(Token t) {
    if (!open.empty()) {
      Token &around = tape.tokens_[open.back()];
      if ((around.kind == Json::Array) == (t.kind != Json::Key)) {
        if (around.extra == std::numeric_limits<uint32_t>::max()) {
          error = "an array or object with more than 4294967295 elements";
          return false;
        }
        ++around.extra;
      }
    }
    tape.tokens_.push_back(t);
    return true;
  }
  bool push_text(Json kind, const std::string &text) {
    Token t(kind);
    auto it = tape.number_.find(text);
    if (it != tape.number_.end()) {
      t.extra = it->second;
    } else {
      uint64_t number = tape.known_.size() + tape.other_end_.size();
      if (number >= std::numeric_limits<uint32_t>::max()) {
        error = "more than 4294967295 strings";
        return false;
      }
      t.extra = static_cast<uint32_t>(number);
      tape.others_ += text;
      tape.other_end_.push_back(tape.others_.size());
    }
    return push(t);
  }
  bool enter(Json kind) {
    if (static_cast<int>(open.size()) >= depth) {
      error = "nested deeper than " + counted(depth, "level") + ", more than any value of this model";
      return false;
    }
    if (!push(Token(kind)))
      return false;
    open.push_back(tape.tokens_.size() - 1);
    return true;
  }
  bool leave() {
    tape.tokens_[open.back()].end = tape.tokens_.size();
    open.pop_back();
    return true;
  }

  bool null() { return push(Token(Json::Null)); }
  bool boolean(bool b) { return push(Token(b ? Json::True : Json::False)); }
  bool number_integer(int64_t v) {
    Token t(Json::Int);
    t.integer = v;
    return push(t);
  }
  bool number_unsigned(uint64_t v) {
    if (v <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return number_integer(static_cast<int64_t>(v));
    return number_float(static_cast<double>(v), std::to_string(v));
  }
  bool number_float(double v, const std::string &text) {
    Token t(Json::Float);
    t.number = v;
    t.integral = text.find_first_of(".eE") == std::string::npos;
    // Straight from the text: going through the double could round twice. Beyond float's range the conversion
    // below gives 0 or infinity, which the reader of an f32 tells apart.
    float f = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), f).ec != std::errc())
      f = std::abs(v) > std::numeric_limits<float>::max()
              ? std::copysign(std::numeric_limits<float>::infinity(), v)
              : static_cast<float>(v);
    std::memcpy(&t.extra, &f, sizeof f);
    return push(t);
  }
  bool string(std::string &s) { return push_text(Json::String, s); }
  bool key(std::string &s) { return push_text(Json::Key, s); }
  bool start_object(size_t) { return enter(Json::Object); }
  bool end_object() { return leave(); }
  bool start_array(size_t) { return enter(Json::Array); }
  bool end_array() { return leave(); }
};

Tape::Tape(std::vector<std::string> known) : known_(std::move(known)) {
  for (uint32_t i = 0; i < known_.size(); ++i)
    number_.emplace(known_[i], i);
}

bool Tape::parse(std::string_view text, int depth, std::string &error) {
  tokens_.clear();
  others_.clear();
  other_end_.clear();
  TapeHandler handler(*this, depth);
  if (parse_json(text, handler))
    return true;
  error = handler.error;
  if (handler.at_end && !handler.open.empty())
    error += tokens_[0].kind == Json::Array ? lines_not_array : "; an input is one whole line";
  return false;
}

std::string_view Tape::text(uint32_t number) const {
  if (number < known_.size())
    return known_[number];
  uint64_t i = number - known_.size();
  uint64_t begin = i ? other_end_[i - 1] : 0;
  return std::string_view(others_).substr(begin, other_end_[i] - begin);
}

} // namespace dbc::io
