// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reading instances. A line goes through four steps: text to tape, nodes to constructors, a check of every
// value, and only then into the batch, where nothing can fail any more but memory.
#include "InstanceCheck.h"
#include "InstanceEmit.h"
#include "Nearest.h"
#include "Result.h"

#include <cmath>
#include <dbc/io/instances.h>
#include <regex>

namespace dbc {

using namespace io;

class InstanceReader::Line {
public:
  std::string text; ///< of a line that is wrong; the others have what follows
  std::vector<Token> tokens;
  std::vector<uint64_t> node_tokens, arg_tokens;
  std::vector<Constructor> constructors;
  float weight = 1;
};

struct InstanceReader::State {
  State(const ModelInfo &model, const EntryInfo &entry, int64_t first_line)
      : schema(model, entry), tape(schema.texts), check(schema, tape), line(first_line) {
    nodes.index_.resize(model.datas.size());
    seen.resize(schema.max_names);
  }
  Schema schema;
  Tape tape;
  ValueCheck check;
  int64_t line;
  NodeTable nodes;
  std::vector<float> weights;
  std::vector<bool> failed;   ///< by input: whether the line itself was wrong
  std::vector<int64_t> lines; ///< by input: its line

  // The line being read.
  std::vector<uint64_t> node_tokens;     ///< of each node, its object's token
  std::vector<Constructor> constructors; ///< of each node
  std::vector<int32_t> numbers;          ///< of each node, in the batch
  std::vector<uint64_t> arg_tokens;      ///< of each argument, its value's token
  std::vector<uint64_t> seen; ///< by field: one more than the token of the object it was last seen in
  float weight = 1;

  std::string message; ///< what is wrong, without model and line
  int32_t bad_node = -1;
  std::string bad_field;

  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  bool fail_node(size_t node, const std::string &name, const std::string &text) {
    bad_node = static_cast<int32_t>(node);
    return fail("node " + std::to_string(node) + (name.empty() ? "" : " (" + shown(name) + ")") + ": " +
                text);
  }
  /// "field `children`[3]: ..." for a value that did not pass.
  std::string value_failure(const char *what, const std::string &name) {
    bad_field = name;
    return std::string(what) + " `" + name + "`" + check.path + ": " + check.what;
  }

  bool read(std::string_view text);
  bool read(const Line &line);
  template <class Text> Status append(const Text &line, Batch &batch);
  bool read_top(uint64_t &nodes_at, uint64_t &args_at);
  bool read_constructors(uint64_t nodes_at);
  bool decide_constructors();
  void refer(const TypeInfo &type, uint64_t token, std::vector<size_t> &decided);
  bool check_fields();
  bool check_args(uint64_t args_at);
  void emit(Batch &batch);
};

bool InstanceReader::State::read(std::string_view text) {
  bad_node = -1;
  bad_field.clear();
  weight = 1;
  uint64_t nodes_at = 0, args_at = 0;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return fail("the line is empty");
  return tape.parse(text, schema.depth, message) && read_top(nodes_at, args_at) &&
         read_constructors(nodes_at) && check_fields() && check_args(args_at);
}

bool InstanceReader::State::read(const Line &line) {
  if (line.tokens.empty())
    return read(line.text);
  tape.put_back(line.tokens);
  node_tokens = line.node_tokens;
  arg_tokens = line.arg_tokens;
  constructors = line.constructors;
  weight = line.weight;
  return true;
}

/// Finds the values of "nodes" and "args" (0 where there is none: token 0 is the line's object) and the
/// weight.
bool InstanceReader::State::read_top(uint64_t &nodes_at, uint64_t &args_at) {
  if (tape[0].kind != Json::Object)
    return fail("expected an object with \"nodes\" and \"args\", found " + check.shown_token(0) +
                (tape[0].kind == Json::Array ? lines_not_array : ""));
  bool has_weight = false;
  for (uint64_t at = 1; at < tape[0].end; at = tape.next(at + 1)) {
    uint32_t key = tape[at].extra;
    const Token &value = tape[at + 1];
    std::string name(shown(tape.text(key), 30));
    if ((key == schema.nodes && nodes_at) || (key == schema.args && args_at) ||
        (key == schema.weight && has_weight))
      return fail("\"" + name + "\" stands twice");
    if (key == schema.nodes) {
      nodes_at = at + 1;
      if (value.kind != Json::Array)
        return fail("\"nodes\" must be an array, found " + check.shown_token(at + 1));
    } else if (key == schema.args) {
      args_at = at + 1;
      if (value.kind != Json::Object)
        return fail("\"args\" must be an object, found " + check.shown_token(at + 1));
    } else if (key == schema.weight) {
      has_weight = true;
      if (value.kind != Json::Int && value.kind != Json::Float)
        return fail("\"weight\" must be a number, found " + check.shown_token(at + 1));
      weight = token_f32(schema, value);
      if (!std::isfinite(weight))
        return fail("\"weight\" must be a finite number, found " + check.shown_token(at + 1));
    } else if (key != schema.target) {
      return fail("unknown key \"" + name + "\"; a line has \"nodes\", \"args\", \"weight\" and \"target\"");
    }
  }
  return true;
}

/// Steps through "nodes": each must be {"Constructor": {..}} of a constructor that exists.
bool InstanceReader::State::read_constructors(uint64_t nodes_at) {
  node_tokens.clear();
  constructors.clear();
  check.set_table(&constructors);
  if (!nodes_at)
    return true;
  if (tape[nodes_at].extra > static_cast<uint32_t>(INT32_MAX))
    return fail("more than 2147483647 nodes");
  bool undecided = false;
  uint64_t at = nodes_at + 1;
  for (uint32_t n = 0; n < tape[nodes_at].extra; ++n, at = tape.next(at)) {
    const Token &node = tape[at];
    if (node.kind != Json::Object || node.extra != 1)
      return fail_node(
          n, "",
          "expected an object with one key, the constructor, found " +
              (node.kind == Json::Object ? "one of " + std::to_string(node.extra) : check.shown_token(at)));
    const Token &key = tape[at + 1];
    std::string name(tape.text(key));
    if (key.extra >= schema.constructors.size() || schema.constructors[key.extra].empty())
      return fail_node(n, "",
                       "unknown constructor `" + shown(name) + "`" +
                           hint(name, schema.constructor_names, "the model has"));
    if (tape[at + 2].kind != Json::Object)
      return fail_node(n, name, "expected an object of fields, found " + check.shown_token(at + 2));
    const std::vector<Constructor> &candidates = schema.constructors[key.extra];
    undecided |= candidates.size() > 1;
    constructors.push_back(candidates.size() == 1 ? candidates[0] : Constructor());
    node_tokens.push_back(at);
  }
  return !undecided || decide_constructors();
}

/// Gives each reference's type to the node it names, if that node's constructor is in several data types;
/// what is decided is put on the list, since its own fields decide others.
void InstanceReader::State::refer(const TypeInfo &type, uint64_t token, std::vector<size_t> &decided) {
  const Token &t = tape[token];
  if (type.form == TypeInfo::Form::Value) {
    if (type.elem != Elem::Node || t.kind != Json::Int || t.integer < 0 ||
        t.integer >= static_cast<int64_t>(constructors.size()))
      return; // nothing to decide; what is wrong is found by check_fields
    size_t node = static_cast<size_t>(t.integer);
    if (constructors[node].data >= 0)
      return;
    for (Constructor c : schema.constructors[tape[node_tokens[node] + 1].extra])
      if (c.data == type.data) {
        constructors[node] = c;
        decided.push_back(node);
      }
    return;
  }
  if (t.kind != (type.form == TypeInfo::Form::Record ? Json::Object : Json::Array))
    return;
  uint64_t at = token + 1;
  for (uint32_t k = 0; k < t.extra; ++k) {
    if (type.form == TypeInfo::Form::List) {
      refer(type.elements[0], at, decided);
    } else if (type.form == TypeInfo::Form::Tuple) {
      if (k < type.elements.size())
        refer(type.elements[k], at, decided);
    } else {
      std::string_view key = tape.text(tape[at++]);
      for (size_t p = 0; p < type.names.size(); ++p)
        if (type.names[p] == key)
          refer(type.elements[p], at, decided);
    }
    at = tape.next(at);
  }
}

/// Decides nodes whose constructor's name is in several data types by what refers to them.
bool InstanceReader::State::decide_constructors() {
  std::vector<size_t> decided;
  for (size_t n = 0; n < constructors.size(); ++n)
    if (constructors[n].data >= 0)
      decided.push_back(n);
  for (uint64_t at = 1; at < tape[0].end; at = tape.next(at + 1))
    if (tape[at].extra == schema.args)
      for (uint64_t arg = at + 2; arg < tape[at + 1].end; arg = tape.next(arg + 1))
        for (size_t a = 0; a < schema.arg_names.size(); ++a)
          if (schema.arg_names[a] == tape[arg].extra)
            refer(schema.entry.args[a].type, arg + 1, decided);
  while (!decided.empty()) {
    size_t n = decided.back();
    decided.pop_back();
    Constructor c = constructors[n];
    const std::vector<uint32_t> &names = schema.fields[c.data][c.kind];
    uint64_t fields = node_tokens[n] + 2;
    for (uint64_t at = fields + 1; at < tape[fields].end; at = tape.next(at + 1))
      for (size_t f = 0; f < names.size(); ++f)
        if (names[f] == tape[at].extra)
          refer(schema.model.datas[c.data].constructors[c.kind].fields[f].type, at + 1, decided);
  }
  for (size_t n = 0; n < constructors.size(); ++n)
    if (constructors[n].data < 0) {
      uint32_t text = tape[node_tokens[n] + 1].extra;
      std::string name(tape.text(text)), choice;
      for (Constructor c : schema.constructors[text])
        choice += (choice.empty() ? "`" : " or `") + schema.model.datas[c.data].name + "." + name + "`";
      return fail_node(
          n, name,
          "several data types have this constructor, and nothing that refers to the node decides; "
          "write " +
              choice);
    }
  return true;
}

bool InstanceReader::State::check_fields() {
  std::fill(seen.begin(), seen.end(), 0);
  for (size_t n = 0; n < constructors.size(); ++n) {
    Constructor c = constructors[n];
    const ConstructorInfo &info = schema.model.datas[c.data].constructors[c.kind];
    const std::vector<uint32_t> &names = schema.fields[c.data][c.kind];
    uint64_t fields = node_tokens[n] + 2;
    for (uint64_t at = fields + 1; at < tape[fields].end; at = tape.next(at + 1)) {
      size_t f = 0;
      while (f < names.size() && names[f] != tape[at].extra)
        ++f;
      if (f == names.size()) {
        std::string name(tape.text(tape[at]));
        std::vector<std::string> known;
        for (const FieldInfo &field : info.fields)
          known.push_back(field.name);
        return fail_node(
            n, info.name,
            "unknown field `" + shown(name) + "`" +
                (known.empty() ? "; the constructor has none" : hint(name, known, "the fields are")));
      }
      if (seen[f] == fields) {
        bad_field = info.fields[f].name;
        return fail_node(n, info.name, "field `" + bad_field + "` stands twice");
      }
      seen[f] = fields;
      if (!check.value(info.fields[f].type, at + 1))
        return fail_node(n, info.name, value_failure("field", info.fields[f].name));
    }
  }
  return true;
}

bool InstanceReader::State::check_args(uint64_t args_at) {
  const std::vector<ArgInfo> &args = schema.entry.args;
  arg_tokens.assign(args.size(), 0);
  uint64_t end = args_at ? tape[args_at].end : 0;
  for (uint64_t at = args_at + 1; at < end; at = tape.next(at + 1)) {
    uint32_t key = tape[at].extra;
    size_t a = 0;
    while (a < args.size() && schema.arg_names[a] != key)
      ++a;
    if (a == args.size()) {
      if (key < schema.other_args.size() && schema.other_args[key])
        continue;
      std::string name(tape.text(key));
      std::vector<std::string> names;
      for (const ArgInfo &arg : args)
        names.push_back(arg.name);
      return fail("unknown argument `" + shown(name) + "` of `" + schema.entry.name + "`" +
                  (names.empty() ? "; it has none" : hint(name, names, "it has")));
    }
    if (arg_tokens[a]) {
      bad_field = args[a].name;
      return fail("argument `" + bad_field + "` stands twice");
    }
    arg_tokens[a] = at + 1;
    if (!check.value(args[a].type, at + 1))
      return fail(value_failure("argument", args[a].name));
  }
  std::string missing;
  for (size_t a = 0; a < args.size(); ++a)
    if (!arg_tokens[a]) {
      missing += (missing.empty() ? "`" : ", `") + args[a].name + "`";
      bad_field = bad_field.empty() ? args[a].name : bad_field;
    }
  if (missing.empty())
    return true;
  return fail((missing.find(',') == std::string::npos ? "argument " : "arguments ") + missing + " of `" +
              schema.entry.name +
              (missing.find(',') == std::string::npos ? "` is missing" : "` are missing"));
}

/// Puts the checked line into the batch.
void InstanceReader::State::emit(Batch &batch) {
  numbers.resize(constructors.size());
  for (size_t n = 0; n < constructors.size(); ++n) {
    Constructor c = constructors[n];
    int32_t number = batch.add_node(c.data, c.kind);
    batch.number_node(c.data, number, static_cast<int32_t>(n));
    numbers[n] = number;
    if (number < 0)
      continue; // no room; the batch's own status says so
    std::vector<int32_t> &index = nodes.index_[c.data];
    if (index.size() <= static_cast<size_t>(number))
      index.resize(static_cast<size_t>(number) + 1, -1);
    index[number] = static_cast<int32_t>(n);
  }
  Emitter emitter(schema, tape, numbers, batch);
  for (size_t n = 0; n < constructors.size(); ++n) {
    Constructor c = constructors[n];
    const ConstructorInfo &info = schema.model.datas[c.data].constructors[c.kind];
    const std::vector<uint32_t> &names = schema.fields[c.data][c.kind];
    uint64_t fields = node_tokens[n] + 2;
    for (uint64_t at = fields + 1; at < tape[fields].end; at = tape.next(at + 1))
      for (size_t f = 0; f < names.size(); ++f)
        if (names[f] == tape[at].extra)
          emitter.field(c.data, numbers[n], info.fields[f].column, info.fields[f].type, at + 1);
  }
  int32_t component = 0, input = batch.inputs() - 1;
  for (size_t a = 0; a < arg_tokens.size(); ++a) {
    const TypeInfo &type = schema.entry.args[a].type;
    for (const ComponentPath &path : component_paths(type))
      emitter.component(batch.args(), input, batch.arg_column(schema.entry_number, component++), path,
                        arg_tokens[a]);
  }
}

InstanceReader::InstanceReader(const ModelInfo &model, const EntryInfo &entry, int64_t first_line)
    : state_(std::make_unique<State>(model, entry, first_line)) {}
InstanceReader::~InstanceReader() = default;

template <class Text> Status InstanceReader::State::append(const Text &text, Batch &batch) {
  int64_t number = line++;
  Status status = guarded([&]() -> Status {
    if (schema.entry_number < 0)
      return Status::error(Code::bad_call, schema.model.name + " has no entry `" + schema.entry.name + "`");
    if (read(text))
      return Status();
    Status bad = Status::error(Code::bad_input,
                               schema.model.name + ": line " + std::to_string(number) + ": " + message);
    bad.node = bad_node;
    bad.field = bad_field;
    return bad;
  });
  Status placed = guarded([&]() -> Status {
    int32_t input = batch.begin_input();
    if (input < 0) { // the batch says why
      InputStatuses none;
      return batch.validate(nullptr, 0, none);
    }
    weights.push_back(status.ok() ? weight : 1);
    failed.push_back(!status.ok());
    lines.push_back(number);
    status.input = input;
    if (status.ok())
      emit(batch);
    else
      batch.fail(input, status);
    return Status();
  });
  if (status.ok() && placed.ok())
    status.input = -1;
  return placed.ok() ? status : placed;
}

Status InstanceReader::append(std::string_view line, Batch &batch) { return state_->append(line, batch); }
Status InstanceReader::append(const Line &line, Batch &batch) { return state_->append(line, batch); }

std::shared_ptr<const InstanceReader::Line> InstanceReader::read(std::string_view text) {
  State &s = *state_;
  auto line = std::make_shared<Line>();
  if (s.schema.entry_number < 0 || !s.read(text))
    line->text = text;
  else
    *line = {"", s.tape.tokens(), s.node_tokens, s.arg_tokens, s.constructors, s.weight};
  return line;
}

void InstanceReader::clear(Batch &batch) {
  batch.clear();
  for (auto &index : state_->nodes.index_)
    index.clear();
  state_->weights.clear();
  state_->failed.clear();
  state_->lines.clear();
}

void InstanceReader::skip_line() { ++state_->line; }

Status InstanceReader::in_lines(Status status) const {
  const State &s = *state_;
  size_t input = static_cast<size_t>(status.input);
  if (status.input < 0 || input >= s.lines.size() || s.failed[input])
    return status;
  std::string by_input = s.schema.model.name + ": input " + std::to_string(status.input) + ": ";
  if (status.message.compare(0, by_input.size(), by_input) == 0)
    status.message = s.schema.model.name + ": line " + std::to_string(s.lines[input]) + ": " +
                     status.message.substr(by_input.size());
  return status;
}

const std::vector<float> &InstanceReader::weights() const { return state_->weights; }
const NodeTable &InstanceReader::nodes() const { return state_->nodes; }
int64_t InstanceReader::line() const { return state_->line; }

std::string without_input(const std::string &message) {
  static const std::regex number("(input|line) [0-9]+: ");
  return std::regex_replace(message, number, "");
}

} // namespace dbc
