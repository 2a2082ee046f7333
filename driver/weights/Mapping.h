// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How a model's params are made of another program's tensors: what a mapping file says (MAPPING.md).
#pragma once

#include "driver/weights/TensorSource.h"
#include "frontend/syntax/Diagnostics.h"
#include <dbc/model_info.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

/// One operation, or a tensor of the file.
struct MapExpr {
  enum class Kind { Tensor, Number, Transpose, Permute, Reshape, Gates, Concat, Add, Stack };
  Kind kind = Kind::Tensor;
  frontend::SourceRange range;               ///< of the name, or of the operation's
  std::string name;                          ///< Tensor; may hold `{i}` within Stack
  double number = 0;                         ///< Number: each element of the param
  std::vector<MapExpr> operands;             ///< one but for Concat, Add, and Stack of a list
  std::vector<int64_t> axes;                 ///< Permute
  std::optional<std::vector<int64_t>> shape; ///< Reshape; none for that of the param
  int64_t axis = 0;                          ///< Gates, Concat; below 0: counted from the last
  std::vector<std::string> from, to;         ///< Gates: names of the blocks
  bool isPattern = false;                    ///< Stack: of its one operand for each number of `index`
  std::string index = "i";
  std::optional<int64_t> first, last; ///< Stack of a pattern: the numbers

  bool operator==(const MapExpr &other) const;
};

/// A tensor of the file by its name.
MapExpr tensorExpr(const std::string &name);
/// An operation on one operand, or on several.
MapExpr operation(MapExpr::Kind kind, std::vector<MapExpr> operands);

/// The expression as a mapping file has it, on one line.
std::string shownExpr(const MapExpr &expr);

/// What a param is made of.
struct MapEntry {
  int32_t param = 0; ///< its number in the model
  MapExpr value;
  frontend::SourceRange key; ///< its name in the mapping file
};

struct Mapping {
  std::vector<MapEntry> entries;
  std::vector<bool> isGiven; ///< of each param of the model: it stands in the file, be it with an error
  frontend::SourceRange end; ///< the brace that closes the file
};

/// Reads a mapping file. Says what is wrong with its form: unknown operations and params, a param that stands
/// twice; such entries are left out. Nothing if it is no JSON object.
std::optional<Mapping> readMapping(uint32_t file, const ModelInfo &model,
                                   frontend::DiagnosticEngine &diagnostics);

/// Puts what `{i}` stands for into patterns and finds out which shape each entry has: says which tensors are
/// not in the file, or cannot be read, which shapes do not fit an operation, and which entries are not their
/// param's shape. `sourceName` is what messages call the file.
void resolve(Mapping &mapping, const ModelInfo &model, const TensorSource &source,
             const std::string &sourceName, frontend::DiagnosticEngine &diagnostics);

/// Replaces the patterns of `{i}` in an expression by the lists that they stand for; false if a tensor is not
/// in the file or cannot be read. Says nothing.
bool expandPatterns(MapExpr &expr, const TensorSource &source);

/// The shape of an expression without patterns of `{i}`; nothing where its operands do not fit. Says nothing.
std::optional<std::vector<int64_t>> shapeOf(const MapExpr &expr, const TensorSource &source,
                                            const std::vector<int64_t> &ofParam);

/// The numbers of all tensors that a resolved expression reads, each as often as it is read.
void tensorsOf(const MapExpr &expr, const TensorSource &source, std::vector<size_t> &tensors);

/// The elements of a resolved expression; those of a param that is a tensor as it lies in the file are
/// borrowed from there. An error names the tensor.
Status evaluate(const MapExpr &expr, const std::vector<int64_t> &ofParam, TensorSource &source,
                std::unique_ptr<Elements> &elements);

} // namespace dbc::driver
