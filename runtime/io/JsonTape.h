// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A JSON text as a flat array of tokens, 16 bytes each: what the instance reader walks. Containers know where
// they end, so a value is stepped over in O(1) and nothing needs a recursive walk; nesting is limited while
// parsing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dbc::io {

enum class Json : uint8_t { Null, True, False, Int, Float, String, Key, Object, Array };

struct Token {
  Json kind;
  bool integral = false; ///< Float: written without point and exponent, that is, an integer beyond 64 bits
  uint32_t extra = 0; ///< Float: the bits of the value as float; String, Key: number of the text; Object: its
                      ///< keys; Array: its elements
  union {
    int64_t integer; ///< Int
    double number;   ///< Float
    uint64_t end;    ///< Object, Array: the token after the last one inside
  };
  Token(Json k) : kind(k), integer(0) {}
};

/// What is added where a line is an array.
constexpr const char *lines_not_array = "; inputs are lines, one object each, not an array";

class Tape {
public:
  /// `known` are the texts that keys and strings are expected to be; they get the numbers 0 .. known.size()
  /// - 1.
  explicit Tape(std::vector<std::string> known);

  /// Replaces the tape's content by `text`. False when it is not one JSON value or nests deeper than `depth`
  /// containers; the reason is in `error`, with what is said of inputs that are spread over lines.
  bool parse(std::string_view text, int depth, std::string &error);

  const Token &operator[](uint64_t i) const { return tokens_[i]; }
  /// The token after the value that starts at i.
  uint64_t next(uint64_t i) const {
    Json k = tokens_[i].kind;
    return k == Json::Object || k == Json::Array ? tokens_[i].end : i + 1;
  }
  /// What was parsed, to be put back without its text. Of texts that are not known there is nothing then.
  const std::vector<Token> &tokens() const { return tokens_; }
  void put_back(const std::vector<Token> &tokens) { tokens_ = tokens; }

  uint32_t known_count() const { return static_cast<uint32_t>(known_.size()); }
  std::string_view text(uint32_t number) const;
  std::string_view text(const Token &t) const { return text(t.extra); }

private:
  friend struct TapeHandler;
  std::vector<Token> tokens_;
  std::vector<std::string> known_;
  std::unordered_map<std::string, uint32_t> number_;
  // Texts that are not known: only messages need them. One arena, borders in other_end_.
  std::string others_;
  std::vector<uint64_t> other_end_;
};

} // namespace dbc::io
