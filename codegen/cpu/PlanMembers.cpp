// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "codegen/cpu/PlanMembers.h"
#include "codegen/common/Writer.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static PlanMember ofIndexSet(const Program &program, kernel::IndexSetOp indexSet) {
  std::string name = program.nameOf(indexSet), arrays;
  if (Program::isOnlyCounted(indexSet))
    return {PlanMember::Rows, name, "int32_t " + name + " = 0;", "number of rows"};
  for (Attribute array : indexSet.getIndexArrays())
    arrays += (arrays.empty() ? "" : ", ") + cast<StringAttr>(array).getValue().str();
  if (indexSet.getKind() == kernel::IndexSetKind::ByInput)
    return {PlanMember::Rows, name, "dbc::InputOrder " + name + ";",
            program.nameOf(program.parent(indexSet)) + " in the order of the inputs"};
  if (indexSet.getKind() == kernel::IndexSetKind::Distinct)
    return {PlanMember::Rows, name,
            "dbc::DistinctRows " + name + "{" + std::to_string(*indexSet.getExtent()) +
                (indexSet.getFilled() ? ", " + std::to_string(indexSet.getFilled()) : "") + "};",
            arrays};
  return {PlanMember::Rows, name,
          "dbc::IndexSet " + name + "{" + std::to_string(indexSet.getIndexArrays().size()) + "};", arrays};
}

static PlanMember ofBuffer(const ModelNames &model, const Program &program, kernel::BufferOp buffer) {
  Array array = model.array(program, buffer.getSymName());
  auto indexSet = program.find<kernel::IndexSetOp>(buffer.getIndexSet());
  std::string shape = array.extents.empty() ? "" : ": " + shapeText(array.extents);
  std::string rows = program.nameOf(indexSet);
  if (indexSet.getKind() == kernel::IndexSetKind::Model)
    rows = indexSet.getExtent() ? "table of the model, " + program.rows(indexSet) + " rows" : "of the model";
  if (indexSet.getKind() == kernel::IndexSetKind::Batch)
    rows = "of the batch";
  return {PlanMember::Values, array.member, array.pointee + " *" + array.member + " = nullptr;",
          rows + shape};
}

static PlanMember ofWeights(const Program &program, kernel::WeightsOp op) {
  std::string name = program.nameOf(op),
              shape = std::to_string(op.getOut()) + " x " + std::to_string(op.getIn());
  if (op.getTables())
    return {PlanMember::Constants, name,
            "std::array<const dbc::Packed<real> *, " + std::to_string(*op.getTables()) + "> " + name + "{};",
            "each " + shape};
  return {PlanMember::Constants, name, "const dbc::Packed<real> *" + name + " = nullptr;", shape};
}

std::vector<PlanMember> planMembers(const ModelNames &model, const Program &program) {
  std::vector<PlanMember> members;
  auto ofBatch = [&](Operation *op, StringRef symbol) {
    const std::string &name = program.nameOf(op);
    members.push_back({PlanMember::Batch, name,
                       "const " + model.array(program, symbol).pointee + " *" + name + " = nullptr;", ""});
  };
  for (kernel::FieldOp field : program.fields)
    ofBatch(field, field.getSymName());
  for (kernel::ArgumentOp argument : program.inputs)
    ofBatch(argument, argument.getSymName());
  for (kernel::IndexSetOp indexSet : program.indexSets)
    if (indexSet.getKind() != kernel::IndexSetKind::Model &&
        indexSet.getKind() != kernel::IndexSetKind::Batch)
      members.push_back(ofIndexSet(program, indexSet));
  for (kernel::BufferOp buffer : program.buffers)
    members.push_back(ofBuffer(model, program, buffer));
  for (const Param &param : model.params)
    if (auto it = program.params.find(param.path); it != program.params.end())
      members.push_back({PlanMember::Constants, it->second, "const real *" + it->second + " = nullptr;",
                         shapeText(param.shape)});
  for (kernel::WeightsOp op : program.weights)
    members.push_back(ofWeights(program, op));
  return members;
}

std::map<std::string, std::string> membersOf(const Program &program, kernel::FuncOp stage) {
  std::map<std::string, std::string> names;
  stage.getBody().walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs()) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
      if (!symbol)
        continue;
      auto known = program.symbols.find(symbol.getValue());
      if (known != program.symbols.end())
        names[symbol.getValue().str()] = program.nameOf(known->second);
      else if (auto param = program.params.find(symbol.getValue()); param != program.params.end())
        names[symbol.getValue().str()] = param->second;
    }
  });
  return names;
}

std::vector<std::pair<std::string, std::string>> memberLines(ArrayRef<PlanMember> members,
                                                             PlanMember::Section section) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const PlanMember &member : members)
    if (member.section == section)
      lines.push_back({member.declaration, member.comment});
  return lines;
}

} // namespace dbc::codegen
