// What the checker finds out about a program: types, what names stand for, and what each declaration means.
// Everything here is owned by the CheckedProgram (frontend/check/Check.h) and lives as long as it. Types are
// made once each (TypeContext), so equal types are equal pointers.
//
// Functions with dims of their own (of a fn, record or layer) are checked once, symbolically: annotations
// inside their bodies speak of their own dims. A call says what those dims are in the caller's (Call::dims,
// and the arguments of the receiver's layer type); lowering substitutes while it inlines.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TYPES_H
#define DBC_FRONTEND_TYPES_H

#include "frontend/check/Builtins.h"
#include "frontend/check/Shape.h"
#include "frontend/syntax/Ast.h"

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dbc::frontend {

struct DataInfo;
struct RecordInfo;
struct LayerInfo;
struct FuncInfo;

//===--------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------===//

/// Element of a scalar or tensor. The two literal kinds exist while checking only: a number whose context has
/// not been seen yet (T4). No annotation keeps one.
enum class Scalar { F32, Int, Bool, Index, IntLiteral, FloatLiteral };

struct Type {
  enum class Kind {
    Error,  ///< of an expression with an error: assignable to everything, so that nothing follows from it
    Number, ///< scalar (rank 0) or tensor of f32, int, bool, index[bound]
    Data,   ///< a node
    Record,
    Layer, ///< of a param only
    List,
    Table, ///< [layer; count]
    Tuple,
    Unknown ///< element of `[]` whose context has not been seen yet; as literals, while checking only
  };
  Kind kind = Kind::Error;

  Scalar scalar = Scalar::F32; ///< Number
  Shape bound;                 ///< Number of Scalar::Index
  std::vector<Shape> extents;  ///< Number; empty for a scalar

  const DataInfo *data = nullptr;
  const RecordInfo *record = nullptr;
  const LayerInfo *layer = nullptr;
  std::vector<Shape> arguments; ///< Record, Layer: one for each of its dims

  const Type *element = nullptr;      ///< List, Table
  Shape count;                        ///< Table
  std::vector<const Type *> elements; ///< Tuple

  bool isError() const { return kind == Kind::Error; }
  bool isNumber() const { return kind == Kind::Number; }
  bool isScalar() const { return kind == Kind::Number && extents.empty(); }
  bool isTensor() const { return kind == Kind::Number && !extents.empty(); }
  bool isScalar(Scalar s) const { return isScalar() && scalar == s; }
  bool isList() const { return kind == Kind::List; }
  bool isTable() const { return kind == Kind::Table; }
  bool isLayer() const { return kind == Kind::Layer; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isRecord() const { return kind == Kind::Record; }
  bool isNode() const { return kind == Kind::Data; }
  bool isUnknown() const { return kind == Kind::Unknown; }
  /// Of a cell's parameter: whether it is a key; else it is a value (C2).
  bool isKey() const {
    return isNode() || isScalar(Scalar::Int) || isScalar(Scalar::Index) || isScalar(Scalar::Bool);
  }
  size_t rank() const { return extents.size(); }

  /// As the source would write it: `f32[3 * hidden]`, `[Tree]`, `State[hidden]`.
  std::string str() const;
};

/// Makes types; the same type is the same pointer.
class TypeContext {
public:
  const Type *error();
  const Type *unknown();
  const Type *number(Scalar scalar, std::vector<Shape> extents = {}, Shape bound = {});
  const Type *f32(std::vector<Shape> extents = {}) { return number(Scalar::F32, std::move(extents)); }
  const Type *integer(std::vector<Shape> extents = {}) { return number(Scalar::Int, std::move(extents)); }
  const Type *boolean(std::vector<Shape> extents = {}) { return number(Scalar::Bool, std::move(extents)); }
  const Type *index(Shape bound, std::vector<Shape> extents = {}) {
    return number(Scalar::Index, std::move(extents), std::move(bound));
  }
  const Type *data(const DataInfo *data);
  const Type *record(const RecordInfo *record, std::vector<Shape> arguments);
  const Type *layer(const LayerInfo *layer, std::vector<Shape> arguments);
  const Type *list(const Type *element);
  const Type *table(const Type *element, Shape count);
  const Type *tuple(std::vector<const Type *> elements);

  /// The type with dims replaced.
  const Type *substitute(const Type *type, const DimMap &bindings);

private:
  const Type *intern(Type type);
  struct Less {
    bool operator()(const Type &a, const Type &b) const;
  };
  std::set<Type, Less> types_;
};

//===--------------------------------------------------------------------===//
// What names stand for
//===--------------------------------------------------------------------===//

/// What `resolved` points to. Names that mean the same thing share one Binding, so a Binding's address is a
/// key for environments (of locals: one for each location that declares one, also when its function is
/// inlined twice).
struct Binding {
  enum class Kind {
    Local,    ///< an argument, or a name from a let, binder, arm
    Dim,      ///< of the file, a layer or a fn: `shape` is its value (a dim made of others is those)
    Const,    ///< number (decl, value) or tensor (decl, type, layer or null)
    Param,    ///< decl, type, layer or null
    Func,     ///< func
    Data,     ///< type
    Record,   ///< record
    Layer,    ///< layer
    Module,   ///< module
    Builtin,  ///< builtin: of a binder, or a call's callee
    Field,    ///< of a MemberExpr on a node or record: `index` in a record; `field` names it
    Call,     ///< a Call, see below
    Subscript ///< a Subscripts, see below
  };
  enum class LocalKind { Argument, Let, Element, State, ArmField };

  Kind kind = Kind::Local;
  std::string name;
  SourceRange range; ///< where it is declared; invalid for builtins
  const Type *type = nullptr;

  LocalKind local = LocalKind::Let;
  unsigned index = 0; ///< Argument: position; Field of a record: position; ArmField: the field's position
  Shape shape;        ///< Dim
  const Decl *decl = nullptr;
  double value = 0; ///< Const that is a number
  const FuncInfo *func = nullptr;
  const RecordInfo *record = nullptr;
  const LayerInfo *layer = nullptr; ///< Layer; Param, Const, Func of a layer: that layer
  const DataInfo *data = nullptr;   ///< Data; Field of a node; MatchExpr
  const File *module = nullptr;
  Builtin builtin = Builtin::None;

  virtual ~Binding() = default;
};

/// What a CallExpr's `resolved` is.
struct Call : Binding {
  enum class Target {
    Function,  ///< func
    Builtin,   ///< builtin; argument types tell list reductions from tensor reductions
    Conversion ///< f32(x), int(x), bool(x), index[n](x): to `type` (of the whole expression)
  };
  Target target = Target::Builtin;
  /// Function of a layer: the expression whose value is the layer's instance (its type is the Layer type, in
  /// the caller's dims); null if the function belongs to no layer, or to the caller's own instance (then
  /// `func->layer` is the caller's layer).
  const Expr *receiver = nullptr;
  DimMap dims;        ///< a fn's own dims, in the caller's
  int axis = kNoAxis; ///< of reductions, softmax, split: from 0; kNoAxis means all axes
  static constexpr int kNoAxis = -1;
  /// Of `conv2d`: along the rows and the columns of the picture.
  std::array<int64_t, 2> stride = {1, 1};
  std::array<Shape, 2> padding;
};

/// What a SubscriptExpr's `resolved` is: an axis for each of its subs. On lists there is just one.
struct Subscripts : Binding {
  struct Axis {
    /// An index literal -k or slice bound -k: counted from the end. `low`/`index` expressions are then -k as
    /// written; on tensors `begin` already has the true position.
    bool indexFromEnd = false, lowFromEnd = false, highFromEnd = false;
    bool checked = false; ///< tensor index: must be tested (an `int`, or a tensor of them)
    /// Tensors: a slice, or an index that is made of dims and numbers (`isStatic`).
    bool isStatic = false;
    Shape begin;  ///< first position
    Shape extent; ///< of a slice
  };
  std::vector<Axis> axes;
};

//===--------------------------------------------------------------------===//
// What declarations mean
//===--------------------------------------------------------------------===//

struct FieldInfo {
  std::string name;
  SourceRange range;
  const Type *type = nullptr;
};

struct ConstructorInfo {
  std::string name;
  SourceRange range;
  std::vector<FieldInfo> fields;
  /// Position, or -1.
  int fieldIndex(const std::string &name) const;
};

struct DataInfo {
  std::string name;
  const DataDecl *decl = nullptr;
  std::vector<ConstructorInfo> constructors;
  /// Position, or -1.
  int constructorIndex(const std::string &name) const;
};

struct RecordInfo {
  std::string name; ///< as declared
  const RecordDecl *decl = nullptr;
  const File *file = nullptr;
  std::vector<const DimVar *> dims;
  std::vector<FieldInfo> fields;
  int fieldIndex(const std::string &name) const;
};

struct LayerInfo {
  std::string name;
  const LayerDecl *decl = nullptr;
  const File *file = nullptr;
  std::vector<const DimVar *> dims;
  std::vector<const Binding *> members; ///< Param, Const, Func, in the order of the text
  const Binding *member(const std::string &name) const;
  /// The dims of this layer under the arguments of a layer type.
  DimMap bind(const std::vector<Shape> &arguments) const;
};

/// An extent, index or bound that could not be proven for every size: `atLeast0` must be >= 0 at the sizes
/// bound.
struct SizeCheck {
  SourceRange range;
  Shape atLeast0;
  std::string message; ///< of the error
  std::string rule;
};

struct FuncInfo {
  std::string name;
  const FuncDecl *decl = nullptr;
  const File *file = nullptr;
  const LayerInfo *layer = nullptr; ///< null at the top of a file
  std::vector<const DimVar *> dims; ///< of a fn
  std::vector<const Binding *> arguments;
  const Type *result = nullptr;
  std::vector<SizeCheck> sizeChecks; ///< in its own dims, and those of its layer
};

/// Whether the type, or one of which it is made (of elements, fields of records), is such. Also of a
/// record that contains itself, which is an error of its own.
bool holds(const Type *type, const std::function<bool(const Type *)> &is);
inline bool holdsList(const Type *type) { return holds(type, &Type::isList); }
inline bool holdsNode(const Type *type) { return holds(type, &Type::isNode); }
/// A layer, or a table of them.
inline bool holdsLayer(const Type *type) {
  return holds(type, [](const Type *inner) { return inner->isLayer() || inner->isTable(); });
}

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TYPES_H
