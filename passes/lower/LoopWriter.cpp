// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/LoopWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::passes {

/// Elements that fill vectors on every machine; a slice has twice as many, since GCC writes loops of 16 short
/// steps out, one by one, before it thinks of vectors.
static constexpr int64_t kWholeVectors = 16, kSlice = 2 * kWholeVectors;

Value LoopWriter::integer(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)).getResult();
}
Value LoopWriter::real(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)).getResult();
}
Value LoopWriter::zero(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }
Value LoopWriter::addInt(Value x, Value y) {
  auto zero = [](Value v) {
    auto constant = v.getDefiningOp<arith::ConstantOp>();
    return constant && cast<IntegerAttr>(constant.getValue()).getInt() == 0;
  };
  return zero(x) ? y : zero(y) ? x : arith::AddIOp::create(b, loc, x, y).getResult();
}
Value LoopWriter::mulInt(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(b, loc, x, integer(y)).getResult();
}

std::pair<Value, Value> LoopWriter::nearest(Value position, int64_t extent) {
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, position, integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, integer(extent));
  Value isIn = arith::AndIOp::create(b, loc, low, high);
  Value above = arith::MaxSIOp::create(b, loc, position, integer(0));
  return {arith::MinSIOp::create(b, loc, above, integer(extent - 1)), isIn};
}

/// What a value is called that a loop carries, by what becomes of it in each round.
static StringRef carriedName(Value next) {
  Operation *op = next.getDefiningOp();
  if (!op)
    return "best";
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp, kernel::IntOp>([](auto) { return "sum"; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return "largest"; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return "smallest"; })
      .Case<arith::OrIOp>([](auto) { return "any"; })
      .Case<arith::AndIOp>([](auto) { return "all"; })
      .Default([](Operation *) { return "best"; });
}

kernel::ForOp LoopWriter::loop(Value low, Value high, StringRef name, ValueRange init, Reduction::Next body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = kernel::ForOp::create(b, loc, init.getTypes(), low, high, init, UnitAttr());
  Block *block = &loop.getBody().emplaceBlock();
  Value k = block->addArgument(b.getI32Type(), named(name));
  for (Type type : init.getTypes())
    block->addArgument(type, loc);
  b.setInsertionPointToEnd(block);
  SmallVector<Value> next = body(k, block->getArguments().drop_front());
  for (auto [carried, value] : llvm::zip_equal(block->getArguments().drop_front(), next))
    carried.setLoc(named(carriedName(value)));
  b.setInsertionPointToEnd(block);
  kernel::YieldOp::create(b, loc, next);
  return loop;
}

SmallVector<Value> LoopWriter::counted(int64_t low, Value high, StringRef name, ValueRange init,
                                       Reduction::Next body) {
  return llvm::to_vector_of<Value>(loop(integer(low), high, name, init, body).getResults());
}
SmallVector<Value> LoopWriter::counted(int64_t low, int64_t high, StringRef name, ValueRange init,
                                       Reduction::Next body) {
  Value from = integer(low), to = integer(high);
  return llvm::to_vector_of<Value>(loop(from, to, name, init, body).getResults());
}

void LoopWriter::loopNest(ArrayRef<int64_t> shape, AtElement body, bool vector) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value, 4> at;
  static const char *names[] = {"j", "k", "l", "m"};
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    bool inner = vector && axis + 1 == shape.size();
    Value low = integer(0), high = integer(extent);
    auto loop = kernel::ForOp::create(b, loc, TypeRange(), low, high, ValueRange(),
                                      inner ? b.getUnitAttr() : UnitAttr());
    Block *block = &loop.getBody().emplaceBlock();
    at.push_back(block->addArgument(b.getI32Type(), named(names[axis % 4])));
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
    b.setInsertionPointToStart(block);
  }
  body(at);
}

kernel::ForOp LoopWriter::overlapping(int64_t extent, int64_t size, StringRef name,
                                      function_ref<void(Value, Value)> body) {
  auto slice = [&](Value number, ValueRange) -> SmallVector<Value> {
    Value first = mulInt(number, size);
    if (extent % size != 0)
      first = arith::MinSIOp::create(b, named("from"), first, integer(extent - size));
    body(number, first);
    return {};
  };
  Value low = integer(0), high = integer((extent + size - 1) / size);
  return loop(low, high, name, ValueRange(), slice);
}

Value LoopWriter::indexAt(Value first, Value position, StringRef name) {
  return arith::AddIOp::create(b, named(name), first, position);
}

void LoopWriter::inVectors(ArrayRef<int64_t> shape, function_ref<void(EachElement)> body) {
  if (!repeats || shape.empty() || shape.back() <= kSlice || shape.back() % kWholeVectors == 0)
    return body([&](AtElement element) { loops(shape, element); });
  loopNest(shape.drop_back(), [&](ValueRange outer) {
    overlapping(shape.back(), kSlice, "slice", [&](Value, Value first) {
      body([&](AtElement element) {
        loops({kSlice}, [&](ValueRange at) {
          SmallVector<Value, 4> all(outer.begin(), outer.end());
          all.push_back(indexAt(first, at[0], "column"));
          element(all);
        });
      });
    });
  });
}

} // namespace dbc::passes
