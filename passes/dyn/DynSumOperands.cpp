// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-sum-operands: the sum of products is the product with the sum.
#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/dyn/MovedProducts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-sum-operands"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNSUMOPERANDS
#include "passes/Passes.h.inc"

namespace {

/// Whether a list is known to have a number of elements, and which.
std::optional<int64_t> knownLength(Value list) {
  auto range = list.getDefiningOp<dyn::RangeOp>();
  APInt low, high;
  if (!range || !matchPattern(range.getLow(), m_ConstantInt(&low)) ||
      !matchPattern(range.getHigh(), m_ConstantInt(&high)))
    return std::nullopt;
  return std::max<int64_t>(high.getSExtValue() - low.getSExtValue(), 0);
}

/// Whether a value is known to be finite, and `asDivisor` not to be 0: a constant, or a parameter that is
/// trained, which are taken to be finite, or a part of one. (What is loaded as a `const` may be a mask.)
bool isFinite(Value v, bool asDivisor = false) {
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<dyn::BroadcastOp, dyn::GatherOp, dyn::TransposeOp, tensor::ExtractSliceOp>(op))
    return isFinite(op->getOperand(0), asDivisor);
  if (isa_and_nonnull<tensor::ConcatOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isFinite(operand, asDivisor); });
  if (auto get = dyn_cast_or_null<dyn::GetOp>(op))
    return !asDivisor &&
           !SymbolTable::lookupNearestSymbolFrom<dyn::ParamOp>(get, get.getParamAttr()).getConstant();
  auto fits = [&](const APFloat &x) { return x.isFinite() && !(asDivisor && x.isZero()); };
  Attribute constant;
  if (!matchPattern(v, m_Constant(&constant)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant))
    return fits(number.getValue());
  auto numbers = dyn_cast<DenseFPElementsAttr>(constant);
  return numbers && llvm::all_of(numbers, fits);
}

/// One sum or mean of what a map gives.
class SumOfMap {
public:
  SumOfMap(dyn::ReduceListOp reduce, dyn::MapOp map, Value element)
      : reduce(reduce), map(map), body(map.getBody().front()), element(element), b(reduce) {}

  /// Whether a product is behind the sum then.
  bool movesProducts() { return hasProduct(element); }

  /// Gives the products that are behind the sum now.
  SmallVector<MovedProduct> rewrite() {
    findAddends(element, Value());
    addSums();
    Value all = total(element, Value());
    reduce.replaceAllUsesWith(all);
    std::string sum = dyn::sourceLocation(reduce.getLoc());
    reduce.erase();
    map.erase();
    eraseUnused(element);
    return llvm::map_to_vector(
        behind, [&](linalg::ContractOp product) { return moved(product, dyn::MovedTo::BehindSum, sum); });
  }

private:
  bool isInvariant(Value v) { return !map.getBody().isAncestor(v.getParentRegion()); }

  /// The one operand of a product that depends on the element, where adding up such operands costs less than
  /// multiplying each: a vector that a matrix is multiplied with.
  OpOperand *variedOperand(Operation *op) {
    auto product = dyn_cast<linalg::ContractOp>(op);
    if (!product || !isInvariant(product.getOperand(2)))
      return nullptr;
    OpOperand *varied = nullptr;
    for (unsigned n : {0u, 1u})
      if (!isInvariant(product.getOperand(n))) {
        if (varied)
          return nullptr;
        varied = &product->getOpOperand(n);
      }
    const int64_t work = llvm::product_of(product.getStaticLoopRanges());
    auto operand = varied ? dyn_cast<RankedTensorType>(varied->get().getType()) : RankedTensorType();
    return operand && work >= 2 * operand.getNumElements() ? varied : nullptr;
  }

  /// The scalar that a tensor has at all positions.
  static Value scalarOf(Value v) {
    auto broadcast = v.getDefiningOp<dyn::BroadcastOp>();
    return broadcast && dyn::extents(broadcast.getX().getType()).empty() ? broadcast.getX() : Value();
  }

  /// How a value of the body is made of others, so that its sum is made of theirs.
  struct Linear {
    enum class Kind { Addend, Invariant, Sum, Product, Scaled, Weighted } kind = Kind::Addend;
    OpOperand *varied = nullptr; ///< of a product, of what is scaled or weighted
    Value weight = {};
  };
  Linear linear(Value v, Value weight) {
    using Kind = Linear::Kind;
    if (isInvariant(v))
      return {Kind::Invariant};
    Operation *op = v.getDefiningOp();
    if (!op || !v.hasOneUse() || !hasProduct(v))
      return {Kind::Addend};
    if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
      return {Kind::Sum};
    if (isa<linalg::ContractOp>(op))
      return {Kind::Product, variedOperand(op)};
    bool first = isInvariant(op->getOperand(0)), second = isInvariant(op->getOperand(1));
    if (first || second)
      return {Kind::Scaled, &op->getOpOperand(first ? 1 : 0)};
    // One factor is the same number at all positions of a row.
    unsigned by = scalarOf(op->getOperand(0)) && !hasProduct(op->getOperand(0)) ? 0 : 1;
    if (weight)
      return {Kind::Addend};
    return {Kind::Weighted, &op->getOpOperand(1 - by), scalarOf(op->getOperand(by))};
  }

  /// Whether a product is left behind the sum where what a value is made of is summed. Only values with one
  /// use: others are computed for each element in any case.
  bool hasProduct(Value v) {
    auto [at, isNew] = known.try_emplace(v, false);
    if (!isNew)
      return at->second;
    Operation *op = isInvariant(v) ? nullptr : v.getDefiningOp();
    bool has = op && v.hasOneUse() && hasProductIn(op);
    return known[v] = has;
  }
  bool hasProductIn(Operation *op) {
    auto has = [&](Value v) { return hasProduct(v); };
    if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
      return llvm::any_of(op->getOperands(), has);
    if (isa<linalg::ContractOp>(op))
      return variedOperand(op);
    if (isa<arith::DivFOp>(op))
      return isInvariant(op->getOperand(1)) && has(op->getOperand(0));
    if (!isa<arith::MulFOp>(op))
      return false;
    Value x = op->getOperand(0), y = op->getOperand(1);
    if (isInvariant(x) || isInvariant(y))
      return has(x) || has(y);
    return (scalarOf(x) && has(y) && !has(x)) || (scalarOf(y) && has(x) && !has(y));
  }

  /// What is added up: a value of the body, or one times a number of the body, or such a number alone.
  using Addend = std::pair<Value, Value>;

  void findAddends(Value v, Value weight) {
    const Linear how = made[v] = linear(v, weight);
    switch (how.kind) {
    case Linear::Kind::Invariant:
      if (weight)
        sums.insert({{Value(), weight}, Value()});
      return;
    case Linear::Kind::Addend:
      sums.insert({{v, weight}, Value()});
      return;
    case Linear::Kind::Sum:
      for (Value operand : v.getDefiningOp()->getOperands())
        findAddends(operand, weight);
      return;
    case Linear::Kind::Product:
      return findAddends(how.varied->get(), weight);
    case Linear::Kind::Scaled:
      return findAddends(how.varied->get(), weight);
    case Linear::Kind::Weighted:
      return findAddends(how.varied->get(), how.weight);
    }
  }

  /// The map again, which gives the addends, and their sums.
  void addSums() {
    OpBuilder inside(body.getTerminator());
    SmallVector<Value> yields(body.getTerminator()->getOperands());
    SmallVector<Type> types(map.getResultTypes());
    unsigned first = yields.size();
    for (auto &[addend, sum] : sums) {
      auto [value, weight] = addend;
      if (value && weight) {
        Value factor = weight;
        if (value.getType() != weight.getType())
          factor = dyn::BroadcastOp::create(inside, value.getLoc(), value.getType(), weight);
        value = arith::MulFOp::create(inside, value.getLoc(), factor, value);
      }
      yields.push_back(value ? value : weight);
      types.push_back(dyn::ListType::get(yields.back().getType()));
    }
    // What was reduced is given no more.
    unsigned number = cast<OpResult>(reduce.getList()).getResultNumber();
    yields.erase(yields.begin() + number);
    types.erase(types.begin() + number);
    body.getTerminator()->setOperands(yields);
    OpBuilder before(map);
    auto full = dyn::MapOp::create(before, map.getLoc(), types, map.getLists());
    full.getBody().takeBody(map.getBody());
    for (OpResult result : map.getResults())
      if (result.getResultNumber() != number)
        result.replaceAllUsesWith(
            full.getResult(result.getResultNumber() - (result.getResultNumber() > number)));
    for (auto [k, entry] : llvm::enumerate(sums)) {
      Value list = full.getResult(first - 1 + k);
      entry.second =
          dyn::ReduceListOp::create(b, reduce.getLoc(), cast<dyn::ListType>(list.getType()).getElement(),
                                    reduce.getKind(), list, Value());
    }
  }

  /// The sum, or mean, of a value of the body, behind the reduction.
  Value total(Value v, Value weight) {
    const Linear how = made.lookup(v);
    switch (how.kind) {
    case Linear::Kind::Invariant:
      return scaled(isFinite(v) ? v : whereAny(v, 0), weight ? sums[{Value(), weight}] : count());
    case Linear::Kind::Addend:
      return sums[{v, weight}];
    case Linear::Kind::Weighted:
      return total(how.varied->get(), how.weight);
    case Linear::Kind::Sum:
    case Linear::Kind::Product:
    case Linear::Kind::Scaled:
      break;
    }
    Operation *op = v.getDefiningOp();
    IRMapping mapping;
    bool isFiniteMatrix = true;
    for (OpOperand &operand : op->getOpOperands()) {
      const bool isDivisor = isa<arith::DivFOp>(op) && operand.getOperandNumber() == 1;
      if (how.kind == Linear::Kind::Sum || &operand == how.varied)
        mapping.map(operand.get(), total(operand.get(), weight));
      else if (how.kind == Linear::Kind::Product)
        isFiniteMatrix &= operand.getOperandNumber() == 2 || isFinite(operand.get());
      else if (!isFinite(operand.get(), isDivisor))
        mapping.map(operand.get(), whereAny(operand.get(), 1));
    }
    Operation *copy = b.clone(*op, mapping);
    if (auto product = dyn_cast<linalg::ContractOp>(copy))
      behind.push_back(product);
    return isFiniteMatrix ? copy->getResult(0) : whereAny(copy->getResult(0), 0);
  }

  /// A value where the sum has elements, else `otherwise`: the sum of none is 0, also where that would be
  /// divided by their number or multiplied by infinity. What is behind the sum stays linear, so that a
  /// product may climb on. (A mean has elements.)
  Value whereAny(Value v, double otherwise) {
    if (reduce.getKind() == dyn::ReduceKind::Mean || knownLength(map.getLists()[0]).value_or(0) > 0)
      return v;
    Location loc = reduce.getLoc();
    if (auto broadcast = v.getDefiningOp<dyn::BroadcastOp>())
      return dyn::BroadcastOp::create(b, loc, v.getType(), whereAny(broadcast.getX(), otherwise));
    if (!hasElements) {
      Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
      hasElements = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, length(), none);
    }
    TypedAttr number = b.getF32FloatAttr(static_cast<float>(otherwise));
    if (auto type = dyn_cast<RankedTensorType>(v.getType()))
      number = DenseElementsAttr::get(type, number);
    Value constant = arith::ConstantOp::create(b, loc, number);
    return arith::SelectOp::create(b, loc, hasElements, v, constant);
  }

  Value length() {
    if (!listLength)
      listLength = dyn::LenOp::create(b, reduce.getLoc(), b.getI32Type(), map.getLists()[0]);
    return listLength;
  }

  /// How often an invariant is in the sum: as often as the list has elements; null for once.
  Value count() {
    if (reduce.getKind() == dyn::ReduceKind::Mean)
      return {};
    if (!lengthAsReal)
      lengthAsReal = arith::SIToFPOp::create(b, reduce.getLoc(), b.getF32Type(), length());
    return lengthAsReal;
  }

  Value scaled(Value v, Value factor) {
    if (!factor)
      return v;
    if (v.getType() != factor.getType())
      factor = dyn::BroadcastOp::create(b, v.getLoc(), v.getType(), factor);
    return arith::MulFOp::create(b, v.getLoc(), factor, v);
  }

  dyn::ReduceListOp reduce;
  dyn::MapOp map;
  Block &body;
  Value element;
  OpBuilder b;
  llvm::DenseMap<Value, bool> known;
  llvm::DenseMap<Value, Linear> made;
  llvm::MapVector<Addend, Value> sums;
  SmallVector<linalg::ContractOp> behind; ///< products behind the sum
  Value listLength, lengthAsReal, hasElements;
};

struct DynSumOperandsPass : impl::DynSumOperandsBase<DynSumOperandsPass> {
  void runOnOperation() override {
    all.clear();
    SmallVector<dyn::ReduceListOp> reductions; // inner ones first, so that a product climbs as far as it can
    getOperation().walk<WalkOrder::PostOrder>([&](dyn::ReduceListOp op) { reductions.push_back(op); });
    for (dyn::ReduceListOp reduce : reductions)
      move(reduce);
    addMoved(getOperation(), all);
  }

  void move(dyn::ReduceListOp reduce) {
    Value list = reduce.getList();
    auto map = list.getDefiningOp<dyn::MapOp>();
    bool sums = reduce.getKind() == dyn::ReduceKind::Sum || reduce.getKind() == dyn::ReduceKind::Mean;
    if (!sums || !map || !list.hasOneUse() || map->getBlock() != reduce->getBlock() || reduce.getWhen() ||
        dyn::isEnded(list) || knownLength(map.getLists()[0]).value_or(2) < 2 ||
        !dyn::scalar(reduce.getType()).isF32())
      return;
    Block &body = map.getBody().front();
    Value element = body.getTerminator()->getOperand(cast<OpResult>(list).getResultNumber());
    if (SumOfMap sum(reduce, map, element); sum.movesProducts()) {
      LDBG() << "the sum at " << dyn::sourceLocation(reduce.getLoc())
             << " is one of operands, not of products";
      SmallVector<MovedProduct> behind = sum.rewrite();
      ++rewrittenSums;
      productsBehind += behind.size();
      llvm::append_range(all, behind);
    }
  }

  SmallVector<MovedProduct> all;
};
} // namespace
} // namespace dbc::passes
