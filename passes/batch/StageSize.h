// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a row of a stage takes: what schedules are chosen by.
#pragma once

#include "ir/Batch/Batch.h"
#include "passes/Products.h"

namespace dbc::passes {

/// A product that can be computed in tiles of channels, and its inputs.
struct TiledProduct : Gates {
  int64_t inputs;
};
/// Rows whose outer products a CPU adds up at once: as many inputs of a product.
constexpr int64_t kRowsOfOuter = 128;

struct StageSize {
  int64_t operations = 1; ///< multiply-adds of products, and elements computed
  int64_t scratch = 1;    ///< bytes of values that are kept until something else of the stage reads them
  int64_t spared = 0;     ///< of these, bytes of what products start from, and of joins that they take apart
  bool product = false;   ///< whether packed weights serve one of its products
  /// Of the products that can be computed in tiles of channels; their results take no scratch.
  llvm::SmallVector<TiledProduct> tiled;
};
/// Whether a stage adds outer products up.
bool addsOuterProducts(batch::StageOp stage);
/// `realBytes` are those of a number in scratch.
StageSize sizeOf(batch::StageOp stage, int64_t realBytes = 4);

} // namespace dbc::passes
