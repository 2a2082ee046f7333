// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.cpp as a whole, and its tables: what the model says about itself, how it is made from weights, its
// entries.
#include "codegen/common/MatrixText.h"
#include "codegen/common/Order.h"
#include "codegen/cpu/Emitters.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// A number of the IR's attributes, as short as it reads back.
static std::string number(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

static std::string braces(const std::vector<int64_t> &extents) {
  std::vector<std::string> texts;
  for (int64_t extent : extents)
    texts.push_back(std::to_string(extent));
  return "{" + commas(texts) + "}";
}

static std::string typeInfo(const ModelNames &model, Type type) {
  if (auto list = dyn_cast<dyn::ListType>(type))
    return "types::list(" + typeInfo(model, list.getElement()) + ")";
  if (auto record = dyn_cast<dyn::RecordType>(type)) {
    std::vector<std::string> names, fields;
    for (Attribute name : record.getNames())
      names.push_back(quoted(cast<StringAttr>(name).getValue()));
    for (Type field : record.getTypes())
      fields.push_back(typeInfo(model, field));
    return "types::record(" + quoted(record.getName().getValue()) + ", {" + commas(names) + "}, {" +
           commas(fields) + "})";
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    std::vector<std::string> elements;
    for (Type element : tuple.getTypes())
      elements.push_back(typeInfo(model, element));
    return "types::tuple({" + commas(elements) + "})";
  }
  Element e = element(type);
  std::string extents = e.scalar() ? "" : ", " + braces(e.extents);
  switch (e.elem) {
  case Elem::Index:
    return "types::index(" + std::to_string(e.bound) + extents + ")";
  case Elem::Node:
    return "types::node(" + std::to_string(model.data(e.data).number) + ")";
  case Elem::Int:
    return "types::value(dbc::Elem::Int" + extents + ")";
  case Elem::Bool:
    return "types::value(dbc::Elem::Bool" + extents + ")";
  case Elem::F32:
    return "types::value(dbc::Elem::F32" + extents + ")";
  }
  llvm_unreachable("all elements handled");
}

/// `make_info()`: data types, parameters, entries.
static void emitInfo(const ModelNames &model, Writer &out) {
  out.comment("What the model says about itself.");
  out.open("dbc::ModelInfo make_info()");
  out.line("namespace types = dbc::types;");
  out.line("dbc::ModelInfo model;");
  out.line("model.name = " + quoted(model.source) + ";");
  for (const Data &data : model.datas) {
    out.line("types::add_data(model, " + quoted(data.source) + ", " + std::to_string(data.columns.size()) +
             ");");
    for (const Constructor &constructor : data.constructors) {
      std::vector<std::string> fields;
      for (const Field &field : constructor.fields)
        fields.push_back("types::field(" + quoted(field.source) + ", " + typeInfo(model, field.type) + ", " +
                         std::to_string(field.column) + ")");
      out.line("types::add_constructor(model, " + quoted(constructor.source) + ", {" + commas(fields) +
               "});");
    }
  }
  for (const Param &param : model.params) {
    kernel::ParamOp op = param.op;
    std::string init = "types::init(dbc::InitInfo::Kind::Normal, 0, 1), true";
    if (auto how = dyn_cast_or_null<dyn::InitAttr>(op.getInitAttr()))
      init = "types::init(dbc::InitInfo::Kind::" + capitalised(dyn::stringifyInitKind(how.getKind())) + ", " +
             number(how.getA().getValueAsDouble()) + ", " + number(how.getB().getValueAsDouble()) +
             "), false";
    out.line("types::add_parameter(model, " + quoted(param.path) + ", " + braces(param.shape) + ", " + init +
             ");");
  }
  for (const auto &program : model.programs) {
    kernel::ProgramOp op = program->op;
    out.line("types::add_entry(model, " + quoted(program->source) + ", " + (op.getLoss() ? "true" : "false") +
             ", " + typeInfo(model, op.getSurface()) + ");");
    for (const Argument &argument : program->arguments)
      out.line("types::add_argument(model, " + quoted(argument.source) + ", " +
               typeInfo(model, argument.type) + ");");
    std::vector<std::string> gradients;
    for (kernel::GradientOp gradient : program->gradients)
      gradients.push_back(std::to_string(model.param(gradient.getParam())->number));
    if (!gradients.empty())
      out.line("model.entries.back().gradients = {" + commas(gradients) + "};");
    for (kernel::InputGradientOp gradient : program->inputGradients) {
      const InputGradient input(model, *program, gradient);
      out.line("model.entries.back().input_gradients.push_back({" +
               commas({quoted(input.path), std::to_string(input.data), std::to_string(input.column),
                       std::to_string(input.width)}) +
               "});");
    }
  }
  out.line("return model;");
  out.close();
  out.blank();
}

/// `make_model`
static void emitMakeModel(const ModelNames &model, const SharedStages &shared, const DeviceCode *device,
                          Writer &out) {
  out.comment("From weights to what the stages read.");
  out.open(
      "void make_model([[maybe_unused]] const dbc::Weights &weights, [[maybe_unused]] dbc::Model &model)");
  for (const Param &param : model.params)
    if (param.raw || (device && device->readsArray(param)))
      out.line("model.add_param<real>(" + std::to_string(param.number) + ", weights, param::" + param.name +
               ");");
  for (const PackedMatrix &matrix : model.packed) {
    kernel::WeightsOp op = matrix.op;
    std::string number = std::to_string(matrix.number), last;
    if (op.getTables()) {
      out.line("for (int32_t table = 0; table < " + std::to_string(*op.getTables()) + "; ++table)");
      number += " + table";
      last = ", table";
    }
    out.line((op.getTables() ? "  " : "") +
             ("dbc::pack_submatrices<real>(model, " + number + ", weights, " + matrixText(model, op)) + last +
             ");");
  }
  if (device)
    device->makeModel(out);
  int plans = 0;
  for (const auto &program : model.programs) {
    if (program->modelStages.empty())
      continue;
    out.comment("What `" + program->source + "` computes once for the model.");
    for (const Storage &storage : program->storages)
      if (storage.ofModel) {
        kernel::BufferOp buffer = storage.buffers.front();
        std::string rows = program->rows(program->find<kernel::IndexSetOp>(buffer.getIndexSet()));
        out.line("model.add_buffer<" + pointee(scalarOf(buffer.getType()), false) + ">(" +
                 std::to_string(storage.number) + ", size_t(" + rows + ") * " +
                 std::to_string(model.array(*program, buffer.getSymName()).rowSize()) + ");");
      }
    std::string plan = program->name + "_plan", code = program->space + "::";
    out.line("auto &" + plan + " = model.plan<" + code + "Plan>(" + std::to_string(plans++) + ");");
    for (kernel::FuncOp stage : program->modelStages) {
      std::string tiles;
      if (std::optional<int64_t> count = kernel::FuncOp(stage).getTiles())
        tiles = "0, " + std::to_string(*count) + ", ";
      const std::string function = shared.functionOf(stage);
      out.line((function.empty() ? code + program->nameOf(stage) : function) + "(" + plan + ", 0, " +
               program->rows(program->find<kernel::IndexSetOp>(*stage.getIndexSet())) + ", " + tiles +
               "model.scratch<char>(" + code + "kScratch));");
    }
  }
  out.close();
  out.blank();
}

/// The table of entries by which hosts find the code.
static void emitCode(const ModelNames &model, const DeviceCode *device, Writer &out) {
  out.open("dbc::ModelCode code_of_model()");
  out.line("dbc::generated_code_needs_runtime_" DBC_MAJOR "_" DBC_MINOR
           "(); // the library of another version has none");
  out.line("dbc::ModelCode model;");
  out.line("model.info = &info();");
  out.line(std::string("model.f64 = ") + (model.f64() ? "true" : "false") + ";");
  if (model.options.bf16) {
    std::vector<std::string> rounded;
    for (const PackedMatrix &matrix : model.packed)
      for (Attribute symbol : kernel::WeightsOp(matrix.op).getSubmatrices()) {
        std::string name = "param::" + model.param(cast<FlatSymbolRefAttr>(symbol).getValue())->name;
        if (!is_contained(rounded, name))
          rounded.push_back(name);
      }
    out.line("model.bf16_params = {" + commas(rounded) + "};");
  }
  out.line("model.make_model = make_model;");
  if (device)
    device->code(out);
  for (const auto &program : model.programs) {
    std::vector<std::string> reads, arguments, shared;
    auto add = [](std::vector<std::string> &list, const std::string &text) {
      if (!is_contained(list, text))
        list.push_back(text);
    };
    for (kernel::FieldOp field : program->fields)
      if (field.getArray() != kernel::FieldArray::Kind) {
        std::string column = "{" + std::to_string(model.data(field.getData()).number) + ", " +
                             std::to_string(field.getColumn()) + "}";
        add(reads, column);
        if (field.getInCells())
          add(shared, column);
      }
    if (program->collectsNodes) // nodes(t) follows all references
      for (const Data &data : model.datas)
        for (auto [number, column] : llvm::enumerate(data.columns))
          if (flatten(column.type, "")[0].element.elem == Elem::Node)
            add(reads, "{" + std::to_string(data.number) + ", " + std::to_string(number) + "}");
    for (kernel::ArgumentOp argument : program->inputs)
      if (argument.getArray() != kernel::FieldArray::LossWeight)
        add(arguments, std::to_string(argument.getComponent()));
    out.blank();
    out.comment(program->source);
    out.line("model.entries.push_back({});");
    out.line("model.entries.back().entry = " + std::to_string(program->number) + ";");
    out.line("model.entries.back().reads = {" + commas(reads) + "};");
    out.line("model.entries.back().reads_args = {" + commas(arguments) + "};");
    bool shares = llvm::any_of(program->groups, [](kernel::GroupOp group) { return group.getShared(); });
    out.line(std::string("model.entries.back().shares = ") + (shares ? "true;" : "false;"));
    if (shares)
      out.line("model.entries.back().shared_reads = {" + commas(shared) + "};");
    if (!program->stages.empty()) {
      out.line("for (const auto &stage : " + program->space + "::stages)");
      out.line("  model.entries.back().stages.push_back(stage.name);");
    }
    std::vector<std::string> backward;
    for (auto [number, stage] : llvm::enumerate(program->stages))
      if (stage.getBackward())
        backward.push_back(std::to_string(number));
    if (!backward.empty())
      out.line("model.entries.back().backward = {" + commas(backward) + "};");
    if (std::string order = orderOf(model, *program); !order.empty())
      out.line("model.entries.back().order = " + order + ";");
    out.line("model.entries.back().make_plan = dbc::make_plan<" + program->space + "::Plan>;");
  }
  out.line("return model;");
  out.close();
  out.blank();
}

FailureOr<std::string> emitSource(const ModelNames &model, const DeviceCode *device) {
  Writer out;
  out.comment("The model `" + model.source + "`, compiled by dbc" +
              (model.options.source.empty() ? "" : " from " + model.options.source) + ". Not to be edited.");
  out.line("#include \"" + model.source + ".h\"");
  if (device)
    out.line("#include \"" + model.source + ".cuh\"");
  out.blank();
  if (device)
    device->includes(out);
  out.line("#include <dbc/generated.h>");
  out.blank();
  out.line("#include <array>");
  out.blank();
  out.line("namespace " + model.space() + " {");
  out.line("inline namespace " + model.variant() + " {");
  out.line("namespace {");
  out.raw("\n");
  out.line("using real = " + model.real() + "; ///< of arithmetic; numbers of the batch are float");
  out.line("namespace math = dbc::math;");
  out.blank();
  emitInfo(model, out);
  SharedStages shared(model);
  if (failed(shared.emit(out)))
    return failure();
  for (const auto &program : model.programs) {
    if (failed(emitProgram(model, *program, shared, device, out)))
      return failure();
    emitOrder(model, *program, out);
  }
  emitMakeModel(model, shared, device, out);
  emitCode(model, device, out);
  out.line("} // namespace");
  out.blank();
  out.open("const dbc::ModelInfo &info()");
  out.line("static const dbc::ModelInfo model = make_info();");
  out.line("return model;");
  out.close();
  out.blank();
  out.open("const dbc::ModelCode &code()");
  out.line("static const dbc::ModelCode model = code_of_model();");
  out.line("return model;");
  out.close();
  out.blank();
  out.line("} // namespace " + model.variant());
  out.line("} // namespace " + model.space());
  out.blank();
  out.line("extern \"C\" const dbc::ModelInfo *dbc_model_" + model.source + "() { return &" + model.space() +
           "::info(); }");
  out.line("extern \"C\" const dbc::ModelCode *dbc_code_" + model.source + "() { return &" + model.space() +
           "::code(); }");
  return out.text();
}

} // namespace dbc::codegen
