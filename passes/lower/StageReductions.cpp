// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reductions inside stages: of a tensor's axis, of the rows of a list, and softmax.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/lower/StageToKernel.h"
#include <limits>

using namespace mlir;

namespace dbc::passes {

Reduction StageToKernel::reduction(dyn::ReduceKind kind, Type element, Location at) {
  return Reduction(b, at, kind, element,
                   [this, at](Value x, Value y) { return checkedInt(dyn::IntKind::Add, x, y, at); });
}

Value StageToKernel::reduced(dyn::ReduceKind kind, Type elementType, int64_t length, Location at,
                             function_ref<Value(Value)> element) {
  return reduction(kind, elementType, at)
      .over([&](int64_t from, ValueRange init,
                Reduction::Next next) { return counted(integer(from), integer(length), "k", init, next); },
            element, [&] { return real(length); });
}

void StageToKernel::reduce(dyn::ReduceOp op) {
  auto shape = op.getX().getType().getShape();
  Type type = op.getX().getType().getElementType();
  rows([&] {
    if (!op.getAxis()) {
      // All elements in row-major order: nested loops would need nested carries, so the last axes are counted
      // through.
      int64_t length = op.getX().getType().getNumElements();
      Value result = reduced(op.getKind(), type, length, op.getLoc(), [&](Value k) {
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
    nest(dyn::extents(op.getType()), [&](ValueRange at) {
      Value result = reduced(op.getKind(), type, shape[axis], op.getLoc(), [&](Value k) {
        SmallVector<Value> full(at.begin(), at.end());
        full.insert(full.begin() + axis, k);
        return element(op.getX(), full, false);
      });
      store(result, op.getResult(), at);
    });
  });
}

void StageToKernel::softmax(dyn::SoftmaxOp op) {
  auto shape = op.getX().getType().getShape();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> outer(shape);
  outer.erase(outer.begin() + axis);
  Location at_ = op.getLoc();
  rows([&] {
    nest(outer, [&](ValueRange at) {
      auto x = [&](Value k) {
        SmallVector<Value> full(at.begin(), at.end());
        full.insert(full.begin() + axis, k);
        return full;
      };
      Value largest = reduced(dyn::ReduceKind::Max, b.getF32Type(), shape[axis], at_,
                              [&](Value k) { return element(op.getX(), x(k), false); });
      auto add = [&](Value k, ValueRange so) -> SmallVector<Value> {
        Value e = math::ExpOp::create(
            b, at_, arith::SubFOp::create(b, at_, element(op.getX(), x(k), false), largest));
        if (!op.getLog())
          store(e, op.getResult(), x(k));
        return {arith::AddFOp::create(b, at_, so[0], e)};
      };
      Value sum = counted(integer(0), integer(shape[axis]), "k", real(0), add)[0];
      Value log = op.getLog() ? math::LogOp::create(b, at_, sum).getResult() : Value();
      loops({shape[axis]}, [&](ValueRange k) {
        if (op.getLog()) {
          Value shifted = arith::SubFOp::create(b, at_, element(op.getX(), x(k[0]), false), largest);
          return store(arith::SubFOp::create(b, at_, shifted, log), op.getResult(), x(k[0]));
        }
        SmallVector<Value> where{i()};
        llvm::append_range(where, x(k[0]));
        Value e = kernel::ReadOp::create(b, at_, b.getF32Type(), localOf(op.getResult()), where);
        store(arith::DivFOp::create(b, at_, e, sum), op.getResult(), x(k[0]));
      });
    });
  });
}

/// One after the other: the first of the largest among those that come behind the last one taken, being less
/// or equal and further on.
void StageToKernel::topK(dyn::TopKOp op) {
  Location at = op.getLoc();
  int64_t length = dyn::extents(op.getX().getType())[0], k = dyn::extents(op.getType())[0];
  Type type = op.getX().getType().getElementType();
  bool reals = type.isF32();
  Value most = reals ? real(std::numeric_limits<double>::infinity()) : integer(INT32_MAX), none = integer(-1);
  auto isAbove = [&](Value a, Value b_) -> Value {
    if (reals)
      return arith::CmpFOp::create(b, at, arith::CmpFPredicate::OGT, a, b_);
    return arith::CmpIOp::create(b, at, arith::CmpIPredicate::sgt, a, b_);
  };
  auto isEqual = [&](Value a, Value b_) -> Value {
    if (reals)
      return arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, a, b_);
    return arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, a, b_);
  };
  auto isLess = [&](Value a, Value b_) -> Value {
    return arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt, a, b_);
  };
  rows([&] {
    SmallVector<Value, 2> start{most, none};
    counted(integer(0), integer(k), "k", start, [&](Value n, ValueRange last) -> SmallVector<Value> {
      SmallVector<Value, 2> nothing{most, none};
      auto best = counted(
          integer(0), integer(length), "j", nothing, [&](Value j, ValueRange best) -> SmallVector<Value> {
            Value x = element(op.getX(), j, false);
            Value further = arith::AndIOp::create(b, at, isEqual(x, last[0]), isLess(last[1], j));
            Value left = arith::OrIOp::create(b, at, isAbove(last[0], x), further);
            Value first = isLess(best[1], integer(0));
            Value better = arith::OrIOp::create(b, at, first, isAbove(x, best[0]));
            Value take = arith::AndIOp::create(b, at, left, better);
            return {arith::SelectOp::create(b, at, take, x, best[0]),
                    arith::SelectOp::create(b, at, take, j, best[1])};
          });
      store(arith::MaxSIOp::create(b, at, best[1], integer(0)), op.getResult(), n);
      // Where nothing was left, nothing will be.
      Value nothingLeft = isLess(best[1], integer(0)), end = integer(INT32_MAX);
      Value least = reals ? real(-std::numeric_limits<double>::infinity()) : integer(INT32_MIN);
      return {arith::SelectOp::create(b, at, nothingLeft, least, best[0]),
              arith::SelectOp::create(b, at, nothingLeft, end, best[1])};
    });
  });
}

//===-- Segments and joins
//------------------------------------------------------------------------------------===//

/// How many rows a list has whose length is computed: where one is needed, it is an error that there is none.
Value StageToKernel::someOf(batch::SegmentOp op) {
  Value count = element(op.getCount(), {});
  dyn::ReduceKind kind = static_cast<dyn::ReduceKind>(op.getKind());
  switch (kind) {
  case dyn::ReduceKind::Mean:
  case dyn::ReduceKind::Max:
  case dyn::ReduceKind::Min:
  case dyn::ReduceKind::ArgMax: {
    Value some = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::sgt, count, integer(0));
    if (op.getWhen()) {
      Value unasked = arith::XOrIOp::create(b, op.getLoc(), element(op.getWhen(), {}),
                                            arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(true)));
      some = arith::OrIOp::create(b, op.getLoc(), some, unasked);
    }
    return checked(op.getLoc(), kernel::Fault::Empty, some, count, {}, dyn::stringifyReduceKind(kind));
  }
  default:
    return count;
  }
}

/// The rows of a list one after the other, elementwise.
void StageToKernel::segment(batch::SegmentOp op) {
  Location at_ = op.getLoc();
  Value result = op.getResult();
  auto shape = dyn::extents(op.getType());
  Type elementType = elementTypeOf(op.getArray());
  if (op.getKind() == batch::ReduceKind::Pick)
    return pick(op);
  Reduction fold = reduction(static_cast<dyn::ReduceKind>(op.getKind()), elementType, at_);
  rows([&] {
    Value first = column(listOf(op).getFirst()), length = column(listOf(op).getLength());
    if (op.getCount()) {
      Value there = someOf(op);
      if (op.getAtEnd()) { // the others come first
        Value absent = arith::SubIOp::create(b, at_, length, there);
        first = listOf(op).getStride() == 1 ? addInt(first, absent)
                                            : arith::SubIOp::create(b, at_, first, absent).getResult();
      }
      length = there;
    }
    auto count = [&] { return arith::SIToFPOp::create(b, at_, b.getF32Type(), length).getResult(); };
    auto load = [&](Value r, ValueRange at) -> Value {
      SmallVector<Value> indices{r};
      llvm::append_range(indices, at);
      return kernel::LoadOp::create(b, at_, elementType, op.getArray(), StringAttr(), indices);
    };
    auto read = [&](ValueRange at) -> Value {
      SmallVector<Value> where{i()};
      llvm::append_range(where, at);
      return kernel::ReadOp::create(b, at_, dyn::scalar(op.getType()), localOf(result), where);
    };
    if (!fold.isFold() || shape.empty()) {
      // Element by element, each in list order.
      return nest(shape, [&](ValueRange at) {
        Value whole =
            fold.over([&](int64_t from, ValueRange init,
                          Reduction::Next next) { return counted(integer(from), length, "e", init, next); },
                      [&](Value k) { return load(rowOfList(op, first, k), at); }, count);
        store(whole, result, at);
      });
    }
    // Row by row, as they lie in memory.
    auto take = [&](EachElement each) {
      if (fold.startsWithFirst()) {
        Value r = rowOfList(op, first, integer(0));
        each([&](ValueRange at) { store(load(r, at), result, at); });
      } else {
        Value start = fold.start();
        each([&](ValueRange at) { store(start, result, at); });
      }
      counted(integer(fold.startsWithFirst()), length, "e", ValueRange(),
              [&](Value k, ValueRange) -> SmallVector<Value> {
                Value r = rowOfList(op, first, k);
                each([&](ValueRange at) { store(fold.next(read(at), load(r, at)), result, at); });
                return {};
              });
      if (op.getKind() == batch::ReduceKind::Mean) {
        Value n = count();
        each([&](ValueRange at) { store(fold.finish(read(at), [&] { return n; }), result, at); });
      }
    };
    if (shape.size() == 1)
      inVectors(shape, take); // a part of all rows, then the next one: a list's rows are few, mostly
    else
      take([&](function_ref<void(ValueRange)> element) { loops(shape, element); });
  });
}

/// One row of a list.
void StageToKernel::pick(batch::SegmentOp op) {
  Location at_ = op.getLoc();
  Type type = elementTypeOf(op.getArray());
  rows([&] {
    Value first = column(listOf(op).getFirst()), length = column(listOf(op).getLength()),
          index = element(op.getIndex(), {});
    Value low = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::sge, index, integer(0));
    Value high = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::slt, index, length);
    Value inside = arith::AndIOp::create(b, at_, low, high);
    Value fine = inside;
    if (op.getWhen()) {
      Value asked = element(op.getWhen(), {});
      Value not_ =
          arith::XOrIOp::create(b, at_, asked, arith::ConstantOp::create(b, at_, b.getBoolAttr(true)));
      fine = arith::OrIOp::create(b, at_, inside, not_);
    }
    Value place = checked(at_, kernel::Fault::ListIndex, fine, index, {index, length});
    auto some = kernel::IfOp::create(b, at_, TypeRange(), inside);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&some.getOtherwise().emplaceBlock());
    loops(dyn::extents(op.getType()),
          [&](ValueRange at) { store(type.isF32() ? real(0) : integer(0), op.getResult(), at); });
    kernel::YieldOp::create(b, at_, ValueRange());
    b.setInsertionPointToEnd(&some.getThen().emplaceBlock());
    Value from = rowOfList(op, first, place);
    loops(dyn::extents(op.getType()), [&](ValueRange at) {
      SmallVector<Value> indices{from};
      llvm::append_range(indices, at);
      store(kernel::LoadOp::create(b, at_, type, op.getArray(), StringAttr(), indices), op.getResult(), at);
    });
    kernel::YieldOp::create(b, at_, ValueRange());
  });
}

} // namespace dbc::passes
