// Checks a parsed program (rules N, T, S, D, C, L of the manual) symbolically, without any -D, and annotates
// its tree for lowering.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CHECK_H
#define DBC_FRONTEND_CHECK_H

#include "frontend/check/Types.h"
#include "frontend/syntax/Diagnostics.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace dbc::frontend {

struct Program;

/// The outcome of check(): owns every Type, Binding and *Info that the tree's annotations point to. Keep it
/// as long as the tree is read. Annotations are complete only if no error was reported.
///
/// Where what is annotated:
///   Expr::type           of every expression; one that names no value (callee, module, layer function) has
///                        none. A number literal has the type its context asks.
///   NameExpr, TypeExpr   resolved: the Binding of the name
///   MemberExpr           resolved: Field (of node or record), Param / Const / Func (of a layer or module)
///   CallExpr             resolved: a Call
///   BinderExpr           resolved: Builtin
///   MatchExpr            resolved: Data; arms name constructors (DataInfo::constructorIndex), their fields'
///                        `resolved` are Locals with `index` = position in the constructor
///   SubscriptExpr        resolved: a Subscripts (null for the callee `index[n]`)
///   RecordExpr           type: the Record type; fields are named, in any order
///   Pattern              type; resolved: the Local it declares
///   Decl, FuncArg        resolved: its Binding
class CheckedProgram {
public:
  TypeContext types;

  /// The file's dims in the order of the text, as Bindings of Kind::Dim: `shape` is one DimVar, or for a dim
  /// made of others their polynomial.
  std::vector<const Binding *> dims;
  /// The model's own declarations, in the order of the text.
  std::vector<const DataInfo *> datas;     ///< those of imported modules too, behind the model's
  std::vector<const Binding *> params;     ///< Param and tensor Const bindings at the top of the model
  std::vector<const FuncInfo *> functions; ///< at the top of the model
  /// Every function of every file and layer.
  std::vector<const FuncInfo *> allFunctions;

  /// False if the expression is *computed* (S1) in some context in which it is used.
  bool isStructural(const Expr *expr) const { return computed.count(expr) == 0; }
  std::unordered_set<const Expr *> computed;

  /// The value of an expression made of dims, number consts, literals and + - * /; else nothing.
  static std::optional<Shape> asShape(const Expr &expr);

  // Storage.
  std::deque<DimVar> dimVars;
  std::deque<DataInfo> dataInfos;
  std::deque<RecordInfo> recordInfos;
  std::deque<LayerInfo> layerInfos;
  std::deque<FuncInfo> funcInfos;
  std::deque<std::unique_ptr<Binding>> bindings;
};

/// Checks all files of the program. Reports everything wrong; the result is fit for lowering if
/// `!diags.hasErrors()`. Never null.
std::unique_ptr<CheckedProgram> check(Program &program, DiagnosticEngine &diags);

/// The values of the model's dims: those given (`-Dname=value`), else their numbers (N5). Reports dims
/// without a value, unless `mayLack`, names that are no dims, dims made of others, values below 1. Nothing if
/// there was an error.
std::optional<DimValues> bindDims(const CheckedProgram &program, const std::map<std::string, int64_t> &given,
                                  DiagnosticEngine &diags, bool mayLack = false);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CHECK_H
