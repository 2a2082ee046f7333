// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Indented text, broken at 110 columns as clang-format breaks LLVM style.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <vector>

namespace dbc::codegen {

class Writer {
public:
  static constexpr size_t kColumns = 110;

  explicit Writer(unsigned indent = 0) : indent_(indent) {}

  /// One statement or declaration, broken after commas and operators where it is too long; or a comment, as
  /// it is.
  void line(const llvm::Twine &text);
  /// As it is.
  void raw(const llvm::Twine &text) { text_ += text.str(); }
  /// An empty line, unless the text starts here, or a block or another empty line ends here.
  void blank();
  /// `text {`, and all that follows one step to the right.
  void open(const llvm::Twine &text) {
    line(text + " {");
    indent_ += 2;
  }
  /// Ends a block; `end` is "}", "};", "} else {" (which opens another).
  void close(const llvm::Twine &end = "}");
  /// `} else {`, or with a condition `} else if (...) {`
  void otherwise(llvm::StringRef condition = "");
  /// Words after `mark` ("//" or "///"), filled to the width; a newline in `text` is kept.
  void comment(const llvm::Twine &text, llvm::StringRef mark = "//");
  void doc(const llvm::Twine &text) { comment(text, "///"); }
  /// Declarations with their comments, which stand in one column.
  void aligned(llvm::ArrayRef<std::pair<std::string, std::string>> lines);
  /// `head { body }`: on one line where `body` is one and there is room.
  void function(const llvm::Twine &head, llvm::StringRef body);
  /// `public:` one step to the left.
  void label(llvm::StringRef text);

  unsigned indent() const { return indent_; }
  const std::string &text() const { return text_; }

private:
  std::string text_;
  unsigned indent_;
};

/// Joins with ", ".
std::string commas(const std::vector<std::string> &items);
/// A comment for an array's shape: "450 x 300", or "scalar".
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// A C++ string literal.
std::string quoted(llvm::StringRef text);

} // namespace dbc::codegen
