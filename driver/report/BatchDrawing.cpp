// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/BatchDrawing.h"
#include <dbc/counted.h>

namespace dbc::driver {

constexpr int64_t kMostNodes = 300, kMostInputs = 60;

void BatchDrawing::add(const Batch &batch, const std::vector<bool> &failed) {
  for (int32_t number = 0; number < batch.inputs(); ++number) {
    ++inputs_;
    int64_t nodes = 0;
    for (int32_t data = 0; data < batch.args(); ++data)
      nodes += batch.begin(data)[number + 1] - batch.begin(data)[number];
    nodes_ += nodes;
    if (failed[number]) {
      ++failed_;
      continue;
    }
    full_ |= !drawn_.empty() && (drawnNodes_ + nodes > kMostNodes || int64_t(drawn_.size()) == kMostInputs);
    if (full_)
      continue;
    InputGraph input = readInput(info_, entry_, batch, number);
    input.number = inputs_;
    findLevels(input);
    if (nodes > kMostNodes) {
      keepNearest(input, kMostNodes);
      cut_ = nodes - kMostNodes;
    }
    for (InputGraph::Node &node : input.nodes) {
      const std::string name = batch.node_name(node.data, node.number);
      const DataInfo &data = info_.datas[node.data];
      node.name = name + " (" + data.constructors[node.constructor].name + ")";
    }
    layOut(input);
    drawnNodes_ += int64_t(input.nodes.size());
    drawn_.push_back(std::move(input));
  }
}

std::string BatchDrawing::words() const {
  const auto drawn = static_cast<int64_t>(drawn_.size());
  std::string words = "Drawn: " + counted(drawn, "input") + " of " + std::to_string(inputs_) + ", with " +
                      std::to_string(drawnNodes_) + " of " + counted(nodes_, "node") +
                      "; those that an argument refers to have a ring. A node's level is how many references "
                      "lead down from it, at most, by the fields that the entry reads.";
  if (cut_ > 0)
    words += " Of the first one the " + std::to_string(kMostNodes) +
             " nodes are drawn that are nearest to its arguments.";
  if (failed_ > 0)
    words += " " + counted(failed_, "input is", "inputs are") + " left out for " +
             (failed_ == 1 ? "its error." : "their errors.");
  if (inputs_ - failed_ > drawn)
    words += " Left out, as a drawing has at most " + std::to_string(kMostNodes) + " nodes and " +
             std::to_string(kMostInputs) + " inputs: " + counted(inputs_ - failed_ - drawn, "input") +
             " behind these.";
  return words;
}

std::string BatchDrawing::svg() const { return drawSvg(info_, drawn_, words()); }

} // namespace dbc::driver
