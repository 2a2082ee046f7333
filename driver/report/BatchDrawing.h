// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A drawing of the structure of a batch: its inputs' nodes and the references between them.
#pragma once

#include "driver/report/BatchGraph.h"
#include <string>
#include <vector>

namespace dbc::driver {

/// Draws the first inputs that are added, as many as fit a page.
class BatchDrawing {
public:
  /// Of an entry of a model, which is borrowed: the fields that it reads say what refers to what.
  BatchDrawing(const ModelInfo &info, const EntryCode &entry) : info_(info), entry_(entry) {}

  /// Adds the inputs of a batch that a run has checked; those with `failed` are counted and not drawn. Once
  /// the drawing is full they are only counted.
  void add(const Batch &batch, const std::vector<bool> &failed);

  /// What is drawn, what a colour is, and what was left out, in a sentence or two.
  std::string words() const;
  /// An SVG document, which has its own colours for a light and a dark page.
  std::string svg() const;

private:
  const ModelInfo &info_;
  const EntryCode &entry_;
  std::vector<InputGraph> drawn_;
  int64_t drawnNodes_ = 0, inputs_ = 0, nodes_ = 0, failed_ = 0;
  int64_t cut_ = 0; ///< nodes of the first input that are not drawn
  bool full_ = false;
};

} // namespace dbc::driver
