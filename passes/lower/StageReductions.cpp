// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace dbc::passes {

Reduction StageReductions::reduction(dyn::ReduceKind kind, Type element, Location at) {
  return Reduction(b, at, kind, element,
                   [this, at](Value x, Value y) { return w.checkedInt(dyn::IntKind::Add, x, y, at); });
}

Value StageReductions::reduced(dyn::ReduceKind kind, Type elementType, int64_t length, Location at,
                               function_ref<Value(Value)> element) {
  return reduction(kind, elementType, at)
      .over([&](int64_t from, ValueRange init,
                Reduction::Next next) { return w.counted(from, length, "k", init, next); },
            element, [&] { return w.real(length); });
}

void StageReductions::reduce(dyn::ReduceOp op) {
  auto shape = op.getX().getType().getShape();
  Type type = op.getX().getType().getElementType();
  w.rows([&] {
    if (!op.getAxis()) {
      // All elements in row-major order: nested loops would need nested carries, so the last axes are counted
      // through.
      int64_t length = op.getX().getType().getNumElements();
      Value result = reduced(op.getKind(), type, length, op.getLoc(), [&](Value k) {
        SmallVector<Value> at(shape.size());
        Value rest = k;
        for (int64_t axis = shape.size(); axis-- > 0;) {
          at[axis] = axis ? arith::RemSIOp::create(b, loc, rest, w.integer(shape[axis])).getResult() : rest;
          if (axis)
            rest = arith::DivSIOp::create(b, loc, rest, w.integer(shape[axis]));
        }
        return expressions.element(op.getX(), at, false);
      });
      return locals.write(result, op.getResult(), {});
    }
    int64_t axis = *op.getAxis();
    w.loopNest(dyn::extents(op.getType()), [&](ValueRange at) {
      Value result = reduced(op.getKind(), type, shape[axis], op.getLoc(), [&](Value k) {
        SmallVector<Value> full(at.begin(), at.end());
        full.insert(full.begin() + axis, k);
        return expressions.element(op.getX(), full, false);
      });
      locals.write(result, op.getResult(), at);
    });
  });
}

void StageReductions::softmax(dyn::SoftmaxOp op) {
  auto shape = op.getX().getType().getShape();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> outer(shape);
  outer.erase(outer.begin() + axis);
  Location at_ = op.getLoc();
  w.rows([&] {
    w.loopNest(outer, [&](ValueRange at) {
      auto x = [&](Value k) {
        SmallVector<Value> full(at.begin(), at.end());
        full.insert(full.begin() + axis, k);
        return full;
      };
      Value largest = reduced(dyn::ReduceKind::Max, b.getF32Type(), shape[axis], at_,
                              [&](Value k) { return expressions.element(op.getX(), x(k), false); });
      auto add = [&](Value k, ValueRange so) -> SmallVector<Value> {
        Value e = math::ExpOp::create(
            b, at_, arith::SubFOp::create(b, at_, expressions.element(op.getX(), x(k), false), largest));
        if (!op.getLog())
          locals.write(e, op.getResult(), x(k));
        return {arith::AddFOp::create(b, at_, so[0], e)};
      };
      Value sum = w.counted(0, shape[axis], "k", w.real(0), add)[0];
      Value log = op.getLog() ? math::LogOp::create(b, at_, sum).getResult() : Value();
      w.loops({shape[axis]}, [&](ValueRange k) {
        if (op.getLog()) {
          Value shifted =
              arith::SubFOp::create(b, at_, expressions.element(op.getX(), x(k[0]), false), largest);
          return locals.write(arith::SubFOp::create(b, at_, shifted, log), op.getResult(), x(k[0]));
        }
        Value e = locals.read(op.getResult(), x(k[0]));
        locals.write(arith::DivFOp::create(b, at_, e, sum), op.getResult(), x(k[0]));
      });
    });
  });
}

/// One after the other: the first of the largest among those that come behind the last one taken, being less
/// or equal and further on.
void StageReductions::topK(dyn::TopKOp op) {
  Location at = op.getLoc();
  int64_t length = dyn::extents(op.getX().getType())[0], k = dyn::extents(op.getType())[0];
  Type type = op.getX().getType().getElementType();
  bool reals = type.isF32();
  Value most = reals ? w.real(std::numeric_limits<double>::infinity()) : w.integer(INT32_MAX),
        none = w.integer(-1);
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
  w.rows([&] {
    SmallVector<Value, 2> start{most, none};
    w.counted(0, k, "k", start, [&](Value n, ValueRange last) -> SmallVector<Value> {
      SmallVector<Value, 2> nothing{most, none};
      auto best = w.counted(0, length, "j", nothing, [&](Value j, ValueRange best) -> SmallVector<Value> {
        Value x = expressions.element(op.getX(), j, false);
        Value equal = isEqual(x, last[0]), behind = isLess(last[1], j);
        Value further = arith::AndIOp::create(b, at, equal, behind);
        Value left = arith::OrIOp::create(b, at, isAbove(last[0], x), further);
        Value first = isLess(best[1], w.integer(0));
        Value better = arith::OrIOp::create(b, at, first, isAbove(x, best[0]));
        Value take = arith::AndIOp::create(b, at, left, better);
        return {arith::SelectOp::create(b, at, take, x, best[0]),
                arith::SelectOp::create(b, at, take, j, best[1])};
      });
      locals.write(arith::MaxSIOp::create(b, at, best[1], w.integer(0)), op.getResult(), n);
      // Where nothing was left, nothing will be.
      Value nothingLeft = isLess(best[1], w.integer(0)), end = w.integer(INT32_MAX);
      Value least = reals ? w.real(-std::numeric_limits<double>::infinity()) : w.integer(INT32_MIN);
      return {arith::SelectOp::create(b, at, nothingLeft, least, best[0]),
              arith::SelectOp::create(b, at, nothingLeft, end, best[1])};
    });
  });
}

/// One position in the window after the other, each for all pixels.
void StageReductions::sumPatches(dyn::SumPatchesOp op) {
  Location at_ = op.getLoc();
  auto picture = dyn::extents(op.getType()), seen = dyn::extents(op.getX().getType());
  // The window that saw `pixel` as position `inWindow` of an axis, and whether there is one.
  auto window = [&](Value pixel, Value inWindow, unsigned axis) -> std::pair<Value, Value> {
    Value from = w.addInt(pixel, w.integer(op.getPadding()[axis]));
    Value reach = arith::SubIOp::create(b, at_, from, inWindow);
    Value stride = w.integer(op.getStride()[axis]);
    if (op.getStride()[axis] == 1)
      return w.nearest(reach, seen[3 + axis]);
    auto [y, exists] = w.nearest(arith::DivSIOp::create(b, at_, reach, stride), seen[3 + axis]);
    Value rest = arith::RemSIOp::create(b, at_, reach, stride); // of what is below 0, too
    Value whole = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::eq, rest, w.integer(0));
    return {y, arith::AndIOp::create(b, at_, exists, whole)};
  };
  auto over = [&](unsigned axis, function_ref<void(Value)> body) {
    w.counted(0, seen[1 + axis], axis == 0 ? "i" : "j", ValueRange(),
              [&](Value k, ValueRange) -> SmallVector<Value> { return body(k), SmallVector<Value>(); });
  };
  w.rows([&] {
    w.loops(picture, [&](ValueRange at) { locals.write(w.real(0), op.getResult(), at); });
    over(0, [&](Value i) {
      over(1, [&](Value j) {
        w.loops(picture, [&](ValueRange at) {
          auto [y, isRow] = window(at[1], i, 0);
          auto [x, isColumn] = window(at[2], j, 1);
          Value all = arith::AndIOp::create(b, at_, isRow, isColumn);
          Value element = expressions.element(op.getX(), {at[0], i, j, y, x}, false);
          Value some = arith::SelectOp::create(b, at_, all, element, w.real(0));
          Value sum = arith::AddFOp::create(b, at_, locals.read(op.getResult(), at), some);
          locals.write(sum, op.getResult(), at);
        });
      });
    });
  });
}

/// How many rows a list has whose length is computed: where one is needed, it is an error that there is none.
Value StageReductions::someOf(batch::SegmentOp op) {
  Value count = expressions.element(op.getCount(), {});
  const dyn::ReduceKind kind = op.getKind();
  if (!dyn::needsElement(kind))
    return count;
  Value some = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::sgt, count, w.integer(0));
  if (op.getWhen()) {
    Value asked = expressions.element(op.getWhen(), {});
    Value unasked = arith::XOrIOp::create(b, op.getLoc(), asked,
                                          arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(true)));
    some = arith::OrIOp::create(b, op.getLoc(), some, unasked);
  }
  return w.checked(op.getLoc(), kernel::ErrorKind::Empty, some, count, {}, dyn::stringifyReduceKind(kind));
}

/// Whether a reduction that begins with the first element may find none: of a list that a `while` has ended,
/// or of a transpose. Of the model's own lists the schedule has checked that there is one.
static bool mayLackFirst(batch::SegmentOp op, const RowWriter &w) {
  const bool begins = op.getKind() == dyn::ReduceKind::Max || op.getKind() == dyn::ReduceKind::Min ||
                      op.getKind() == dyn::ReduceKind::ArgMax;
  return begins && (op.getCount() || !w.listOf(op));
}

/// The rows of a list one after the other, elementwise.
void StageReductions::segment(batch::SegmentOp op) {
  Location at_ = op.getLoc();
  if (op.getKind() == dyn::ReduceKind::Pick)
    return pick(op);
  w.rows([&] {
    auto [first, length] = w.list(op);
    if (op.getCount()) {
      Value there = someOf(op);
      if (op.getAtEnd()) { // the others come first
        Value absent = arith::SubIOp::create(b, at_, length, there);
        first = w.listOf(op).getStride() == 1 ? w.addInt(first, absent)
                                              : arith::SubIOp::create(b, at_, first, absent).getResult();
      }
      length = there;
    }
    if (!mayLackFirst(op, w))
      return reduceRows(op, first, length);
    // What it gives of none is not used, but must not be read from where no row is.
    Value some = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::sgt, length, w.integer(0));
    auto choice = kernel::IfOp::create(b, at_, TypeRange(), some);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&choice.getOtherwise().emplaceBlock());
    w.loops(dyn::extents(op.getType()),
            [&](ValueRange at) { locals.write(w.zero(dyn::scalar(op.getType())), op.getResult(), at); });
    kernel::YieldOp::create(b, at_, ValueRange());
    b.setInsertionPointToEnd(&choice.getThen().emplaceBlock());
    reduceRows(op, first, length);
    kernel::YieldOp::create(b, at_, ValueRange());
  });
}

/// `length` rows of a list from `first` on.
void StageReductions::reduceRows(batch::SegmentOp op, Value first, Value length) {
  Location at_ = op.getLoc();
  Value result = op.getResult();
  auto shape = dyn::extents(op.getType());
  Type elementType = w.elementTypeOf(op.getArray());
  Reduction fold = reduction(op.getKind(), elementType, at_);
  auto count = [&] { return arith::SIToFPOp::create(b, at_, b.getF32Type(), length).getResult(); };
  auto load = [&](Value r, ValueRange at) -> Value {
    SmallVector<Value> indices{r};
    llvm::append_range(indices, at);
    return kernel::LoadOp::create(b, at_, elementType, op.getArray(), StringAttr(), indices);
  };
  const bool mayOverflow = op.getKind() == dyn::ReduceKind::Sum && !elementType.isF32();
  if (!fold.isFold() || shape.empty() || mayOverflow) {
    // Element by element, each in list order: so the first of several errors is the oracle's.
    return w.loopNest(shape, [&](ValueRange at) {
      Value whole = fold.over([&](int64_t from, ValueRange init,
                                  Reduction::Next next) { return w.counted(from, length, "e", init, next); },
                              [&](Value k) { return load(w.rowOfList(op, first, k), at); }, count);
      locals.write(whole, result, at);
    });
  }
  // Row by row, as they lie in memory.
  auto take = [&](LoopWriter::EachElement each) {
    if (fold.startsWithFirst()) {
      Value r = w.rowOfList(op, first, w.integer(0));
      each([&](ValueRange at) { locals.write(load(r, at), result, at); });
    } else {
      Value start = fold.start();
      each([&](ValueRange at) { locals.write(start, result, at); });
    }
    w.counted(fold.startsWithFirst(), length, "e", ValueRange(),
              [&](Value k, ValueRange) -> SmallVector<Value> {
                Value r = w.rowOfList(op, first, k);
                each([&](ValueRange at) {
                  Value before = locals.read(result, at);
                  locals.write(fold.next(before, load(r, at)), result, at);
                });
                return {};
              });
    if (op.getKind() == dyn::ReduceKind::Mean) {
      Value n = count();
      each([&](ValueRange at) {
        locals.write(fold.finish(locals.read(result, at), [&] { return n; }), result, at);
      });
    }
  };
  if (shape.size() == 1)
    w.inVectors(shape, take); // a slice of all rows, then the next one: a list's rows are few, mostly
  else
    take([&](LoopWriter::AtElement element) { w.loops(shape, element); });
}

/// One row of a list.
void StageReductions::pick(batch::SegmentOp op) {
  Location at_ = op.getLoc();
  Type type = w.elementTypeOf(op.getArray());
  w.rows([&] {
    auto [first, length] = w.list(op);
    Value index = expressions.element(op.getIndex(), {});
    Value low = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::sge, index, w.integer(0));
    Value high = arith::CmpIOp::create(b, at_, arith::CmpIPredicate::slt, index, length);
    Value inside = arith::AndIOp::create(b, at_, low, high);
    Value fine = inside;
    if (op.getWhen()) {
      Value asked = expressions.element(op.getWhen(), {});
      Value not_ =
          arith::XOrIOp::create(b, at_, asked, arith::ConstantOp::create(b, at_, b.getBoolAttr(true)));
      fine = arith::OrIOp::create(b, at_, inside, not_);
    }
    Value position = w.checked(at_, kernel::ErrorKind::ListIndex, fine, index, {index, length});
    auto some = kernel::IfOp::create(b, at_, TypeRange(), inside);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&some.getOtherwise().emplaceBlock());
    w.loops(dyn::extents(op.getType()),
            [&](ValueRange at) { locals.write(w.zero(type), op.getResult(), at); });
    kernel::YieldOp::create(b, at_, ValueRange());
    b.setInsertionPointToEnd(&some.getThen().emplaceBlock());
    Value from = w.rowOfList(op, first, position);
    w.loops(dyn::extents(op.getType()), [&](ValueRange at) {
      SmallVector<Value> indices{from};
      llvm::append_range(indices, at);
      locals.write(kernel::LoadOp::create(b, at_, type, op.getArray(), StringAttr(), indices), op.getResult(),
                   at);
    });
    kernel::YieldOp::create(b, at_, ValueRange());
  });
}

} // namespace dbc::passes
