// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-forward-gathers: binders over a list of rows of a parameter go through the row numbers instead.
#include "ir/Dyn/Binders.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-forward-gathers"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNFORWARDGATHERS
#include "passes/Passes.h.inc"

namespace {

/// A list whose elements are rows of a parameter: `gather` looks a row up by an element of `numbers`.
struct Rows {
  Value numbers;
  dyn::GatherOp gather;

  explicit operator bool() const { return bool(gather); }
};

struct DynForwardGathersPass : impl::DynForwardGathersBase<DynForwardGathersPass> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto at = dyn_cast<dyn::AtOp>(op)) {
        if (Rows rows = rowsOf(at.getList()); rows && !at.getWhen() && dyn::isStructural(at.getIndex()))
          forward(at, rows);
      } else if (isa<dyn::MapOp>(op) || dyn::isRecurrence(op)) {
        unzip(op);
        for (auto [n, list] : llvm::enumerate(dyn::listsOf(op)))
          if (Rows rows = rowsOf(list))
            forward(op, n, rows);
      }
    });
  }

  /// The numbers of the rows that a list consists of, if they are rows of a parameter by the elements of
  /// another list; also from its end, or a slice of it.
  static Rows rowsOf(Value list) {
    if (auto reverse = list.getDefiningOp<dyn::ReverseOp>()) {
      Rows rows = rowsOf(reverse.getList());
      if (rows) {
        OpBuilder b(reverse);
        rows.numbers = dyn::ReverseOp::create(b, reverse.getLoc(), rows.numbers);
      }
      return rows;
    }
    if (auto slice = list.getDefiningOp<dyn::SliceOp>()) {
      Rows rows = rowsOf(slice.getList());
      if (rows) {
        OpBuilder b(slice);
        rows.numbers = dyn::SliceOp::create(b, slice.getLoc(), rows.numbers.getType(), rows.numbers,
                                            slice.getLow(), slice.getHigh());
      }
      return rows;
    }
    if (dyn::GatherOp gather = gatherOf(list)) {
      auto map = list.getDefiningOp<dyn::MapOp>();
      return {map.getLists()[cast<BlockArgument>(gather.getIndex()).getArgNumber()], gather};
    }
    return {};
  }

  /// What a list's elements are, if a map gathers them from a parameter by an element alone.
  static dyn::GatherOp gatherOf(Value list) {
    auto map = list.getDefiningOp<dyn::MapOp>();
    if (!map)
      return {};
    Block &body = map.getBody().front();
    Value element = body.getTerminator()->getOperand(cast<OpResult>(list).getResultNumber());
    auto gather = element.getDefiningOp<dyn::GatherOp>();
    auto index = gather ? dyn_cast<BlockArgument>(gather.getIndex()) : BlockArgument();
    bool plain = index && index.getOwner() == &body && !gather.getChecked() &&
                 gather.getTensor().getDefiningOp<dyn::GetOp>();
    return plain ? gather : dyn::GatherOp();
  }

  /// A binder over the results of one `zip` with rows among them goes through one with their numbers.
  void unzip(Operation *binder) {
    ValueRange lists = dyn::listsOf(binder);
    auto zip = lists.empty() ? dyn::ZipOp() : lists[0].getDefiningOp<dyn::ZipOp>();
    if (!zip || !llvm::all_of(lists, [&](Value list) { return list.getDefiningOp() == zip; }))
      return;
    SmallVector<Rows> rows = llvm::map_to_vector(zip.getLists(), [](Value list) { return rowsOf(list); });
    if (llvm::none_of(rows, [](const Rows &each) { return bool(each); }))
      return;
    SmallVector<Value> numbers(zip.getLists());
    for (auto [n, each] : llvm::enumerate(rows))
      if (each)
        numbers[n] = each.numbers;
    OpBuilder b(zip);
    auto of = dyn::ZipOp::create(b, zip.getLoc(), numbers);
    for (unsigned n = 0, end = lists.size(); n < end; ++n) {
      unsigned from = cast<OpResult>(dyn::listsOf(binder)[n]).getResultNumber();
      if (rows[from])
        forward(binder, n, {of.getResult(from), rows[from].gather});
      else
        binder->setOperand(n, of.getResult(from));
    }
  }

  void forward(dyn::AtOp at, Rows rows) {
    LDBG() << "the element at " << dyn::sourceLocation(at.getLoc()) << " is looked up by its number";
    ++forwardedElements;
    OpBuilder b(at);
    IRMapping mapping;
    mapping.map(rows.gather.getIndex(), dyn::AtOp::create(b, at.getLoc(), rows.gather.getIndex().getType(),
                                                          rows.numbers, at.getIndex(), Value()));
    b.clone(*rows.gather.getTensor().getDefiningOp(), mapping);
    at.replaceAllUsesWith(b.clone(*rows.gather, mapping)->getResult(0));
  }

  void forward(Operation *binder, unsigned list, Rows rows) {
    LDBG() << "the " << binder->getName() << " at " << dyn::sourceLocation(binder->getLoc())
           << " goes through the row numbers of its list " << list;
    ++forwardedLists;
    Block &body = binder->getRegion(0).front();
    BlockArgument row = body.getArgument(list);
    Value element = rows.gather.getIndex();
    BlockArgument index = body.insertArgument(list, element.getType(), element.getLoc());
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    IRMapping mapping;
    mapping.map(element, index);
    b.clone(*rows.gather.getTensor().getDefiningOp(), mapping);
    row.replaceAllUsesWith(b.clone(*rows.gather, mapping)->getResult(0));
    body.eraseArgument(list + 1);
    binder->setOperand(list, rows.numbers);
  }
};
} // namespace
} // namespace dbc::passes
