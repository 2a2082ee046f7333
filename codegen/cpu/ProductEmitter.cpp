// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Scratch memory and products inside stage functions.
#include "codegen/cpu/CpuFunctionEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// Memory of the running thread, in whole cache lines.
std::string CpuFunctionEmitter::scratchPointer(StringRef type, int64_t bytes) {
  std::string at = scratch_ == 0 ? "scratch" : "scratch + " + std::to_string(scratch_);
  scratch_ += (bytes + 63) / 64 * 64;
  usesScratch_ = true;
  return "reinterpret_cast<" + type.str() + " *>(" + at + ")";
}

void CpuFunctionEmitter::emitLocal(kernel::LocalOp op) {
  if (op->use_empty())
    return;
  kernel::LocalType type = op.getType();
  int64_t count = 1;
  std::string extents;
  for (int64_t extent : type.getShape()) {
    count *= extent;
    extents += (extents.empty() ? "" : " * ") + std::to_string(extent);
  }
  std::string element = pointee(type.getElement(), false);
  int64_t bytes = count * model_.bytes(element);
  std::string name = nameValue(op.getResult());
  // What was folded since it was written may have been its only reader.
  bool isRead = llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<kernel::WriteOp>(user); });
  std::string declared = (isRead ? "" : "[[maybe_unused]] ") + element;
  constexpr int64_t kOnStack = 2048, kStackInAll = 16384;
  if (!isStage() || (bytes <= kOnStack && stack_ + bytes <= kStackInAll)) {
    stack_ += bytes;
    out_->line(declared + " " + name + "[" + (extents.empty() ? "1" : extents) + "];");
    return;
  }
  out_->line(declared + " *__restrict " + name + " = " + scratchPointer(element, bytes) + ";");
}

static std::string plus(std::string base, int64_t offset) {
  return offset == 0 ? base : base + " + " + std::to_string(offset);
}

/// `{base, row numbers or nullptr, stride}` of an operand: `length` elements of each of `count` rows.
std::string CpuFunctionEmitter::rowsOf(kernel::RowsOp op, int64_t length, Value count, int64_t block) {
  auto rows = [](const std::string &base, const std::string &via, int64_t stride) {
    return "{" + base + ", " + via + ", " + std::to_string(stride) + "}";
  };
  if (Value local = op.getLocal())
    return rows(plus(use(local).text, op.getOffset()), "nullptr",
                rowSize(cast<kernel::LocalType>(local.getType())));
  Array array = model_.array(program_, *op.getArray());
  std::string base = arrayName(*op.getArray()), via = op.getVia() ? use(op.getVia()).text : "nullptr";
  std::string from = op.getFrom() ? use(op.getFrom()).text : "0";
  int64_t stride = array.rowSize();
  if (model_.f64() && array.pointee == "float") {
    // The operand is float, the product double.
    std::string copy = scope_->fresh(kernel::unqualifiedName(*op.getArray()).str() + "_copy");
    out_->line("real *" + copy + " = " + scratchPointer("real", block * length * 8) + ";");
    out_->line("dbc::copy_rows(" +
               commas({copy, base, via, from, use(count).text, std::to_string(stride),
                       std::to_string(op.getOffset()), std::to_string(length)}) +
               ");");
    return rows(copy, "nullptr", length);
  }
  if (!op.getVia() && from != "0")
    base += " + int64_t(" + from + ")" + (stride == 1 ? "" : " * " + std::to_string(stride));
  return rows(plus(base, op.getOffset()), via, stride);
}

void CpuFunctionEmitter::emitProduct(kernel::ProductOp op) {
  hasProduct_ = true;
  auto blocks = op->getParentOfType<kernel::BlocksOp>();
  const int64_t block = blocks ? blocks.getSize() : 1; // of the one row of the model or the batch
  std::vector<std::string> segments;
  for (auto [x, length] : llvm::zip(op.getX(), op.getLengths()))
    segments.push_back(rowsOf(x.getDefiningOp<kernel::RowsOp>(), length, op.getCount(), block));
  std::string count = use(op.getCount()).text, weights = aliases_.at("weights " + op.getWeights().str()).name;
  std::string panels = op.getTile() ? "tile(" + use(op.getTile()).text + ")" : "whole()";
  auto into = op.getInto().getDefiningOp<kernel::RowsOp>();
  std::string y =
      into ? rowsOf(into, /*length=*/0, op.getCount(), block)
           : "{" + use(op.getInto()).text + ", nullptr, " + std::to_string(rowSize(op.getIntoType())) + "}";
  if (op.getRelu())
    y += ", dbc::Epilogue::kRelu";
  if (op.getSome()) {
    out_->line("dbc::product_of_some<real>(" +
               commas({count, segments[0], use(op.getSome()).text, weights + "." + panels, y}) + ");");
    return;
  }
  if (segments.size() == 1 && !op.getTable()) {
    out_->line("dbc::product<real>(" + commas({count, segments[0], weights + "." + panels, y}) + ");");
    return;
  }
  std::string array = scope_->fresh("segments");
  for (auto [text, length] : llvm::zip(segments, op.getLengths()))
    text = "{" + text + ", " + std::to_string(length) + "}";
  out_->line("const dbc::Segment<real> " + array + "[] = {" + commas(segments) + "};");
  if (op.getTable()) {
    std::string chosen = scope_->fresh("panels_of");
    out_->line("const auto " + chosen + " = [&](const dbc::Packed<real> &w) { return w." + panels + "; };");
    out_->line("dbc::product_of_tables<real>(" +
               commas({count, array, weights, use(op.getTable()).text, chosen, y}) + ");");
    return;
  }
  out_->line("dbc::product<real>(" +
             commas({count, array, std::to_string(segments.size()), weights + "." + panels, y}) + ");");
}

void CpuFunctionEmitter::emitMultiply(kernel::MultiplyOp op) {
  hasProduct_ = true;
  auto into = cast<kernel::LocalType>(op.getInto().getType());
  int64_t block = into.getShape().front(), inputs = 0;
  std::string row = use(op.getRow()).text;
  auto matrix = [&](Value rows, int64_t elements) {
    return "dbc::Rows<real>" + rowsOf(rows.getDefiningOp<kernel::RowsOp>(), elements, op.getCount(), block) +
           ".at(" + row + ")";
  };
  std::vector<std::string> slices;
  for (auto [slice, length] : llvm::zip(op.getB(), op.getLengths())) {
    slices.push_back("{" + matrix(slice, length * op.getOutputs()) + ", " + std::to_string(length) + "}");
    inputs += length;
  }
  std::string a = matrix(op.getA(), op.getHeight() * inputs), b = scope_->fresh("b");
  constexpr int64_t kLine = 64; // dbc::multiply says what memory it wants
  int64_t padded = (op.getOutputs() * model_.bytes("real") + kLine - 1) / kLine * kLine;
  std::string memory = scratchPointer("real", padded * (inputs + 1));
  out_->line("const dbc::MatrixSlice<real> " + b + "[] = {" + commas(slices) + "};");
  std::string y = use(op.getInto()).text;
  if (row != "0")
    y += " + " + row + " * " + std::to_string(rowSize(into));
  out_->line("dbc::multiply<real>(" +
             commas({std::to_string(op.getHeight()), a, b, std::to_string(slices.size()),
                     std::to_string(op.getOutputs()), memory, y}) +
             ");");
}

void CpuFunctionEmitter::emitOuter(kernel::OuterOp op) {
  hasProduct_ = true;
  const int64_t most = op.getMost(), height = op.getHeight(), outputs = op.getOutputs();
  std::string a = rowsOf(op.getA().getDefiningOp<kernel::RowsOp>(), height, op.getCount(), most),
              x = rowsOf(op.getX().getDefiningOp<kernel::RowsOp>(), outputs, op.getCount(), most);
  std::string tiles;
  if (!op.getTiles().empty())
    tiles =
        ", {" +
        commas({use(op.getTiles()[0]).text, use(op.getTiles()[1]).text, std::to_string(*func_.getTiles())}) +
        "}";
  const int64_t bytes = model_.bytes("real"), width = 64 / bytes,
                padded = (outputs + width - 1) / width * width;
  // dbc::outer_products_memory says what memory is wanted.
  std::string memory = scratchPointer("real", most * (padded + height + kernel::kSumTileRows - 1) * bytes);
  out_->line("dbc::add_outer_products<real>(" +
             commas({use(op.getCount()).text, a, std::to_string(height), x, std::to_string(outputs), memory,
                     arrayName(op.getInto()) + tiles}) +
             ");");
}

} // namespace dbc::codegen
