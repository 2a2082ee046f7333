// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Is this piece of JSON a value of that type? Everything that can be wrong with a value is found here, before
// anything is put into a batch. Recursion goes down the type, never down the input.
#pragma once

#include "InstanceSchema.h"
#include "JsonTape.h"

namespace dbc::io {

class ValueCheck {
public:
  ValueCheck(const Schema &schema, const Tape &tape) : schema_(schema), tape_(tape) {}

  /// What the line's table of nodes holds; references are checked against it.
  void set_table(const std::vector<Constructor> *table) { table_ = table; }

  /// Whether the value at token `i` is of this type. If not, `what` says why and `path` where in the value
  /// ("[3].h", empty for the value itself).
  bool value(const TypeInfo &type, uint64_t i);
  std::string what, path;

  /// The token in words: "0.5", "a string", "an array of 3".
  std::string shown_token(uint64_t i) const;
  /// A number that is no float: an integer token within int32, or false with `what` set.
  bool integer(uint64_t i, const std::string &wanted);

private:
  bool scalar(const TypeInfo &type, uint64_t i);
  bool tensor(const TypeInfo &type, size_t axis, uint64_t i);
  bool record(const TypeInfo &type, uint64_t i);
  bool number(const TypeInfo &type, uint64_t i);
  bool fail(std::string text) {
    what = std::move(text);
    path.clear();
    return false;
  }
  /// Puts a step in front of the path of a failure found further in.
  bool inside(const std::string &step) {
    path = step + path;
    return false;
  }

  const Schema &schema_;
  const Tape &tape_;
  const std::vector<Constructor> *table_ = nullptr;
};

/// The f32 that a checked token stands for.
float token_f32(const Schema &schema, const Token &token);

} // namespace dbc::io
