// Arithmetic, comparisons, broadcasting, matrix products, joins.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dbc::frontend {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;

mlir::Type Lowering::withExtents(mlir::Type number, llvm::ArrayRef<int64_t> extents) {
  mlir::Type element = dyn::scalar(number);
  return extents.empty() ? element : mlir::Type(tensorOf(extents, element));
}

//===--------------------------------------------------------------------===//
// Shapes
//===--------------------------------------------------------------------===//

mlir::Value Lowering::stretch(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> extents) {
  if (dyn::extents(x.getType()) == extents)
    return x;
  return dyn::BroadcastOp::create(builder_, at, withExtents(x.getType(), extents), x);
}

mlir::Value Lowering::reshape(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> extents) {
  llvm::ArrayRef<int64_t> from = dyn::extents(x.getType());
  if (from == extents)
    return x;
  if (from.empty()) // a scalar, and so all extents are 1
    return stretch(at, x, extents);
  auto all = [](size_t rank) {
    return mlir::ReassociationIndices(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  };
  if (extents.empty()) {
    mlir::Value zero = arith::ConstantIndexOp::create(builder_, at, 0);
    return tensor::ExtractOp::create(builder_, at, x, Values(from.size(), zero));
  }
  if (from.size() > 1)
    x = tensor::CollapseShapeOp::create(builder_, at, x, llvm::SmallVector{all(from.size())});
  if (extents.size() > 1)
    x = tensor::ExpandShapeOp::create(builder_, at, withExtents(x.getType(), extents), x,
                                      llvm::SmallVector{all(extents.size())});
  return x;
}

/// A stretch of a tensor; `result` leaves out axes of extent 1.
mlir::Value Lowering::cut(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> offsets,
                          llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> result) {
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  if (sizes == type.getShape())
    return reshape(at, x, result);
  if (result.empty()) {
    Values indices;
    for (int64_t offset : offsets)
      indices.push_back(arith::ConstantIndexOp::create(builder_, at, offset));
    return tensor::ExtractOp::create(builder_, at, x, indices);
  }
  auto numbers = [&](llvm::ArrayRef<int64_t> values) {
    llvm::SmallVector<mlir::OpFoldResult> attrs;
    for (int64_t value : values)
      attrs.push_back(builder_.getIndexAttr(value));
    return attrs;
  };
  llvm::SmallVector<int64_t> ones(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(builder_, at, tensorOf(result, type.getElementType()), x,
                                        numbers(offsets), numbers(sizes), numbers(ones));
}

//===--------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------===//

mlir::Value Lowering::integer(mlir::Location at, dyn::IntKind kind, mlir::Value a, mlir::Value b) {
  return harmless(dyn::IntOp::create(builder_, at, a.getType(), kind, a, b));
}

mlir::Value Lowering::narrow(mlir::Location at, mlir::Value x, int64_t bound) {
  return harmless(dyn::NarrowOp::create(builder_, at, x, static_cast<uint64_t>(bound)));
}

mlir::Value Lowering::unary(const UnaryExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.operand);
  if (expr.op == UnaryExpr::Op::Not)
    return arith::XOrIOp::create(builder_, at, x, constant(at, 1, x.getType()));
  if (auto *number = expr.operand->as<NumberExpr>())
    return constant(at, -number->value, x.getType());
  if (dyn::scalar(x.getType()).isF32())
    return arith::NegFOp::create(builder_, at, x);
  return integer(at, dyn::IntKind::Sub, constant(at, 0, x.getType()), x);
}

mlir::Value Lowering::binary(const BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  switch (expr.op) {
  case Op::Or:
  case Op::And:
    return logical(expr);
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    return comparison(expr);
  case Op::MatMul:
    return product(expr);
  default:
    return arithmetic(expr);
  }
}

mlir::Value Lowering::arithmetic(const BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  mlir::Location at = location(expr.opRange);
  mlir::Type type = numberType(expr.type, expr.range);
  mlir::Value a = lowerOne(*expr.lhs), b = lowerOne(*expr.rhs);
  a = stretch(at, a, dyn::extents(type));
  b = stretch(at, b, dyn::extents(type));
  if (dyn::scalar(type).isF32()) {
    switch (expr.op) {
    case Op::Add:
      return arith::AddFOp::create(builder_, at, a, b);
    case Op::Sub:
      return arith::SubFOp::create(builder_, at, a, b);
    case Op::Mul:
      return arith::MulFOp::create(builder_, at, a, b);
    default:
      return arith::DivFOp::create(builder_, at, a, b);
    }
  }
  switch (expr.op) {
  case Op::Add:
    return integer(at, dyn::IntKind::Add, a, b);
  case Op::Sub:
    return integer(at, dyn::IntKind::Sub, a, b);
  case Op::Mul:
    return integer(at, dyn::IntKind::Mul, a, b);
  default:
    return integer(at, dyn::IntKind::Rem, a, b);
  }
}

mlir::Value Lowering::comparison(const BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  mlir::Location at = location(expr.range);
  mlir::Value a = lowerOne(*expr.lhs), b = lowerOne(*expr.rhs);
  if (expr.lhs->type->isNode()) {
    mlir::Value same = dyn::SameOp::create(builder_, at, builder_.getI1Type(), a, b);
    if (expr.op == Op::Eq)
      return same;
    return arith::XOrIOp::create(builder_, at, same, boolConstant(at, true));
  }
  mlir::Type type = numberType(expr.type, expr.range);
  a = stretch(at, a, dyn::extents(type));
  b = stretch(at, b, dyn::extents(type));
  if (dyn::scalar(a.getType()).isF32()) {
    using P = arith::CmpFPredicate;
    P predicate = expr.op == Op::Eq   ? P::OEQ
                  : expr.op == Op::Ne ? P::UNE
                  : expr.op == Op::Lt ? P::OLT
                  : expr.op == Op::Le ? P::OLE
                  : expr.op == Op::Gt ? P::OGT
                                      : P::OGE;
    return arith::CmpFOp::create(builder_, at, predicate, a, b);
  }
  using P = arith::CmpIPredicate;
  P predicate = expr.op == Op::Eq   ? P::eq
                : expr.op == Op::Ne ? P::ne
                : expr.op == Op::Lt ? P::slt
                : expr.op == Op::Le ? P::sle
                : expr.op == Op::Gt ? P::sgt
                                    : P::sge;
  return arith::CmpIOp::create(builder_, at, predicate, a, b);
}

//===--------------------------------------------------------------------===//
// Products
//===--------------------------------------------------------------------===//

mlir::Value Lowering::product(const BinaryExpr &expr) {
  mlir::Value a = lowerOne(*expr.lhs), b = lowerOne(*expr.rhs);
  return product(location(expr.opRange), a, b);
}

/// NumPy's matmul as one contraction. Its loops: the leading axes, the rows of a, the columns of b, and last
/// the sum.
mlir::Value Lowering::product(mlir::Location at, mlir::Value a, mlir::Value b) {
  llvm::ArrayRef<int64_t> as = dyn::extents(a.getType()), bs = dyn::extents(b.getType());
  auto leadingOf = [](llvm::ArrayRef<int64_t> shape) {
    return shape.drop_back(std::min<size_t>(shape.size(), 2));
  };
  llvm::ArrayRef<int64_t> al = leadingOf(as), bl = leadingOf(bs);
  size_t leading = std::max(al.size(), bl.size());
  bool rows = as.size() > 1, columns = bs.size() > 1;
  unsigned loops = leading + rows + columns + 1;
  auto loop = [&](unsigned i) { return mlir::getAffineDimExpr(i, &context_); };

  // Leading axes are aligned at the right. One that stretches is missing in the operand, which is then used
  // again and again.
  auto extentAt = [&](llvm::ArrayRef<int64_t> shape, size_t i) {
    return i + shape.size() < leading ? 1 : shape[i + shape.size() - leading];
  };
  llvm::SmallVector<int64_t> result;
  for (size_t i = 0; i < leading; ++i)
    result.push_back(std::max(extentAt(al, i), extentAt(bl, i)));
  auto align = [&](mlir::Value &x, llvm::ArrayRef<int64_t> lead, llvm::ArrayRef<mlir::AffineExpr> last) {
    llvm::SmallVector<mlir::AffineExpr> axes;
    llvm::SmallVector<int64_t> kept;
    for (size_t i = leading - lead.size(); i < leading; ++i)
      if (extentAt(lead, i) == result[i]) {
        axes.push_back(loop(i));
        kept.push_back(result[i]);
      }
    auto inner = dyn::extents(x.getType()).drop_front(lead.size());
    kept.append(inner.begin(), inner.end());
    axes.append(last.begin(), last.end());
    x = reshape(at, x, kept);
    return mlir::AffineMap::get(loops, 0, axes, &context_);
  };
  mlir::AffineExpr row = loop(leading), column = loop(leading + rows), sum = loop(loops - 1);
  llvm::SmallVector<mlir::AffineExpr> aLast{sum}, bLast{sum}, outAxes;
  if (rows)
    aLast.insert(aLast.begin(), row);
  if (columns)
    bLast.push_back(column);
  int64_t rowCount = rows ? as[as.size() - 2] : 1, columnCount = columns ? bs.back() : 1;
  mlir::AffineMap aMap = align(a, al, aLast), bMap = align(b, bl, bLast);
  for (size_t i = 0; i < leading; ++i)
    outAxes.push_back(loop(i));
  if (rows) {
    outAxes.push_back(row);
    result.push_back(rowCount);
  }
  if (columns) {
    outAxes.push_back(column);
    result.push_back(columnCount);
  }
  auto type = tensorOf(result, builder_.getF32Type());
  mlir::Value zero = constant(at, 0, builder_.getF32Type());
  mlir::Value empty = tensor::EmptyOp::create(builder_, at, result, builder_.getF32Type());
  mlir::Value out = mlir::linalg::FillOp::create(builder_, at, zero, empty).getResult(0);
  auto maps =
      builder_.getAffineMapArrayAttr({aMap, bMap, mlir::AffineMap::get(loops, 0, outAxes, &context_)});
  mlir::Value contracted =
      mlir::linalg::ContractOp::create(builder_, at, mlir::TypeRange{type}, mlir::ValueRange{a, b},
                                       mlir::ValueRange{out}, maps)
          .getResult(0);
  if (!result.empty())
    return contracted;
  return tensor::ExtractOp::create(builder_, at, contracted, mlir::ValueRange{}); // vector @ vector
}

//===--------------------------------------------------------------------===//
// Joins
//===--------------------------------------------------------------------===//

mlir::Value Lowering::join(const JoinExpr &expr) {
  mlir::Location at = location(expr.range);
  auto type = llvm::cast<mlir::RankedTensorType>(numberType(expr.type, expr.range));
  Values operands, scalars;
  // Neighbouring scalars make one operand.
  auto flush = [&] {
    if (!scalars.empty())
      operands.push_back(tensor::FromElementsOp::create(
          builder_, at, tensorOf({static_cast<int64_t>(scalars.size())}, type.getElementType()), scalars));
    scalars.clear();
  };
  for (const ExprPtr &element : expr.elements) {
    mlir::Value operand = lowerOne(*element);
    if (dyn::extents(operand.getType()).empty()) {
      scalars.push_back(operand);
      continue;
    }
    flush();
    operands.push_back(operand);
  }
  flush();
  if (operands.size() == 1)
    return operands.front();
  return tensor::ConcatOp::create(builder_, at, type, 0, operands);
}

} // namespace dbc::frontend
