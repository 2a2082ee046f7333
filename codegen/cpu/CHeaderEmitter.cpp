// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The emitter of NAME_c.h: the functions of dbc/c.h with the model's names, as static inline functions, so
// that there is nothing to link beside the model and the runtime.
#include "codegen/cpu/Emitters.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

class CHeaderEmitter {
public:
  explicit CHeaderEmitter(const ModelNames &model) : model_(model) {}
  std::string emit();

private:
  /// A name of C: all begin with the model's. None is given out twice.
  std::string fresh(const Twine &name) { return scope_.fresh((model_.name + "_" + name).str()); }
  std::string handle(StringRef data) const { return handles_.lookup(data); }

  void usage();
  void numbers();
  void params();
  void handles();
  void nodes();
  void arguments(const Program &program);
  void entry(const Program &program);
  void result(const Program &program, unsigned number);
  void gradients(const Program &program);
  void setter(const std::string &name, const std::string &parameters, const Component &component,
              const std::string &target);
  std::string parameterOf(const Component &component, const std::string &name) const;
  std::string callOf(const Component &component, const std::string &target, const std::string &name) const;

  const ModelNames &model_;
  Writer out_;
  NameScope scope_;
  StringMap<std::string> handles_; ///< by the data type's name in the source
};

std::string number(Elem elem) {
  return elem == Elem::F32 ? "float" : elem == Elem::Bool ? "uint8_t" : "int32_t";
}
StringRef plural(Elem elem) { return elem == Elem::F32 ? "f32s" : elem == Elem::Bool ? "bools" : "ints"; }

/// What a function's documentation says of a value that it takes.
std::string describe(const Component &component, MLIRContext *context) {
  const Element &e = component.element;
  std::string text = "`" + spelling(componentType(component, context)) + "`";
  if (e.elem == Elem::Index)
    text += ": numbers 0.." + std::to_string(e.bound - 1);
  if (!e.scalar())
    text += std::string(component.depth ? "; elements of " : "; ") + std::to_string(e.size()) +
            " elements, row-major" + (component.depth ? ", one after the other" : "");
  return text;
}

} // namespace

void CHeaderEmitter::usage() {
  const std::string &m = model_.name;
  out_.comment("How it goes together; <dbc/c.h> has the rest, and who owns what:");
  out_.line("//   dbc_weights *weights = dbc_weights_new(dbc_code_" + model_.source + "());");
  out_.line("//   dbc_status status = dbc_weights_draw(weights, 0);       // or dbc_weights_load");
  out_.line("//   dbc_model *model = dbc_model_new();");
  out_.line("//   status = dbc_model_make(model, dbc_code_" + model_.source + "(), weights);");
  out_.line("//   dbc_session *session = dbc_session_new(model, 1);");
  out_.line("//   dbc_batch *batch = dbc_batch_new(dbc_code_" + model_.source + "());");
  if (!model_.programs.empty())
    out_.line("//   status = " + m + "_run_" + model_.programs.front()->name + "(session, batch);");
}

void CHeaderEmitter::numbers() {
  if (model_.programs.empty())
    return;
  out_.doc("Numbers of entries and losses, for dbc_session_f32 and others.");
  out_.open("enum");
  for (const auto &program : model_.programs)
    out_.line(fresh("entry_" + program->name) + " = " + std::to_string(program->number) + ",");
  out_.close("};");
  out_.blank();
}

void CHeaderEmitter::params() {
  if (model_.params.empty())
    return;
  out_.doc("Numbers of the parameters, for dbc_weights_data and others.");
  out_.open("enum");
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Param &param : model_.params)
    lines.push_back({fresh("param_" + param.name) + " = " + std::to_string(param.number) + ",",
                     "`" + param.path + "`, " + shapeText(param.shape)});
  out_.aligned(lines);
  out_.close("};");
  out_.blank();
}

void CHeaderEmitter::handles() {
  for (const Data &data : model_.datas) {
    std::string name = handles_[data.source] = fresh(data.name);
    out_.doc("A node of `data " + data.source +
             "`: its number among those of this type in the batch, -1 for none.");
    out_.open("typedef struct " + name);
    out_.line("int32_t id;");
    out_.close("} " + name + ";");
    out_.blank();
  }
}

/// What a function takes for a value: `float x`, `const int32_t *x, size_t x_count`.
std::string CHeaderEmitter::parameterOf(const Component &component, const std::string &name) const {
  const Element &e = component.element;
  const std::string type = e.elem == Elem::Node ? handle(e.data) : number(e.elem);
  if (component.depth > 0)
    return "const " + type + " *" + name + ", size_t " + name + "_count";
  if (!e.scalar())
    return "const " + type + " *" + name;
  return (e.elem == Elem::Bool ? "bool" : type) + " " + name;
}

/// The call that hands it to the batch; `target` is "table, row, column".
std::string CHeaderEmitter::callOf(const Component &component, const std::string &target,
                                   const std::string &name) const {
  const Element &e = component.element;
  const std::string size = std::to_string(e.size()), numbers = plural(e.elem).str();
  if (component.depth > 0) {
    const std::string values = e.elem == Elem::Node ? "(const int32_t *)" + name : name;
    return "dbc_batch_list_" + numbers + "(batch, " + target + ", " + values + ", " + name + "_count" +
           (e.size() == 1 ? "" : " * " + size) + ");";
  }
  if (!e.scalar())
    return "dbc_batch_set_" + numbers + "(batch, " + target + ", " + name + ", " + size + ");";
  if (e.elem == Elem::Node)
    return "dbc_batch_set_node(batch, " + target + ", " + name + ".id);";
  return "dbc_batch_set_" + numbers.substr(0, numbers.size() - 1) + "(batch, " + target + ", " + name + ");";
}

/// A function that sets one field. Lists of lists are opened, and read in by dbc_batch_push_..
void CHeaderEmitter::setter(const std::string &name, const std::string &parameters,
                            const Component &component, const std::string &target) {
  const bool isNested = component.depth > 1;
  Writer body(2);
  if (isNested)
    body.line("dbc_batch_open_list(batch, " + target + ");");
  else
    body.line(callOf(component, target, "value"));
  out_.doc(describe(component, model_.context()) +
           (isNested ? "; opens a list, once for each level; then dbc_batch_push_" +
                           plural(component.element.elem) +
                           " of each element by itself, and dbc_batch_close_list for each that is open"
                     : Twine())
               .str());
  out_.function("static inline void " + name + "(" + parameters +
                    (isNested ? "" : ", " + parameterOf(component, "value")) + ")",
                body.text());
}

void CHeaderEmitter::nodes() {
  for (const Data &data : model_.datas)
    for (auto [kind, constructor] : llvm::enumerate(data.constructors)) {
      const std::string node = handle(data.source);
      std::vector<std::string> fields;
      for (const Field &field : constructor.fields)
        fields.push_back(field.source + ": " + spelling(field.type));
      out_.doc(
          "Adds a node `" + constructor.source + "(" + commas(fields) + ")` of `" + data.source +
          "` to the newest input. Its fields may be set in any order, and be left out if no entry that is "
          "run reads them.");
      Writer body(2);
      body.line(node + " node = {dbc_batch_add_node(batch, " + std::to_string(data.number) + ", " +
                std::to_string(kind) + ")};");
      body.line("return node;");
      out_.function("static inline " + node + " " + fresh("add_" + constructor.name) + "(dbc_batch *batch)",
                    body.text());
      for (const Field &field : constructor.fields)
        setter(fresh(constructor.name + "_" + field.name), "dbc_batch *batch, " + node + " node",
               flatten(field.type, "")[0],
               std::to_string(data.number) + ", node.id, " + std::to_string(field.column));
      out_.blank();
    }
}

void CHeaderEmitter::arguments(const Program &program) {
  std::vector<std::string> parameters = {"dbc_batch *batch"};
  std::vector<std::pair<Component, std::string>> nested;
  out_.doc("Sets the arguments of `" + program.source + "` for the newest input.");
  Writer body(2);
  int number = 0;
  for (const Argument &argument : program.arguments)
    for (auto [component, name] : llvm::zip(argument.components, argument.names)) {
      const std::string target =
          "dbc_batch_args(batch), dbc_batch_inputs(batch) - 1, dbc_batch_arg_column(batch, " +
          std::to_string(program.number) + ", " + std::to_string(number++) + ")";
      if (component.depth > 1) {
        nested.push_back({component, target});
        continue;
      }
      out_.doc("  `" + name + "`: " + describe(component, model_.context()));
      parameters.push_back(parameterOf(component, name));
      body.line(callOf(component, target, name));
    }
  if (parameters.size() > 1)
    out_.function("static inline void " + fresh("arguments_" + program.name) + "(" + commas(parameters) + ")",
                  body.text());
  for (const auto &[component, target] : nested)
    setter(fresh("argument_" + program.name + "_" + identifier(component.path)), "dbc_batch *batch",
           component, target);
}

void CHeaderEmitter::result(const Program &program, unsigned index) {
  const Result &result = program.results[index];
  const Component &component = result.component;
  const Element &e = component.element;
  const std::string real = model_.f64() ? "double" : "float", kind = model_.f64() ? "f64" : "f32";
  const std::string type = e.elem == Elem::F32 ? real : "int32_t",
                    suffix = e.elem == Elem::F32 ? kind : "i32";
  const std::string name = program.name + "_result" + (result.name.empty() ? "" : "_" + result.name);
  const std::string of = "session, " + std::to_string(program.number) + ", " + std::to_string(index);
  const bool isOnly = program.results.size() == 1;
  const std::string what =
      "`" + program.source + "`" + (isOnly ? "" : ", `" + component.path + "` of its result") + ": `" +
      spelling(componentType(component, model_.context())) + "`" + (e.elem == Elem::Node ? ", by `id`" : "");
  if (component.depth == 0) {
    out_.doc(what + "; " + std::to_string(e.size()) + (e.size() == 1 ? " element" : " elements") +
             ", null of an input that is not there");
    out_.line("static inline const " + type + " *" + fresh(name) +
              "(const dbc_session *session, int32_t input) {");
    out_.line("  return dbc_session_" + suffix + "(" + of + ", input);");
    out_.line("}");
    return;
  }
  out_.doc(what + ": how many elements the list of an input has");
  out_.line("static inline int32_t " + fresh(name + "_length") +
            "(const dbc_session *session, int32_t input) {");
  out_.line("  return dbc_session_length(" + of + ", input);");
  out_.line("}");
  if (component.depth > 1) {
    out_.comment("Lists of lists are read through dbc_session_offsets and dbc_session_all_" + suffix +
                 ", component " + std::to_string(index) + " of entry " + std::to_string(program.number) +
                 ".");
    return;
  }
  out_.doc("Element `i` of it, " + std::to_string(e.size()) + (e.size() == 1 ? " element" : " elements") +
           "; null behind the last");
  out_.line("static inline const " + type + " *" + fresh(name + "_at") +
            "(const dbc_session *session, int32_t input, int32_t i) {");
  out_.line("  return dbc_session_" + suffix + "_at(" + of + ", input, i);");
  out_.line("}");
}

void CHeaderEmitter::gradients(const Program &program) {
  for (kernel::GradientOp op : program.gradients) {
    const Param &param = *model_.param(op.getParam());
    const std::string real = model_.f64() ? "double" : "float", kind = model_.f64() ? "f64" : "f32";
    out_.doc("The gradient of `" + program.source + "` by `" + param.path + "`, " + shapeText(param.shape) +
             ": `count` elements; see dbc_session_gradient_" + kind);
    out_.line("static inline const " + real + " *" + fresh(program.name + "_gradient_" + param.name) +
              "(const dbc_session *session, size_t *count) {");
    out_.line("  return dbc_session_gradient_" + kind + "(session, " + std::to_string(program.number) + ", " +
              std::to_string(param.number) + ", count);");
    out_.line("}");
  }
}

void CHeaderEmitter::entry(const Program &program) {
  kernel::ProgramOp op = program.op;
  arguments(program);
  out_.doc(std::string("Runs the ") + (op.getLoss() ? "loss" : "entry") + " `" + program.source +
           "` on all inputs of the batch. For single inputs ask dbc_session_status.");
  out_.line("static inline dbc_status " + fresh("run_" + program.name) +
            "(dbc_session *session, dbc_batch *batch) {");
  out_.line("  return dbc_session_run(session, " + std::to_string(program.number) + ", batch);");
  out_.line("}");
  for (unsigned number = 0; number < program.results.size(); ++number)
    result(program, number);
  gradients(program);
  out_.blank();
}

std::string CHeaderEmitter::emit() {
  out_.comment("The model `" + model_.source + "` for C, compiled by dbc from " + model_.options.source +
               ". Not to be edited.");
  out_.line("//");
  usage();
  out_.line("#pragma once");
  out_.blank();
  out_.line("#include <dbc/c.h>");
  out_.blank();
  out_.line("#ifdef __cplusplus");
  out_.line("extern \"C\" {");
  out_.line("#endif");
  out_.blank();
  out_.doc("The compiled model. It lives as long as the program.");
  out_.line("const dbc_model_code *dbc_code_" + model_.source + "(void);");
  out_.blank();
  handles();
  numbers();
  params();
  nodes();
  for (const auto &program : model_.programs)
    entry(*program);
  out_.line("#ifdef __cplusplus");
  out_.line("}");
  out_.line("#endif");
  return out_.text();
}

std::string emitCHeader(const ModelNames &model) { return CHeaderEmitter(model).emit(); }

} // namespace dbc::codegen
