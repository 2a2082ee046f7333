// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-share-products: products of what few make and many read are computed by those who make it.
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/dyn/CallSharing.h"
#include "passes/dyn/MovedProducts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-share-products"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNSHAREPRODUCTS
#include "passes/Passes.h.inc"

namespace {

/// How many binders a value is computed in.
unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  for (; op; op = op->getParentOp())
    depth += dyn::isBinder(op);
  return depth;
}
unsigned depthOf(Value v) { return depthOf(v.getParentBlock()->getParentOp()); }

/// What the values of a function are made of, if that is the results of one call, parameters and constants.
class Origins {
public:
  /// Only calls count for which `counts` holds.
  Origins(Operation *func, function_ref<bool(dyn::CallOp)> counts) {
    func->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto call = dyn_cast<dyn::CallOp>(op); call && counts(call))
        for (Value result : call.getResults())
          if (dyn::isNumber(result.getType()))
            origins[result] = {call, false, 0};
      add(op);
    });
  }

  /// The call, null where there is none or something else is needed too.
  Operation *callOf(Value v) const { return origins.lookup(v).call; }
  /// Whether it is made of a call by products.
  bool hasProduct(Value v) const { return callOf(v) && origins.lookup(v).product; }

private:
  struct Origin {
    Operation *call = nullptr;
    bool product = false;
    int steps = 0; ///< operations on the longest way from it
  };
  /// What is longer is not followed: expressions are walked from their ends.
  static constexpr int kMostSteps = 256;

  static bool isPure(Operation *op) {
    auto isNumber = [](Type type) { return dyn::isNumber(type); };
    if (!llvm::all_of(op->getResultTypes(), isNumber) || !llvm::all_of(op->getOperandTypes(), isNumber) ||
        dyn::mayFail(op))
      return false;
    if (isa<linalg::ContractOp, linalg::FillOp, tensor::EmptyOp, dyn::GetOp>(op))
      return true;
    return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           (op->getNumOperands() > 0 || op->hasTrait<OpTrait::ConstantLike>()) && !isa<dyn::CallOp>(op);
  }

  void add(Operation *op) {
    if (!isPure(op))
      return;
    Origin made;
    made.product = isa<linalg::ContractOp>(op);
    for (Value operand : op->getOperands()) {
      auto at = origins.find(operand);
      if (at == origins.end() || (at->second.call && made.call && at->second.call != made.call))
        return;
      if (at->second.call)
        made.call = at->second.call;
      made.product |= at->second.product;
      made.steps = std::max(made.steps, at->second.steps + 1);
    }
    if (made.steps > kMostSteps)
      return;
    for (Value result : op->getResults())
      origins[result] = made;
  }

  llvm::DenseMap<Value, Origin> origins;
};

/// Cuts a product whose vector is a join of operands that are known at different points.
class ProductSplit {
public:
  ProductSplit(linalg::ContractOp product, const Origins &origins) : product(product) {
    auto found = matVec(product);
    auto join = found ? found->x.getDefiningOp<tensor::ConcatOp>() : tensor::ConcatOp();
    if (!join || !isCuttable(found->weights))
      return;
    weights = found->weights;
    unsigned here = depthOf(product);
    int64_t column = 0;
    for (Value operand : join.getInputs()) {
      Operation *call = origins.callOf(operand);
      unsigned depth = call && depthOf(call) == here ? here : std::min(depthOf(operand), here);
      Group &group = groups[{call, depth}];
      int64_t size = dyn::extents(operand.getType())[0];
      if (!group.runs.empty() && group.runs.back().second == column)
        group.runs.back().second += size;
      else
        group.runs.push_back({column, column + size});
      group.operands.push_back(operand);
      column += size;
    }
  }

  bool isWorthwhile() const { return groups.size() > 1; }

  void rewrite(SmallVectorImpl<MovedProduct> &all) {
    Location loc = product.getLoc();
    LDBG() << "the product at " << dyn::sourceLocation(loc) << " is cut into " << groups.size()
           << " products";
    unsigned here = depthOf(product);
    // Outer ones first: what is added up outside a binder is added there.
    SmallVector<std::pair<Key, Group *>> order;
    for (auto &[key, group] : groups)
      order.push_back({key, &group});
    llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first.second < b.first.second; });
    Value sum, bias = biasOf();
    for (auto [key, group] : order) {
      Operation *point = insertionPoint(key.second, here);
      if (key.second < here)
        all.push_back(moved(product, dyn::MovedTo::Outside, dyn::sourceLocation(point->getLoc())));
      OpBuilder b(point);
      Value weights = cut(b, *group);
      Value summand = createProduct(b, loc, weights, joined(b, *group));
      if (bias && !sum && key.second < here)
        summand = arith::AddFOp::create(b, loc, summand, cloneWeights(b, std::exchange(bias, {})));
      sum = sum ? arith::AddFOp::create(b, loc, sum, summand).getResult() : summand;
    }
    Value whole = product->getResult(0);
    if (Operation *add = biasOf() && !bias ? *whole.user_begin() : nullptr) {
      whole = add->getResult(0);
      whole.replaceAllUsesWith(sum);
      add->erase();
    } else {
      whole.replaceAllUsesWith(sum);
    }
    Value join = matVec(product)->x;
    product.erase();
    eraseUnused(join);
  }

private:
  using Key = std::pair<Operation *, unsigned>;
  struct Group {
    SmallVector<std::pair<int64_t, int64_t>> runs; ///< columns of the matrix
    SmallVector<Value> operands;
  };

  static bool isCuttable(Value weights) {
    return dyn::extents(weights.getType()).size() == 2 &&
           (weights.getDefiningOp<dyn::GetOp>() || dyn::matrixSlice(weights));
  }

  /// What is added to the product and known outside the innermost binder, where nothing else is made of it.
  Value biasOf() {
    Value result = product->getResult(0);
    auto add = result.hasOneUse() ? dyn_cast<arith::AddFOp>(*result.user_begin()) : arith::AddFOp();
    if (!add)
      return {};
    Value other = add.getLhs() == result ? add.getRhs() : add.getLhs();
    return other.getDefiningOp<dyn::GetOp>() ? other : Value();
  }

  /// Where something is computed that needs values known in so many binders.
  Operation *insertionPoint(unsigned depth, unsigned here) {
    Operation *point = product;
    for (; here > depth; point = point->getParentOp())
      if (dyn::isBinder(point->getParentOp()))
        --here;
    return point;
  }

  Value cut(OpBuilder &b, const Group &group) {
    auto slice = dyn::matrixSlice(weights);
    Value source = cloneWeights(b, slice ? slice.getSource() : weights);
    const ArrayRef<int64_t> shape = dyn::extents(weights.getType());
    SmallVector<int64_t> offsets(slice ? slice.getStaticOffsets() : ArrayRef<int64_t>{0, 0}),
        sizes(slice ? slice.getStaticSizes() : shape), strides(sizes.size(), 1);
    const int64_t left = offsets.back();
    SmallVector<Value> blocks;
    for (auto [from, to] : group.runs) {
      offsets.back() = left + from;
      sizes.back() = to - from;
      blocks.push_back(tensor::ExtractSliceOp::create(
          b, product.getLoc(), RankedTensorType::get({shape[0], to - from}, b.getF32Type()), source,
          ValueRange(), ValueRange(), ValueRange(), offsets, sizes, strides));
    }
    return blocks.size() == 1 ? blocks[0]
                              : tensor::ConcatOp::create(b, product.getLoc(), 1, blocks).getResult();
  }

  Value joined(OpBuilder &b, const Group &group) {
    return group.operands.size() == 1
               ? group.operands[0]
               : tensor::ConcatOp::create(b, product.getLoc(), 0, group.operands).getResult();
  }

  linalg::ContractOp product;
  Value weights;
  /// By the call that the operands are made of, and how deep they are known.
  llvm::MapVector<Key, Group> groups;
};

/// What callers make of a cell's results, as further results of it.
class FurtherResults {
public:
  explicit FurtherResults(dyn::CellOp cell) : cell(cell) {}

  /// The number of the result that is `value`, which is made of the results of `call`.
  unsigned numberOf(Value value, Operation *call) {
    std::string text;
    llvm::raw_string_ostream out(text);
    llvm::DenseMap<Operation *, unsigned> known;
    describe(value, call, out, known);
    auto [at, isNew] = numbers.try_emplace(text, cell.getResults().size() + values.size());
    if (isNew)
      values.push_back({value, call});
    return at->second;
  }

  /// Computes them in the cell; gives how many there are.
  unsigned add() {
    LDBG() << "@" << cell.getSymName() << " gives " << values.size() << " further results";
    Operation *end = cell.getBody().front().getTerminator();
    OpBuilder b(end);
    SmallVector<Attribute> types(cell.getResults().getValue());
    SmallVector<Value> results(end->getOperands());
    for (auto [value, call] : values) {
      IRMapping mapping;
      mapping.map(call->getResults(), end->getOperands().take_front(call->getNumResults()));
      results.push_back(copy(b, value, mapping));
      types.push_back(TypeAttr::get(value.getType()));
    }
    end->setOperands(results);
    cell.setResultsAttr(b.getArrayAttr(types));
    cell.setSurface(withProducts(cell.getSurface()));
    return values.size();
  }

  /// The type of the cell's value with the further results in it, which the source does not name.
  Type withProducts(Type surface) {
    MLIRContext *context = surface.getContext();
    StringAttr title = StringAttr::get(context, "");
    SmallVector<Attribute> names{StringAttr::get(context, "")};
    SmallVector<Type> types{surface};
    if (auto record = dyn_cast<dyn::RecordType>(surface)) {
      title = record.getName();
      names.assign(record.getNames().begin(), record.getNames().end());
      types.assign(record.getTypes().begin(), record.getTypes().end());
    }
    for (auto [value, call] : values) {
      names.push_back(StringAttr::get(context, "product"));
      types.push_back(value.getType());
    }
    return dyn::RecordType::get(context, title, ArrayAttr::get(context, names), types);
  }

  /// Has a call give them too; the call is replaced.
  dyn::CallOp addTo(dyn::CallOp call) {
    OpBuilder b(call);
    SmallVector<Type> types(call.getResultTypes());
    for (auto [value, from] : values)
      types.push_back(value.getType());
    OperationState state(call.getLoc(), call->getName(), call->getOperands(), types, call->getAttrs());
    state.propertiesAttr = call->getPropertiesAsAttribute();
    auto full = cast<dyn::CallOp>(b.create(state));
    call->replaceAllUsesWith(full->getResults().take_front(call->getNumResults()));
    call->erase();
    return full;
  }

private:
  /// The expression as text: alike where the values are equal.
  static void describe(Value value, Operation *call, llvm::raw_ostream &out,
                       llvm::DenseMap<Operation *, unsigned> &known) {
    Operation *op = value.getDefiningOp();
    out << cast<OpResult>(value).getResultNumber() << " of ";
    if (op == call)
      return;
    auto [at, isNew] = known.try_emplace(op, known.size());
    if (!isNew) {
      out << at->second;
      return;
    }
    out << op->getName().getStringRef() << op->getAttrDictionary() << value.getType() << "(";
    for (Value operand : op->getOperands())
      describe(operand, call, out, known);
    out << ")";
  }

  static Value copy(OpBuilder &b, Value value, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      copy(b, operand, mapping);
    b.clone(*op, mapping);
    return mapping.lookup(value);
  }

  dyn::CellOp cell;
  SmallVector<std::pair<Value, Operation *>> values;
  llvm::StringMap<unsigned> numbers;
};

struct DynShareProductsPass : impl::DynShareProductsBase<DynShareProductsPass> {
  void runOnOperation() override {
    shared.clear();
    all.clear();
    CallSharing sharing(getOperation());
    SmallVector<Operation *> funcs;
    for (Operation &func : *getOperation().getBody())
      if (isa<dyn::CellOp, dyn::EntryOp>(func))
        funcs.push_back(&func);
    auto isShared = [&](dyn::CallOp call) { return sharing.readersOf(call) >= Readers::References; };
    auto isKept = [&](dyn::CallOp call) {
      return sharing.readersOf(call) == Readers::Parent && depthOf(call) > 0;
    };
    for (Operation *func : funcs)
      splitProducts(func, Origins(func, isShared));
    for (Operation *func : funcs) {
      for (auto [product, call] : lastProducts(func, Origins(func, isKept)))
        say(dyn::MovedTo::Nowhere, product, call);
      for (auto [product, call] : lastProducts(func, Origins(func, isShared)))
        shared.push_back({product, call, 0});
    }
    share();
    addMoved(getOperation(), all);
  }

  /// Of all products that a value of a call's results is made by.
  void say(dyn::MovedTo to, Value value, Operation *call) {
    llvm::SetVector<Operation *> made;
    made.insert(value.getDefiningOp());
    for (size_t n = 0; n < made.size(); ++n) { // grows while it is walked
      if (auto product = dyn_cast<linalg::ContractOp>(made[n]))
        all.push_back(moved(product, to, cast<dyn::CallOp>(call).getCallee()));
      for (Value operand : made[n]->getOperands())
        if (Operation *op = operand.getDefiningOp(); op && op != call)
          made.insert(op);
    }
  }

  void splitProducts(Operation *func, const Origins &origins) {
    SmallVector<ProductSplit> splits;
    func->walk([&](linalg::ContractOp product) {
      if (ProductSplit split(product, origins); split.isWorthwhile())
        splits.push_back(std::move(split));
    });
    cutProducts += splits.size();
    // Later ones first: their operands may be what earlier ones give, which is replaced when these are cut.
    for (ProductSplit &split : llvm::reverse(splits))
      split.rewrite(all);
  }

  /// The last values that are made of one call alone, by products, and the call.
  static SmallVector<std::pair<Value, Operation *>> lastProducts(Operation *func, const Origins &origins) {
    SmallVector<std::pair<Value, Operation *>> last;
    func->walk([&](Operation *op) {
      for (Value value : op->getResults()) {
        Operation *call = origins.hasProduct(value) ? origins.callOf(value) : nullptr;
        auto isMade = [&](Operation *user) {
          return user->getNumResults() > 0 &&
                 llvm::all_of(user->getResults(), [&](Value made) { return origins.callOf(made) == call; });
        };
        if (call && !llvm::all_of(value.getUsers(), isMade))
          last.push_back({value, call});
      }
    });
    return last;
  }

  void share() {
    SymbolTable names(getOperation());
    llvm::MapVector<Operation *, FurtherResults> cells;
    for (Shared &each : shared) {
      say(dyn::MovedTo::ByInstance, each.value, each.call);
      auto cell = names.lookup<dyn::CellOp>(cast<dyn::CallOp>(each.call).getCallee());
      each.number = cells.try_emplace(cell, cell).first->second.numberOf(each.value, each.call);
    }
    for (auto &[cell, results] : cells)
      furtherResults += results.add();
    SmallVector<dyn::CallOp> calls;
    getOperation().walk([&](dyn::CallOp call) { calls.push_back(call); });
    llvm::DenseMap<Operation *, Operation *> full;
    for (dyn::CallOp call : calls) {
      if (call.getEvery())
        continue; // gives the nodes alone
      if (auto at = cells.find(names.lookup<dyn::CellOp>(call.getCallee())); at != cells.end()) {
        Operation *old = call;
        full[old] = at->second.addTo(call);
      }
    }
    for (const Shared &each : shared) {
      Value(each.value).replaceAllUsesWith(full.lookup(each.call)->getResult(each.number));
      eraseUnused(each.value);
    }
  }

  struct Shared {
    Value value;
    Operation *call;
    unsigned number; ///< among the results of the call
  };
  SmallVector<Shared> shared;
  SmallVector<MovedProduct> all; ///< for the report
};
} // namespace
} // namespace dbc::passes
