// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A program as C++: the plan that a session keeps from run to run, its structure functions and its stages.
#include "codegen/cpu/CpuFunctionEmitter.h"
#include "codegen/cpu/Emitters.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

class PlanEmitter {
public:
  PlanEmitter(const ModelNames &model, const Program &program, const SharedStages &shared,
              const DeviceCode *device, Writer &out)
      : model_(model), program_(program), shared_(shared), device_(device), out_(out),
        members_(planMembers(model, program)) {
    llvm::erase_if(members_, [&](const PlanMember &member) { return shared.inherits(program, member); });
  }
  LogicalResult emit();

private:
  void groups();
  void plan();
  void fieldMembers();
  void rowMembers();
  void section(PlanMember::Section section, const char *heading);
  void needFunctions();
  void seeFields();
  void bind();
  LogicalResult functions();
  LogicalResult stages();
  std::string cost(kernel::FuncOp stage);

  const ModelNames &model_;
  const Program &program_;
  const SharedStages &shared_;
  const DeviceCode *device_; ///< null: there is none
  Writer &out_;
  std::vector<PlanMember> members_; ///< that the plan does not inherit
};

LogicalResult PlanEmitter::emit() {
  size_t dashes = program_.source.size() < 96 ? 96 - program_.source.size() : 0;
  out_.line("//===-- " + program_.source + " " + std::string(dashes, '-') + "===//");
  out_.blank();
  out_.line("namespace " + program_.space + " {");
  out_.raw("\n");
  groups();
  plan();
  bind();
  needFunctions();
  if (program_.collectsNodes)
    seeFields();
  if (failed(functions()) || failed(stages()))
    return failure();
  emitSchedule(model_, program_, out_);
  emitCompute(model_, program_, out_);
  if (device_)
    device_->compute(program_, out_);
  out_.line("} // namespace " + program_.space);
  out_.blank();
  return success();
}

void PlanEmitter::groups() {
  for (kernel::GroupOp group : program_.groups) {
    std::vector<std::string> cells;
    for (auto [number, name] : llvm::enumerate(group.getCells())) {
      std::vector<std::string> info = {quoted(cast<StringAttr>(name).getValue()),
                                       model_.tableOf(group, number)};
      std::vector<std::string> keys;
      for (StringRef key : group.getSecondaryKeys(number))
        keys.push_back(quoted(key));
      if (keys.empty()) {
        StringRef data = group.getDataOf(number);
        info.push_back(data.empty() ? "1" : std::to_string(model_.data(data).constructors.size()));
      } else {
        std::string array = program_.nameOf(group) + "_keys_" + std::to_string(number);
        out_.line("const char *const " + array + "[] = {" + commas(keys) + "};");
        info.insert(info.end(), {"1", array, std::to_string(keys.size())});
        if (kernel::KeyOp fixed = group.getFixedKey(number)) {
          kernel::KeyRange range = *fixed.getConstantRange();
          info.insert(info.end(), {std::to_string(range.low), std::to_string(range.width)});
        }
      }
      static constexpr const char *defaults[] = {"nullptr", "0", "0", "0", "0"}; // keys ... caller_size
      auto fill = [&](size_t members) {
        while (info.size() < members)
          info.push_back(defaults[info.size() - 3]);
      };
      if (int size = program_.callerSize(group, number)) {
        fill(7);
        info.push_back(std::to_string(size));
      }
      if (group.getLevelKey()) {
        fill(8);
        info.push_back(std::to_string(*group.getLevelKey()));
      }
      cells.push_back("{" + commas(info) + "}");
    }
    out_.line("const dbc::CellInfo " + program_.nameOf(group) + "_cells[] = {" + commas(cells) + "};");
  }
  out_.blank();
}

//===-- The plan ----------------------------------------------------------------------------------------===//

void PlanEmitter::plan() {
  out_.comment("How `" + program_.source +
               "` is scheduled and computed; a session keeps one from run to run.");
  out_.open("struct Plan final : " + shared_.baseOf(program_));
  out_.line("void schedule(dbc::Run &run) override;");
  out_.line("void compute(dbc::Run &run) override;");
  if (device_)
    device_->planFunctions(program_, out_);
  out_.line("void bind(const dbc::Model &model);");
  for (kernel::GroupOp group : program_.groups)
    out_.line("void " + program_.needs.at(group) + "(int32_t cell, int32_t slot);");
  if (program_.collectsNodes)
    out_.line("void see_fields(int32_t data, int32_t node);");
  for (kernel::FuncOp func : program_.funcs)
    if (func.getKind() != kernel::FuncKind::Stage)
      out_.line(CpuFunctionEmitter(model_, program_, func).declaration());
  fieldMembers();
  rowMembers();
  section(PlanMember::Values, "Values, one a row.");
  section(PlanMember::Constants, "Constants of the model.");
  out_.blank();
  out_.line("const dbc::Batch *batch = nullptr;");
  out_.line("dbc::ScheduleErrors *errors = nullptr;");
  out_.line("dbc::Budget *budget = nullptr;");
  if (program_.drops)
    out_.line("dbc::Dropout dropout;");
  if (device_)
    device_->planVariables(program_, out_);
  out_.close("};");
  out_.blank();
}

void PlanEmitter::fieldMembers() {
  out_.blank();
  if (!program_.fields.empty() || !program_.inputs.empty())
    out_.comment("The batch: a number a node, or a number an input.");
  out_.aligned(memberLines(members_, PlanMember::Batch));
  for (const auto &[name, view] : program_.given)
    out_.line("dbc::Given " + name + ";");
}

void PlanEmitter::rowMembers() {
  out_.blank();
  out_.comment("Rows.");
  for (kernel::GroupOp group : program_.groups)
    out_.line("dbc::Group " + program_.nameOf(group) + "{" + program_.nameOf(group) + "_cells, " +
              std::to_string(group.getCells().size()) + "};");
  bool once = false;
  std::vector<std::pair<std::string, std::string>> lines = memberLines(members_, PlanMember::Rows);
  for (const Program::Window &window : program_.windows)
    lines.push_back({"dbc::Window " + window.name + ";",
                     "the last " + (window.live == 1 ? "level" : std::to_string(window.live) + " levels") +
                         " of " + program_.nameOf(window.indexSet)});
  kernel::ScheduleOp schedule = program_.schedule;
  if (schedule)
    for (auto timeSteps : schedule.getBody().getOps<kernel::TimeStepsOp>())
      once |=
          !timeSteps.getNested() &&
          program_.find<kernel::IndexSetOp>(timeSteps.getIndexSet()).getKind() == kernel::IndexSetKind::Steps;
  if (once)
    lines.push_back({"dbc::TimeSteps once;", "for scans that stand in no other loop"});
  if (program_.collectsNodes)
    lines.push_back({"dbc::NodeSet node_set;", "for nodes(t)"});
  out_.aligned(lines);
}

/// A section of members; blank lines are between sections.
void PlanEmitter::section(PlanMember::Section section, const char *heading) {
  out_.blank();
  std::vector<std::pair<std::string, std::string>> lines = memberLines(members_, section);
  if (!lines.empty())
    out_.comment(heading);
  out_.aligned(lines);
}

/// Constants, which are the same in every run.
void PlanEmitter::bind() {
  Writer body(out_.indent() + 2);
  for (const Param &param : model_.params)
    if (auto it = program_.params.find(param.path); it != program_.params.end())
      body.line(it->second + " = model.buffer<real>(" + std::to_string(param.number) + ");");
  for (const Storage &storage : program_.storages)
    if (storage.ofModel) {
      Array array = model_.array(program_, kernel::BufferOp(storage.buffers.front()).getSymName());
      body.line(array.member + " = const_cast<" + array.pointee + " *>(model.buffer<" + array.pointee + ">(" +
                std::to_string(storage.number) + "));");
    }
  for (kernel::WeightsOp op : program_.weights) {
    std::string name = program_.nameOf(op), number = std::to_string(model_.packedNumber(op));
    if (op.getTables()) {
      body.line("for (int32_t table = 0; table < " + std::to_string(*op.getTables()) + "; ++table)");
      body.line("  " + name + "[table] = &model.packed<real>(" + number + " + table);");
    } else {
      body.line(name + " = &model.packed<real>(" + number + ");");
    }
  }
  out_.function("void Plan::bind([[maybe_unused]] const dbc::Model &model)", body.text());
  out_.blank();
}

//===-- Structure functions -----------------------------------------------------------------------------===//

/// An instance is called from outside of its group.
void PlanEmitter::needFunctions() {
  for (kernel::GroupOp group : program_.groups) {
    std::string name = program_.nameOf(group);
    // `calls` takes the keys of an instance.
    auto calls = [&](unsigned cell) {
      auto func = program_.find<kernel::FuncOp>(cast<FlatSymbolRefAttr>(group.getCalls()[cell]).getValue());
      std::string number = std::to_string(cell);
      std::vector<std::string> keys;
      if (kernel::KeyOp fixed = group.getFixedKey(cell)) { // numbers that the compiler knows divide fast
        kernel::KeyRange range = *fixed.getConstantRange();
        std::string width = std::to_string(range.width), low = std::to_string(range.low);
        std::string key = (range.low == 0 ? "" : low + " + ") + "inner % " + width;
        return program_.nameOf(func) + "(" + commas({"inner / " + width, key}) + ");";
      }
      for (size_t key = 0; key < group.getSecondaryKeys(cell).size(); ++key)
        keys.push_back(name + ".key(" + commas({number, std::to_string(key), "inner"}) + ")");
      keys.insert(keys.begin(), keys.empty() ? "inner" : name + ".owner(" + number + ", inner)");
      return program_.nameOf(func) + "(" + commas(keys) + ");";
    };
    out_.open("void Plan::" + program_.needs.at(group) + "(int32_t cell, int32_t slot)");
    if (group.getCalls().size() == 1) {
      out_.line(name + ".discover(cell, slot, [this](int32_t, int32_t inner) { " + calls(0) + " });");
    } else {
      out_.open(name + ".discover(cell, slot, [this](int32_t inner_cell, int32_t inner)");
      out_.line("switch (inner_cell) {");
      for (unsigned cell = 0; cell < group.getCalls().size(); ++cell) {
        out_.line("case " + std::to_string(cell) + ":");
        out_.line("  return " + calls(cell));
      }
      out_.line("default:");
      out_.line("  return;");
      out_.line("}");
      out_.close("});");
    }
    out_.close();
    out_.blank();
  }
}

/// `see_fields`: all references of a node, for nodes(t).
void PlanEmitter::seeFields() {
  auto refers = [](const Column &column) { return flatten(column.type, "")[0].element.elem == Elem::Node; };
  if (llvm::none_of(model_.datas, [&](const Data &data) { return llvm::any_of(data.columns, refers); })) {
    out_.comment("No node refers to another one.");
    out_.line("void Plan::see_fields(int32_t, int32_t) {}");
    return out_.blank();
  }
  out_.comment("What a node refers to.");
  out_.open("void Plan::see_fields(int32_t data, int32_t node)");
  out_.line("switch (data) {");
  for (const Data &data : model_.datas) {
    std::string number = std::to_string(data.number);
    bool any = false;
    for (auto [column, of] : llvm::enumerate(data.columns)) {
      Component component = flatten(of.type, "")[0];
      if (component.element.elem != Elem::Node)
        continue;
      if (!any)
        out_.open("case " + number + ":");
      any = true;
      std::string condition = "given.has(node)";
      if (of.constructors.size() < data.constructors.size()) {
        std::vector<std::string> kinds;
        for (auto [kind, constructor] : llvm::enumerate(data.constructors))
          if (is_contained(of.constructors, constructor.source))
            kinds.push_back("batch->kinds(" + number + ")[node] == " + std::to_string(kind));
        std::string isOne = llvm::join(kinds, " || ");
        condition += " && " + (kinds.size() == 1 ? isOne : "(" + isOne + ")");
      }
      out_.comment(of.source);
      out_.open("if (const dbc::ColumnView &given = batch->column(" + number + ", " + std::to_string(column) +
                "); " + condition + ")");
      std::string row = "node";
      for (int depth = 0; depth < component.depth; ++depth) {
        std::string lists = "given.lists[" + std::to_string(depth) + "]", e = "e" + std::to_string(depth);
        out_.open("for (int32_t " + e + " = " + lists + ".begin[" + row + "]; " + e + " < " + lists +
                  ".end[" + row + "]; ++" + e + ")");
        row = e;
      }
      out_.line("node_set.see(" + std::to_string(model_.data(component.element.data).number) +
                ", given.i32[" + row + "]);");
      for (int depth = 0; depth < component.depth; ++depth)
        out_.close();
      out_.close();
    }
    if (any) {
      out_.line("return;");
      out_.close();
    }
  }
  out_.line("default:");
  out_.line("  return;");
  out_.line("}");
  out_.close();
  out_.blank();
}

LogicalResult PlanEmitter::functions() {
  for (kernel::FuncOp func : program_.funcs) {
    if (func.getKind() == kernel::FuncKind::Stage)
      continue;
    if (failed(CpuFunctionEmitter(model_, program_, func).emit(out_)))
      return failure();
    out_.blank();
  }
  return success();
}

//===-- Stages ------------------------------------------------------------------------------------------===//

std::string PlanEmitter::cost(kernel::FuncOp stage) {
  const std::string grain = stage.getSums() ? "dbc::kOneSum" : std::to_string(stage.getGrain().value_or(1));
  return "{" + commas({model_.work(stage).text(), grain}) + "}";
}

LogicalResult PlanEmitter::stages() {
  std::vector<std::string> lines;
  int64_t scratch = 0;
  auto add = [&](kernel::FuncOp func, const std::string &function) {
    scratch = std::max<int64_t>(scratch, func.getScratch().value_or(0));
    IntegerAttr tiles = func.getTilesAttr();
    lines.push_back("{" + quoted(func.getStageName()) + ", " + function + ", " +
                    (tiles ? std::to_string(tiles.getInt()) + ", " : "") + cost(func) + "}");
  };
  auto emitStage = [&](kernel::FuncOp func) {
    if (std::string function = shared_.functionOf(func); !function.empty()) {
      add(func, "dbc::given_base<" + function + ">");
      return success();
    }
    CpuFunctionEmitter emitter(model_, program_, func);
    if (failed(emitter.emit(out_)))
      return failure();
    out_.blank();
    add(func, program_.nameOf(func));
    return success();
  };
  for (kernel::FuncOp func : program_.modelStages)
    if (failed(emitStage(func)))
      return failure();
  lines.clear();
  for (kernel::FuncOp func : program_.stages)
    if (failed(emitStage(func)))
      return failure();
  out_.line("/// Scratch memory of a thread in bytes.");
  out_.line("constexpr size_t kScratch = " + std::to_string(scratch) + ";");
  out_.blank();
  if (lines.empty())
    return success();
  out_.comment("Name, function, tiles that threads may share, and for one row: bytes read and written, "
               "gathers, operations of products; "
               "rows worth a thread.",
               "///");
  out_.line("const dbc::Stage<Plan> stages[] = {");
  for (const std::string &line : lines)
    out_.line("    " + line + ",");
  out_.line("};");
  out_.blank();
  return success();
}

} // namespace

LogicalResult emitProgram(const ModelNames &model, const Program &program, const SharedStages &shared,
                          const DeviceCode *device, Writer &out) {
  return PlanEmitter(model, program, shared, device, out).emit();
}

} // namespace dbc::codegen
