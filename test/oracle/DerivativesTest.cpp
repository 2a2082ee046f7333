// The derivatives that passes build (DerivativeOpInterface) against the oracle's tape, which has rules of its
// own.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "GradientCases.h"

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
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
  for (mlir::Operation &op : body.without_terminator())
    EXPECT_TRUE(mlir::succeeded(mlir::verify(&op, /*verifyRecursively=*/false)));
  llvm::SmallVector<mlir::Value> results;
  for (auto &[path, value] : gradient) {
    paths.push_back(path.str());
    results.push_back(value);
  }
  end->setOperands(results);
  return true;
}

/// Passes may make operations that the language has no word for: a case with these in place of others.
struct ChangedCase {
  Case of;
  void (*change)(dyn::EntryOp loss);
};
std::ostream &operator<<(std::ostream &out, const ChangedCase &changed) { return out << changed.of; }

/// Puts one operation of one operand in the place of each other one.
template <class From, class To> void replaceUnary(dyn::EntryOp loss) {
  loss.walk([](From op) {
    mlir::OpBuilder b(op);
    op.getResult().replaceAllUsesWith(To::create(b, op.getLoc(), op->getOperand(0)));
    op.erase();
  });
}

/// What spreads a scalar is a splat.
void splat(dyn::EntryOp loss) {
  loss.walk([](dyn::BroadcastOp op) {
    if (llvm::isa<mlir::RankedTensorType>(op.getX().getType()))
      return;
    mlir::OpBuilder b(op);
    auto type = llvm::cast<mlir::RankedTensorType>(op.getType());
    op.getResult().replaceAllUsesWith(mlir::tensor::SplatOp::create(b, op.getLoc(), type, op.getX()));
    op.erase();
  });
}

/// Products add to tensors of the number s, and not of 0.
void fillWithNumber(dyn::EntryOp loss) {
  dyn::GetOp s;
  loss.walk([&](dyn::GetOp op) { s = op.getParam() == "s" ? op : s; });
  s->moveBefore(&loss.getBody().front(), loss.getBody().front().begin());
  loss.walk([&](mlir::linalg::FillOp op) { op->setOperand(0, s.getResult()); });
}

/// A matrix of scalars that were joined is made of them at once.
void matrixOfScalars(dyn::EntryOp loss) {
  loss.walk([](mlir::tensor::ExpandShapeOp op) {
    auto joined = op.getSrc().getDefiningOp<mlir::tensor::ConcatOp>();
    if (!joined)
      return;
    llvm::SmallVector<mlir::Value> scalars;
    for (mlir::Value each : joined.getInputs())
      scalars.push_back(each.getDefiningOp<mlir::tensor::FromElementsOp>().getElements().front());
    mlir::OpBuilder b(op);
    auto type = llvm::cast<mlir::RankedTensorType>(op.getType());
    op.getResult().replaceAllUsesWith(mlir::tensor::FromElementsOp::create(b, op.getLoc(), type, scalars));
    op.erase();
  });
}

const ChangedCase kChanged[] = {
    {{"log1p", "loss f() { sum(exp(a + 2) * b) }"}, replaceUnary<mlir::math::ExpOp, mlir::math::Log1pOp>},
    {{"erf", "loss f() { sum(exp(a) * b) }"}, replaceUnary<mlir::math::ExpOp, mlir::math::ErfOp>},
    {{"splat", "loss f() { sum(a * (s * a[0]) * b) }"}, splat},
    {{"fill", "loss f() { sum(square(W @ a) * b) + s * (a @ b) }"}, fillWithNumber},
    {{"from_elements",
      "loss f() { let x = [s, a[0], b[1] * s, a[2]]; let y = reshape(x, 2, 2); sum(y @ (y @ [1.0, 2.0])) }"},
     matrixOfScalars},
    {{"log1p_not_chosen", "loss f() { sum(select(a - a > 1, exp(a - a - 1), b)) }"},
     replaceUnary<mlir::math::ExpOp, mlir::math::Log1pOp>}};

class Derivatives : public testing::TestWithParam<Case> {};
class DerivativesOfChanged : public testing::TestWithParam<ChangedCase> {};

void compareWithTape(
    const Case &of, void (*change)(dyn::EntryOp) = [](dyn::EntryOp) {}) {
  Model model(std::string(kParameters) + of.text);
  ASSERT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  setDrawn(model);
  change(model.module().lookupSymbol<dyn::EntryOp>(of.loss));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(model.module())));
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

} // namespace

TEST_P(Derivatives, AreThoseOfTheTape) { compareWithTape(GetParam()); }
TEST_P(DerivativesOfChanged, AreThoseOfTheTape) { compareWithTape(GetParam().of, GetParam().change); }

INSTANTIATE_TEST_SUITE_P(OfRows, Derivatives, testing::ValuesIn(kRowCases), nameOf);
INSTANTIATE_TEST_SUITE_P(AtKinks, Derivatives, testing::ValuesIn(kKinks), nameOf);
INSTANTIATE_TEST_SUITE_P(OfPasses, DerivativesOfChanged, testing::ValuesIn(kChanged),
                         [](const testing::TestParamInfo<ChangedCase> &info) { return info.param.of.name; });
