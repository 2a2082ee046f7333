// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Ops with loops of their own: products, contractions, reductions, segments, joins. Every sum runs in the
// order of its index.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"
#include "passes/StageToKernel.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace dbc::passes {

void StageToKernel::emitSpecial(Operation *op) {
  if (auto product = dyn_cast<linalg::ContractOp>(op)) {
    auto found = matVec(product);
    if (found && packs(found->weights))
      return this->product(product, found->weights, found->x);
    return contract(product);
  }
  if (auto r = dyn_cast<dyn::ReduceOp>(op))
    return reduce(r);
  if (auto s = dyn_cast<dyn::SoftmaxOp>(op))
    return softmax(s);
  if (auto s = dyn_cast<batch::SegmentOp>(op))
    return segment(s);
  join(op);
}

//===-- Products
//----------------------------------------------------------------------------------------------===//

bool StageToKernel::packs(Value weights) {
  if (isWeights(weights))
    return dyn::extents(weights.getType()).size() == 2;
  auto take = weights.getDefiningOp<dyn::TakeOp>();
  return take && take.getTensor().getDefiningOp<dyn::GetOp>() &&
         dyn::extents(take.getTensor().getType()).size() == 3 &&
         dyn::extents(take.getIndex().getType()).empty();
}

bool StageToKernel::addressable(Value value) {
  if (kept.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa<batch::ReadOp, batch::GatherOp>(op))
    return true;
  if (auto take = dyn_cast<dyn::TakeOp>(op))
    return take.getTensor().getDefiningOp<dyn::GetOp>() && dyn::extents(take.getIndex().getType()).empty();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSourceType().getRank() == 1 && addressable(slice.getSource());
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return addressable(op->getOperand(0));
  return false;
}

/// Scratch with one row number for each row of the block.
Value StageToKernel::rowNumbers(function_ref<Value()> number) {
  Value numbers;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    numbers =
        kernel::LocalOp::create(b, loc, kernel::LocalType::get(b.getContext(), {blockRows}, b.getI32Type()));
  }
  rows([&] { kernel::WriteOp::create(b, loc, number(), numbers, ValueRange(i)); });
  return numbers;
}

Value StageToKernel::rowsOf(Value value, int64_t offset) {
  auto make = [&](FlatSymbolRefAttr array, Value via, Value from, Value local) {
    return kernel::RowsOp::create(b, value.getLoc(), kernel::RowsType::get(b.getContext()), array, via, from,
                                  local, offset);
  };
  if (kept.contains(value))
    return make({}, {}, {}, localOf(value));
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<batch::ReadOp>(op)) {
    if (ofModel(read.getBufferAttr()))
      return make(read.getBufferAttr(), rowNumbers([&] { return integer(0); }), {}, {});
    if (ordered)
      return make(read.getBufferAttr(), rowNumbers([&] { return row; }), {}, {});
    return make(read.getBufferAttr(), {}, base, {});
  }
  if (auto gather = dyn_cast<batch::GatherOp>(op))
    return make(gather.getArrayAttr(), rowNumbers([&] { return column(gather.getColumn()); }), {}, {});
  if (auto take = dyn_cast<dyn::TakeOp>(op))
    return make(take.getTensor().getDefiningOp<dyn::GetOp>().getParamAttr(),
                rowNumbers([&] { return element(take.getIndex(), {}); }), {}, {});
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return rowsOf(slice.getSource(), offset + slice.getStaticOffsets()[0]);
  return rowsOf(op->getOperand(0), offset);
}

/// The symbol of the packed form of a matrix, declared once a program.
std::string StageToKernel::pack(Value weights) {
  SmallVector<Attribute> parts;
  SmallVector<int64_t> places;
  std::optional<int64_t> tables;
  std::string key;
  Type type = weights.getType();
  std::function<void(Value, int64_t, int64_t)> place = [&](Value v, int64_t row, int64_t column) {
    if (auto get = v.getDefiningOp<dyn::GetOp>()) {
      parts.push_back(get.getParamAttr());
      places.append({row, column});
      return;
    }
    auto concat = v.getDefiningOp<tensor::ConcatOp>();
    for (Value input : concat.getInputs()) {
      place(input, row, column);
      (concat.getDim() == 0 ? row : column) += dyn::extents(input.getType())[concat.getDim()];
    }
  };
  if (auto take = weights.getDefiningOp<dyn::TakeOp>()) {
    type = take.getTensor().getType();
    tables = dyn::extents(type)[0];
    type = RankedTensorType::get(dyn::extents(type).drop_front(), b.getF32Type());
    weights = take.getTensor();
  }
  place(weights, 0, 0);
  llvm::raw_string_ostream out(key);
  out << b.getArrayAttr(parts) << tables.has_value();
  llvm::interleaveComma(places, out);
  std::string &symbol = packed.symbols[key];
  if (symbol.empty()) {
    std::string name;
    for (Attribute part : parts)
      name += (name.empty() ? "" : "_") + cast<FlatSymbolRefAttr>(part).getValue().str();
    auto op = kernel::WeightsOp::create(packed.declare, loc, "packed." + name, b.getArrayAttr(parts), places,
                                        dyn::extents(type)[0], dyn::extents(type)[1],
                                        tables ? b.getI64IntegerAttr(*tables) : IntegerAttr());
    op->remove();
    packed.names->insert(op, packed.declare.getInsertionPoint());
    symbol = op.getSymName().str();
  }
  return symbol;
}

void StageToKernel::product(linalg::ContractOp op, Value weights, Value x) {
  Value result = op->getResult(0);
  FlatSymbolRefAttr init;
  if (Value sum = biased.lookup(result)) {
    auto add = sum.getDefiningOp<arith::AddFOp>();
    Value other = add.getLhs() == result ? add.getRhs() : add.getLhs();
    init = other.getDefiningOp<dyn::GetOp>().getParamAttr();
    result = sum;
  }
  SmallVector<Value> segments;
  SmallVector<int64_t> lengths;
  auto segment = [&](Value part) {
    segments.push_back(rowsOf(part, 0));
    lengths.push_back(dyn::extents(part.getType())[0]);
  };
  if (joined.contains(x))
    for (Value part : x.getDefiningOp<tensor::ConcatOp>().getInputs())
      segment(part);
  else
    segment(x);
  Value table;
  if (auto take = weights.getDefiningOp<dyn::TakeOp>())
    table = rowNumbers([&] { return element(take.getIndex(), {}); });
  kernel::ProductOp::create(b, op.getLoc(), count, segments, lengths, pack(weights), init, table,
                            localOf(result));
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
        return counted(extents[summed[n]], {acc}, [&](Value k, ValueRange so) -> SmallVector<Value> {
          at[summed[n]] = k;
          return {sum(n + 1, so[0])};
        });
      };
      store(sum(0, real(0)), result, {});
      return;
    }
    loops(
        shapeOf(outer),
        [&](ValueRange o) {
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
          loops(
              shapeOf(summed),
              [&](ValueRange k) {
                for (auto [d, v] : llvm::zip(summed, k))
                  at[d] = v;
                loops({extents[*inner]}, [&](ValueRange j) {
                  at[*inner] = j[0];
                  SmallVector<Value> where{i};
                  llvm::append_range(where, place());
                  Value before =
                      kernel::ReadOp::create(b, op.getLoc(), b.getF32Type(), localOf(result), where);
                  store(arith::AddFOp::create(b, op.getLoc(), before, product(at)), result, place());
                });
              },
              /*vector=*/false);
        },
        /*vector=*/false);
  });
}

//===-- Reductions
//--------------------------------------------------------------------------------------------===//

/// The logarithm of a sum of exponentials, or -inf where all elements are.
static Value finish(OpBuilder &b, Location loc, Value largest, Value sum) {
  Value log = math::LogOp::create(b, loc, sum);
  return arith::AddFOp::create(b, loc, largest, log);
}

/// `largest`, or 0 where it is infinite: what is subtracted before exponentials, so that inf minus inf does
/// not occur.
static Value shiftOf(OpBuilder &b, Location loc, Value largest) {
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value infinity =
      arith::ConstantOp::create(b, loc, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
  Value size = math::AbsFOp::create(b, loc, largest);
  Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, size, infinity);
  return arith::SelectOp::create(b, loc, is, zero, largest);
}

Value StageToKernel::reduced(dyn::ReduceKind kind, int64_t length, Location at,
                             function_ref<Value(Value)> element) {
  using dyn::ReduceKind;
  const double lowest = -std::numeric_limits<double>::infinity();
  auto fold = [&](Value start, function_ref<Value(Value, Value)> next) {
    return counted(length, {start},
                   [&](Value k, ValueRange so) -> SmallVector<Value> { return {next(so[0], element(k))}; });
  };
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean: {
    Value first = element(integer(0));
    if (first.getType().isInteger(32))
      return fold(integer(0), [&](Value so, Value x) { return checkedInt(kernel::IntKind::Add, so, x, at); });
    Value sum =
        fold(real(0), [&](Value so, Value x) { return arith::AddFOp::create(b, at, so, x).getResult(); });
    return kind == ReduceKind::Sum ? sum : arith::DivFOp::create(b, at, sum, real(length)).getResult();
  }
  case ReduceKind::Max:
  case ReduceKind::Min: {
    Value first = element(integer(0));
    bool max = kind == ReduceKind::Max;
    if (first.getType().isInteger(32))
      return fold(first, [&](Value so, Value x) {
        return max ? arith::MaxSIOp::create(b, at, so, x).getResult()
                   : arith::MinSIOp::create(b, at, so, x).getResult();
      });
    return fold(first, [&](Value so, Value x) {
      return max ? arith::MaximumFOp::create(b, at, so, x).getResult()
                 : arith::MinimumFOp::create(b, at, so, x).getResult();
    });
  }
  case ReduceKind::LogSumExp: {
    Value largest = fold(
        real(lowest), [&](Value so, Value x) { return arith::MaximumFOp::create(b, at, so, x).getResult(); });
    Value shift = shiftOf(b, at, largest);
    Value sum = fold(real(0), [&](Value so, Value x) {
      Value e = math::ExpOp::create(b, at, arith::SubFOp::create(b, at, x, shift));
      return arith::AddFOp::create(b, at, so, e).getResult();
    });
    return finish(b, at, shift, sum);
  }
  case ReduceKind::ArgMax: {
    Value first = element(integer(0));
    bool ints = first.getType().isInteger(32);
    return counted(
        length, {first, integer(0)},
        [&](Value k, ValueRange so) -> SmallVector<Value> {
          Value x = element(k);
          Value better = ints ? arith::CmpIOp::create(b, at, arith::CmpIPredicate::sgt, x, so[0]).getResult()
                              : arith::CmpFOp::create(b, at, arith::CmpFPredicate::OGT, x, so[0]).getResult();
          return {arith::SelectOp::create(b, at, better, x, so[0]),
                  arith::SelectOp::create(b, at, better, k, so[1])};
        },
        1);
  }
  case ReduceKind::Any:
  case ReduceKind::All: {
    bool all = kind == ReduceKind::All;
    Value start = arith::ConstantOp::create(b, at, b.getBoolAttr(all));
    return fold(start, [&](Value so, Value x) {
      return all ? arith::AndIOp::create(b, at, so, x).getResult()
                 : arith::OrIOp::create(b, at, so, x).getResult();
    });
  }
  }
  llvm_unreachable("all kinds of reductions are handled");
}

void StageToKernel::reduce(dyn::ReduceOp op) {
  auto shape = op.getX().getType().getShape();
  rows([&] {
    if (!op.getAxis()) {
      // All elements in row-major order: nested loops would need nested carries, so the last axes are counted
      // through.
      int64_t length = op.getX().getType().getNumElements();
      Value result = reduced(op.getKind(), length, op.getLoc(), [&](Value k) {
        SmallVector<Value> at(shape.size());
        Value rest = k;
        for (int64_t axis = shape.size(); axis-- > 0;) {
          at[axis] = axis ? arith::RemSIOp::create(b, loc, rest, integer(shape[axis])).getResult() : rest;
          if (axis)
            rest = arith::DivSIOp::create(b, loc, rest, integer(shape[axis]));
        }
        return element(op.getX(), at, false);
      });
      return store(result, op.getResult(), {});
    }
    int64_t axis = *op.getAxis();
    loops(
        dyn::extents(op.getType()),
        [&](ValueRange at) {
          Value result = reduced(op.getKind(), shape[axis], op.getLoc(), [&](Value k) {
            SmallVector<Value> full(at.begin(), at.end());
            full.insert(full.begin() + axis, k);
            return element(op.getX(), full, false);
          });
          store(result, op.getResult(), at);
        },
        /*vector=*/false);
  });
}

void StageToKernel::softmax(dyn::SoftmaxOp op) {
  auto shape = op.getX().getType().getShape();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> outer(shape);
  outer.erase(outer.begin() + axis);
  Location at_ = op.getLoc();
  rows([&] {
    loops(
        outer,
        [&](ValueRange at) {
          auto x = [&](Value k) {
            SmallVector<Value> full(at.begin(), at.end());
            full.insert(full.begin() + axis, k);
            return full;
          };
          Value largest = reduced(dyn::ReduceKind::Max, shape[axis], at_,
                                  [&](Value k) { return element(op.getX(), x(k), false); });
          Value sum = counted(shape[axis], {real(0)}, [&](Value k, ValueRange so) -> SmallVector<Value> {
            Value e = math::ExpOp::create(
                b, at_, arith::SubFOp::create(b, at_, element(op.getX(), x(k), false), largest));
            if (!op.getLog())
              store(e, op.getResult(), x(k));
            return {arith::AddFOp::create(b, at_, so[0], e)};
          });
          Value log = op.getLog() ? math::LogOp::create(b, at_, sum).getResult() : Value();
          loops({shape[axis]}, [&](ValueRange k) {
            if (op.getLog()) {
              Value shifted = arith::SubFOp::create(b, at_, element(op.getX(), x(k[0]), false), largest);
              return store(arith::SubFOp::create(b, at_, shifted, log), op.getResult(), x(k[0]));
            }
            SmallVector<Value> where{i};
            llvm::append_range(where, x(k[0]));
            Value e = kernel::ReadOp::create(b, at_, b.getF32Type(), localOf(op.getResult()), where);
            store(arith::DivFOp::create(b, at_, e, sum), op.getResult(), x(k[0]));
          });
        },
        /*vector=*/false);
  });
}

//===-- Segments and joins
//------------------------------------------------------------------------------------===//

Value StageToKernel::segmentRow(batch::SegmentOp op, Value first, Value k) {
  Value r = op.getStride() == 1 ? addInt(first, k) : arith::SubIOp::create(b, loc, first, k).getResult();
  if (op.getVia())
    r = kernel::LoadOp::create(b, loc, b.getI32Type(), *op.getOf(), op.getViaAttr(), ValueRange(r));
  return r;
}

/// Of the numbers in an array of the program.
Type StageToKernel::elementTypeOf(StringRef array) {
  Operation *declaration = func->getParentOfType<kernel::ProgramOp>().lookupSymbol(array);
  return llvm::TypeSwitch<Operation *, Type>(declaration)
      .Case<kernel::BufferOp, kernel::FieldOp, kernel::ArgumentOp>(
          [](auto op) { return dyn::scalar(op.getType()); });
}

/// The rows of a list one after the other, elementwise.
void StageToKernel::segment(batch::SegmentOp op) {
  using batch::ReduceKind;
  Location at_ = op.getLoc();
  Value result = op.getResult();
  auto shape = dyn::extents(op.getType());
  Type scalar = dyn::scalar(op.getType()), elementType = elementTypeOf(op.getArray());
  ReduceKind kind = op.getKind();
  rows([&] {
    Value first = column(op.getFirst()), length = column(op.getLength());
    auto load = [&](Value r, ValueRange at) -> Value {
      SmallVector<Value> indices{r};
      llvm::append_range(indices, at);
      return kernel::LoadOp::create(b, at_, elementType, op.getArray(), StringAttr(), indices);
    };
    auto read = [&](ValueRange at) -> Value {
      SmallVector<Value> where{i};
      llvm::append_range(where, at);
      return kernel::ReadOp::create(b, at_, scalar, localOf(result), where);
    };
    // One pass over the rows: result = next(result, element).
    auto pass = [&](Value from, function_ref<Value(Value, Value)> next) {
      OpBuilder::InsertionGuard guard(b);
      auto loop = kernel::ForOp::create(b, at_, TypeRange(), from, length, ValueRange(), UnitAttr());
      Block *block = &loop.getBody().emplaceBlock();
      Value k = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("e"), at_));
      b.setInsertionPointToEnd(block);
      kernel::YieldOp::create(b, at_, ValueRange());
      b.setInsertionPointToStart(block);
      Value r = segmentRow(op, first, k);
      loops(shape, [&](ValueRange at) { store(next(read(at), load(r, at)), result, at); });
    };
    auto start = [&](Value value) { loops(shape, [&](ValueRange at) { store(value, result, at); }); };
    auto firstRow = [&] {
      Value r = segmentRow(op, first, integer(0));
      loops(shape, [&](ValueRange at) { store(load(r, at), result, at); });
    };
    switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      if (scalar.isInteger(32)) {
        start(integer(0));
        pass(integer(0), [&](Value so, Value x) { return checkedInt(kernel::IntKind::Add, so, x, at_); });
        return;
      }
      start(real(0));
      pass(integer(0), [&](Value so, Value x) { return arith::AddFOp::create(b, at_, so, x).getResult(); });
      if (kind == ReduceKind::Mean) {
        Value n = arith::SIToFPOp::create(b, at_, b.getF32Type(), length);
        loops(shape, [&](ValueRange at) { store(arith::DivFOp::create(b, at_, read(at), n), result, at); });
      }
      return;
    case ReduceKind::Max:
    case ReduceKind::Min: {
      bool max = kind == ReduceKind::Max;
      firstRow();
      pass(integer(1), [&](Value so, Value x) -> Value {
        if (scalar.isInteger(32))
          return max ? arith::MaxSIOp::create(b, at_, so, x).getResult()
                     : arith::MinSIOp::create(b, at_, so, x).getResult();
        return max ? arith::MaximumFOp::create(b, at_, so, x).getResult()
                   : arith::MinimumFOp::create(b, at_, so, x).getResult();
      });
      return;
    }
    case ReduceKind::Any:
    case ReduceKind::All: {
      bool all = kind == ReduceKind::All;
      start(arith::ConstantOp::create(b, at_, b.getBoolAttr(all)));
      pass(integer(0), [&](Value so, Value x) {
        return all ? arith::AndIOp::create(b, at_, so, x).getResult()
                   : arith::OrIOp::create(b, at_, so, x).getResult();
      });
      return;
    }
    case ReduceKind::LogSumExp:
      // Element by element: the largest, then the sum, each in list order.
      loops(
          shape,
          [&](ValueRange at) {
            auto fold = [&](Value init, function_ref<Value(Value, Value)> next) {
              OpBuilder::InsertionGuard guard(b);
              auto loop = kernel::ForOp::create(b, at_, TypeRange(init.getType()), integer(0), length,
                                                ValueRange(init), UnitAttr());
              Block *block = &loop.getBody().emplaceBlock();
              Value k = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("e"), at_));
              Value so = block->addArgument(init.getType(), NameLoc::get(b.getStringAttr("so_far"), at_));
              b.setInsertionPointToEnd(block);
              kernel::YieldOp::create(b, at_, next(so, load(segmentRow(op, first, k), at)));
              return loop.getResult(0);
            };
            Value largest = fold(real(-std::numeric_limits<double>::infinity()), [&](Value so, Value x) {
              return arith::MaximumFOp::create(b, at_, so, x).getResult();
            });
            Value shift = shiftOf(b, at_, largest);
            Value sum = fold(real(0), [&](Value so, Value x) {
              Value e = math::ExpOp::create(b, at_, arith::SubFOp::create(b, at_, x, shift));
              return arith::AddFOp::create(b, at_, so, e).getResult();
            });
            store(finish(b, at_, shift, sum), result, at);
          },
          /*vector=*/false);
      return;
    case ReduceKind::ArgMax: {
      Value start_ = load(segmentRow(op, first, integer(0)), {});
      OpBuilder::InsertionGuard guard(b);
      auto loop = kernel::ForOp::create(b, at_, TypeRange{elementType, b.getI32Type()}, integer(1), length,
                                        ValueRange{start_, integer(0)}, UnitAttr());
      Block *block = &loop.getBody().emplaceBlock();
      Value k = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("e"), at_));
      Value best = block->addArgument(elementType, NameLoc::get(b.getStringAttr("best"), at_));
      Value place = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("place"), at_));
      b.setInsertionPointToEnd(block);
      Value x = load(segmentRow(op, first, k), {});
      Value better = elementType.isF32()
                         ? arith::CmpFOp::create(b, at_, arith::CmpFPredicate::OGT, x, best).getResult()
                         : arith::CmpIOp::create(b, at_, arith::CmpIPredicate::sgt, x, best).getResult();
      Value nextBest = arith::SelectOp::create(b, at_, better, x, best);
      Value nextPlace = arith::SelectOp::create(b, at_, better, k, place);
      kernel::YieldOp::create(b, at_, ValueRange{nextBest, nextPlace});
      b.setInsertionPointAfter(loop);
      store(loop.getResult(1), result, {});
      return;
    }
    }
  });
}

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
