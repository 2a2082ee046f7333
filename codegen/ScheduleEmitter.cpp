// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The two methods of a plan: `schedule` calls structure functions in order, `compute` runs the stages in
// their loops.
#include "codegen/Emitters.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// The spaces from just inside the inputs down to the buffer's: one an enclosing list of the result.
static std::vector<kernel::SpaceOp> chainOf(const Program &program, kernel::OutputOp output) {
  std::vector<kernel::SpaceOp> chain;
  auto buffer = program.find<kernel::BufferOp>(output.getBuffer());
  for (auto space = program.find<kernel::SpaceOp>(buffer.getSpace()); chain.size() < output.getDepth();
       space = program.parent(space)) {
    assert(space && "an output's space lies in lists of the inputs");
    chain.insert(chain.begin(), space);
  }
  return chain;
}

static std::string arrayOf(const ModelNames &model, const Program &program, Operation *op, bool isArgument) {
  std::string view, part;
  kernel::FieldPart which;
  StringRef symbol;
  if (isArgument) {
    auto argument = cast<kernel::ArgumentOp>(op);
    view = "run.arg(" + std::to_string(argument.getLeaf()) + ")";
    which = argument.getPart();
    symbol = argument.getSymName();
  } else {
    auto field = cast<kernel::FieldOp>(op);
    std::string data = std::to_string(model.data(field.getData()).number);
    if (field.getPart() == kernel::FieldPart::Kind)
      return "run.batch.kinds(" + data + ")";
    view = "run.batch.column(" + data + ", " + std::to_string(field.getColumn()) + ")";
    which = field.getPart();
    symbol = field.getSymName();
  }
  auto level = op->getAttrOfType<IntegerAttr>("level");
  std::string lists = ".lists[" + std::to_string(level ? level.getInt() : 0) + "]";
  if (which == kernel::FieldPart::Begin)
    return view + lists + ".begin";
  if (which == kernel::FieldPart::End)
    return view + lists + ".end";
  std::string type = model.array(program, symbol).pointee;
  return view + (type == "float" ? ".f32" : type == "uint8_t" ? ".u8" : ".i32");
}

//===-- schedule ----------------------------------------------------------------------------------------===//

static void emitBegin(const ModelNames &model, const Program &program, Writer &out) {
  out.line("batch = &run.batch;");
  out.line("errors = &run.errors;");
  out.line("budget = &run.budget;");
  for (kernel::FieldOp field : program.fields)
    out.line(program.nameOf(field) + " = " + arrayOf(model, program, field, false) + ";");
  for (kernel::ArgumentOp argument : program.inputs)
    out.line(program.nameOf(argument) + " = " + arrayOf(model, program, argument, true) + ";");
  for (const auto &[name, view] : program.given)
    out.line(name + ".bind(" + view + ");");
  out.blank();
  for (kernel::GroupOp group : program.groups)
    out.line(program.nameOf(group) + ".begin(run.batch, run.range, run.errors" +
             (program.canShare(group) ? ", run.shared);" : ");"));
  for (kernel::SpaceOp space : program.spaces) {
    std::string name = program.nameOf(space);
    if (space.getKind() == kernel::SpaceKind::Model)
      continue;
    if (space.getKind() == kernel::SpaceKind::States && space.getColumns().empty())
      out.line(name + " = 0;");
    else
      out.line(name + ".begin();");
    if (space.getKind() == kernel::SpaceKind::Inputs) {
      int input = program.column(space, "input");
      for (size_t column = 0; column < space.getColumns().size(); ++column)
        out.line(
            name + ".column(" + std::to_string(column) + ")" +
            (int(column) == input ? ".append(run.inputs, run.input_count);" : ".resize(run.input_count);"));
    }
  }
  if (program.reaches)
    out.line("node_set.begin(run.batch, run.range);");
}

static void emitStop(Writer &out) {
  out.line("if (run.errors.any())");
  out.line("  return;");
}

static void emitSort(const Program &program, kernel::GroupOp group, Writer &out) {
  out.line(program.nameOf(group) + ".sort();");
  for (kernel::SpaceOp space : program.spaces) {
    if (space.getKind() != kernel::SpaceKind::Instances || program.groupOf(space) != group)
      continue;
    out.line(program.nameOf(group) + ".fill(" + std::to_string(*space.getCell()) + ", " +
             program.nameOf(space) + ");");
  }
}

static void emitTicks(const Program &program, kernel::TicksOp op, Writer &out) {
  auto space = program.find<kernel::SpaceOp>(op.getSpace());
  kernel::SpaceOp parent = program.parent(space);
  std::string name = program.nameOf(space), outer = program.ticks(parent);
  if (space.getKind() != kernel::SpaceKind::Steps) {
    out.line("dbc::ticks_from_parent(" + name + ", " + outer + ");");
    return;
  }
  if (!op.getNested()) {
    out.line("once.once(" + program.rows(parent) + ");");
    outer = "once";
  }
  out.line("dbc::make_steps(" + name + ", " + outer + ", " + std::to_string(program.column(space, "step")) +
           ");");
}

void emitSchedule(const ModelNames &model, const Program &program, Writer &out) {
  out.comment("Structure in, row numbers out. Leaves early when an input turns out to be wrong: it is called "
              "again without "
              "that input.");
  out.open("void Plan::schedule(dbc::Run &run)");
  emitBegin(model, program, out);
  kernel::ScheduleOp schedule = program.schedule;
  auto function = [&](StringRef symbol) { return program.find<kernel::FuncOp>(symbol); };
  if (schedule)
    for (Operation &op : schedule.getBody().front()) {
      out.blank();
      llvm::TypeSwitch<Operation *>(&op)
          .Case<kernel::StartOp>([&](kernel::StartOp start) {
            out.line("for (int32_t row = 0; row < run.input_count; ++row)");
            out.line("  " + program.nameOf(function(start.getFunc())) + "(run.inputs[row]);");
            emitStop(out);
          })
          .Case<kernel::SortOp>([&](kernel::SortOp sort) {
            emitSort(program, program.find<kernel::GroupOp>(sort.getGroup()), out);
          })
          .Case<kernel::IndexOp>([&](kernel::IndexOp index) {
            kernel::FuncOp func = function(index.getFunc());
            auto space = program.find<kernel::SpaceOp>(*func.getSpace());
            std::string name = program.nameOf(space);
            std::vector<std::string> arguments = {"row"};
            for (unsigned column = 0; column + 1 < func.getBody().getNumArguments(); ++column)
              arguments.push_back(name + "[" + std::to_string(column) + "][row]");
            out.line("for (int32_t row = 0; row < " + program.rows(space) + "; ++row)");
            out.line("  " + program.nameOf(func) + "(" + commas(arguments) + ");");
            emitStop(out);
          })
          .Case<kernel::TicksOp>([&](kernel::TicksOp ticks) { emitTicks(program, ticks, out); });
    }
  kernel::SpaceOp inputs = program.inputSpace();
  for (kernel::OutputOp output : program.outputs) {
    std::string outside = inputs ? program.nameOf(inputs) : "";
    for (auto [depth, space] : llvm::enumerate(chainOf(program, output))) {
      if (depth == 0)
        out.blank();
      out.line("run.out.list(" +
               commas({std::to_string(output.getLeaf()), std::to_string(depth), program.nameOf(space) + "[0]",
                       program.rows(space), program.nameOf(inputs) + "[0]", outside + ".rows()"}) +
               ");");
      outside = program.nameOf(space);
    }
  }
  out.close();
  out.blank();
}

//===-- compute -----------------------------------------------------------------------------------------===//

namespace {

class ComputeEmitter {
public:
  ComputeEmitter(const ModelNames &model, const Program &program, Writer &out)
      : model_(model), program_(program), out_(out) {}

  void emit() {
    out_.comment("The stages in order, over all rows or tick by tick.");
    out_.open("void Plan::compute(dbc::Run &run)");
    out_.line("bind(run.model);");
    out_.line("errors = &run.errors;");
    memory();
    kernel::RunOp run = program_.run;
    if (!program_.stages.empty()) {
      out_.blank();
      out_.line("dbc::prepare_scratch(run, kScratch);");
      bool together = run && !run.getBody().front().getOps<kernel::TogetherOp>().empty();
      out_.open("auto launch = [&](int32_t stage, int32_t begin, int32_t end" +
                std::string(together ? ", int32_t worker = dbc::kAllWorkers" : "") + ")");
      out_.line("dbc::launch(run, *this, stages, stage, begin, end, kScratch" +
                std::string(together ? ", worker" : "") + ");");
      out_.close("};");
    }
    if (run)
      block(run.getBody().front(), "");
    outputs();
    out_.close();
    out_.blank();
  }

private:
  using Ticks = std::pair<std::string, std::string>;
  Ticks openTicks(kernel::SpaceOp space);
  void eachTick(kernel::SpaceOp space,
                llvm::function_ref<void(const std::string &ticks, const std::string &tick)> body);
  void memory();
  void block(Block &ops, const std::string &outerTick) {
    for (Operation &op : ops)
      one(op, outerTick);
  }
  void one(Operation &op, const std::string &outerTick);
  void together(Block &loops);
  std::string work(Operation &loop);
  void outputs();

  const ModelNames &model_;
  const Program &program_;
  Writer &out_;
  NameScope locals_{&program_.members};
  bool together_ = false;              ///< inside loops that may run at the same time
  llvm::StringMap<std::string> ticks_; ///< of the loops that are open: by the group's or the space's symbol
};

/// Rows of buffers; those that share memory take what the longest needs.
void ComputeEmitter::memory() {
  auto bytesOf = [&](kernel::BufferOp buffer) {
    Array array = model_.array(program_, buffer.getSymName());
    std::string rows = "size_t(" + program_.rows(program_.find<kernel::SpaceOp>(buffer.getSpace())) + ")";
    return array.rowSize() == 1 ? rows : rows + " * " + std::to_string(array.rowSize());
  };
  for (const Slot &slot : program_.slots) {
    if (slot.ofModel)
      continue;
    std::string number = std::to_string(slot.number);
    Array first = model_.array(program_, kernel::BufferOp(slot.buffers.front()).getSymName());
    bool oneType = llvm::all_of(slot.buffers, [&](kernel::BufferOp buffer) {
      return model_.array(program_, buffer.getSymName()).pointee == first.pointee;
    });
    if (slot.buffers.size() == 1) {
      out_.line(first.member + " = run.buffer<" + first.pointee + ">(" + number + ", " +
                bytesOf(slot.buffers.front()) + ");");
      continue;
    }
    std::vector<std::string> sizes;
    for (kernel::BufferOp buffer : slot.buffers) {
      Array array = model_.array(program_, buffer.getSymName());
      std::string size = bytesOf(buffer) + (oneType ? "" : " * sizeof(" + array.pointee + ")");
      if (!is_contained(sizes, size))
        sizes.push_back(size);
    }
    std::string shared = "shared" + number, type = oneType ? first.pointee : "unsigned char";
    out_.line(type + " *" + shared + " = run.buffer<" + type + ">(" + number + ", " +
              (sizes.size() == 1 ? sizes[0] : "std::max({" + commas(sizes) + "})") + ");");
    for (kernel::BufferOp buffer : slot.buffers) {
      Array array = model_.array(program_, buffer.getSymName());
      out_.line(array.member + " = " +
                (oneType ? shared : "reinterpret_cast<" + array.pointee + " *>(" + shared + ")") + ";");
    }
  }
}

/// The ticks of a space that the open loops stand at, first and behind the last; empty strings where no loop
/// orders it. Inside the loop of a recursion but outside of a scan's, those are all steps that belong to the
/// level.
ComputeEmitter::Ticks ComputeEmitter::openTicks(kernel::SpaceOp space) {
  for (; space; space = program_.parent(space)) {
    bool steps = space.getKind() == kernel::SpaceKind::Steps && space.getTicked();
    if (!steps && !space.getGroup())
      continue;
    std::string tick = ticks_.lookup(steps ? space.getSymName() : *space.getGroup());
    if (!tick.empty())
      return {tick, tick + " + 1"};
    kernel::SpaceOp parent = program_.parent(space);
    if (!steps || !parent)
      return {};
    auto [first, last] = openTicks(parent);
    if (first.empty())
      return {};
    std::string ticks = program_.nameOf(space) + ".ticks.first";
    return {ticks + "[" + first + "]", ticks + "[" + last + "]"};
  }
  return {};
}

/// What is done with the kept rows of a space, tick by tick: of the loops that are open, or of all.
void ComputeEmitter::eachTick(kernel::SpaceOp space,
                              llvm::function_ref<void(const std::string &, const std::string &)> body) {
  std::string ticks = program_.ticks(space);
  auto [first, last] = space.getTicked() ? openTicks(space) : Ticks();
  if (!first.empty() && last == first + " + 1")
    return body(ticks, first);
  if (first.empty())
    first = "0", last = ticks + ".count";
  out_.open("for (int32_t tick = " + first + "; tick < " + last + "; ++tick)");
  body(ticks, "tick");
  out_.close();
}

/// A launch, or a loop with all that is in it.
void ComputeEmitter::one(Operation &op, const std::string &outerTick) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<kernel::LaunchOp>([&](kernel::LaunchOp launch) {
        auto func = program_.find<kernel::FuncOp>(launch.getFunc());
        auto space = program_.find<kernel::SpaceOp>(*func.getSpace());
        int number = program_.stageNumber(func);
        if (number < 0)
          return; // ran when the model was made
        std::string begin = "0", end = program_.rows(space);
        auto [first, last] = space.getTicked() ? openTicks(space) : Ticks();
        if (!first.empty()) {
          std::string ticks = program_.ticks(space);
          begin = ticks + ".begin[" + first + "]";
          end = ticks + ".begin[" + last + "]";
        }
        if (outerTick.empty())
          out_.blank();
        out_.comment(program_.nameOf(func));
        if (launch.getKept())
          return eachTick(space, [&](const std::string &ticks, const std::string &tick) {
            out_.line("launch(" +
                      commas({std::to_string(number), ticks + ".begin[" + tick + "]",
                              ticks + ".end(" + tick + ")"}) +
                      ");");
          });
        std::vector<std::string> arguments = {std::to_string(number), begin, end};
        if (together_)
          arguments.push_back("worker");
        out_.line("launch(" + commas(arguments) + ");");
      })
      .Case<kernel::TogetherOp>([&](kernel::TogetherOp op) { together(op.getBody().front()); })
      .Case<kernel::KeepOp>([&](kernel::KeepOp keep) {
        std::string alive = model_.array(program_, keep.getAlive()).member;
        eachTick(program_.find<kernel::SpaceOp>(keep.getSpace()),
                 [&](const std::string &ticks, const std::string &tick) {
                   out_.line(ticks + ".keep(" + tick + ", " + alive + ");");
                 });
      })
      .Case<kernel::LevelsOp>([&](kernel::LevelsOp levels) {
        std::string group = program_.nameOf(program_.find<kernel::GroupOp>(levels.getGroup()));
        std::string tick = outerTick.empty() ? "level" : "inner_" + outerTick;
        out_.blank();
        out_.open("for (int32_t " + tick + " = 0; " + tick + " < " + group + ".levels(); ++" + tick + ")");
        ticks_[levels.getGroup()] = tick;
        block(levels.getBody().front(), tick);
        ticks_.erase(levels.getGroup());
        out_.close();
      })
      .Case<kernel::StepsOp>([&](kernel::StepsOp steps) {
        auto space = program_.find<kernel::SpaceOp>(steps.getSpace());
        std::string tick = StringRef(outerTick).contains("step") ? "inner_" + outerTick : "step";
        // Outside every other loop all steps run, also where the same scan's other states run level by
        // level.
        auto [begin, end] = openTicks(space);
        if (begin.empty()) {
          begin = "0";
          end = program_.nameOf(space) + ".ticks.count";
        }
        if (outerTick.empty())
          out_.blank();
        out_.open("for (int32_t " + tick + " = " + begin + "; " + tick + " < " + end + "; ++" + tick + ")");
        ticks_[steps.getSpace()] = tick;
        block(steps.getBody().front(), tick);
        ticks_.erase(steps.getSpace());
        out_.close();
      });
}

/// Launches and operations of an outermost loop, as `dbc::Work`.
std::string ComputeEmitter::work(Operation &loop) {
  std::string ticks, operations;
  if (auto levels = dyn_cast<kernel::LevelsOp>(loop))
    ticks = program_.nameOf(program_.find<kernel::GroupOp>(levels.getGroup())) + ".levels()";
  else
    ticks = program_.nameOf(program_.find<kernel::SpaceOp>(cast<kernel::StepsOp>(loop).getSpace())) +
            ".ticks.count";
  loop.walk([&](kernel::LaunchOp launch) {
    auto func = program_.find<kernel::FuncOp>(launch.getFunc());
    auto ofRow = func->getAttrOfType<IntegerAttr>("operations");
    if (program_.stageNumber(func) < 0 || !ofRow || ofRow.getInt() == 0)
      return; // ran when the model was made, or has no products
    operations += (operations.empty() ? "" : " + ") + std::string("stages[") +
                  std::to_string(program_.stageNumber(func)) + "].cost.operations * " +
                  program_.rows(program_.find<kernel::SpaceOp>(*func.getSpace()));
  });
  return "{" + commas({ticks, operations.empty() ? "0" : operations}) + "}";
}

void ComputeEmitter::together(Block &loops) {
  std::vector<std::string> works;
  for (Operation &loop : loops)
    works.push_back(work(loop));
  out_.blank();
  out_.comment("These loops need nothing of one another.");
  std::string name = locals_.fresh("works");
  out_.line("const dbc::Work " + name + "[] = {");
  for (const std::string &work : works)
    out_.line("    " + work + ",");
  out_.line("};");
  out_.open("dbc::side_by_side(run, " + name + ", [&](int32_t loop, int32_t worker)");
  together_ = true;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    std::string condition = "if (loop == " + std::to_string(number) + ")";
    if (number == 0)
      out_.open(condition);
    else
      out_.otherwise(number + 1 < works.size() ? condition + " " : "");
    one(loop, "");
  }
  out_.close();
  together_ = false;
  out_.close("});");
}

void ComputeEmitter::outputs() {
  kernel::SpaceOp inputs = program_.inputSpace();
  if (!program_.outputs.empty())
    out_.blank();
  for (kernel::OutputOp output : program_.outputs) {
    auto buffer = program_.find<kernel::BufferOp>(output.getBuffer());
    Array array = model_.array(program_, output.getBuffer());
    std::string type = array.element.isF32() ? "real" : "int32_t";
    auto space = program_.find<kernel::SpaceOp>(buffer.getSpace());
    if (output.getKept()) {
      out_.line("dbc::give_kept_rows<" + type + ">(" +
                commas({"run.out", std::to_string(output.getLeaf()), program_.nameOf(space),
                        program_.nameOf(inputs) + "[0]", array.member, std::to_string(array.rowSize())}) +
                ");");
      continue;
    }
    std::string at = output.getDepth() == 0 ? program_.nameOf(inputs) + "[0]" : "nullptr";
    out_.line("dbc::give_rows(" +
              commas({"run.out.values<" + type + ">(" + std::to_string(output.getLeaf()) + ")", at,
                      array.member, program_.rows(program_.find<kernel::SpaceOp>(buffer.getSpace())),
                      std::to_string(array.rowSize())}) +
              ");");
  }
}

} // namespace

void emitCompute(const ModelNames &model, const Program &program, Writer &out) {
  ComputeEmitter(model, program, out).emit();
}

} // namespace dbc::codegen
