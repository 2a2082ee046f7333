// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Ops with loops of their own: products, contractions, joins; reductions are in StageReductions.cpp. Every
// sum runs in the order of its index.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/lower/StageToKernel.h"

using namespace mlir;

namespace dbc::passes {

void StageToKernel::emitSpecial(Operation *op) {
  if (auto product = dyn_cast<linalg::ContractOp>(op)) {
    auto found = matVec(product);
    if (found && packs(found->weights))
      return this->product(product, operandsOf(product), {}, localOf(plan.resultOf(product->getResult(0))));
    if (auto matrices = matMul(product))
      return multiply(product, *matrices);
    return contract(product);
  }
  if (auto r = dyn_cast<dyn::ReduceOp>(op))
    return reduce(r);
  if (auto s = dyn_cast<dyn::SoftmaxOp>(op))
    return softmax(s);
  if (auto s = dyn_cast<batch::SegmentOp>(op))
    return segment(s);
  if (auto top = dyn_cast<dyn::TopKOp>(op))
    return topK(top);
  join(op);
}

//===-- Products
//----------------------------------------------------------------------------------------------===//

/// Scratch with one row number for each row of the block; of numbers that have a name, made once.
Value StageToKernel::rowNumbers(StringRef name, function_ref<Value()> number) {
  if (Value known = rowNumbersOf.lookup(name))
    return known;
  Value numbers;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry());
    numbers = kernel::LocalOp::create(b, loc,
                                      kernel::LocalType::get(b.getContext(), {rowsOfBlock()}, b.getI32Type()),
                                      kernel::MemoryAttr());
  }
  rows([&] { kernel::WriteOp::create(b, loc, number(), numbers, ValueRange(i())); });
  if (!name.empty())
    rowNumbersOf[name] = numbers;
  return numbers;
}

Value StageToKernel::rowsOf(Value value, int64_t offset) {
  auto make = [&](FlatSymbolRefAttr array, Value via, Value from, Value local) {
    return kernel::RowsOp::create(b, value.getLoc(), kernel::RowsType::get(b.getContext()), array, via, from,
                                  local, offset);
  };
  if (plan.isMaterialised(value))
    return make({}, {}, {}, localOf(value));
  Operation *op = value.getDefiningOp();
  if (auto get = dyn_cast<dyn::GetOp>(op))
    return make(get.getParamAttr(), rowNumbers("", [&] { return integer(0); }), {}, {});
  if (auto read = dyn_cast<batch::ReadOp>(op)) {
    if (ofModel(read.getBufferAttr()))
      return make(read.getBufferAttr(), rowNumbers("", [&] { return integer(0); }), {}, {});
    if (isOrdered())
      return make(read.getBufferAttr(), rowNumbers("", [&] { return inMemory(read.getBuffer(), row()); }), {},
                  {});
    return make(read.getBufferAttr(), {}, inMemory(read.getBuffer(), base()), {});
  }
  if (auto gather = dyn_cast<batch::GatherOp>(op)) {
    const int64_t ago = gather.getAgo().value_or(0);
    auto number = [&] { return inMemory(gather.getArray(), column(columnOf(gather)), ago); };
    // Numbers in a window are those of its array alone.
    std::string name = columnOf(gather).str();
    if (window(gather.getArray(), ago))
      name += " of " + gather.getArray().str() + " " + std::to_string(ago);
    return make(gather.getArrayAttr(), rowNumbers(name, number), {}, {});
  }
  if (auto take = dyn_cast<dyn::TakeOp>(op))
    return make(take.getTensor().getDefiningOp<dyn::GetOp>().getParamAttr(),
                rowNumbers("", [&] { return element(take.getIndex(), {}); }), {}, {});
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return rowsOf(slice.getSource(), offset + slice.getStaticOffsets()[0]);
  return rowsOf(op->getOperand(0), offset);
}

/// The symbol of the packed form of a product's matrix and bias.
std::string StageToKernel::pack(linalg::ContractOp op) {
  FlatSymbolRefAttr init;
  if (arith::AddFOp sum = biasedSum(op)) {
    Value other = sum.getLhs() == op->getResult(0) ? sum.getRhs() : sum.getLhs();
    init = other.getDefiningOp<dyn::GetOp>().getParamAttr();
  }
  std::optional<int64_t> gates;
  if (Value result = plan.resultOf(op->getResult(0)); plan.isTiled(result))
    gates = plan.gatesOfTiled(result).gates;
  return packed.symbolOf(loc, matVec(op)->weights, init, gates, plan.unitsOfTile());
}

StageToKernel::Operands StageToKernel::operandsOf(linalg::ContractOp op) {
  auto [weights, x] = *matVec(op);
  Operands operands;
  for (Value part : plan.partsOf(x)) {
    operands.segments.push_back(rowsOf(part, 0));
    operands.lengths.push_back(dyn::extents(part.getType())[0]);
  }
  if (auto take = weights.getDefiningOp<dyn::TakeOp>())
    operands.table = rowNumbers("", [&] { return element(take.getIndex(), {}); });
  else if (auto sum = x.getDefiningOp<batch::SegmentOp>();
           sum && sum.getKind() == batch::ReduceKind::Sum && !sum.getCount() && !sum.getWhen())
    // Of a leaf's children: nothing need be multiplied.
    operands.some = rowNumbers(listOf(sum).getLength(), [&] { return column(listOf(sum).getLength()); });
  operands.weights = pack(op);
  return operands;
}

void StageToKernel::product(linalg::ContractOp op, const Operands &operands, Value tile, Value into) {
  kernel::ProductOp::create(b, op.getLoc(), count(), operands.segments, operands.lengths, operands.weights,
                            operands.table, operands.some, tile, /*sums=*/Value(), into);
}

void StageToKernel::multiply(linalg::ContractOp op, const MatMul &product) {
  SmallVector<Value> b;
  SmallVector<int64_t> lengths;
  for (Value part : plan.partsOf(product.b)) {
    b.push_back(rowsOf(part, 0));
    lengths.push_back(dyn::extents(part.getType())[0]);
  }
  Value a = rowsOf(product.a, 0);
  rows([&] {
    kernel::MultiplyOp::create(this->b, op.getLoc(), i(), count(), a, product.height, b, lengths,
                               product.outputs, localOf(op->getResult(0)));
  });
}

/// Any other contraction: loops over outputs and then over what is summed; the last output axis innermost, in
/// vectors, where there is one.
void StageToKernel::contract(linalg::ContractOp op) {
  auto maps = op.getIndexingMapsArray();
  AffineMap &out = maps[2];
  unsigned dims = out.getNumDims();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> outer, summed;
  std::optional<unsigned> inner;
  for (unsigned n = 0; n < out.getNumResults(); ++n)
    (n + 1 == out.getNumResults() ? (void)(inner = out.getDimPosition(n))
                                  : outer.push_back(out.getDimPosition(n)));
  for (unsigned d = 0; d < dims; ++d)
    if (d != inner && !llvm::is_contained(outer, d))
      summed.push_back(d);
  Value result = op->getResult(0);
  auto operand = [&](unsigned n, ArrayRef<Value> at) {
    SmallVector<Value> indices;
    for (unsigned r = 0; r < maps[n].getNumResults(); ++r)
      indices.push_back(at[maps[n].getDimPosition(r)]);
    return element(op.getOperand(n), indices, false);
  };
  auto shapeOf = [&](ArrayRef<unsigned> which) {
    return llvm::map_to_vector(which, [&](unsigned d) { return extents[d]; });
  };
  auto product = [&](ArrayRef<Value> at) {
    return arith::MulFOp::create(b, op.getLoc(), operand(0, at), operand(1, at)).getResult();
  };
  rows([&] {
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
        return counted(integer(0), integer(extents[summed[n]]), "k", acc, next)[0];
      };
      store(sum(0, real(0)), result, {});
      return;
    }
    nest(shapeOf(outer), [&](ValueRange o) {
      for (auto [d, v] : llvm::zip(outer, o))
        at[d] = v;
      auto place = [&] {
        return llvm::to_vector(llvm::map_range(llvm::seq(out.getNumResults()),
                                               [&](unsigned n) { return at[out.getDimPosition(n)]; }));
      };
      loops({extents[*inner]}, [&](ValueRange j) {
        at[*inner] = j[0];
        store(real(0), result, place());
      });
      nest(shapeOf(summed), [&](ValueRange k) {
        for (auto [d, v] : llvm::zip(summed, k))
          at[d] = v;
        loops({extents[*inner]}, [&](ValueRange j) {
          at[*inner] = j[0];
          SmallVector<Value> where{i()};
          llvm::append_range(where, place());
          Value before = kernel::ReadOp::create(b, op.getLoc(), b.getF32Type(), localOf(result), where);
          store(arith::AddFOp::create(b, op.getLoc(), before, product(at)), result, place());
        });
      });
    });
  });
}

//===-- Joins -------------------------------------------------------------------------------------------===//

/// Joins in memory: the parts one after the other.
void StageToKernel::join(Operation *op) {
  Value result = op->getResult(0);
  rows([&] {
    if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
      auto shape = dyn::extents(result.getType());
      for (auto [n, value] : llvm::enumerate(elements.getElements())) {
        SmallVector<Value> at(shape.size());
        int64_t rest = n;
        for (int64_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
          at[axis] = integer(rest % shape[axis]);
        store(element(value, {}, false), result, at);
      }
      return;
    }
    auto concat = cast<tensor::ConcatOp>(op);
    int64_t offset = 0;
    for (Value part : concat.getInputs()) {
      auto shape = dyn::extents(part.getType());
      loops(shape, [&](ValueRange at) {
        SmallVector<Value> to(at.begin(), at.end());
        to[concat.getDim()] = addInt(to[concat.getDim()], integer(offset));
        store(element(part, at, false), result, to);
      });
      offset += shape[concat.getDim()];
    }
  });
}

} // namespace dbc::passes
