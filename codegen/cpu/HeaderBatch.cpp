// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How an application hands in its inputs: builders, flat arrays, the Batch.
#include "codegen/cpu/HeaderEmitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

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

} // namespace

//===-- Values in ---------------------------------------------------------------------------------------===//

/// A method that sets one field or component: `target` is "table, row, column" of dbc::Batch, `after` what it
/// returns.
void HeaderEmitter::setter(const std::string &result, const std::string &name, Type type,
                           const std::string &target, const std::string &after, const std::string &note) {
  Component component = flatten(type, "")[0];
  const Element &e = component.element;
  std::string size = std::to_string(e.size()), batch = after.empty() ? "batch_." : "batch_->";
  bool isNode = e.elem == Elem::Node;
  auto head = [&](const std::string &parameter) { out_.open(result + name + "(" + parameter + ")"); };
  auto end = [&] {
    if (!after.empty())
      out_.line(after);
    out_.close();
  };
  // How many numbers an element gets; the batch refuses a last one that is not whole.
  auto numbers = [&](const std::string &values) {
    return e.size() == 1 ? size : "std::min<size_t>(" + size + ", " + values + ".size() - i)";
  };
  out_.doc(note);
  std::string number = isNode ? handle(e.data) : scalarParameter(e.elem);
  StringRef plural = e.elem == Elem::F32 ? "f32s" : e.elem == Elem::Bool ? "bools" : "ints";
  std::string stored = e.elem == Elem::F32 ? "float" : e.elem == Elem::Bool ? "uint8_t" : "int32_t";
  if (component.depth == 0) {
    if (e.scalar()) {
      head(number + " value");
      StringRef how = isNode ? "node" : e.elem == Elem::F32 ? "f32" : e.elem == Elem::Bool ? "bool" : "int";
      out_.line(batch + "set_" + how.str() + "(" + target + ", value" + (isNode ? ".id" : "") + ");");
    } else {
      head("dbc::View<" + stored + "> values");
      out_.line(batch + "set_" + plural.str() + "(" + target + ", values.data(), values.size());");
    }
    return end();
  }
  if (component.depth == 1) {
    // Elements one after the other in one array.
    head("dbc::View<" + (isNode ? number : stored) + "> values");
    out_.line(batch + (isNode ? "set_nodes(" : "set_list(") + target + ", values.data(), values.size());");
    return end();
  }
  // Lists of lists: nested vectors; the innermost hold their elements' numbers one after the other.
  std::string inner = isNode ? number : stored, vector = inner;
  for (int depth = 0; depth < component.depth; ++depth)
    vector = "std::vector<" + vector + ">";
  head("const " + vector + " &lists");
  std::string at = "lists";
  out_.line(batch + "open_list(" + target + ");");
  for (int depth = 1; depth < component.depth; ++depth) {
    std::string next = "list" + std::to_string(depth);
    out_.open("for (const auto &" + next + " : " + at + ")");
    out_.line(batch + "open_list(" + target + ");");
    at = next;
  }
  if (isNode) {
    out_.line("for (const " + number + " &value : " + at + ")");
    out_.line("  " + batch + "push_int(value.id);");
  } else {
    out_.line("for (size_t i = 0; i < " + at + ".size(); i += " + size + ")");
    out_.line("  " + batch + "push_" + plural.str() + "(" + at + ".data() + i, " + numbers(at) + ");");
  }
  for (int depth = 1; depth < component.depth; ++depth) {
    out_.line(batch + "close_list();");
    out_.close();
  }
  out_.line(batch + "close_list();");
  end();
}

/// What a setter's documentation says of a type.
static std::string describe(Type type) {
  Component component = flatten(type, "")[0];
  std::string text = "`" + spelling(type) + "`";
  if (component.element.elem == Elem::Index)
    text += ": numbers " + kindOf(component.element);
  if (!component.element.scalar())
    text += std::string(component.depth ? "; elements of " : "; ") +
            std::to_string(component.element.size()) + " elements, row-major" +
            (component.depth ? ", one after the other" : "");
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
      // Without a field there is nothing to set, and an unused member would be a warning of clang's.
      bool sets = !constructor.fields.empty();
      out_.line(constructor.builder + (sets ? "(dbc::Batch *batch, int32_t id) : batch_(batch), id_(id) {}"
                                            : "(dbc::Batch *, int32_t id) : id_(id) {}"));
      out_.line("operator " + handle(data.source) + "() const { return {id_}; }");
      for (const Field &field : constructor.fields) {
        std::string target = std::to_string(data.number) + ", id_, " + std::to_string(field.column);
        setter(constructor.builder + " &", field.name, field.type, target, "return *this;",
               describe(field.type));
      }
      out_.label("private:");
      if (sets)
        out_.line("dbc::Batch *batch_;");
      out_.line("int32_t id_;");
      out_.close("};");
      out_.blank();
    }
}

//===-- Flat arrays -------------------------------------------------------------------------------------===//

void HeaderEmitter::arrayMembers(Lines &lines, const std::string &name, Type type, const std::string &rows,
                                 StringRef note) {
  Component component = flatten(type, "")[0];
  std::string stored = component.element.elem == Elem::F32    ? "float"
                       : component.element.elem == Elem::Bool ? "uint8_t"
                                                              : "int32_t";
  std::string last = rows;
  for (int depth = 0; depth < component.depth; ++depth) {
    std::string offsets = name + "_offsets" + (depth ? std::to_string(depth) : "");
    lines.push_back({"const int32_t *" + offsets + " = nullptr;", last + " + 1"});
    last = offsets + "[last]";
  }
  std::string size = component.element.size() == 1 ? "" : " * " + std::to_string(component.element.size());
  lines.push_back({"const " + stored + " *" + name + " = nullptr;",
                   "`" + spelling(type) + "`, " + last + size + note.str()});
}

void HeaderEmitter::borrowColumn(const std::string &name, Type type, const std::string &table,
                                 const std::string &column, const std::string &rows) {
  Component component = flatten(type, "")[0];
  StringRef plural = component.element.elem == Elem::F32    ? "f32s"
                     : component.element.elem == Elem::Bool ? "bools"
                                                            : "ints";
  std::string at = table + ", " + column, member = "arrays." + name;
  std::string size = component.element.size() == 1 ? "" : " * " + std::to_string(component.element.size());
  if (component.depth == 0) {
    out_.line("if (" + member + ")");
    out_.line("  batch_.borrow_" + plural.str() + "(" + at + ", " + member + ", size_t(" + rows + ")" + size +
              ");");
    return;
  }
  out_.open("if (" + member + "_offsets)");
  std::string count = "size_t(" + rows + ")";
  for (int depth = 0; depth < component.depth; ++depth) {
    std::string offsets = member + "_offsets" + (depth ? std::to_string(depth) : "");
    out_.line((depth ? "count = " : "size_t count = ") + ("batch_.borrow_offsets(" + at + ", ") +
              std::to_string(depth) + ", " + offsets + ", " + count + " + 1);");
    count = "count";
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
      for (auto [component, name] : llvm::zip(argument.components, argument.names))
        arrayMembers(lines, name, componentType(component, model_.context()), "inputs", "");
    out_.aligned(lines);
    out_.close("};");
    out_.blank();
  }
}

//===-- Batch -------------------------------------------------------------------------------------------===//

void HeaderEmitter::entryArguments(const Program &program) {
  std::vector<std::string> parameters, notes;
  for (const Argument &argument : program.arguments)
    for (auto [component, name] : llvm::zip(argument.components, argument.names)) {
      const Element &e = component.element;
      std::string number = e.elem == Elem::Node ? handle(e.data) : scalarParameter(e.elem);
      std::string stored = e.elem == Elem::Bool && (component.depth || !e.scalar()) ? "uint8_t" : number;
      std::string type = component.depth == 0 && e.scalar() ? number : "dbc::View<" + stored + ">";
      if (component.depth > 1) {
        type = stored;
        for (int depth = 0; depth < component.depth; ++depth)
          type = "std::vector<" + type + ">";
        type = "const " + type + " &";
      }
      parameters.push_back(type + (StringRef(type).ends_with("&") ? "" : " ") + name);
      notes.push_back("`" + name + "`: " + describe(componentType(component, model_.context())));
    }
  out_.blank();
  out_.doc("Sets the arguments of `" + program.source + "` for the newest input.");
  for (const std::string &note : notes)
    out_.doc("  " + note);
  for (const Argument &argument : program.arguments) {
    std::string others;
    for (const auto &other : model_.programs)
      if (other->number != program.number && llvm::any_of(other->arguments, [&](const Argument &a) {
            return a.source == argument.source && a.type == argument.type;
          }))
        others += (others.empty() ? "`" : ", `") + other->source + "`";
    if (!others.empty())
      out_.doc("  The input's `" + argument.source + "` is that of " + others + ", too.");
  }
  Writer body(out_.indent() + 2);
  for (const Argument &argument : program.arguments)
    for (auto [setter, name] : llvm::zip(argument.setters, argument.names))
      body.line(setter + "(" + name + ");");
  out_.function("void " + program.name + "(" + commas(parameters) + ")", body.text());
}

void HeaderEmitter::borrowArguments(const Program &program) {
  out_.open("void borrow(const " + program.arrays + " &arrays)");
  int number = 0;
  for (const Argument &argument : program.arguments)
    for (auto [component, name] : llvm::zip(argument.components, argument.names))
      borrowColumn(name, componentType(component, model_.context()), "batch_.args()",
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
  out_.line("Batch() : batch_(::" + model_.space() + "::info()) {}");
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
      std::string builder = "::" + model_.space() + "::" + constructor.builder;
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
    std::string nodes = "batch_.borrow_nodes(" + std::to_string(data.number) + ", " +
                        (data.constructors.size() > 1 ? "arrays.kinds" : "nullptr") +
                        ", arrays.count, arrays.begin)";
    if (data.columns.empty()) {
      out_.line(nodes + ";");
    } else {
      out_.line("if (!" + nodes + ")");
      out_.line("  return;");
    }
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
      for (auto [component, name] : llvm::zip(argument.components, argument.setters)) {
        std::string target = "batch_.args(), batch_.inputs() - 1, batch_.arg_column(" +
                             std::to_string(program->number) + ", " + std::to_string(number) + ")";
        setter("void ", name, componentType(component, model_.context()), target, "",
               "`" + component.path + "` of `" + program->source + "`");
        ++number;
      }
  }
  out_.line("dbc::Batch batch_;");
  out_.close("};");
  out_.blank();
}

} // namespace dbc::codegen
