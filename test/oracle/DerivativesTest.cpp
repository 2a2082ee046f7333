// The derivatives that passes build (DerivativeOpInterface) against the oracle's tape, which has rules of its
// own.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "GradientCases.h"

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::oracletest;

namespace {

/// Lets a loss without regions give its gradient instead: one value for each parameter that it reads, in the
/// order of their first reading. Fails where it has regions or lists.
bool differentiate(dyn::EntryOp loss, std::vector<std::string> &paths) {
  mlir::Block &body = loss.getBody().front();
  auto isPlain = [](mlir::Type type) {
    return dyn::isNumber(type) || llvm::isa<mlir::RankedTensorType>(type) || type.isIndex();
  };
  for (mlir::Operation &op : body)
    if ((op.getNumRegions() > 0 && !llvm::isa<mlir::linalg::LinalgDialect>(op.getDialect())) ||
        !llvm::all_of(op.getOperandTypes(), isPlain) || llvm::isa<dyn::CallOp>(op))
      return false;
  mlir::Operation *end = body.getTerminator();
  mlir::OpBuilder b(end);
  llvm::DenseMap<mlir::Value, mlir::Value> adjoints;
  adjoints[end->getOperand(0)] = mlir::arith::ConstantOp::create(b, end->getLoc(), b.getF32FloatAttr(1));
  llvm::SmallVector<mlir::Operation *> forward;
  for (mlir::Operation &op : body.without_terminator())
    forward.push_back(&op);
  llvm::MapVector<mlir::StringAttr, mlir::Value> gradient;
  for (mlir::Operation *op : llvm::reverse(llvm::ArrayRef(forward).drop_back())) { // but the constant
    mlir::Value adjoint = op->getNumResults() == 1 ? adjoints.lookup(op->getResult(0)) : mlir::Value();
    if (!adjoint)
      continue;
    if (auto get = llvm::dyn_cast<dyn::GetOp>(op)) {
      mlir::Value &sum = gradient[get.getParamAttr().getAttr()];
      sum = sum ? mlir::arith::AddFOp::create(b, op->getLoc(), sum, adjoint).getResult() : adjoint;
      continue;
    }
    auto derivative = llvm::dyn_cast<dyn::DerivativeOpInterface>(op);
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      if (!derivative || !dyn::scalar(operand.get().getType()).isF32())
        continue;
      mlir::Value more = derivative.buildAdjoint(b, operand.getOperandNumber(), adjoint);
      if (!more)
        continue;
      EXPECT_EQ(more.getType(), operand.get().getType()) << op->getName().getStringRef().str();
      mlir::Value &sum = adjoints[operand.get()];
      sum = sum ? mlir::arith::AddFOp::create(b, op->getLoc(), sum, more).getResult() : more;
    }
  }
  llvm::SmallVector<mlir::Value> results;
  for (auto &[path, value] : gradient) {
    paths.push_back(path.str());
    results.push_back(value);
  }
  end->setOperands(results);
  return true;
}

class Derivatives : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Derivatives, AreThoseOfTheTape) {
  const Case &of = GetParam();
  Model model(std::string(kParameters) + of.text);
  ASSERT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  setDrawn(model);
  const oracle::Outcome expected = model.differentiate(of.loss, of.line);
  std::vector<std::string> paths;
  ASSERT_TRUE(differentiate(model.module().lookupSymbol<dyn::EntryOp>(of.loss), paths));
  const oracle::Outcome found = model.run(of.loss, of.line);
  ASSERT_TRUE(found.status.ok()) << found.status.message;
  ASSERT_EQ(found.values.size(), paths.size());
  for (size_t p = 0; p < paths.size(); ++p) {
    const std::vector<double> &gradient = expected.gradient.parameters.at(paths[p]);
    for (int64_t i = 0; i < found.values[p].size(); ++i)
      EXPECT_NEAR(found.values[p].at(i), gradient.empty() ? 0 : gradient[i], 1e-6)
          << paths[p] << "[" << i << "]";
  }
}

INSTANTIATE_TEST_SUITE_P(OfRows, Derivatives, testing::ValuesIn(kRowCases), nameOf);
INSTANTIATE_TEST_SUITE_P(AtKinks, Derivatives, testing::ValuesIn(kKinks), nameOf);
