// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.h: the typed interface of a compiled model, in the model's names.
#include "codegen/Emitters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

/// Declarations with their comments.
using Lines = std::vector<std::pair<std::string, std::string>>;

class HeaderEmitter {
public:
  explicit HeaderEmitter(const ModelNames &model) : model_(model) {}
  std::string emit();

private:
  void usage();
  void constants();
  void handles();
  void builders();
  void setter(const std::string &result, const std::string &name, Type type, const std::string &place,
              const std::string &after, const std::string &note);
  void flatArrays();
  void arrayMembers(Lines &lines, const std::string &name, Type type, const std::string &rows,
                    StringRef note);
  void borrowColumn(const std::string &name, Type type, const std::string &table, const std::string &column,
                    const std::string &rows);
  void batch();
  void entryArguments(const Program &program);
  void borrowArguments(const Program &program);
  void weights();
  void results();
  void session();
  std::string resultType(const Result &result);
  std::string resultValue(const Program &program, const Result &result, int leaf);
  /// C++ type of a handle, valid where a method has the same name.
  std::string handle(StringRef data) const { return "::" + model_.name + "::" + model_.data(data).name; }

  const ModelNames &model_;
  Writer out_;
};

/// Type of a parameter that holds `element` at list depth `depth`, and what a plain scalar is.
std::string scalarParameter(Elem elem) {
  return elem == Elem::F32 ? "float" : elem == Elem::Bool ? "bool" : "int32_t";
}

std::string kindOf(const Element &e) {
  std::string text;
  switch (e.elem) {
  case Elem::F32:
    text = "float";
    break;
  case Elem::Bool:
    text = "bool";
    break;
  case Elem::Int:
    text = "int";
    break;
  case Elem::Index:
    text = "0.." + std::to_string(e.bound - 1);
    break;
  case Elem::Node:
    text = e.data;
    break;
  }
  return text;
}

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
  out_.line("#include <cstddef>");
  out_.line("#include <cstdint>");
  out_.line("#include <vector>");
  out_.blank();
  out_.line("namespace " + model_.name + " {");
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
  session();
  out_.line("} // namespace " + model_.name);
  return out_.text();
}

void HeaderEmitter::usage() {
  const Program *first = model_.programs.empty() ? nullptr : model_.programs.front().get();
  out_.comment("How it goes together; each thing borrows what stands above it, which must live longer:");
  out_.line("//   " + model_.name +
            "::Weights weights;             // yours to fill or to load; given away with nothing");
  out_.line("//   " + model_.name +
            "::Model model;                 // an immutable snapshot, shared by any number of threads");
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
  if (auto dims = mlir::ModuleOp(model_.module)->getAttrOfType<DictionaryAttr>("dyn.dims")) {
    out_.doc("The dims of the source, as they were bound.");
    out_.line("namespace dims {");
    for (NamedAttribute dim : dims)
      out_.line("constexpr int64_t " + identifier(dim.getName().getValue()) + " = " +
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

//===-- Values in
//-----------------------------------------------------------------------------------------------===//

/// A method that sets one field or leaf: `place` is "table, row, column" of dbc::Batch, `after` what it
/// returns.
void HeaderEmitter::setter(const std::string &result, const std::string &name, Type type,
                           const std::string &place, const std::string &after, const std::string &note) {
  Leaf leaf = flatten(type, "")[0];
  const Element &e = leaf.element;
  std::string size = std::to_string(e.size()), batch = after.empty() ? "batch_." : "batch_->";
  bool isNode = e.elem == Elem::Node;
  auto head = [&](const std::string &parameter) { out_.open(result + name + "(" + parameter + ")"); };
  auto end = [&] {
    if (!after.empty())
      out_.line(after);
    out_.close();
  };
  out_.doc(note);
  std::string number = isNode ? handle(e.data) : scalarParameter(e.elem);
  StringRef plural = e.elem == Elem::F32 ? "f32s" : e.elem == Elem::Bool ? "bools" : "ints";
  std::string stored = e.elem == Elem::F32 ? "float" : e.elem == Elem::Bool ? "uint8_t" : "int32_t";
  if (leaf.depth == 0) {
    if (e.scalar()) {
      head(number + " value");
      StringRef how = isNode ? "node" : e.elem == Elem::F32 ? "f32" : e.elem == Elem::Bool ? "bool" : "int";
      out_.line(batch + "set_" + how.str() + "(" + place + ", value" + (isNode ? ".id" : "") + ");");
    } else {
      head("dbc::View<" + stored + "> values");
      out_.line(batch + "set_" + plural.str() + "(" + place + ", values.data(), values.size());");
    }
    return end();
  }
  if (leaf.depth == 1 && e.scalar() && (isNode || plural == "ints")) {
    head("dbc::View<" + number + "> values");
    if (isNode) {
      out_.line(batch + "set_empty(" + place + ");");
      out_.line("for (const " + number + " &value : values)");
      out_.line("  " + batch + "append_int(" + place + ", value.id);");
    } else {
      out_.line(batch + "set_list(" + place + ", values.data(), values.size());");
    }
    return end();
  }
  if (leaf.depth == 1) {
    // Elements one after the other in one array.
    head("dbc::View<" + stored + "> values");
    out_.line(batch + "set_empty(" + place + ");");
    out_.line("for (size_t i = 0; i + " + size + " <= values.size(); i += " + size + ")");
    out_.line("  " + batch + "append_" + plural.str() + "(" + place + ", values.data() + i, " + size + ");");
    return end();
  }
  // Lists of lists: nested vectors; the innermost hold their elements' numbers one after the other.
  std::string inner = isNode ? number : stored, vector = inner;
  for (int depth = 0; depth < leaf.depth; ++depth)
    vector = "std::vector<" + vector + ">";
  head("const " + vector + " &lists");
  std::string at = "lists";
  out_.line(batch + "open_list(" + place + ");");
  for (int depth = 1; depth < leaf.depth; ++depth) {
    std::string next = "list" + std::to_string(depth);
    out_.open("for (const auto &" + next + " : " + at + ")");
    out_.line(batch + "open_list(" + place + ");");
    at = next;
  }
  if (isNode) {
    out_.line("for (const " + number + " &value : " + at + ")");
    out_.line("  " + batch + "push_int(value.id);");
  } else {
    out_.line("for (size_t i = 0; i + " + size + " <= " + at + ".size(); i += " + size + ")");
    out_.line("  " + batch + "push_" + plural.str() + "(" + at + ".data() + i, " + size + ");");
  }
  for (int depth = 1; depth < leaf.depth; ++depth) {
    out_.line(batch + "close_list();");
    out_.close();
  }
  out_.line(batch + "close_list();");
  end();
}

/// What a setter's documentation says of a type.
std::string describe(Type type) {
  Leaf leaf = flatten(type, "")[0];
  std::string text = "`" + spelling(type) + "`";
  if (leaf.element.elem == Elem::Index)
    text += ": numbers " + kindOf(leaf.element);
  if (!leaf.element.scalar())
    text += std::string(leaf.depth ? "; elements of " : "; ") + std::to_string(leaf.element.size()) +
            " numbers, row-major" + (leaf.depth ? ", one after the other" : "");
  return text;
}

void HeaderEmitter::builders() {
  for (const Data &data : model_.datas)
    for (auto [kind, constructor] : llvm::enumerate(data.constructors)) {
      out_.doc("A `" + constructor.source + "` of `" + data.source +
               "` being filled. Fields may be set in any order, again, "
               "later, and be left out if no entry that is run reads them. Converts to the handle.");
      out_.open("class " + constructor.builder);
      out_.label("public:");
      out_.line(constructor.builder + "(dbc::Batch *batch, int32_t id) : batch_(batch), id_(id) {}");
      out_.line("operator " + handle(data.source) + "() const { return {id_}; }");
      for (const Field &field : constructor.fields) {
        std::string place = std::to_string(data.number) + ", id_, " + std::to_string(field.column);
        setter(constructor.builder + " &", field.name, field.type, place, "return *this;",
               describe(field.type));
      }
      out_.label("private:");
      out_.line("dbc::Batch *batch_;");
      out_.line("int32_t id_;");
      out_.close("};");
      out_.blank();
    }
}

//===-- Flat arrays
//---------------------------------------------------------------------------------------------===//

void HeaderEmitter::arrayMembers(Lines &lines, const std::string &name, Type type, const std::string &rows,
                                 StringRef note) {
  Leaf leaf = flatten(type, "")[0];
  std::string stored = leaf.element.elem == Elem::F32    ? "float"
                       : leaf.element.elem == Elem::Bool ? "uint8_t"
                                                         : "int32_t";
  std::string last = rows;
  for (int depth = 0; depth < leaf.depth; ++depth) {
    std::string offsets = name + "_offsets" + (depth ? std::to_string(depth) : "");
    lines.push_back({"const int32_t *" + offsets + " = nullptr;", last + " + 1"});
    last = offsets + "[last]";
  }
  std::string size = leaf.element.size() == 1 ? "" : " * " + std::to_string(leaf.element.size());
  lines.push_back({"const " + stored + " *" + name + " = nullptr;",
                   "`" + spelling(type) + "`, " + last + size + note.str()});
}

void HeaderEmitter::borrowColumn(const std::string &name, Type type, const std::string &table,
                                 const std::string &column, const std::string &rows) {
  Leaf leaf = flatten(type, "")[0];
  StringRef plural = leaf.element.elem == Elem::F32    ? "f32s"
                     : leaf.element.elem == Elem::Bool ? "bools"
                                                       : "ints";
  std::string at = table + ", " + column, member = "arrays." + name;
  std::string size = leaf.element.size() == 1 ? "" : " * " + std::to_string(leaf.element.size());
  if (leaf.depth == 0) {
    out_.line("if (" + member + ")");
    out_.line("  batch_.borrow_" + plural.str() + "(" + at + ", " + member + ", size_t(" + rows + ")" + size +
              ");");
    return;
  }
  out_.open("if (" + member + "_offsets)");
  std::string count = "size_t(" + rows + ")";
  for (int depth = 0; depth < leaf.depth; ++depth) {
    std::string offsets = member + "_offsets" + (depth ? std::to_string(depth) : "");
    out_.line("batch_.borrow_offsets(" + at + ", " + std::to_string(depth) + ", " + offsets + ", " + count +
              " + 1);");
    count = "size_t(" + offsets + "[" + count + "])";
  }
  out_.line("batch_.borrow_" + plural.str() + "(" + at + ", " + member + ", " + count + size + ");");
  out_.close();
}

void HeaderEmitter::flatArrays() {
  for (const Data &data : model_.datas) {
    out_.doc("Nodes of `" + data.source +
             "` as flat arrays, borrowed until Batch::clear(). What no entry reads may stay "
             "null. References are numbers of nodes in the whole batch; a list's elements are those between "
             "its row's "
             "offset and the next; numbers where a constructor lacks the field are ignored.");
    out_.open("struct " + data.arrays);
    Lines lines = {{"int32_t count = 0;", "nodes"},
                   {"const int32_t *begin = nullptr;", "first node of each input, then `count`: inputs + 1"}};
    std::string kinds;
    for (auto [kind, constructor] : llvm::enumerate(data.constructors))
      kinds += (kind ? ", " : "") + std::to_string(kind) + " " + constructor.source;
    if (data.constructors.size() > 1)
      lines.push_back({"const uint8_t *kinds = nullptr;", kinds});
    for (const Column &column : data.columns) {
      std::string of;
      if (column.constructors.size() < data.constructors.size())
        of = " (" + join(column.constructors, ", ") + ")";
      arrayMembers(lines, column.name, column.type, "count", of);
    }
    out_.aligned(lines);
    out_.close("};");
    out_.blank();
  }
  for (const auto &program : model_.programs) {
    if (program->arguments.empty())
      continue;
    out_.doc("Arguments of `" + program->source +
             "` for all inputs as flat arrays, borrowed until Batch::clear().");
    out_.open("struct " + program->arrays);
    Lines lines;
    for (const Argument &argument : program->arguments)
      for (auto [leaf, name] : llvm::zip(argument.leaves, argument.names))
        arrayMembers(lines, name, leafType(leaf, model_.context()), "inputs", "");
    out_.aligned(lines);
    out_.close("};");
    out_.blank();
  }
}

//===-- Batch
//---------------------------------------------------------------------------------------------------===//

void HeaderEmitter::entryArguments(const Program &program) {
  std::vector<std::string> parameters, notes;
  for (const Argument &argument : program.arguments)
    for (auto [leaf, name] : llvm::zip(argument.leaves, argument.names)) {
      const Element &e = leaf.element;
      std::string number = e.elem == Elem::Node ? handle(e.data) : scalarParameter(e.elem);
      std::string stored = e.elem == Elem::Bool && (leaf.depth || !e.scalar()) ? "uint8_t" : number;
      std::string type = leaf.depth == 0 && e.scalar() ? number : "dbc::View<" + stored + ">";
      if (leaf.depth > 1) {
        type = stored;
        for (int depth = 0; depth < leaf.depth; ++depth)
          type = "std::vector<" + type + ">";
        type = "const " + type + " &";
      }
      parameters.push_back(type + (StringRef(type).ends_with("&") ? "" : " ") + name);
      notes.push_back("`" + name + "`: " + describe(leafType(leaf, model_.context())));
    }
  out_.blank();
  out_.doc("Sets the arguments of `" + program.source + "` for the newest input.");
  for (const std::string &note : notes)
    out_.doc("  " + note);
  Writer body(out_.indent() + 2);
  int number = 0;
  for (const Argument &argument : program.arguments)
    for (const std::string &name : argument.names)
      body.line("argument_" + program.name + "_" + std::to_string(number++) + "(" + name + ");");
  out_.function("void " + program.name + "(" + commas(parameters) + ")", body.text());
}

void HeaderEmitter::borrowArguments(const Program &program) {
  out_.open("void borrow(const " + program.arrays + " &arrays)");
  int number = 0;
  for (const Argument &argument : program.arguments)
    for (auto [leaf, name] : llvm::zip(argument.leaves, argument.names))
      borrowColumn(name, leafType(leaf, model_.context()), "batch_.args()",
                   "batch_.arg_column(" + std::to_string(program.number) + ", " + std::to_string(number++) +
                       ")",
                   "batch_.inputs()");
  out_.close();
}

void HeaderEmitter::batch() {
  out_.doc("The inputs of a run. Filled either node by node, input after input, or from flat arrays "
           "(`borrow...`). It owns "
           "what was added node by node; clear() keeps the memory, so that refilling allocates nothing. "
           "Mistakes are kept "
           "and come out of the next run. For one thread at a time; borrows nothing but flat arrays.");
  out_.open("class Batch");
  out_.label("public:");
  out_.line("Batch() : batch_(::" + model_.name + "::info()) {}");
  out_.doc("Forgets all inputs, and arrays that were borrowed.");
  out_.line("void clear() { batch_.clear(); }");
  out_.doc("Starts the next input: nodes that are added and arguments that are set from here on are its own. "
           "Returns its "
           "number.");
  out_.line("int32_t begin_input() { return batch_.begin_input(); }");
  out_.line("int32_t inputs() const { return batch_.inputs(); }");
  for (const Data &data : model_.datas)
    for (auto [kind, constructor] : llvm::enumerate(data.constructors)) {
      std::vector<std::string> fields;
      for (const Field &field : constructor.fields)
        fields.push_back(field.source + ": " + spelling(field.type));
      out_.blank();
      out_.doc("Adds a node `" + constructor.source + "(" + commas(fields) + ")` of `" + data.source +
               "` to the newest input.");
      std::string builder = "::" + model_.name + "::" + constructor.builder;
      out_.line(builder + " " + constructor.name + "() { return {&batch_, batch_.add_node(" +
                std::to_string(data.number) + ", " + std::to_string(kind) + ")}; }");
      out_.doc("The same node again, to set fields later.");
      out_.line(builder + " " + constructor.name + "(" + handle(data.source) +
                " node) { return {&batch_, node.id}; }");
    }
  for (const auto &program : model_.programs)
    if (!program->arguments.empty())
      entryArguments(*program);
  out_.blank();
  out_.doc("Starts a batch of flat arrays; before anything else is borrowed.");
  out_.line("void borrow_inputs(int32_t inputs) { batch_.borrow_inputs(inputs); }");
  for (const Data &data : model_.datas) {
    out_.open("void borrow(const " + data.arrays + " &arrays)");
    out_.line("batch_.borrow_nodes(" + std::to_string(data.number) + ", " +
              (data.constructors.size() > 1 ? "arrays.kinds" : "nullptr") + ", arrays.count, arrays.begin);");
    for (auto [number, column] : llvm::enumerate(data.columns))
      borrowColumn(column.name, column.type, std::to_string(data.number), std::to_string(number),
                   "arrays.count");
    out_.close();
  }
  for (const auto &program : model_.programs)
    if (!program->arguments.empty())
      borrowArguments(*program);
  out_.blank();
  out_.doc("The untyped batch, for readers of files and hosts.");
  out_.line("dbc::Batch &raw() { return batch_; }");
  out_.label("private:");
  for (const auto &program : model_.programs) {
    int number = 0;
    for (const Argument &argument : program->arguments)
      for (const Leaf &leaf : argument.leaves) {
        std::string place = "batch_.args(), batch_.inputs() - 1, batch_.arg_column(" +
                            std::to_string(program->number) + ", " + std::to_string(number) + ")";
        setter("void ", "argument_" + program->name + "_" + std::to_string(number),
               leafType(leaf, model_.context()), place, "",
               "`" + leaf.path + "` of `" + program->source + "`");
        ++number;
      }
  }
  out_.line("dbc::Batch batch_;");
  out_.close("};");
  out_.blank();
}

//===-- Weights and model
//---------------------------------------------------------------------------------------===//

void HeaderEmitter::weights() {
  out_.doc("The master copies of all parameters, float, row-major, changed by their owner only. Load them "
           "with the readers "
           "of <dbc/io/safetensors.h>, draw() them, or fill each through its method and mark_given(). For "
           "one thread at a "
           "time. May throw std::bad_alloc when it is made.");
  out_.open("class Weights : public dbc::Weights");
  out_.label("public:");
  out_.line("Weights() : dbc::Weights(::" + model_.name + "::info()) {}");
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
  out_.doc("An immutable snapshot of weights in the form that the stages read. Independent of the Weights "
           "that it was made "
           "from; any number of sessions and threads may share it.");
  out_.open("class Model : public dbc::Model");
  out_.label("public:");
  out_.doc("Fails with bad_weights, naming all parameters that are not given, or with limit if there is no "
           "memory.");
  out_.open("static dbc::Status make(const dbc::Weights &weights, Model *model)");
  out_.line("return dbc::Model::make(::" + model_.name + "::code(), weights, model);");
  out_.close();
  out_.close("};");
  out_.blank();
}

//===-- Results
//-------------------------------------------------------------------------------------------------===//

std::string HeaderEmitter::resultType(const Result &result) {
  const Leaf &leaf = result.leaf;
  std::string number = leaf.element.elem == Elem::F32 ? model_.real().str() : "int32_t";
  if (leaf.depth > 0)
    return "dbc::Lists<" + number + ", " + std::to_string(leaf.element.size()) + ", " +
           std::to_string(leaf.depth) + ">";
  if (leaf.element.scalar())
    return "dbc::Scalars<" + number + ">";
  return "dbc::Tensors<" + number + ", " + std::to_string(leaf.element.size()) + ">";
}

std::string HeaderEmitter::resultValue(const Program &program, const Result &result, int leaf) {
  std::string number = std::to_string(leaf), from = result.leaf.element.elem != Elem::F32 ? "i32"
                                                    : model_.f64()                        ? "f64"
                                                                                          : "f32";
  return "{out." + from + "(" + number + "), " + (result.leaf.depth ? "out, " + number : "out.inputs()") +
         "}";
}

void HeaderEmitter::results() {
  for (const auto &program : model_.programs) {
    kernel::ProgramOp op = program->op;
    std::string what = std::string(op.getLoss() ? "the loss" : "the entry") + " `" + program->source +
                       "`: `" + spelling(op.getSurface()) + "` for each input";
    if (program->results.size() == 1) {
      const Result &result = program->results[0];
      out_.doc("Results of " + what +
               (result.leaf.element.elem == Elem::Node ? ", as `id` of the handle." : "."));
      out_.line("using " + program->result + " = " + resultType(result) + ";");
    } else {
      out_.doc("Results of " + what + ", one member a component.");
      out_.open("struct " + program->result);
      Lines lines;
      for (const Result &result : program->results) {
        Element e = result.leaf.element;
        lines.push_back(
            {resultType(result) + " " + result.name + ";",
             "`" + result.leaf.path + "`" + (e.elem == Elem::Node ? ", as `id` of a " + e.data : "")});
      }
      out_.aligned(lines);
      out_.close("};");
    }
    if (program->results.size() == 1 && program->results[0].leaf.depth <= 1 &&
        !program->results[0].leaf.element.scalar()) {
      std::vector<std::string> extents;
      for (int64_t extent : program->results[0].leaf.element.extents)
        extents.push_back(std::to_string(extent));
      out_.line("constexpr int64_t " + program->result + "Shape[] = {" + commas(extents) + "};");
    }
    out_.doc("The same, read from outputs of the caller.");
    std::vector<std::string> values;
    for (auto [number, result] : llvm::enumerate(program->results))
      values.push_back(resultValue(*program, result, number));
    Writer body(2);
    body.line("return " + (values.size() == 1 ? values[0] : "{" + commas(values) + "}") + ";");
    out_.function("inline " + program->result + " " + program->name + "_result(const dbc::Outputs &out)",
                  body.text());
    out_.blank();
  }
}

void HeaderEmitter::session() {
  out_.doc("One thread's runs: scratch memory, results, and `threads` workers of its own, the caller being "
           "one. Borrows the "
           "model. A run of a batch no larger than those before allocates nothing. Bits of results depend "
           "neither on the "
           "number of threads nor on what else is in the batch.");
  out_.open("class Session");
  out_.label("public:");
  out_.line("explicit Session(const Model &model, int32_t threads = 1) : session_(model, threads) {}");
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
             "entry. Inputs "
             "that failed have zeros and empty lists.");
    std::string result = "::" + model_.name + "::";
    out_.line(result + program->result + " " + name + "_result() const { return " + result + name +
              "_result(session_.outputs(" + number + ")); }");
    out_.doc("What the last run did, stage by stage.");
    out_.line("const dbc::RunProfile &" + name + "_profile() const { return session_.profile(" + number +
              "); }");
  }
  out_.blank();
  out_.doc("Status of an input in the last run.");
  out_.line("const dbc::Status &status(int32_t input) const { return session_.status(input); }");
  out_.doc("Number of inputs of the last run that failed.");
  out_.line("int32_t failed() const { return session_.failed(); }");
  out_.line("int32_t threads() const { return session_.threads(); }");
  out_.doc("The untyped session, for hosts.");
  out_.line("dbc::Session &raw() { return session_; }");
  out_.label("private:");
  out_.line("dbc::Session session_;");
  out_.close("};");
  out_.blank();
}

} // namespace

std::string emitHeader(const ModelNames &model) { return HeaderEmitter(model).emit(); }

} // namespace dbc::codegen
