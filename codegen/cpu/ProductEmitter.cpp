// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Scratch memory and products inside stage functions.
#include "codegen/cpu/CpuFunctionEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

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
  std::string name = nameValue(op.getResult());
  // What was folded since it was written may have been its only reader.
  bool isRead = llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<kernel::WriteOp>(user); });
  std::string declared = (isRead ? "" : "[[maybe_unused]] ") + element;
  std::optional<uint64_t> offset = op.getOffset();
  if (!offset) {
    out_->line(declared + " " + name + "[" + (extents.empty() ? "1" : extents) + "];");
    return;
  }
  std::string at = *offset == 0 ? "scratch" : "scratch + " + std::to_string(*offset);
  out_->line(declared + " *__restrict " + name + " = reinterpret_cast<" + element + " *>(" + at + ");");
}

static std::string plus(std::string base, int64_t offset) {
  return offset == 0 ? base : base + " + " + std::to_string(offset);
}

/// `{base, row numbers or nullptr, stride}` of an operand: `length` elements of each of `count` rows.
std::string CpuFunctionEmitter::rowsOf(kernel::RowsOp op, int64_t length, Value count) {
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
  assert((op.getCopy() || !model_.f64() || array.pointee != "float") && "float where arithmetic is double");
  if (op.getCopy()) {
    std::string copy = use(op.getCopy()).text;
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
  std::vector<std::string> segments;
  for (auto [x, length] : llvm::zip(op.getX(), op.getLengths()))
    segments.push_back(rowsOf(x.getDefiningOp<kernel::RowsOp>(), length, op.getCount()));
  std::string count = use(op.getCount()).text, weights = aliases_.at("weights " + op.getWeights().str()).name;
  std::string panels = op.getTile() ? "tile(" + use(op.getTile()).text + ")" : "whole()";
  auto into = op.getInto().getDefiningOp<kernel::RowsOp>();
  std::string y =
      into ? rowsOf(into, /*length=*/0, op.getCount())
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
  auto into = cast<kernel::LocalType>(op.getInto().getType());
  std::string row = use(op.getRow()).text;
  auto matrix = [&](Value rows, int64_t elements) {
    return "dbc::Rows<real>" + rowsOf(rows.getDefiningOp<kernel::RowsOp>(), elements, op.getCount()) +
           ".at(" + row + ")";
  };
  std::vector<std::string> slices;
  int64_t inputs = 0;
  for (auto [slice, length] : llvm::zip(op.getB(), op.getLengths())) {
    slices.push_back("{" + matrix(slice, length * op.getOutputs()) + ", " + std::to_string(length) + "}");
    inputs += length;
  }
  std::string a = matrix(op.getA(), op.getHeight() * inputs), b = scope_->fresh("b");
  out_->line("const dbc::MatrixSlice<real> " + b + "[] = {" + commas(slices) + "};");
  std::string y = use(op.getInto()).text;
  if (row != "0")
    y += " + " + row + " * " + std::to_string(rowSize(into));
  out_->line("dbc::multiply<real>(" +
             commas({std::to_string(op.getHeight()), a, b, std::to_string(slices.size()),
                     std::to_string(op.getOutputs()), use(op.getMemory()).text, y}) +
             ");");
}

void CpuFunctionEmitter::emitOuter(kernel::OuterOp op) {
  const int64_t height = op.getHeight(), outputs = op.getOutputs();
  std::string a = rowsOf(op.getA().getDefiningOp<kernel::RowsOp>(), height, op.getCount()),
              x = rowsOf(op.getX().getDefiningOp<kernel::RowsOp>(), outputs, op.getCount());
  std::string tiles;
  if (!op.getTiles().empty())
    tiles =
        ", {" +
        commas({use(op.getTiles()[0]).text, use(op.getTiles()[1]).text, std::to_string(*func_.getTiles())}) +
        "}";
  out_->line("dbc::add_outer_products<real>(" +
             commas({use(op.getCount()).text, a, std::to_string(height), x, std::to_string(outputs),
                     use(op.getMemory()).text, arrayName(op.getInto()) + tiles}) +
             ");");
}

} // namespace dbc::codegen
