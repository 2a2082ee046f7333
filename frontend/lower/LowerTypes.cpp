// Extents as numbers, types, constants, locations.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"
#include "llvm/Support/JSON.h"

#include <climits>
#include <set>

namespace dbc::frontend {

/// "at `hidden` = 3, `k` = 0": the dims that a shape is made of, for messages.
static std::string sizes(const Shape &shape, const DimValues &dims) {
  std::set<const DimVar *> seen;
  std::string text;
  for (const Shape::Term &term : shape.terms())
    for (const DimVar *dim : term.dims)
      if (seen.insert(dim).second && dims.count(dim))
        text += (text.empty() ? "with `" : ", `") + dim->name + "` = " + std::to_string(dims.at(dim));
  return text;
}

/// Says what dims made a shape what it is, and in which of the model's layers.
void Lowering::noteSizes(Diagnostic &diagnostic, const Shape &shape) {
  if (std::string at = sizes(shape, frame_->dims); !at.empty())
    diagnostic.note({}, at);
  const std::string &path = frame_->self.path;
  for (const Binding *param : checked_.params)
    if (!path.empty() && param->name == path.substr(0, path.find('.')))
      diagnostic.note(param->decl->name.range, "in the layer `" + path + "`");
}

int64_t Lowering::number(const Shape &shape, SourceRange range) {
  std::optional<int64_t> value = shape.evaluate(frame_->dims);
  if (value && *value >= INT_MIN && *value <= INT_MAX)
    return *value;
  Diagnostic &diagnostic = diags_.error(
      range, (shape.overflowed() ? "this" : "`" + shape.str() + "`") + " does not fit 32 bits", "T4");
  noteSizes(diagnostic, shape);
  return 1;
}

int64_t Lowering::extent(const Shape &shape, SourceRange range) {
  int64_t value = number(shape, range);
  if (value >= 1)
    return value;
  const std::string number = std::to_string(value);
  Diagnostic &diagnostic =
      diags_.error(range,
                   (shape.str() == number ? "this extent" : "the extent `" + shape.str() + "`") + " is " +
                       number + "; every extent is at least 1",
                   "T1");
  noteSizes(diagnostic, shape);
  return 1;
}

void Lowering::checkSizes(const FuncInfo &func) {
  for (const SizeCheck &check : func.sizeChecks) {
    std::optional<int64_t> value = check.atLeast0.evaluate(frame_->dims);
    if (value && *value >= 0)
      continue;
    noteSizes(diags_.error(check.range, check.message, check.rule), check.atLeast0);
  }
}

//===--------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------===//

mlir::Type Lowering::scalarType(Scalar scalar) {
  switch (scalar) {
  case Scalar::F32:
  case Scalar::FloatLiteral:
    return builder_.getF32Type();
  case Scalar::Bool:
    return builder_.getI1Type();
  case Scalar::Int:
  case Scalar::Index:
  case Scalar::IntLiteral:
    return builder_.getI32Type();
  }
  return {};
}

mlir::Type Lowering::numberType(const Type *type, SourceRange range) {
  assert(type->isNumber());
  if (type->extents.empty())
    return scalarType(type->scalar);
  llvm::SmallVector<int64_t> extents;
  int64_t size = 1;
  for (const Shape &shape : type->extents) {
    extents.push_back(extent(shape, range));
    size = size > INT_MAX / extents.back() ? INT64_MAX : size * extents.back();
    if (size == INT64_MAX) {
      diags_.error(range, "`" + type->str() + "` has more than 2^31 elements at these sizes", "T1");
      extents.back() = 1;
      size = 1;
    }
  }
  return tensorOf(extents, scalarType(type->scalar));
}

std::vector<const Type *> Lowering::fieldTypes(const Type *record) {
  DimMap dims;
  for (size_t i = 0; i < record->arguments.size(); ++i)
    dims[record->record->dims[i]] = record->arguments[i];
  std::vector<const Type *> types;
  for (const FieldInfo &field : record->record->fields)
    types.push_back(checked_.types.substitute(field.type, dims));
  return types;
}

size_t Lowering::componentCount(const Type *type) {
  size_t count = 0;
  switch (type->kind) {
  case Type::Kind::Record:
    for (const FieldInfo &field : type->record->fields)
      count += componentCount(field.type);
    return count;
  case Type::Kind::Tuple:
    for (const Type *element : type->elements)
      count += componentCount(element);
    return count;
  case Type::Kind::List:
    return componentCount(type->element);
  default:
    return 1;
  }
}

dyn::NodeType Lowering::nodeType(const DataInfo *data) {
  return dyn::NodeType::get(&context_, mlir::FlatSymbolRefAttr::get(&context_, dataSymbols_.at(data)));
}

void Lowering::flatTypes(const Type *type, SourceRange range, llvm::SmallVectorImpl<mlir::Type> &flat) {
  switch (type->kind) {
  case Type::Kind::Number:
    flat.push_back(numberType(type, range));
    return;
  case Type::Kind::Data:
    flat.push_back(nodeType(type->data));
    return;
  case Type::Kind::Record:
    for (const Type *field : fieldTypes(type))
      flatTypes(field, range, flat);
    return;
  case Type::Kind::Tuple:
    for (const Type *element : type->elements)
      flatTypes(element, range, flat);
    return;
  case Type::Kind::Layer: // one of a table: its number
    flat.push_back(builder_.getI32Type());
    return;
  case Type::Kind::List:
    for (mlir::Type element : flatTypes(type->element, range))
      flat.push_back(dyn::ListType::get(element));
    return;
  default:
    assert(false && "no value has this type");
  }
}

mlir::Type Lowering::surfaceType(const Type *type, SourceRange range) {
  llvm::SmallVector<mlir::Type> elements;
  switch (type->kind) {
  case Type::Kind::Number: {
    auto flat = numberType(type, range);
    if (type->scalar != Scalar::Index)
      return flat;
    int64_t bound = extent(type->bound, range);
    if (type->extents.empty())
      return dyn::IndexType::get(&context_, bound);
    return dyn::IndexTensorType::get(&context_, bound, dyn::extents(flat));
  }
  case Type::Kind::Record: {
    llvm::SmallVector<mlir::Attribute> names;
    for (const FieldInfo &field : type->record->fields)
      names.push_back(builder_.getStringAttr(field.name));
    for (const Type *field : fieldTypes(type))
      elements.push_back(surfaceType(field, range));
    return dyn::RecordType::get(&context_, builder_.getStringAttr(type->record->name),
                                builder_.getArrayAttr(names), elements);
  }
  case Type::Kind::Tuple:
    for (const Type *element : type->elements)
      elements.push_back(surfaceType(element, range));
    return mlir::TupleType::get(&context_, elements);
  case Type::Kind::List:
    return dyn::ListType::get(surfaceType(type->element, range));
  default:
    return nodeType(type->data);
  }
}

LayerInstance Lowering::instanceOf(const Type *layer, std::string path, SourceRange range) {
  assert(layer->kind == Type::Kind::Layer);
  LayerInstance instance;
  instance.path = std::move(path);
  instance.layer = layer->layer;
  for (size_t i = 0; i < layer->arguments.size(); ++i)
    instance.dims[layer->layer->dims[i]] = extent(layer->arguments[i], range);
  return instance;
}

//===--------------------------------------------------------------------===//
// Locations, names, constants
//===--------------------------------------------------------------------===//

mlir::Location Lowering::location(SourceRange range) {
  if (!range.valid())
    return builder_.getUnknownLoc();
  const SourceFile &file = diags_.sources().file(range.file);
  LineColumn at = file.lineColumn(range.begin);
  // Locations are printed into code and JSON, which are UTF-8; names of files may be anything.
  return mlir::FileLineColLoc::get(&context_, llvm::json::fixUTF8(file.path()), at.line, at.column);
}

/// The names of the values that make a value: `l` of a record gives `l_h`, `l_c`, between which `dot` stands.
static void componentNames(const std::string &name, const Type *type, std::vector<std::string> &names,
                           const char *dot) {
  switch (type->kind) {
  case Type::Kind::Record:
    for (const FieldInfo &field : type->record->fields)
      componentNames(name + dot + field.name, field.type, names, dot);
    return;
  case Type::Kind::Tuple:
    for (size_t i = 0; i < type->elements.size(); ++i)
      componentNames(name + dot + std::to_string(i), type->elements[i], names, dot);
    return;
  case Type::Kind::List:
    componentNames(name, type->element, names, dot);
    return;
  default:
    names.push_back(name);
  }
}

void Lowering::nameValues(const Values &values, const std::string &name, const Type *type) {
  std::vector<std::string> names, dotted;
  componentNames(name, type, names, "_");
  componentNames(name, type, dotted, ".");
  for (size_t i = 0; i < values.size(); ++i) {
    mlir::Value value = values[i];
    if (llvm::isa<mlir::NameLoc>(value.getLoc()))
      continue; // keeps the name it got first
    mlir::Operation *op = value.getDefiningOp();
    const bool several = op && op->getNumResults() > 1;
    mlir::Location at = value.getLoc();
    if (several &&
        llvm::equal(op->getResults(), values)) // below the name: how results are called in the source
      at = mlir::NameLoc::get(builder_.getStringAttr(llvm::join(dotted, " ")), at);
    auto named = mlir::NameLoc::get(builder_.getStringAttr(several ? name : names[i]), at);
    if (op)
      op->setLoc(named);
    else
      value.setLoc(named);
  }
}

mlir::Value Lowering::constant(mlir::Location at, double value, mlir::Type type) {
  mlir::Type element = dyn::scalar(type);
  mlir::TypedAttr attr;
  if (element.isF32())
    attr = builder_.getF32FloatAttr(static_cast<float>(value));
  else
    attr = builder_.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
    attr = mlir::DenseElementsAttr::get(tensor, mlir::Attribute(attr));
  return mlir::arith::ConstantOp::create(builder_, at, attr);
}

mlir::Value Lowering::intConstant(mlir::Location at, int64_t value) {
  return constant(at, static_cast<double>(value), builder_.getI32Type());
}

mlir::Value Lowering::boolConstant(mlir::Location at, bool value) {
  return constant(at, value, builder_.getI1Type());
}

} // namespace dbc::frontend
