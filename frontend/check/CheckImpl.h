// The checker's inside: one class, its parts by concern in Check*.cpp. Nobody but those includes this.
//
//   Check.cpp           the order of the work, scopes and names, unused things, bindDims
//   CheckDecls.cpp      dims, consts, data, records, layers, params, signatures
//   CheckTypes.cpp      types as written; which type fits where; numbers take the type their place asks
//   CheckExpr.cpp       blocks, patterns, names, members, records
//   CheckControl.cpp    if, match
//   CheckOperators.cpp  operators, broadcasting, joins
//   CheckSubscript.cpp  `x[..]`
//   CheckBinders.cpp    `sum(x in xs) ..`, scans, ranges
//   CheckCalls.cpp      calls of functions and layers, conversions
//   CheckBuiltins.cpp   calls of built-in functions; of `conv2d` in CheckConv2d.cpp, of lists in
//                       CheckLists.cpp
//   CheckCalling.cpp    what the graph of calls must not do: recursion of fns, cells in themselves
//   CheckSizes.cpp      what becomes far larger than its text: values, layers, fns that are put in
//   CheckStructure.cpp  structural and computed values; across calls in CheckStructureCalls.cpp
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CHECKIMPL_H
#define DBC_FRONTEND_CHECKIMPL_H

#include "frontend/check/Coercion.h"
#include "frontend/check/DimInference.h"
#include "frontend/check/Expansion.h"
#include "frontend/check/TypeResolver.h"
#include "frontend/syntax/Modules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>

namespace dbc::frontend {

class Checker : CheckerBase {
public:
  Checker(Program &program, Reporter &reporter, CheckedProgram &out)
      : CheckerBase(out, reporter), program_(program), scopes_(out, reporter),
        shapes_(out, reporter, scopes_), dims_(out, reporter), rules_(out.types),
        coercion_(out, reporter, shapes_, rules_), sizes_(out, reporter),
        resolver_(out, reporter, scopes_, shapes_, sizes_), calls_(out, reporter, scopes_) {}

  void run();

private:
  //===-- CheckDecls.cpp --------------------------------------------------===//
  void collectFile(File &file);
  void collectLayer(LayerDecl &decl, FileScope &scope);
  void collectDecl(Decl &decl, FileScope &scope, LayerScope *layer);
  /// Creates the dims of a record, layer or fn and enters them in `names`.
  void declareDims(const std::vector<Ident> &dims, std::vector<const DimVar *> &infos, Names &names);
  void resolveDims(File &file);
  void resolveConst(Binding &binding);
  void resolveData(DataDecl &decl);
  void resolveRecord(RecordDecl &decl);
  void checkInit(const Init &init);
  void resolveParam(Binding &binding);
  void resolveSignature(FuncInfo &func);
  const Type *typeOfRange(const FuncInfo &func, FuncArg &arg);
  void resolveCellArguments(FuncInfo &func);
  void resolveFuncResult(FuncInfo &func);
  void resolveMembers(File &file);
  void checkFunction(FuncInfo &func);

  const Type *value(Expr &expr); ///< infer and settle

  //===-- CheckExpr.cpp ---------------------------------------------------===//
  const Type *infer(Expr &expr);
  const Type *inferUnchecked(Expr &expr);
  const Type *inferName(NameExpr &expr);
  const Type *valueOfBinding(Expr &expr, Binding *binding);
  const Type *inferMember(MemberExpr &expr);
  const Type *inferNodeField(MemberExpr &expr, const DataInfo &data);
  const Type *inferRecord(RecordExpr &expr);
  const Type *inferTuple(TupleExpr &expr);
  const Type *inferBlock(Block &block);
  void inferLet(Let &let);

  //===-- CheckControl.cpp ------------------------------------------------===//
  const Type *inferIf(IfExpr &expr);
  const Type *inferMatch(MatchExpr &expr);
  void bindArm(MatchArm &arm, const ConstructorInfo &constructor);
  void checkExhaustive(const MatchExpr &expr, const DataInfo &data);
  /// One type for all arms; reports the first that does not fit.
  const Type *unifyArms(const std::vector<Block *> &arms, const char *what);

  //===-- CheckOperators.cpp ----------------------------------------------===//
  const Type *inferUnary(UnaryExpr &expr);
  const Type *inferBinary(BinaryExpr &expr);
  const Type *inferLogical(BinaryExpr &expr);
  const Type *inferComparison(BinaryExpr &expr);
  const Type *inferArithmetic(BinaryExpr &expr);
  const Type *inferMatMul(BinaryExpr &expr);
  const Type *inferAppend(BinaryExpr &expr);
  const Type *inferJoin(JoinExpr &expr);
  const Type *inferJoinRank1(JoinExpr &expr, const Type *element);
  /// Makes the operands numbers of one scalar kind and gives that kind; reports what does not fit. Widened
  /// index becomes int.
  std::optional<Scalar> commonScalar(const std::vector<Expr *> &operands, SourceRange range,
                                     const std::string &what);
  std::optional<std::vector<Shape>> broadcast(const std::vector<Expr *> &operands, SourceRange range,
                                              const std::string &what);
  bool requireNumber(const Expr &expr, const std::string &what);

  //===-- CheckSubscript.cpp ----------------------------------------------===//
  const Type *inferSubscript(SubscriptExpr &expr);
  const Type *subscriptList(SubscriptExpr &expr, const Type *list, Subscripts &info);
  const Type *subscriptTable(SubscriptExpr &expr, const Type *table, Subscripts &info);
  const Type *subscriptTensor(SubscriptExpr &expr, const Type *tensor, Subscripts &info);
  bool subscriptSlice(Sub &sub, const Shape &extent, Subscripts::Part &part);
  const Type *subscriptIndex(Sub &sub, const Shape &extent, Subscripts::Part &part);
  /// What stands for an axis of this extent: an int, an index, or a tensor of them. Null where it was
  /// refused.
  const Type *indexInto(Expr &expr, const Shape &extent, Subscripts::Part &part);

  //===-- CheckBinders.cpp ------------------------------------------------===//
  /// Reports layers that are not taken straight from their table, and gives false.
  bool bindsTables(const Pattern &pattern, const Expr &list);
  const Type *inferBinder(BinderExpr &expr);
  const Type *inferReducer(BinderExpr &expr, Builtin builtin);
  /// The type of the next state, for a state of this type; nothing is reported.
  const Type *tryNextState(BinderExpr &expr, const Type *state);
  const Type *inferScan(BinderExpr &expr, Builtin builtin);
  const Type *bindElement(BinderExpr &expr);
  const Type *reduceElement(Builtin builtin, const Type *element, SourceRange range, const std::string &what);
  const Type *inferRange(RangeExpr &expr);

  //===-- CheckCalls.cpp --------------------------------------------------===//
  const Type *inferCall(CallExpr &expr);
  const Type *callFunction(CallExpr &expr, const FuncInfo &func, const Expr *receiver);
  const Type *callLayer(CallExpr &expr, const Expr &layer, const std::string &function, SourceRange range);
  const Type *callNamed(CallExpr &expr, NameExpr &callee);
  const Type *callMember(CallExpr &expr, MemberExpr &callee);
  const Type *callBinding(CallExpr &expr, Expr &callee, Binding *binding, const Expr *receiver);
  const Type *convert(CallExpr &expr, Builtin builtin, std::optional<Shape> bound);
  void inferArguments(CallExpr &expr);
  /// Reports `stride` and `padding`, and gives false, where they are given.
  bool refuseSettings(CallExpr &expr, const std::string &what, const std::string &rule);

  //===-- CheckBuiltins.cpp -----------------------------------------------===//
  const Type *callBuiltin(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeBuiltin(CallExpr &expr, const BuiltinInfo &info, Call &call);
  const Type *typeElementwise(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeSelect(CallExpr &expr, const BuiltinInfo &info);
  /// Of a reduction or softmax whose argument is a list.
  const Type *typeListReduction(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeReduction(CallExpr &expr, const BuiltinInfo &info, Call &call);
  const Type *typeSoftmax(CallExpr &expr, const BuiltinInfo &info, Call &call);
  const Type *typeSplit(CallExpr &expr, Call &call);
  const Type *typeTranspose(CallExpr &expr);
  const Type *typeReshape(CallExpr &expr);
  const Type *typeFilled(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeIota(CallExpr &expr);
  const Type *typeDropout(CallExpr &expr);
  const Type *typePut(CallExpr &expr);
  const Type *typeSlice(CallExpr &expr);
  const Type *typeTopK(CallExpr &expr);
  const Type *typeCrossEntropy(CallExpr &expr);
  //===-- CheckLists.cpp --------------------------------------------------===//
  const Type *typeList(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeEvery(CallExpr &expr);
  //===-- CheckConv2d.cpp -------------------------------------------------===//
  const Type *typeConv2d(CallExpr &expr, Call &call);
  /// What the setting says for both axes of a picture, or `otherwise`; nothing after a report.
  std::optional<std::array<Shape, 2>> forBothAxes(CallExpr &expr, const std::string &name, Shape otherwise);
  //===-- CheckBuiltins.cpp -----------------------------------------------===//
  const Type *typeDiv(CallExpr &expr);
  /// The axis that `axis = k` names, else `otherwise`; nothing after a report.
  std::optional<int> axisOf(CallExpr &expr, const Type *tensor, int otherwise);
  /// All arguments from `first` on as shapes.
  std::optional<std::vector<Shape>> shapeArguments(CallExpr &expr, size_t first);
  bool requireFloat(Expr &expr, const std::string &what);
  const Type *wrongArgument(const Expr &expr, const BuiltinInfo &info, const std::string &takes);

  //===-- CheckStructure.cpp ----------------------------------------------===//
  void checkStructure();

  //===-- State -----------------------------------------------------------===//
  Program &program_;
  Scopes scopes_;
  ShapeResolver shapes_;
  DimInference dims_;
  TypeRules rules_;
  Coercion coercion_;
  Sizes sizes_;
  TypeResolver resolver_;
  CallGraph calls_;

  std::map<const Decl *, FuncInfo *> funcs_;
  std::map<const Decl *, LayerInfo *> layerOf_;
  std::map<const Decl *, RecordInfo *> recordOf_;
  std::map<const Decl *, DataInfo *> dataOf_;

  const Expr *splitCall_ = nullptr; ///< a call that a tuple pattern takes apart, and into how many parts
  size_t splitCount_ = 0;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CHECKIMPL_H
