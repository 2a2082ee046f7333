// The built-in functions and binders (the manual's "Built-in functions" and rules L1, L2): their names, and
// for each how many arguments it takes and how it is typed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_BUILTINS_H
#define DBC_FRONTEND_BUILTINS_H

#include <string>
#include <string_view>
#include <vector>

namespace dbc::frontend {

enum class Builtin {
  None,
#define DBC_BUILTIN(id, ...) id,
#include "frontend/check/Builtins.def"
#undef DBC_BUILTIN
};

/// How the type of a call is found (BuiltinTyper has one function for each, or hands it on).
enum class Typing {
  FloatUnary,  ///< f32 in, the same out
  Arithmetic,  ///< f32 or int, broadcast
  FloatBinary, ///< f32, broadcast
  Select,
  Same,      ///< any number tensor, the same out
  Reduction, ///< tensor with axis, or list
  ArgMax,
  Logical, ///< any, all
  Softmax,
  Split,
  Transpose,
  Reshape,
  Filled, ///< zeros, ones
  Fill,
  Iota,
  Dropout,
  Put,
  Slice,
  TopK,
  Conv2d,
  CrossEntropy,
  Len,
  Zip,
  Reverse,
  Nodes,
  Conversion,
  Div,
  Every,
  Binder ///< cannot be called: `map scan scan_back fold`
};

struct BuiltinInfo {
  Builtin id = Builtin::None;
  const char *name = "";
  int minArgs = 0, maxArgs = 0; ///< maxArgs -1: any number
  bool takesAxis = false;
  bool isBinder = false;   ///< may be used as `name(x in xs) ..`
  bool wantsState = false; ///< scan, scan_back, fold
  Typing typing = Typing::Binder;
  const char *usage = "";  ///< `pow(x, y)`, for messages
  const char *rule = "T2"; ///< cited where a call is wrong
};

/// The entry of a name, or null.
const BuiltinInfo *findBuiltin(std::string_view name);
const BuiltinInfo &builtinInfo(Builtin id);
/// All names, for hints.
const std::vector<std::string> &builtinNames();
/// What to write instead of a name that users of other systems expect (`concat`: "write `[a, b]`"), or "".
std::string idiomFor(std::string_view name);
/// The same where a type stands (`List`: "a list of `T` is `[T]`").
std::string typeIdiomFor(std::string_view name);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_BUILTINS_H
