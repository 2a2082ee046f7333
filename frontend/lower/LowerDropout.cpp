// Dropout (G2), in what is meant for training: where each one stands, and by what its masks differ.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Numbers.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/xxhash.h"

namespace dbc::frontend {

/// The number that a value is, where it is made of numbers and dims alone.
static mlir::Attribute constantOf(mlir::Value value) {
  mlir::Attribute known;
  if (mlir::matchPattern(value, mlir::m_Constant(&known)))
    return known;
  mlir::Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0)
    return {};
  llvm::SmallVector<mlir::Attribute> operands;
  for (mlir::Value operand : op->getOperands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return {};
  }
  llvm::SmallVector<mlir::OpFoldResult> folded;
  if (mlir::failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  auto result = llvm::dyn_cast<mlir::Value>(folded[0]);
  return result ? constantOf(result) : llvm::cast<mlir::Attribute>(folded[0]);
}

std::string Lowering::placeOf(const std::string &callee) {
  return frame_->place + "/" + callee + "#" + std::to_string(frame_->made[callee]++);
}

mlir::Value Lowering::dropout(const CallExpr &expr) {
  mlir::Value x = lowerOne(*expr.args[0]);
  if (!train_)
    return x;
  const std::string place = placeOf("dropout");
  auto rate = llvm::dyn_cast_or_null<mlir::FloatAttr>(constantOf(lowerOne(*expr.args[1])));
  const SourceRange range = expr.args[1]->range;
  if (!rate) {
    diags_.error(range, "the rate of `dropout` is computed: a loss trains with one made of numbers and dims",
                 "G2");
    return x;
  }
  if (!(rate.getValueAsDouble() >= 0 && rate.getValueAsDouble() < 1)) {
    diags_.error(
        range,
        "`dropout` divides by 1 - p: the rate p is at least 0 and below 1, which it is not at these sizes",
        "G2");
    return x;
  }
  // The place is told by the location until equal expressions are one: the first one's is that of all.
  mlir::Location at = dyn::numbered(location(expr.range), static_cast<int64_t>(llvm::xxh3_64bits(place)));
  return dyn::DropoutOp::create(builder_, at, x, /*input=*/mlir::Value(), frame_->at.getArrayRef(),
                                rate.getValue(), /*place=*/0, /*of_run=*/false);
}

namespace {
/// What a value is made of.
struct Origins {
  explicit Origins(mlir::ValueRange values) {
    open.insert(values.begin(), values.end());
    for (size_t n = 0; n < open.size(); ++n) // grows while it is walked
      if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(open[n]))
        add(argument);
      else
        addOperands(open[n].getDefiningOp());
  }

  bool ofInstance = false;                   ///< an argument of the function is among it
  llvm::DenseSet<mlir::Operation *> binders; ///< whose variables are among it

private:
  void add(mlir::BlockArgument argument) {
    mlir::Operation *owner = argument.getOwner()->getParentOp();
    if (!dyn::isBinder(owner)) {
      ofInstance = true;
      return;
    }
    binders.insert(owner);
    mlir::ValueRange lists = dyn::listsOf(owner);
    if (argument.getArgNumber() < lists.size())
      open.insert(lists[argument.getArgNumber()]);
    else
      addOperands(owner);
  }
  /// With those of the operations inside.
  void addOperands(mlir::Operation *op) {
    op->walk([&](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          open.insert(operand);
    });
  }

  llvm::SetVector<mlir::Value> open;
};

/// A number that is another one for each element of a binder: of a range the element itself, else its
/// position.
mlir::Value positionIn(mlir::Operation *binder) {
  for (auto [list, element] : llvm::zip(dyn::listsOf(binder), binder->getRegion(0).getArguments())) {
    mlir::Value source = list;
    while (auto zip = source.getDefiningOp<dyn::ZipOp>())
      source = zip.getLists()[llvm::cast<mlir::OpResult>(source).getResultNumber()];
    if (source.getDefiningOp<dyn::RangeOp>())
      return element;
  }
  mlir::Location at = binder->getLoc();
  return dyn::addPosition(binder,
                          mlir::NameLoc::get(mlir::StringAttr::get(binder->getContext(), "position"), at));
}
} // namespace

void Lowering::keyDropouts() {
  llvm::SmallVector<dyn::DropoutOp> dropouts;
  module_.walk([&](dyn::DropoutOp op) { dropouts.push_back(op); });
  // Equal ones in several arms or binders have one place too.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<dyn::DropoutOp>> known;
  for (dyn::DropoutOp op : dropouts) {
    keyDropout(op);
    llvm::SmallVector<dyn::DropoutOp> &others = known[op.getX()];
    auto *first = llvm::find_if(others, [&](dyn::DropoutOp other) {
      return other.getKeys() == op.getKeys() && other.getRateAttr() == op.getRateAttr();
    });
    if (first != others.end())
      op.setPlace(first->getPlace());
    others.push_back(op);
  }
}

void Lowering::keyDropout(dyn::DropoutOp op) {
  op.setPlace(*dyn::numberOf(op.getLoc()));
  llvm::SmallVector<mlir::Value> made{op.getX()};
  llvm::append_range(made, op.getKeys());
  const Origins origins(made);
  op.setOfRun(!origins.ofInstance);
  llvm::SetVector<mlir::Value> keys;
  llvm::SmallVector<mlir::Operation *> binders;
  for (mlir::Operation *around = op->getParentOp(); around; around = around->getParentOp()) {
    if (auto cell = llvm::dyn_cast<dyn::CellOp>(around); cell && origins.ofInstance)
      keys.insert(cell.getKeys().begin(), cell.getKeys().end());
    if (origins.binders.contains(around))
      binders.push_back(around);
  }
  for (mlir::Operation *binder : llvm::reverse(binders))
    keys.insert(positionIn(binder));
  keys.insert(op.getKeys().begin(), op.getKeys().end());
  op.getKeysMutable().assign(keys.getArrayRef());
}

} // namespace dbc::frontend
