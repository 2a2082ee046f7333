// The table of built-in functions, and what to write instead of names that dbc lacks.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Builtins.h"

#include <cassert>
#include <map>

namespace dbc::frontend {

namespace {

const BuiltinInfo kTable[] = {
#define DBC_BUILTIN(id, name, least, most, axis, binder, state, typing, usage, rule)                         \
  {Builtin::id, name, least, most, axis, binder, state, Typing::typing, usage, rule},
#include "frontend/check/Builtins.def"
#undef DBC_BUILTIN
};

/// Names that users of other systems try, and what says the same here.
const std::map<std::string_view, const char *> kIdioms = {
    {"cat", "tensors are joined by `[a, b]`"},
    {"concat", "tensors are joined by `[a, b]`"},
    {"concatenate", "tensors are joined by `[a, b]`"},
    {"hstack", "tensors are joined by `[a, b]`"},
    {"stack", "give each operand a first axis and join them: `[reshape(a, 1, n), reshape(b, 1, n)]`"},
    {"range", "write `0..n`"},
    {"arange", "write `0..n`, or `iota(n)` for a tensor"},
    {"view", "write `reshape(x, ..)`"},
    {"squeeze", "write `reshape(x, ..)`"},
    {"unsqueeze", "write `reshape(x, ..)`"},
    {"flatten", "write `reshape(x, ..)`"},
    {"matmul", "write `a @ b`"},
    {"mm", "write `a @ b`"},
    {"dot", "write `a @ b`"},
    {"einsum", "write `a @ b`"},
    {"power", "write `pow(x, y)`"},
    {"where", "write `select(c, x, y)`"},
    {"chunk", "write `split(x, 3)`"},
    {"length", "write `len(xs)`"},
    {"size", "write `len(xs)` for a list; the extents of a tensor are the dims of its type"},
    {"shape", "the extents of a tensor are the dims of its type"},
    {"enumerate", "write `zip(xs, 0..len(xs))`"},
    {"reversed", "write `reverse(xs)`"},
    {"filter", "write `map(x in xs if c) x`"},
    {"reduce", "write `fold(x in xs, s = s0) ..`"},
    {"foldl", "write `fold(x in xs, s = s0) ..`"},
    {"foldr", "write `fold(x in reverse(xs), s = s0) ..`"},
    {"for", "write `map(x in xs) ..`, or `sum(x in xs) ..`"},
    {"prod", "write `fold(x in xs, p = 1) p * x`"},
    {"average", "write `mean(x)`"},
    {"float", "write `f32(x)`"},
    {"float32", "write `f32(x)`"},
    {"int32", "write `int(x)`"},
    {"nn", "the library is imported first: `import nn;`"},
    {"mul", "write `a * b`"},
    {"add", "write `a + b`"},
    {"sub", "write `a - b`"},
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"clamp", "write `clip(x, lo, hi)`"},
    {"embedding", "rows of a table are looked up by `E[i]`"},
    {"gather", "rows of a table are looked up by `E[i]`"},
    {"index_select", "rows of a table are looked up by `E[i]`"},
    {"nll_loss", "write `cross_entropy(logits, label)`"},
    {"softmax_cross_entropy", "write `cross_entropy(logits, label)`"},
    {"bce", "write `binary_cross_entropy(logit, y)`"},
    {"mse_loss", "write `mean(square(x - y))`"},
    {"logistic", "write `sigmoid(x)`"},
    {"permute", "write `transpose(x)`, which reverses the axes"},
    {"full", "write `fill(v, n)`"},
    {"leaky_relu", "write `maximum(x, 0.01 * x)`"},
    {"silu", "write `x * sigmoid(x)`"},
    {"swish", "write `x * sigmoid(x)`"},
    {"elu", "write `maximum(x, 0) + exp(minimum(x, 0)) - 1`"},
    {"norm", "write `sqrt(sum(square(x)))`"},
    {"outer", "write `reshape(x, n, 1) @ reshape(y, 1, m)`"},
    {"cumsum", "write `scan(x in xs, s = 0.0) { s + x }`"},
    {"floor", "`int(x)` drops the fraction"},
    {"round", "`int(x)` drops the fraction"},
    {"std", "write `sqrt(mean(square(x - mean(x))))`"},
    {"var", "write `mean(square(x - mean(x)))`"},
    {"bmm", "write `a @ b`"},
    {"zeros_like", "write `zeros(n)` with the dims of its type"},
    {"ones_like", "write `ones(n)` with the dims of its type"},
    {"sign", "write `select(x > 0, 1.0, -1.0)`"},
    {"sort", "`topk(x, k)` gives the k largest"},
    {"torch", "functions stand without a module: `tanh(x)`; layers are in `nn`"},
    {"tf", "functions stand without a module: `tanh(x)`; layers are in `nn`"},
    {"np", "functions stand without a module: `tanh(x)`"},
    {"F", "functions stand without a module: `tanh(x)`"},
    {"self", "params and fields are named alone; a function takes what it needs: `fn f(t: Tree)`"},
    {"print", "a model has no output but its entries: return what is to be seen from one"},
};

/// What names of types elsewhere are here.
const std::map<std::string_view, const char *> kTypeIdioms = {
    {"float", "numbers with a point are `f32`"},
    {"float32", "numbers with a point are `f32`"},
    {"f64", "numbers are `f32`; `--real f64` computes with doubles"},
    {"int32", "integers are `int`, or `index[n]` from 0 to n - 1"},
    {"int64", "integers are `int`, or `index[n]` from 0 to n - 1"},
    {"long", "integers are `int`, or `index[n]` from 0 to n - 1"},
    {"List", "a list of `T` is `[T]`"},
    {"list", "a list of `T` is `[T]`"},
    {"Optional", "what may be absent is a list `[T]` of none or one"},
    {"Tensor", "a tensor is `f32[n, m]`, a number `f32`"},
    {"tensor", "a tensor is `f32[n, m]`, a number `f32`"},
    {"double", "numbers are `f32`; `--real f64` computes with doubles"},
    {"str", "words are indices into a vocabulary: `index[v]`"},
    {"string", "words are indices into a vocabulary: `index[v]`"},
};

} // namespace

const BuiltinInfo *findBuiltin(std::string_view name) {
  static const std::map<std::string_view, const BuiltinInfo *> byName = [] {
    std::map<std::string_view, const BuiltinInfo *> map;
    for (const BuiltinInfo &info : kTable)
      map[info.name] = &info;
    return map;
  }();
  auto at = byName.find(name);
  return at == byName.end() ? nullptr : at->second;
}

const BuiltinInfo &builtinInfo(Builtin id) {
  for (const BuiltinInfo &info : kTable)
    if (info.id == id)
      return info;
  assert(false && "every builtin is in the table");
  return kTable[0];
}

const std::vector<std::string> &builtinNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const BuiltinInfo &info : kTable)
      all.push_back(info.name);
    return all;
  }();
  return names;
}

std::string idiomFor(std::string_view name) {
  auto at = kIdioms.find(name);
  return at == kIdioms.end() ? typeIdiomFor(name) : at->second;
}

std::string typeIdiomFor(std::string_view name) {
  auto at = kTypeIdioms.find(name);
  return at == kTypeIdioms.end() ? "" : at->second;
}

} // namespace dbc::frontend
