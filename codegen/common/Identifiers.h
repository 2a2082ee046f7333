// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// C++ identifiers made of the model's names.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace dbc::codegen {

/// `name` as an identifier: other characters become `_`, a C++ keyword gets a `_` behind it, and so does a
/// name that C++ reserves (a leading or double underscore is taken apart).
std::string identifier(llvm::StringRef name);

/// `name` with a capital first letter: "sentiment" -> "Sentiment".
std::string capitalised(llvm::StringRef name);

/// The identifiers of a C++ scope.
class NameScope {
public:
  explicit NameScope(const NameScope *outer = nullptr) : outer_(outer) {}

  /// `wish` as an identifier, with a number behind it where it is taken here or outside. So are the names
  /// that are made of it by the `suffixes`, which are then taken too.
  std::string fresh(llvm::StringRef wish, llvm::ArrayRef<llvm::StringRef> suffixes = {});
  /// The first of the wishes that is free; else the first with a number.
  std::string fresh(std::initializer_list<llvm::StringRef> wishes,
                    llvm::ArrayRef<llvm::StringRef> suffixes = {});
  void reserve(llvm::StringRef name) { taken_.insert(name); }
  /// Not to be given out here; scopes inside may use it.
  void avoid(llvm::StringRef name) { avoided_.insert(name); }
  bool taken(llvm::StringRef name) const { return taken_.contains(name) || (outer_ && outer_->taken(name)); }

private:
  bool free(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> suffixes) const;
  const NameScope *outer_;
  llvm::StringSet<> taken_, avoided_;
  llvm::StringMap<unsigned> next_; ///< by a name without suffixes: the numbers below are taken, and stay so
};

} // namespace dbc::codegen
