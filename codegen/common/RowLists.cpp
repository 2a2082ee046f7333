// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/RowLists.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string indexArrayText(const Program &program, kernel::IndexSetOp indexSet, StringRef array) {
  return program.nameOf(indexSet) + "[" + std::to_string(program.indexArray(indexSet, array)) + "]";
}

void emitDistinct(const Program &program, kernel::DistinctOp op, const NumbersOf &numbersOf, Writer &out) {
  std::string name = program.nameOf(program.find<kernel::IndexSetOp>(op.getIndexSet()));
  for (auto [symbol, array] :
       zip(op.getFrom().getAsRange<FlatSymbolRefAttr>(), op.getIndexArrays().getAsValueRange<StringAttr>())) {
    auto from = program.find<kernel::IndexSetOp>(symbol.getValue());
    out.line(name + ".add(" + commas({indexArrayText(program, from, array), program.rows(from)}) + ");");
  }
  for (Attribute each : op.getNumbersAttr() ? op.getNumbersAttr().getValue() : ArrayRef<Attribute>()) {
    auto numbers = program.find<kernel::BufferOp>(cast<FlatSymbolRefAttr>(each).getValue());
    auto from = program.find<kernel::IndexSetOp>(numbers.getIndexSet());
    const std::string computed = numbersOf(numbers);
    out.line(name + ".add(" + commas({computed, program.rows(from)}) + ");");
  }
  if (std::optional<llvm::ArrayRef<int32_t>> always = op.getAlways()) {
    std::vector<std::string> numbers;
    for (int32_t number : *always)
      numbers.push_back(std::to_string(number));
    out.line("static constexpr int32_t always_" + name + "[] = {" + llvm::join(numbers, ", ") + "};");
    out.line(name + ".add(" + commas({"always_" + name, std::to_string(always->size())}) + ");");
  }
  out.line(name + ".sort();");
  for (auto [symbol, array, rows] :
       zip(op.getFrom().getAsRange<FlatSymbolRefAttr>(), op.getIndexArrays().getAsValueRange<StringAttr>(),
           op.getRows().getAsValueRange<StringAttr>())) {
    auto from = program.find<kernel::IndexSetOp>(symbol.getValue());
    out.line(
        name + ".rows_of(" +
        commas({indexArrayText(program, from, array), program.rows(from),
                program.nameOf(from) + ".array(" + std::to_string(program.indexArray(from, rows)) + ")"}) +
        ");");
  }
}

void emitTranspose(const Program &program, kernel::TransposeOp op, const NumbersOf &numbersOf, Writer &out) {
  auto from = program.find<kernel::IndexSetOp>(op.getFrom()),
       to = program.find<kernel::IndexSetOp>(op.getTo());
  std::vector<std::string> arguments = {
      program.nameOf(program.find<kernel::IndexSetOp>(op.getIndexSet())),
      op.getNumbers() ? numbersOf(program.find<kernel::BufferOp>(*op.getNumbers()))
                      : indexArrayText(program, from, *op.getIndexArray()),
      program.rows(from), op.getNumbers() ? program.nameOf(to) : program.rows(to)};
  if (std::optional<StringRef> order = op.getOrder())
    arguments.push_back("&" + program.nameOf(program.find<kernel::IndexSetOp>(*order)));
  out.line("dbc::transpose(" + commas(arguments) + ");");
}

} // namespace dbc::codegen
