// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.h: the typed interface of a compiled model, in the model's names.
#include "codegen/cpu/HeaderEmitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string HeaderEmitter::emit() {
  out_.comment("The interface of the model `" + model_.source + "`, compiled by dbc" +
               (model_.options.source.empty() ? "" : " from " + model_.options.source) +
               ". Not to be edited.");
  out_.line("//");
  usage();
  out_.line("#pragma once");
  out_.blank();
  out_.line("#include <dbc/results.h>");
  out_.line("#include <dbc/runtime.h>");
  out_.blank();
  out_.line("#include <algorithm>");
  out_.line("#include <cstddef>");
  out_.line("#include <cstdint>");
  out_.line("#include <vector>");
  out_.blank();
  out_.line("static_assert(DBC_VERSION_MAJOR == " DBC_MAJOR " && DBC_VERSION_MINOR == " DBC_MINOR ",");
  out_.line("              \"dbc " DBC_MAJOR "." DBC_MINOR
            " generated this, and the runtime's headers are of another version: \"");
  out_.line("              \"compile the model again with the dbc that belongs to them\");");
  out_.blank();
  out_.line("namespace " + model_.space() + " {");
  out_.comment("A model of other dims or another interface has other symbols: no program links this header "
               "with its code.");
  out_.line("inline namespace " + model_.variant() + " {");
  out_.raw("\n");
  out_.doc("What the model says about itself, and its code, for hosts that work on any model. Both live as "
           "long as the "
           "program.");
  out_.line("const dbc::ModelInfo &info();");
  out_.line("const dbc::ModelCode &code();");
  out_.blank();
  constants();
  handles();
  builders();
  flatArrays();
  batch();
  weights();
  results();
  gradients();
  session();
  out_.line("} // namespace " + model_.variant());
  out_.line("} // namespace " + model_.space());
  return out_.text();
}

void HeaderEmitter::usage() {
  const Program *first = model_.programs.empty() ? nullptr : model_.programs.front().get();
  out_.comment("How it goes together; each thing borrows what stands above it, which must live longer:");
  out_.line("//   namespace " + model_.name + " = " + model_.space() + ";");
  out_.line("//   " + model_.name +
            "::Weights weights;             // yours to fill or to load; given away with nothing");
  out_.line("//   " + model_.name +
            "::Model model;                 // a snapshot, shared by any number of threads");
  out_.line("//   dbc::Status made = " + model_.name + "::Model::make(weights, &model);");
  out_.line("//   " + model_.name +
            "::Session session(model, 2);   // one thread's scratch memory, results, and 2 workers");
  out_.line("//   " + model_.name +
            "::Batch batch;                 // the inputs; clear() and fill it again for the next run");
  if (first) {
    out_.line("//   dbc::Status ran = session." + first->name + "(batch);");
    out_.line("//   auto result = session." + first->name +
              "_result(); // valid until the next run of that entry");
  }
  out_.comment("Every call reports by value; nothing throws or aborts. An input that is wrong gets a status "
               "of its own "
               "(Session::status), the others are computed as if alone.");
}

void HeaderEmitter::constants() {
  if (DictionaryAttr dims = dyn::DynDialect::DimsAttrHelper(model_.context()).getAttr(model_.module)) {
    out_.doc("The dims of the source, as they were bound.");
    out_.line("namespace dims {");
    NameScope scope;
    for (NamedAttribute dim : dims)
      out_.line("constexpr int64_t " + scope.fresh(dim.getName().getValue()) + " = " +
                std::to_string(cast<IntegerAttr>(dim.getValue()).getInt()) + ";");
    out_.line("} // namespace dims");
    out_.blank();
  }
  if (model_.params.empty())
    return;
  out_.doc("Numbers of the parameters, for dbc::Weights.");
  out_.line("namespace param {");
  Lines lines;
  for (const Param &param : model_.params) {
    kernel::ParamOp op = param.op;
    lines.push_back({"constexpr int32_t " + param.name + " = " + std::to_string(param.number) + ";",
                     "`" + param.path + "`, " + shapeText(param.shape) + (op.getInit() ? "" : ", a const")});
  }
  out_.aligned(lines);
  out_.line("} // namespace param");
  out_.blank();
}

void HeaderEmitter::handles() {
  for (const Data &data : model_.datas) {
    out_.doc("A node of `data " + data.source +
             "`. Valid until its batch is cleared; `id` is its number among the nodes "
             "of this type in the batch, -1 for none.");
    out_.open("struct " + data.name);
    out_.line("int32_t id = -1;");
    out_.close("};");
    out_.blank();
  }
}

//===-- Weights and model -------------------------------------------------------------------------------===//

void HeaderEmitter::weights() {
  out_.doc("The master copies of all parameters, float, row-major, changed by their owner only. Load them "
           "with the readers "
           "of <dbc/io/safetensors.h>, draw() them, or fill each through its method and mark_given(). For "
           "one thread at a "
           "time. May throw std::bad_alloc when it is made.");
  out_.open("class Weights : public dbc::Weights");
  out_.label("public:");
  out_.line("Weights() : dbc::Weights(::" + model_.space() + "::info()) {}");
  NameScope methods;
  for (StringRef word :
       {"info", "count", "find", "size", "data", "set", "mark_given", "given", "draw", "check", "Weights"})
    methods.reserve(word);
  for (const Param &param : model_.params) {
    std::string name = methods.fresh(param.name);
    out_.doc("`" + param.path + "`: " + shapeText(param.shape));
    out_.line("float *" + name + "() { return data(param::" + param.name + "); }");
  }
  out_.close("};");
  out_.blank();
  out_.doc(
      "A snapshot of weights in the form that the stages read. Independent of the Weights that it was made "
      "from, but for renew(); any number of sessions and threads may share it.");
  out_.open("class Model : public dbc::Model");
  out_.label("public:");
  out_.doc("Fails with bad_weights, naming all parameters that are not given, or with limit if there is no "
           "memory.");
  out_.open("static dbc::Status make(const dbc::Weights &weights, Model *model)");
  out_.line("return dbc::Model::make(::" + model_.space() + "::code(), weights, model);");
  out_.close();
  out_.close("};");
  out_.blank();
}

//===-- Results -----------------------------------------------------------------------------------------===//

std::string HeaderEmitter::resultType(const Result &result) {
  const Component &component = result.component;
  std::string number = component.element.elem == Elem::F32 ? model_.real().str() : "int32_t";
  if (component.depth > 0)
    return "dbc::Lists<" + number + ", " + std::to_string(component.element.size()) + ", " +
           std::to_string(component.depth) + ">";
  if (component.element.scalar())
    return "dbc::Scalars<" + number + ">";
  return "dbc::Tensors<" + number + ", " + std::to_string(component.element.size()) + ">";
}

void HeaderEmitter::results() {
  for (const auto &program : model_.programs) {
    kernel::ProgramOp op = program->op;
    std::string what = std::string(op.getLoss() ? "the loss" : "the entry") + " `" + program->source +
                       "`: `" + spelling(op.getSurface()) + "` for each input";
    if (program->results.size() == 1) {
      const Result &result = program->results[0];
      out_.doc("Results of " + what +
               (result.component.element.elem == Elem::Node ? ", as `id` of the handle." : "."));
      out_.line("using " + program->result + " = " + resultType(result) + ";");
    } else {
      out_.doc("Results of " + what + ", one member a component.");
      out_.open("struct " + program->result);
      Lines lines;
      for (const Result &result : program->results) {
        Element e = result.component.element;
        lines.push_back(
            {resultType(result) + " " + result.name + ";",
             "`" + result.component.path + "`" + (e.elem == Elem::Node ? ", as `id` of a " + e.data : "")});
      }
      out_.aligned(lines);
      out_.close("};");
    }
    if (program->results.size() == 1 && program->results[0].component.depth <= 1 &&
        !program->results[0].component.element.scalar()) {
      std::vector<std::string> extents;
      for (int64_t extent : program->results[0].component.element.extents)
        extents.push_back(std::to_string(extent));
      out_.line("constexpr int64_t " + program->result + "Shape[] = {" + commas(extents) + "};");
    }
    out_.doc("The same, read from outputs of the caller; of those of another entry there are none.");
    std::vector<std::string> values;
    for (unsigned number = 0; number < program->results.size(); ++number)
      values.push_back("{results, " + std::to_string(number) + "}");
    Writer body(2);
    body.line("const dbc::Outputs &results = out.of(::" + model_.space() + "::info().entries[" +
              std::to_string(program->number) + "]);");
    body.line("return " + (values.size() == 1 ? values[0] : "{" + commas(values) + "}") + ";");
    out_.function("inline " + program->result + " " + program->name + "_result(const dbc::Outputs &out)",
                  body.text());
    out_.blank();
  }
}

/// The fields and arguments with a gradient by their paths, each once.
std::map<std::string, InputGradient> HeaderEmitter::inputGradients() const {
  std::map<std::string, InputGradient> inputs;
  for (const auto &program : model_.programs)
    for (kernel::InputGradientOp op : program->inputGradients) {
      InputGradient input(model_, *program, op);
      inputs.try_emplace(input.path, input);
    }
  return inputs;
}

/// Whether losses give the gradient of a parameter by rows: all that give one do.
bool HeaderEmitter::isSparseGradient(const Param &param) const {
  for (const auto &program : model_.programs)
    for (kernel::GradientOp gradient : program->gradients)
      if (gradient.getParam() == param.path) {
        auto buffer = program->find<kernel::BufferOp>(gradient.getBuffer());
        return program->find<kernel::IndexSetOp>(buffer.getIndexSet()).getKind() ==
               kernel::IndexSetKind::Distinct;
      }
  return false;
}

void HeaderEmitter::gradients() {
  if (llvm::all_of(model_.programs, [](const auto &program) { return !program->isDifferentiated(); }))
    return;
  const bool ofInputs =
      llvm::any_of(model_.programs, [](const auto &program) { return !program->inputGradients.empty(); });
  out_.doc("The gradient of a loss over a whole batch, parameter by parameter, row-major as in Weights; null "
           "for a "
           "parameter that the loss does not depend on, and before the first run." +
           std::string(ofInputs ? " Then that of fields and arguments that was asked for." : "") +
           " Valid until the session's "
           "next run of "
           "the loss.");
  out_.open("class Gradients");
  out_.label("public:");
  out_.line("explicit Gradients(const dbc::Outputs &outputs) : outputs_(&outputs) {}");
  NameScope methods;
  methods.reserve("raw");
  for (const Param &param : model_.params) {
    kernel::ParamOp op = param.op;
    if (!op.getInit())
      continue;
    const std::string real = model_.real().str(), number = "(param::" + param.name + ")",
                      numbers = "outputs_->gradient_" + std::string(model_.f64() ? "f64" : "f32") + number;
    const bool isSparse = isSparseGradient(param);
    out_.doc("`" + param.path + "`: " + shapeText(param.shape) +
             (isSparse ? ", the rows that were looked up; false where there is none" : ""));
    if (isSparse)
      out_.line("dbc::SparseGradient<" + real + "> " + methods.fresh(param.name) +
                "() const { return {outputs_->gradient_rows" + number + ", " + numbers + "}; }");
    else
      out_.line("const " + real + " *" + methods.fresh(param.name) + "() const { return " + numbers + "; }");
  }
  for (const auto &[path, input] : inputGradients()) {
    const std::string numbers = input.shape.empty() ? "a number" : shapeText(input.shape);
    out_.doc("`" + path + "`: " + numbers + " for " + (input.isList ? "each element of the list of " : "") +
             "each " + (input.data < 0 ? "input" : "node") +
             ", 0 where nothing reads it; none where the loss does not depend on it");
    out_.line("dbc::InputGradient<" + model_.real().str() + "> " + methods.fresh(identifier(path)) +
              "() const { return {*outputs_, " + quoted(path) + "}; }");
  }
  out_.doc("The same by number, for optimisers (dbc/optimizer.h).");
  out_.line("const dbc::Outputs &raw() const { return *outputs_; }");
  out_.label("private:");
  out_.line("const dbc::Outputs *outputs_;");
  out_.close("};");
  out_.blank();
}

void HeaderEmitter::session() {
  out_.doc("One thread's runs: scratch memory, results, and `threads` workers of its own, the caller being "
           "one. Borrows the "
           "model. May be moved, also while a run has begun; what it is moved from has no model. A run of a "
           "batch no larger than those before allocates nothing. Bits of results depend neither on the "
           "number of threads nor on what else is in the batch.");
  out_.open("class Session");
  out_.label("public:");
  out_.line("explicit Session(const Model &model, int32_t threads = 1) : session_(model, threads) {}");
  out_.line(
      "explicit Session(const Model &&, int32_t = 1) = delete; // it would be gone before the first run");
  for (const auto &program : model_.programs) {
    kernel::ProgramOp op = program->op;
    std::string number = std::to_string(program->number), name = program->name;
    out_.blank();
    out_.doc(std::string("Runs the ") + (op.getLoss() ? "loss" : "entry") + " `" + program->source +
             "` on all inputs of the batch. The status tells of the run as a whole; for single inputs see "
             "status().");
    out_.line("dbc::Status " + name + "(Batch &batch) { return session_.run(" + number + ", batch.raw()); }");
    out_.doc("The same into outputs of the caller, who may hand in memory of his own: prepare them by "
             "`out.prepare(info().entries[" +
             number + "], code().f64)`, then out.use_values(...).");
    out_.line("dbc::Status " + name + "(Batch &batch, dbc::Outputs &out) { return session_.run(" + number +
              ", batch.raw(), out); }");
    out_.doc("Results of the last run; they belong to the session and are valid until its next run of this "
             "entry, wherever the session is moved to. Inputs that failed have zeros and empty lists, and so "
             "have inputs that were not there, and all before the first run.");
    std::string result = "::" + model_.space() + "::";
    out_.line(result + program->result + " " + name + "_result() const { return " + result + name +
              "_result(session_.outputs(" + number + ")); }");
    if (program->isDifferentiated()) {
      out_.doc("The gradient of the last run: of the sum over its inputs of weight times loss, see "
               "weigh_losses(). An input "
               "that failed has no part in it.");
      out_.line(result + "Gradients " + name + "_gradients() const { return " + result +
                "Gradients(session_.outputs(" + number + ")); }");
    }
    out_.doc("What the last run did, stage by stage; see dbc/io/profile.h for a table of it.");
    out_.line("const dbc::RunProfile &" + name + "_profile() const { return session_.profile(" + number +
              "); }");
  }
  out_.blank();
  out_.doc("Status of an input in the last run, of whichever entry, until the next one: look at it before "
           "you run another entry, of which results stay. Of an input that it did not have bad_call, until "
           "the calling thread asks again.");
  out_.line("const dbc::Status &status(int32_t input) const { return session_.status(input); }");
  out_.doc("Number of inputs of the last run that failed.");
  out_.line("int32_t failed() const { return session_.failed(); }");
  out_.line("int32_t threads() const { return session_.threads(); }");
  out_.doc("Whether profiles of runs from now on say how long each stage took.");
  out_.line("void time_stages(bool on) { session_.time_stages(on); }");
  out_.doc("Whether runs from now on compute once what nodes of a batch have in common; see "
           "dbc::Session::share_subtrees.");
  out_.line("void share_subtrees(bool on) { session_.share_subtrees(on); }");
  if (llvm::any_of(model_.programs, [](const auto &program) { return program->isDifferentiated(); })) {
    out_.doc("What the loss of each input weighs in gradients of runs from now on; see "
             "dbc::Session::weigh_losses.");
    out_.line("void weigh_losses(const float *weights, int32_t inputs) { session_.weigh_losses(weights, "
              "inputs); }");
    out_.doc("Whether losses give gradients in runs from now on, as by default, or their values alone.");
    out_.line("void give_gradients(bool on) { session_.give_gradients(on); }");
  }
  if (llvm::any_of(model_.programs, [](const auto &program) { return program->drops; })) {
    out_.doc("The seed of dropout in losses, and the step of the next run of one; see "
             "dbc::Session::set_dropout.");
    out_.line("void set_dropout(uint64_t seed, int64_t step) { session_.set_dropout(seed, step); }");
    out_.doc("Whether losses drop in runs from now on, as by default.");
    out_.line("void drop_elements(bool on) { session_.drop_elements(on); }");
    out_.doc("The numbers that inputs of runs from now on have in the data set, by which they drop; see "
             "dbc::Session::number_inputs.");
    out_.line("void number_inputs(const int64_t *numbers, int32_t inputs) { session_.number_inputs(numbers, "
              "inputs); }");
  }
  out_.doc("The untyped session, for hosts.");
  out_.line("dbc::Session &raw() { return session_; }");
  out_.label("private:");
  out_.line("dbc::Session session_;");
  out_.close("};");
  out_.blank();
}

std::string emitHeader(const ModelNames &model) { return HeaderEmitter(model).emit(); }

} // namespace dbc::codegen
