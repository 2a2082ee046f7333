// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/MatrixText.h"
#include "codegen/common/Writer.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string matrixText(const ModelNames &model, kernel::WeightsOp op) {
  std::vector<std::string> submatrices;
  for (auto [n, symbol] : llvm::enumerate(op.getSubmatrices())) {
    const Param *param = model.param(cast<FlatSymbolRefAttr>(symbol).getValue());
    std::vector<int64_t> shape = param->shape;
    if (shape.size() == 3) { // of tables, or blocks of the matrices one below the other
      shape[1] *= op.getTables() ? 1 : shape[0];
      shape.erase(shape.begin());
    }
    assert(shape.size() == 2 && "packed weights are made of matrices");
    size_t numbers = op.getPositions().size() / op.getSubmatrices().size();
    ArrayRef<int64_t> position = op.getPositions().slice(numbers * n, numbers),
                      block = position.drop_front(2),
                      size = block.empty() ? ArrayRef(shape) : block.take_back(2);
    const unsigned rows = op.getTurned() ? 1 : 0;
    std::vector<std::string> text = {"param::" + param->name};
    auto add = [&](int64_t number) { text.push_back(std::to_string(number)); };
    for (int64_t number : {size[rows], size[1 - rows], position[0], position[1]})
      add(number);
    if (!block.empty()) {
      add(block[0] * shape[1] + block[1]);
      add(shape[1]);
    }
    if (op.getTurned() && block.empty())
      text.insert(text.end(), {"0", "0"});
    if (op.getTurned())
      text.push_back("/*turned=*/true");
    submatrices.push_back("{" + commas(text) + "}");
  }
  std::vector<std::string> matrix = {std::to_string(op.getOut()), std::to_string(op.getIn())};
  if (op.getInit() || op.getGates())
    matrix.push_back(op.getInit() ? "param::" + model.param(*op.getInit())->name : "-1");
  if (op.getGates())
    matrix.insert(matrix.end(), {std::to_string(*op.getGates()), std::to_string(*op.getWidth())});
  return "{" + commas(submatrices) + "}, {" + commas(matrix) + "}";
}

} // namespace dbc::codegen
