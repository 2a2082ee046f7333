// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// ModelInfo from the declarations of a `dyn` module, and what an entry reads.
#include "oracle/Describe.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace {

using DataNumbers = llvm::StringMap<int32_t>;

TypeInfo describeType(Type type, const DataNumbers &datas) {
  TypeInfo info;
  if (auto list = dyn_cast<dyn::ListType>(type)) {
    info.form = TypeInfo::Form::List;
    info.elements.push_back(describeType(list.getElement(), datas));
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    info.form = TypeInfo::Form::Tuple;
    for (Type element : tuple.getTypes())
      info.elements.push_back(describeType(element, datas));
  } else if (auto record = dyn_cast<RecordType>(type)) {
    info.form = TypeInfo::Form::Record;
    info.name = record.getName().str();
    for (auto [name, element] : llvm::zip(record.getNames(), record.getTypes())) {
      info.names.push_back(cast<StringAttr>(name).str());
      info.elements.push_back(describeType(element, datas));
    }
  } else if (auto node = dyn_cast<NodeType>(type)) {
    info.elem = Elem::Node;
    info.data = datas.lookup(node.getData().getValue());
  } else if (auto index = dyn_cast<dyn::IndexType>(type)) {
    info.elem = Elem::Index;
    info.bound = static_cast<int32_t>(index.getBound());
  } else if (auto tensor = dyn_cast<IndexTensorType>(type)) {
    info.elem = Elem::Index;
    info.bound = static_cast<int32_t>(tensor.getBound());
    info.extents.assign(tensor.getExtents().begin(), tensor.getExtents().end());
  } else {
    Type element = scalar(type);
    info.elem = element.isF32() ? Elem::F32 : element.isInteger(1) ? Elem::Bool : Elem::Int;
    info.extents.assign(extents(type).begin(), extents(type).end());
  }
  return info;
}

bool sameType(const TypeInfo &a, const TypeInfo &b) {
  auto head = [](const TypeInfo &t) {
    return std::tie(t.form, t.elem, t.bound, t.data, t.extents, t.name, t.names);
  };
  return head(a) == head(b) &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), sameType);
}

dbc::DataInfo describeData(DataOp data, const DataNumbers &datas) {
  dbc::DataInfo info;
  info.name = data.getSymName().str();
  std::vector<FieldInfo> columns; // the first field of each column
  for (CtorOp ctor : data.getCtors()) {
    ConstructorInfo constructor;
    constructor.name = ctor.getName().str();
    for (auto [name, type] : llvm::zip(ctor.getFields(), ctor.getTypes())) {
      FieldInfo field{cast<StringAttr>(name).str(), describeType(cast<TypeAttr>(type).getValue(), datas), 0};
      auto shared = std::find_if(columns.begin(), columns.end(), [&](const FieldInfo &c) {
        return c.name == field.name && sameType(c.type, field.type);
      });
      field.column = static_cast<int32_t>(shared - columns.begin());
      if (shared == columns.end())
        columns.push_back(field);
      constructor.fields.push_back(std::move(field));
    }
    info.constructors.push_back(std::move(constructor));
  }
  info.columns = static_cast<int32_t>(columns.size());
  return info;
}

ParamInfo describeParam(ParamOp param) {
  ParamInfo info;
  info.name = param.getSymName().str();
  info.extents.assign(extents(param.getType()).begin(), extents(param.getType()).end());
  info.is_const = param.getConstant();
  if (info.is_const) {
    info.init.kind = InitInfo::Kind::Normal;
    info.init.b = 1;
  } else if (auto init = param.getInit()) {
    static_assert(unsigned(InitInfo::Kind::Constant) == unsigned(InitKind::Constant) &&
                  unsigned(InitInfo::Kind::Glorot) == unsigned(InitKind::Glorot));
    info.init.kind = static_cast<InitInfo::Kind>(init->getKind());
    info.init.a = init->getA().getValueAsDouble();
    info.init.b = init->getB().getValueAsDouble();
  }
  return info;
}

EntryInfo describeEntry(EntryOp entry, const DataNumbers &datas) {
  EntryInfo info;
  info.name = entry.getSymName().str();
  info.is_loss = entry.getLoss();
  for (auto [name, type] : llvm::zip(entry.getArgNames(), entry.getArgTypes()))
    info.args.push_back({cast<StringAttr>(name).str(), describeType(cast<TypeAttr>(type).getValue(), datas)});
  info.result = describeType(entry.getSurface(), datas);
  return info;
}

} // namespace

ModelInfo oracle::describe(ModuleOp module) {
  ModelInfo info;
  info.name = module.getSymName().value_or("model").str();
  DataNumbers datas;
  for (DataOp data : module.getOps<DataOp>())
    datas.try_emplace(data.getSymName(), static_cast<int32_t>(datas.size()));
  for (DataOp data : module.getOps<DataOp>())
    info.datas.push_back(describeData(data, datas));
  for (ParamOp param : module.getOps<ParamOp>())
    info.params.push_back(describeParam(param));
  for (EntryOp entry : module.getOps<EntryOp>())
    info.entries.push_back(describeEntry(entry, datas));
  return info;
}

std::vector<ColumnRef> oracle::columnsRead(EntryOp entry, const ModelInfo &info, const Batch &batch) {
  std::vector<ColumnRef> read;
  auto addField = [&](FieldOp field) {
    llvm::StringRef data = field.getNode().getType().getData().getValue();
    for (size_t table = 0; table < info.datas.size(); ++table) {
      if (info.datas[table].name != data)
        continue;
      for (const ConstructorInfo &constructor : info.datas[table].constructors)
        if (!field.getCtor() || *field.getCtor() == constructor.name)
          for (const FieldInfo &f : constructor.fields)
            if (f.name == field.getName())
              read.push_back({static_cast<int32_t>(table), f.column});
    }
  };
  // `nodes(t)` follows every field that refers to nodes.
  auto addReferences = [&] {
    for (size_t table = 0; table < info.datas.size(); ++table)
      for (int32_t column = 0; column < info.datas[table].columns; ++column)
        if (batch.column_info(static_cast<int32_t>(table), column).elem == Elem::Node)
          read.push_back({static_cast<int32_t>(table), column});
  };
  llvm::SetVector<Operation *> functions;
  functions.insert(entry);
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i]->walk([&](Operation *op) {
      if (auto field = dyn_cast<FieldOp>(op))
        addField(field);
      else if (isa<NodesOp>(op))
        addReferences();
      else if (auto call = dyn_cast<CallOp>(op))
        functions.insert(SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
    });
  for (size_t number = 0; number < info.entries.size(); ++number)
    if (info.entries[number].name == entry.getSymName())
      for (int32_t component = 0; component < batch.arg_components(static_cast<int32_t>(number)); ++component)
        read.push_back({batch.args(), batch.arg_column(static_cast<int32_t>(number), component)});
  auto key = [](const ColumnRef &c) { return std::pair(c.table, c.column); };
  std::sort(read.begin(), read.end(), [&](auto &a, auto &b) { return key(a) < key(b); });
  read.erase(std::unique(read.begin(), read.end(), [&](auto &a, auto &b) { return key(a) == key(b); }),
             read.end());
  return read;
}
