// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Collects what a module has and gives it names: first the interface, then program by program.
#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"
#include <map>

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static int64_t product(const std::vector<int64_t> &extents) {
  int64_t n = 1;
  for (int64_t e : extents)
    n *= e;
  return n;
}
int64_t Param::size() const { return product(shape); }
int64_t Array::rowSize() const { return product(extents); }

Type scalarOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

std::vector<int64_t> extentsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape().vec() : std::vector<int64_t>();
}

std::string pointee(Type element, bool field) {
  if (element.isF32())
    return field ? "float" : "real";
  return element.isInteger(1) ? "uint8_t" : "int32_t";
}

std::string ModelNames::variant() const {
  std::string text = source + " " + real().str();
  if (DictionaryAttr dims = dyn::DynDialect::DimsAttrHelper(context()).getAttr(module))
    for (NamedAttribute dim : dims)
      text += " " + dim.getName().str() + "=" + std::to_string(cast<IntegerAttr>(dim.getValue()).getInt());
  for (const Data &data : datas)
    for (const Constructor &constructor : data.constructors) {
      text += "\n" + data.source + " " + constructor.source;
      for (const Field &field : constructor.fields)
        text += " " + field.source + ": " + spelling(field.type);
    }
  for (const Param &param : params)
    text += "\n" + param.path + " " + shapeText(param.shape);
  for (const auto &program : programs) {
    kernel::ProgramOp op = program->op;
    text += "\n" + program->source;
    for (const Argument &argument : program->arguments)
      text += " " + argument.source + ": " + spelling(argument.type);
    text += " -> " + spelling(op.getSurface());
  }
  return "dims_" + utohexstr(xxh3_64bits(text), /*LowerCase=*/true).substr(0, 8);
}

Work ModelNames::work(kernel::FuncOp stage) const {
  kernel::WorkAttr work = stage.getWorkAttr();
  return work ? Work{work.getRealsRead() * bytes("real") + work.getBytesRead(),
                     work.getRealsWritten() * bytes("real") + work.getBytesWritten(), work.getGathers(),
                     work.getOperations()}
              : Work();
}

std::string Work::text() const {
  return commas({std::to_string(bytesRead), std::to_string(bytesWritten), std::to_string(gathers),
                 std::to_string(operations)});
}

InputGradient::InputGradient(const ModelNames &model, const Program &program, kernel::InputGradientOp op) {
  const Array array = model.array(program, op.getArray());
  shape = array.extents;
  width = array.rowSize();
  kernel::FieldArray which;
  if (auto field = program.find<kernel::FieldOp>(op.getArray())) {
    path = (field.getData() + "." + field.getName()).str();
    data = model.data(field.getData()).number;
    column = field.getColumn();
    which = field.getArray();
  } else {
    auto argument = program.find<kernel::ArgumentOp>(op.getArray());
    column = argument.getComponent();
    int first = 0;
    for (const Argument &each : program.arguments) {
      const int components = each.components.size();
      if (column >= first && column < first + components)
        path = program.source + "." + each.components[column - first].path;
      first += components;
    }
    which = argument.getArray();
  }
  isList = which == kernel::FieldArray::Items;
}

//===-- The interface -----------------------------------------------------------------------------------===//

ModelNames::ModelNames(ModuleOp module, const Options &options) : module(module), options(options) {
  source = module.getSymName() ? module.getSymName()->str() : "model";
  name = identifier(source);
  // What stands in the model's namespace, and the methods of Batch and Session.
  NameScope scope, methods;
  for (StringRef word : {"Batch", "Weights", "Model", "Session", "info", "code", "param", "dims", "types",
                         "math", "Gradients"})
    scope.reserve(word);
  for (StringRef word : {"Batch",        "Session",        "begin_input", "clear",         "raw",
                         "borrow",       "borrow_inputs",  "inputs",      "status",        "failed",
                         "threads",      "profile",        "batch_",      "session_",      "run",
                         "weigh_losses", "give_gradients", "set_dropout", "drop_elements", "number_inputs"})
    methods.reserve(word);
  scope.reserve(name);

  for (auto op : module.getOps<kernel::DataOp>())
    addData(op, scope);
  for (Data &data : datas)
    for (Constructor &constructor : data.constructors) {
      constructor.name = methods.fresh({constructor.source, data.source + "_" + constructor.source});
      constructor.builder = scope.fresh(constructor.source + "Builder");
      NameScope setters;
      for (StringRef word :
           {StringRef("id"), StringRef("id_"), StringRef("batch_"), StringRef(constructor.builder)})
        setters.reserve(word);
      for (Field &field : constructor.fields)
        field.name = setters.fresh(field.source);
    }
  for (const Data &data : datas)
    if (StringRef(data.name).ends_with("_result"))
      methods.reserve(data.name); // a function <entry>_result in the namespace would hide it
  NameScope paramScope;
  for (auto op : module.getOps<kernel::ParamOp>()) {
    Param param;
    param.op = op;
    param.number = params.size();
    param.path = op.getSymName().str();
    param.name = paramScope.fresh(param.path);
    param.shape = extentsOf(op.getType());
    params.push_back(param);
  }
  for (auto op : module.getOps<kernel::ProgramOp>())
    addProgram(op, scope, methods);
  sharedSpace = scope.fresh("shared_code");
  numberChecks();
}

void ModelNames::numberChecks() {
  std::map<std::pair<StringRef, int>, int> numbers; // of a stage's name and its check
  for (const auto &program : programs)
    for (kernel::FuncOp stage : program->stages) {
      int inStage = 0;
      stage.walk([&](Operation *op) {
        if (op->hasTrait<kernel::FailsInput>())
          checks_[op] = numbers.try_emplace({stage.getSymName(), inStage++}, numbers.size()).first->second;
      });
    }
}

/// What stands behind a list's name in structs of flat arrays.
static ArrayRef<StringRef> offsets(int depth) {
  static const StringRef suffixes[] = {"_offsets", "_offsets1", "_offsets2", "_offsets3"};
  assert(depth <= int(std::size(suffixes)) && "the checker allows no deeper lists");
  return ArrayRef(suffixes).take_front(depth);
}

void ModelNames::addData(kernel::DataOp op, NameScope &scope) {
  Data data;
  data.op = op;
  data.number = datas.size();
  data.source = op.getSymName().str();
  data.name = scope.fresh(data.source);
  data.arrays = scope.fresh(data.source + "Arrays");
  for (auto ctor : op.getBody().getOps<kernel::CtorOp>()) {
    Constructor constructor;
    constructor.source = ctor.getName().str();
    for (auto [name, type, column] : llvm::zip(ctor.getFields(), ctor.getTypes(), ctor.getColumns())) {
      StringRef field = cast<StringAttr>(name).getValue();
      Type fieldType = cast<TypeAttr>(type).getValue();
      constructor.fields.push_back({field.str(), "", fieldType, column});
      if (data.columns.size() <= size_t(column))
        data.columns.resize(column + 1);
      Column &into = data.columns[column];
      into.source = field.str();
      into.type = fieldType;
      into.constructors.push_back(constructor.source);
    }
    data.constructors.push_back(std::move(constructor));
  }
  NameScope columns;
  for (StringRef word : {"count", "begin", "kinds"})
    columns.reserve(word);
  columns.reserve(data.arrays);
  for (Column &column : data.columns)
    column.name = columns.fresh({column.source, column.constructors.front() + "_" + column.source},
                                offsets(flatten(column.type, "")[0].depth));
  datas.push_back(std::move(data));
}

const Data &ModelNames::data(StringRef source) const {
  for (const Data &data : datas)
    if (data.source == source)
      return data;
  llvm_unreachable("no such data type");
}

const Param *ModelNames::param(StringRef path) const {
  for (const Param &param : params)
    if (param.path == path)
      return &param;
  return nullptr;
}

//===-- Programs ----------------------------------------------------------------------------------------===//

void ModelNames::addProgram(kernel::ProgramOp op, NameScope &scope, NameScope &methods) {
  auto program = std::make_unique<Program>();
  program->op = op;
  program->number = programs.size();
  program->source = op.getSymName().str();
  program->name = methods.fresh({program->source, program->source + "_entry"},
                                {"_result", "_profile", "_into", "_arrays", "_gradients"});
  program->result = scope.fresh(capitalised(program->source) + "Result", {"Shape"});
  program->arrays = scope.fresh(capitalised(program->source) + "Arrays");
  program->space = scope.fresh(program->source + "_code");

  NameScope parameters;
  for (StringRef word : {"batch_", "row", "out"})
    parameters.reserve(word);
  unsigned componentNumber = 0;
  for (auto [argument, type] : llvm::zip(op.getArgNames(), op.getArgTypes())) {
    Argument a;
    a.source = cast<StringAttr>(argument).getValue().str();
    a.type = cast<TypeAttr>(type).getValue();
    a.components = flatten(a.type, a.source);
    for (size_t i = 0; i < a.components.size(); ++i)
      a.setters.push_back(methods.fresh("argument_" + program->name + "_" + utostr(componentNumber++)));
    for (const std::string &setter : a.setters)
      parameters.reserve(setter);
    program->arguments.push_back(std::move(a));
  }
  for (Argument &a : program->arguments)
    for (const Component &component : a.components)
      a.names.push_back(parameters.fresh(component.path, offsets(component.depth)));
  NameScope members;
  std::vector<Component> components = flatten(op.getSurface(), "");
  for (Component &component : components) {
    StringRef path = component.path;
    std::string wish = path.empty() ? "values" : isDigit(path[0]) ? ("element" + path).str() : path.str();
    std::string member = members.fresh(wish);
    program->results.push_back({component, components.size() == 1 ? std::string() : member});
  }

  addMembers(*program);
  addGiven(*program);
  addStorages(*program);
  findUses(*program);
  programs.push_back(std::move(program));
}

void ModelNames::addMembers(Program &p) {
  for (StringRef word : {"schedule",   "compute",  "bind",   "errors",   "budget",       "batch",  "node_set",
                         "see_fields", "Plan",     "math",   "arrays",   "block_groups", "begun",  "device",
                         "status",     "launched", "report", "begin_on", "finish_on",    "decides"})
    p.members.reserve(word);
  for (StringRef word : kNoArrays)
    p.members.reserve(word);
  p.op.walk([&](kernel::DropoutOp) { p.drops = true; });
  if (p.drops)
    p.members.reserve("dropout");
  for (StringRef word : {"run", "row", "once", "level", "step", "time_step", "launch", "stages", "kScratch",
                         "loop", "worker", "error"})
    p.members.avoid(word);
  for (Operation &op : p.op.getBody().front()) {
    if (auto symbol = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      p.symbols[symbol.getValue()] = &op;
    llvm::TypeSwitch<Operation *>(&op)
        .Case<kernel::IndexSetOp>([&](auto o) { p.indexSets.push_back(o); })
        .Case<kernel::GroupOp>([&](auto o) { p.groups.push_back(o); })
        .Case<kernel::RelationOp>([&](auto o) { p.relations.push_back(o); })
        .Case<kernel::BufferOp>([&](auto o) { p.buffers.push_back(o); })
        .Case<kernel::FieldOp>([&](auto o) { p.fields.push_back(o); })
        .Case<kernel::ArgumentOp>([&](auto o) { p.inputs.push_back(o); })
        .Case<kernel::WeightsOp>([&](auto o) { p.weights.push_back(o); })
        .Case<kernel::OutputOp>([&](auto o) { p.outputs.push_back(o); })
        .Case<kernel::GradientOp>([&](auto o) { p.gradients.push_back(o); })
        .Case<kernel::InputGradientOp>([&](auto o) { p.inputGradients.push_back(o); })
        .Case<kernel::FuncOp>([&](auto o) { p.funcs.push_back(o); })
        .Case<kernel::ScheduleOp>([&](auto o) { p.schedule = o; })
        .Case<kernel::RunOp>([&](auto o) { p.run = o; });
  }
  // Index sets and groups first: their names are read most.
  auto name = [&](auto &ops, StringRef second) {
    for (auto op : ops)
      p.names[op] = p.members.fresh({op.getSymName(), (op.getSymName() + second).str()});
  };
  if (kernel::IndexSetOp inputs = p.inputIndexSet())
    p.names[inputs] = p.members.fresh("inputs"); // `input` is one of them
  for (kernel::IndexSetOp indexSet : p.indexSets)
    if (indexSet.getKind() != kernel::IndexSetKind::Inputs)
      p.names[indexSet] = p.members.fresh({indexSet.getSymName(), (indexSet.getSymName() + "_rows").str()});
  for (kernel::GroupOp group : p.groups) {
    StringRef symbol = group.getSymName();
    p.names[group] = p.members.fresh({symbol, (symbol + "_group").str()}, {"_cells", "_keys"});
    p.needs[group] = p.members.fresh("need_" + p.names[group]);
  }
  name(p.buffers, "_values");
  if (p.run)
    p.run.walk([&](kernel::LaunchOp launch) {
      for (auto loop = launch->getParentOfType<kernel::LevelsOp>(); loop;
           loop = loop->getParentOfType<kernel::LevelsOp>())
        p.find<kernel::FuncOp>(launch.getFunc()).walk([&](kernel::WindowOp op) {
          auto indexSet = p.find<kernel::IndexSetOp>(op.getIndexSet());
          int64_t live = op.getLive();
          if (p.groupOf(indexSet).getSymName() != loop.getCarrier() ||
              llvm::any_of(p.windows, [&](const Program::Window &w) {
                return w.indexSet == indexSet && w.live == live && w.loop == loop;
              }))
            return;
          std::string wish = p.names[indexSet] + "_last" + std::to_string(live);
          p.windows.push_back({indexSet, live, loop, p.members.fresh(wish)});
        });
    });
  name(p.fields, "_field");
  name(p.inputs, "_argument");
  name(p.weights, "_packed");
  // Stages are free functions beside the plan, all others its methods.
  NameScope stages;
  for (StringRef word : {"Plan", "stages", "kScratch", "math"})
    stages.reserve(word);
  for (kernel::GroupOp group : p.groups)
    stages.reserve(p.names[group] + "_cells");
  for (kernel::FuncOp func : p.funcs) {
    bool isStage = func.getKind() == kernel::FuncKind::Stage;
    p.names[func] =
        (isStage ? stages : p.members).fresh({func.getSymName(), (func.getSymName() + "_function").str()});
  }
}

void ModelNames::addGiven(Program &p) {
  p.op.walk([&](kernel::RequireOp require) {
    StringRef symbol = require.getArray();
    if (p.givenBy.contains(symbol))
      return;
    std::string wish, view;
    if (auto field = p.find<kernel::FieldOp>(symbol)) {
      std::string column = std::to_string(field.getColumn());
      wish = "given_" + field.getData().str() + "_" + column;
      view = "run.batch.column(" + std::to_string(data(field.getData()).number) + ", " + column + ")";
    } else {
      std::string component = std::to_string(p.find<kernel::ArgumentOp>(symbol).getComponent());
      wish = "given_argument_" + component;
      view = "run.arg(" + component + ")";
    }
    auto same = find_if(p.given, [&](const auto &given) { return given.second == view; });
    if (same == p.given.end())
      same = p.given.insert(same, {p.members.fresh(wish), view});
    p.givenBy[symbol] = same->first;
  });
}

void ModelNames::addStorages(Program &p) {
  std::map<int64_t, size_t> numbered; // storage in the IR (model buffers apart) -> in p.storages
  int sessionStorages = 0;
  for (kernel::BufferOp buffer : p.buffers) {
    bool ofModel = p.find<kernel::IndexSetOp>(buffer.getIndexSet()).getKind() == kernel::IndexSetKind::Model;
    if (buffer.getStorage() && !ofModel) {
      auto [it, fresh] = numbered.try_emplace(*buffer.getStorage(), p.storages.size());
      if (!fresh) {
        p.storages[it->second].buffers.push_back(buffer);
        p.storageOf[buffer] = it->second;
        continue;
      }
    }
    p.storageOf[buffer] = p.storages.size();
    p.storages.push_back(
        {{buffer}, ofModel ? int(params.size()) + modelStorages_++ : sessionStorages++, ofModel});
  }
}

/// Which stages are launched, which parameters are read as arrays, which matrices are packed.
void ModelNames::findUses(Program &p) {
  p.op.walk([&](kernel::LaunchOp launch) {
    auto func = p.find<kernel::FuncOp>(launch.getFunc());
    bool ofModel = p.find<kernel::IndexSetOp>(*func.getIndexSet()).getKind() == kernel::IndexSetKind::Model;
    auto &list = ofModel ? p.modelStages : p.stages;
    if (!is_contained(list, func))
      list.push_back(func);
  });
  auto use = [&](StringRef symbol) {
    if (p.symbols.contains(symbol) && !p.find<kernel::WeightsOp>(symbol))
      return;
    for (Param &param : params)
      if (param.path == symbol && !p.params.contains(symbol)) {
        param.raw = true;
        p.params[symbol] = p.members.fresh({param.name, "param_" + param.name});
      }
  };
  kernel::walkAccesses(p.op,
                       [&](Operation *, const kernel::Access &access) { use(access.array.getValue()); });
  p.op.walk([&](kernel::CollectNodesOp) { p.collectsNodes = true; });
  for (kernel::WeightsOp op : p.weights) {
    int next = packed.empty() ? 0 : packed.back().number + packed.back().op.getTables().value_or(1);
    if (packedNumbers_.try_emplace(op.getPacked(), next).second)
      packed.push_back({op, next});
  }
}

std::string ModelNames::tableOf(kernel::GroupOp group, unsigned cell) const {
  StringRef name = group.getDataOf(cell);
  return std::to_string(name.empty() ? datas.size() : data(name).number);
}

Array ModelNames::array(const Program &p, StringRef symbol) const {
  Array a;
  auto describe = [&](Array::Kind kind, Type type, bool field) {
    a.kind = kind;
    a.element = scalarOf(type);
    a.extents = extentsOf(type);
    a.pointee = pointee(a.element, field);
  };
  if (auto buffer = p.find<kernel::BufferOp>(symbol)) {
    describe(Array::Buffer, buffer.getType(), false);
    a.member = p.nameOf(buffer);
    a.storage = p.storageOf.lookup(buffer);
    a.stride = buffer.getStride().value_or(0);
  } else if (auto field = p.find<kernel::FieldOp>(symbol)) {
    describe(Array::Field, field.getType(), true);
    a.member = p.nameOf(field);
    if (field.getArray() == kernel::FieldArray::Kind)
      a.pointee = "uint8_t";
  } else if (auto argument = p.find<kernel::ArgumentOp>(symbol)) {
    describe(Array::Argument, argument.getType(), true);
    a.member = p.nameOf(argument);
  } else {
    const codegen::Param *param = this->param(symbol);
    assert(param && "unknown array");
    auto op = param->op;
    describe(Array::Param, op.getType(), false);
    a.scalarParam = a.extents.empty();
    if (!a.extents.empty())
      a.extents.erase(a.extents.begin()); // the first axis is the row
    a.member = p.params.find(symbol)->second;
  }
  if (a.stride == 0)
    a.stride = a.rowSize();
  return a;
}

} // namespace dbc::codegen
