// The inside of lowering: one class, its methods by concern in Lower*.cpp. Nobody but those includes this.
//
//   Lower.cpp           declarations, entries, cells; the order of the work
//   LowerTypes.cpp      extents as numbers, types, constants, locations
//   LowerExpr.cpp       blocks, names, members, records, calls of functions
//   LowerControl.cpp    if, match, && and ||
//   LowerOperators.cpp  arithmetic, comparisons, broadcasting, products, joins
//   LowerSubscripts.cpp x[..] on tensors and lists
//   LowerBuiltins.cpp   built-in functions
//   LowerLists.cpp      binders and built-in functions of lists
//   LowerDropout.cpp    dropout, which a mask belongs to
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_LOWERIMPL_H
#define DBC_FRONTEND_LOWERIMPL_H

#include "frontend/lower/Lower.h"
#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <map>
#include <set>

namespace dbc::frontend {

/// The value of an expression: one SSA value a component, in the order of declaration, depth first. Its
/// frontend type says how they belong together. A list of records is one list a component.
using Values = llvm::SmallVector<mlir::Value, 4>;

/// A layer as the parameter that it is the type of; `layer` is null outside all layers.
struct LayerInstance {
  std::string path; ///< "fwd", "blocks.att"
  const LayerInfo *layer = nullptr;
  DimValues dims; ///< the layer's own
  /// Of the tables that it stands in, outermost first: how many layers each has, and where an instance is
  /// meant and not all of them, which one.
  std::vector<int64_t> tables;
  std::vector<mlir::Value> at;

  /// The path of a member: "fwd.W"; the name itself outside layers.
  std::string member(const std::string &name) const { return path.empty() ? name : path + "." + name; }
};

/// A function body being lowered: an entry, a cell, or a fn at the point where it is inlined.
struct Frame {
  LayerInstance self;
  DimValues dims; ///< all dims in scope
  std::map<const Binding *, Values> locals;
  std::map<const Binding *, LayerInstance>
      tables; ///< of locals that are layers: the table; the local holds which
  // What tells dropouts apart (G2):
  std::string place;               ///< the path of calls from the cell or loss to here
  llvm::SetVector<mlir::Value> at; ///< which layers of tables that path leads through
  std::map<std::string, int> made; ///< how many calls of each function, and dropouts, stand here
};

class Lowering {
public:
  Lowering(const Program &program, CheckedProgram &checked, const DimValues &dims, mlir::MLIRContext &context,
           DiagnosticEngine &diags, bool train)
      : program_(program), checked_(checked), fileDims_(dims), context_(context), diags_(diags),
        train_(train), builder_(&context) {}

  mlir::OwningOpRef<mlir::ModuleOp> run();
  mlir::OwningOpRef<mlir::ModuleOp> lowerAll();

private:
  //===-- Lower.cpp -------------------------------------------------------===//
  void lowerData(const DataInfo &data);
  void lowerParam(const Binding &param, const LayerInstance &owner);
  dyn::InitAttr initOf(const ParamDecl &decl, size_t rank);
  void lowerEntry(const FuncInfo &func);
  void lowerCell(const FuncInfo &func, LayerInstance self, const std::string &symbol);
  /// The symbol of a cell of a layer instance; the cell will be lowered.
  std::string cellSymbol(const FuncInfo &func, const LayerInstance &self);
  Frame frameFor(const FuncInfo &func, const LayerInstance &self);
  /// Reports what the checker left for when sizes are bound.
  void noteSizes(Diagnostic &diagnostic, const Shape &shape);
  void checkSizes(const FuncInfo &func);
  void lowerRanges(const FuncInfo &func, dyn::CellOp cell);
  using Bindings = std::vector<const Binding *>;
  /// Arguments of a block for parameters.
  void bindArguments(llvm::ArrayRef<const Binding *> parameters, mlir::Block &block);
  /// A cell's keys and its values, which stand behind them in the IR.
  static std::pair<Bindings, Bindings> parametersOf(const FuncInfo &cell);
  void simplify(mlir::ModuleOp module);

  //===-- LowerTypes.cpp --------------------------------------------------===//
  /// The number a shape is worth here. Reports what does not fit 32 bits; then it gives 1.
  int64_t number(const Shape &shape, SourceRange range);
  /// The same for an extent, which is at least 1.
  int64_t extent(const Shape &shape, SourceRange range);
  mlir::Type scalarType(Scalar scalar);
  mlir::Type numberType(const Type *type, SourceRange range);
  void flatTypes(const Type *type, SourceRange range, llvm::SmallVectorImpl<mlir::Type> &flat);
  llvm::SmallVector<mlir::Type> flatTypes(const Type *type, SourceRange range) {
    llvm::SmallVector<mlir::Type> flat;
    flatTypes(type, range, flat);
    return flat;
  }
  mlir::Type surfaceType(const Type *type, SourceRange range);
  dyn::NodeType nodeType(const DataInfo *data);
  /// The types of a record's fields in the current dims.
  std::vector<const Type *> fieldTypes(const Type *record);
  /// How many values a value of the type is.
  static size_t componentCount(const Type *type);
  LayerInstance instanceOf(const Type *layer, std::string path, SourceRange range);

  mlir::Location location(SourceRange range);
  /// Makes printed IR speak the source's names.
  void nameValues(const Values &values, const std::string &name, const Type *type);
  mlir::Value constant(mlir::Location at, double value, mlir::Type type);
  mlir::Value intConstant(mlir::Location at, int64_t value);
  mlir::Value boolConstant(mlir::Location at, bool value);

  //===-- LowerExpr.cpp ---------------------------------------------------===//
  Values lower(const Expr &expr);
  mlir::Value lowerOne(const Expr &expr);
  Values block(const CodeBlock &block);
  void bindPattern(const Pattern &pattern, Values values, bool named);
  Values name(const NameExpr &expr);
  Values binding(const Binding &binding, const Expr &expr);
  Values member(const MemberExpr &expr);
  Values record(const RecordExpr &expr);
  Values call(const CallExpr &expr);
  Values callFunction(const CallExpr &expr, const Call &call);
  mlir::Value convert(const CallExpr &expr, const Call &call);
  mlir::Value field(mlir::Value node, const DataInfo &data, const std::string &name, const Type *type,
                    const std::string *constructor, SourceRange range);
  LayerInstance layerOf(const Expr &expr);
  LayerInstance tableOf(const Expr &expr);
  LayerInstance memberOf(const Expr &expr, const Type *layer);
  /// A parameter or tensor const of a layer instance, or of the file.
  mlir::Value parameter(mlir::Location at, const std::string &name, mlir::Type type,
                        const LayerInstance &owner);
  /// Says of what tables the layers are that a pattern binds.
  void bindTables(const Pattern &pattern, const Expr &list);

  //===-- LowerControl.cpp ------------------------------------------------===//
  Values ifElse(const IfExpr &expr);
  Values choose(const IfExpr &expr, mlir::Value condition);
  /// Lowers an arm that has an effect only where the computed `condition` holds.
  void guarded(mlir::Location at, mlir::Value condition, llvm::function_ref<void()> body);
  /// The result of an operation, which fails nothing in an arm that is not chosen (S3).
  mlir::Value harmless(mlir::Operation *op);
  Values match(const MatchExpr &expr);
  mlir::Value logical(const BinaryExpr &expr);
  /// Fills a region with a block with these arguments that yields what `body` gives.
  void fill(mlir::Region &region, mlir::TypeRange arguments, mlir::Location at,
            llvm::function_ref<Values(mlir::Block &)> body);

  //===-- LowerOperators.cpp ----------------------------------------------===//
  mlir::Value unary(const UnaryExpr &expr);
  mlir::Value binary(const BinaryExpr &expr);
  mlir::Value arithmetic(const BinaryExpr &expr);
  mlir::Value comparison(const BinaryExpr &expr);
  mlir::Value product(const BinaryExpr &expr);
  mlir::Value product(mlir::Location at, mlir::Value a, mlir::Value b);
  mlir::Value join(const JoinExpr &expr);
  mlir::Value stretch(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> extents);
  mlir::Value reshape(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> extents);
  mlir::Value cut(mlir::Location at, mlir::Value x, llvm::ArrayRef<int64_t> offsets,
                  llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> result);
  mlir::Value integer(mlir::Location at, dyn::IntKind kind, mlir::Value a, mlir::Value b);
  /// An index that must be 0 .. bound - 1.
  mlir::Value narrow(mlir::Location at, mlir::Value x, int64_t bound);
  mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> extents, mlir::Type element) {
    return mlir::RankedTensorType::get(extents, element);
  }
  /// A number's type with other extents.
  mlir::Type withExtents(mlir::Type number, llvm::ArrayRef<int64_t> extents);

  //===-- LowerSubscripts.cpp ---------------------------------------------===//
  Values subscript(const SubscriptExpr &expr);
  Values subscriptList(const SubscriptExpr &expr, const Subscripts &info);
  mlir::Value subscriptTensor(const SubscriptExpr &expr, const Subscripts &info);
  mlir::Value gather(mlir::Location at, mlir::Value tensor, mlir::Value index, bool checked);
  mlir::Value gatherAt(mlir::Location at, mlir::Value tensor, size_t axis, mlir::Value index, bool checked);

  //===-- LowerBuiltins.cpp -----------------------------------------------===//
  Values builtin(const CallExpr &expr, const Call &call);
  mlir::Value elementwise(const CallExpr &expr, Builtin builtin);
  mlir::Value reduction(const CallExpr &expr, const Call &call);
  mlir::Value crossEntropy(const CallExpr &expr);
  mlir::Value binaryCrossEntropy(const CallExpr &expr);
  Values split(const CallExpr &expr, const Call &call);
  mlir::Value filled(const CallExpr &expr, Builtin builtin);
  mlir::Value put(const CallExpr &expr);
  mlir::Value movingSlice(const CallExpr &expr);
  Values topK(const CallExpr &expr);
  mlir::Value convolution(const CallExpr &expr, const Call &call);
  /// 0 1 2 .. along the first of `extents`, which are 1 from the second on.
  mlir::Value positions(const CallExpr &expr, llvm::ArrayRef<int64_t> extents);
  mlir::Value function(mlir::Location at, dyn::FunctionKind kind, mlir::Value x);
  static dyn::ReduceKind reduceKind(Builtin builtin);

  //===-- LowerLists.cpp --------------------------------------------------===//
  Values binder(const BinderExpr &expr);
  /// The lists that a binder goes through, filtered.
  Values elements(const BinderExpr &expr);
  Values filtered(const BinderExpr &expr, const Values &lists);
  /// The binder's body for the elements of `lists`.
  Values map(const BinderExpr &expr, const Values &lists);
  void bindElement(const BinderExpr &expr, mlir::Block &inner);
  mlir::Value argMax(const BinderExpr &expr);
  Values recurrence(const BinderExpr &expr, Builtin builtin);
  /// Whether a step follows on number `step` of `last` + 1, as the binder's `while` says of the state.
  mlir::Value goesOn(const BinderExpr &expr, mlir::Value step, mlir::Value last, const Values &state);
  Values range(const RangeExpr &expr);
  /// `[]`: one empty list a component of the element.
  Values emptyLists(const Expr &expr);
  mlir::Value emptyList(mlir::Location at, dyn::ListType type);
  Values append(const BinaryExpr &expr);
  Values zip(const CallExpr &expr);
  Values every(const CallExpr &expr);
  /// Lists whose lengths are known to be equal as `dyn.map` asks it: results of one operation, else zipped
  /// here.
  Values zipped(mlir::Location at, Values lists);
  mlir::Value length(mlir::Location at, mlir::Value list);
  mlir::Value reduceList(mlir::Location at, Builtin builtin, mlir::Value list);

  //===-- LowerDropout.cpp ------------------------------------------------===//
  mlir::Value dropout(const CallExpr &expr);
  /// The place of a call, or of a dropout, in the function that is being lowered.
  std::string placeOf(const std::string &callee);
  /// Gives each dropout the place and the keys of its mask. Of the simplified module: what is equal is one.
  void keyDropouts();
  void keyDropout(dyn::DropoutOp op);

  //===-- State -----------------------------------------------------------===//
  const Program &program_;
  CheckedProgram &checked_;
  DimValues fileDims_;
  mlir::MLIRContext &context_;
  DiagnosticEngine &diags_;
  bool train_;
  mlir::OpBuilder builder_;
  mlir::ModuleOp module_;
  Frame *frame_ = nullptr;
  mlir::Value
      guard_; ///< whether the computed arms around what is being lowered are chosen; null outside of such

  std::map<const DataInfo *, std::string> dataSymbols_;
  struct CellInstance {
    const FuncInfo *func;
    LayerInstance self;
    std::string symbol;
  };
  std::map<std::pair<const FuncInfo *, std::string>, std::string> cellSymbols_;
  std::deque<CellInstance> cellsToLower_;
  std::set<const FuncInfo *> inlining_; ///< for an assertion: C1 is the checker's
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_LOWERIMPL_H
