// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dbc::passes {

void StageProducts::write(linalg::ContractOp op) {
  auto found = matVec(op);
  if (found && packs(found->weights)) {
    Value result = plan.resultOf(op->getResult(0));
    Operation *write = plan.writeOf(result);
    const bool relu = result.getDefiningOp<dyn::FunctionOp>() != nullptr;
    Value into = write ? rowsOf(write) : locals.of(result); // before the operands, whatever compiles this
    return multiplyPacked(op, operandsOf(op), {}, into, relu);
  }
  if (auto matrices = matMul(op))
    return multiply(op, *matrices);
  contract(op);
}

/// Scratch with one row number for each row of the block; of numbers that have a name, made once.
Value StageProducts::rowNumbers(StringRef name, function_ref<Value()> number) {
  if (Value known = rowNumbersOf.lookup(name))
    return known;
  Value numbers;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&w.entry());
    auto type = kernel::LocalType::get(b.getContext(), {w.rowsOfBlock()}, b.getI32Type());
    numbers = kernel::LocalOp::create(b, loc, type);
  }
  w.rows([&] {
    Value row = number();
    kernel::WriteOp::create(b, loc, row, numbers, ValueRange(w.i()));
  });
  if (!name.empty())
    rowNumbersOf[name] = numbers;
  return numbers;
}

Value StageProducts::ownRows(FlatSymbolRefAttr buffer, int64_t offset) {
  auto type = kernel::RowsType::get(b.getContext());
  StringRef array = buffer.getValue();
  if (!w.isOrdered())
    return kernel::RowsOp::create(b, loc, type, buffer, Value(), w.inMemory(array, w.base()), Value(),
                                  Value(), offset);
  // Those of a buffer of which not all rows are kept are its own.
  Value numbers =
      rowNumbers(w.window(array, 0) ? "" : "own rows", [&] { return w.inMemory(array, w.row()); });
  return kernel::RowsOp::create(b, loc, type, buffer, numbers, Value(), Value(), Value(), offset);
}

Value StageProducts::rowsVia(StringRef indexArray, FlatSymbolRefAttr buffer, int64_t ago, int64_t offset) {
  StringRef array = buffer.getValue();
  // Numbers in a window are those of its array alone.
  std::string name = indexArray.str();
  if (w.window(array, ago))
    name += " of " + array.str() + " " + std::to_string(ago);
  Value numbers = rowNumbers(name, [&] { return w.inMemory(array, w.index(indexArray), ago); });
  return kernel::RowsOp::create(b, loc, kernel::RowsType::get(b.getContext()), buffer, numbers, Value(),
                                Value(), Value(), offset);
}

Value StageProducts::rowsOf(Operation *write) {
  if (auto scatter = dyn_cast<batch::ScatterOp>(write))
    return rowsVia(w.indexArrayOf(scatter), scatter.getBufferAttr());
  return ownRows(cast<batch::WriteOp>(write).getBufferAttr());
}

Value StageProducts::rowsOf(Value value, int64_t offset) {
  auto make = [&](FlatSymbolRefAttr array, Value via, Value from, Value local) {
    return kernel::RowsOp::create(b, value.getLoc(), kernel::RowsType::get(b.getContext()), array, via, from,
                                  local, Value(), offset);
  };
  if (plan.isMaterialised(value))
    return make({}, {}, {}, locals.of(value));
  Operation *op = value.getDefiningOp();
  if (auto get = dyn_cast<dyn::GetOp>(op))
    return make(get.getParamAttr(), rowNumbers("", [&] { return w.integer(0); }), {}, {});
  if (auto read = dyn_cast<batch::ReadOp>(op)) {
    if (w.hasOneRow(read.getBufferAttr()))
      return make(read.getBufferAttr(), rowNumbers("", [&] { return w.integer(0); }), {}, {});
    return ownRows(read.getBufferAttr(), offset);
  }
  if (auto gather = dyn_cast<batch::GatherOp>(op))
    return rowsVia(w.indexArrayOf(gather), gather.getArrayAttr(), gather.getAgo().value_or(0), offset);
  if (auto gather = dyn_cast<dyn::GatherOp>(op))
    return make(gather.getTensor().getDefiningOp<dyn::GetOp>().getParamAttr(),
                rowNumbers("", [&] { return expressions.element(gather.getIndex(), {}); }), {}, {});
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return rowsOf(slice.getSource(), offset + slice.getStaticOffsets()[0]);
  return rowsOf(op->getOperand(0), offset);
}

void StageProducts::addSegments(Value operand, SmallVectorImpl<Value> &segments,
                                SmallVectorImpl<int64_t> &lengths) {
  for (Value each : plan.joinedOperands(operand)) {
    segments.push_back(rowsOf(each, 0));
    lengths.push_back(dyn::extents(each.getType())[0]);
  }
}

std::string StageProducts::pack(linalg::ContractOp op) {
  FlatSymbolRefAttr init;
  if (arith::AddFOp sum = biasedSum(op)) {
    Value other = sum.getLhs() == op->getResult(0) ? sum.getRhs() : sum.getLhs();
    init = other.getDefiningOp<dyn::GetOp>().getParamAttr();
  }
  std::optional<int64_t> gates;
  if (Value result = plan.resultOf(op->getResult(0)); plan.isTiled(result))
    gates = plan.gatesOfTiled(result).gates;
  return packed.symbolOf(loc, matVec(op)->weights, init, gates, plan.channelsOfTile());
}

StageProducts::Operands StageProducts::operandsOf(linalg::ContractOp op) {
  auto [weights, x] = *matVec(op);
  Operands operands;
  addSegments(x, operands.segments, operands.lengths);
  if (auto gather = weights.getDefiningOp<dyn::GatherOp>())
    operands.table = rowNumbers("", [&] { return expressions.element(gather.getIndex(), {}); });
  else if (auto sum = x.getDefiningOp<batch::SegmentOp>();
           sum && sum.getKind() == dyn::ReduceKind::Sum && !sum.getCount() && !sum.getWhen() && w.listOf(sum))
    // Of a leaf's children: nothing need be multiplied.
    operands.some = rowNumbers(w.listOf(sum).getLength(), [&] { return w.index(w.listOf(sum).getLength()); });
  operands.weights = pack(op);
  return operands;
}

void StageProducts::multiplyPacked(linalg::ContractOp op, const Operands &operands, Value tile, Value into,
                                   bool relu) {
  kernel::ProductOp::create(b, op.getLoc(), w.count(), operands.segments, operands.lengths, operands.weights,
                            operands.table, operands.some, tile, /*sums=*/Value(), into, relu,
                            /*large_m_tiles=*/IntegerAttr());
}

void StageProducts::multiply(linalg::ContractOp op, const MatMul &product) {
  SmallVector<Value> segments;
  SmallVector<int64_t> lengths;
  addSegments(product.b, segments, lengths);
  Value a = rowsOf(product.a, 0);
  w.rows([&] {
    kernel::MultiplyOp::create(b, op.getLoc(), w.i(), w.count(), a, product.height, segments, lengths,
                               product.outputs, /*memory=*/Value(), locals.of(op->getResult(0)));
  });
}

void StageProducts::outer(batch::AccumulateOp op) {
  Value value = rowsOf(op.getValue(), 0), outer = rowsOf(op.getOuter(), 0);
  kernel::OuterOp::create(b, op.getLoc(), w.count(), w.rowsOfBlock(), value,
                          dyn::extents(op.getValue().getType())[0], outer,
                          dyn::extents(op.getOuter().getType())[0], op.getBuffer(), /*tiles=*/ValueRange(),
                          /*memory=*/Value(), /*bias=*/FlatSymbolRefAttr(),
                          /*instruction=*/kernel::InstructionAttr());
}

/// Any other contraction: loops over outputs and then over what is summed; the last output axis innermost, in
/// vectors, where there is one.
void StageProducts::contract(linalg::ContractOp op) {
  auto maps = op.getIndexingMapsArray();
  AffineMap &out = maps[2];
  unsigned dims = out.getNumDims();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> outer, summed;
  std::optional<unsigned> inner;
  for (unsigned n = 0; n < out.getNumResults(); ++n)
    outer.push_back(out.getDimPosition(n));
  if (!outer.empty())
    inner = outer.pop_back_val();
  for (unsigned d = 0; d < dims; ++d)
    if (d != inner && !llvm::is_contained(outer, d))
      summed.push_back(d);
  Value result = op->getResult(0);
  auto operand = [&](unsigned n, ArrayRef<Value> at) {
    SmallVector<Value> indices;
    for (unsigned r = 0; r < maps[n].getNumResults(); ++r)
      indices.push_back(at[maps[n].getDimPosition(r)]);
    return expressions.element(op.getOperand(n), indices, false);
  };
  auto shapeOf = [&](ArrayRef<unsigned> which) {
    return llvm::map_to_vector(which, [&](unsigned d) { return extents[d]; });
  };
  auto product = [&](ArrayRef<Value> at) {
    Value x = operand(0, at), y = operand(1, at);
    return arith::MulFOp::create(b, op.getLoc(), x, y).getResult();
  };
  w.rows([&] {
    SmallVector<Value> at(dims);
    if (!inner) {
      // A scalar: sums in a register.
      std::function<Value(unsigned, Value)> sum = [&](unsigned n, Value acc) -> Value {
        if (n == summed.size())
          return arith::AddFOp::create(b, op.getLoc(), acc, product(at));
        auto next = [&](Value k, ValueRange so) -> SmallVector<Value> {
          at[summed[n]] = k;
          return {sum(n + 1, so[0])};
        };
        return w.counted(0, extents[summed[n]], "k", acc, next)[0];
      };
      locals.write(sum(0, w.real(0)), result, {});
      return;
    }
    w.loopNest(shapeOf(outer), [&](ValueRange o) {
      for (auto [d, v] : llvm::zip(outer, o))
        at[d] = v;
      auto position = [&] {
        return llvm::to_vector(llvm::map_range(llvm::seq(out.getNumResults()),
                                               [&](unsigned n) { return at[out.getDimPosition(n)]; }));
      };
      w.loops({extents[*inner]}, [&](ValueRange j) {
        at[*inner] = j[0];
        locals.write(w.real(0), result, position());
      });
      w.loopNest(shapeOf(summed), [&](ValueRange k) {
        for (auto [d, v] : llvm::zip(summed, k))
          at[d] = v;
        w.loops({extents[*inner]}, [&](ValueRange j) {
          at[*inner] = j[0];
          Value before = locals.read(result, position());
          locals.write(arith::AddFOp::create(b, op.getLoc(), before, product(at)), result, position());
        });
      });
    });
  });
}

} // namespace dbc::passes
