// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The emitter of NAME.h: HeaderEmitter.cpp prints the file and what a model consists of, HeaderBatch.cpp how
// inputs are handed in.
#pragma once

#include "codegen/cpu/Emitters.h"

#include <map>

namespace dbc::codegen {

/// Declarations with their comments.
using Lines = std::vector<std::pair<std::string, std::string>>;

class HeaderEmitter {
public:
  explicit HeaderEmitter(const ModelNames &model) : model_(model) {}
  std::string emit();

private:
  void usage();
  void constants();
  void handles();
  void builders();
  void setter(const std::string &result, const std::string &name, mlir::Type type, const std::string &target,
              const std::string &after, const std::string &note);
  void flatArrays();
  void arrayMembers(Lines &lines, const std::string &name, mlir::Type type, const std::string &rows,
                    llvm::StringRef note);
  void borrowColumn(const std::string &name, mlir::Type type, const std::string &table,
                    const std::string &column, const std::string &rows);
  void batch();
  void entryArguments(const Program &program);
  void borrowArguments(const Program &program);
  void weights();
  void results();
  void gradients();
  std::map<std::string, InputGradient> inputGradients() const;
  bool isSparseGradient(const Param &param) const;
  void session();
  std::string resultType(const Result &result);
  /// C++ type of a handle, valid where a method has the same name.
  std::string handle(llvm::StringRef data) const {
    return "::" + model_.space() + "::" + model_.data(data).name;
  }

  const ModelNames &model_;
  Writer out_;
};

} // namespace dbc::codegen
