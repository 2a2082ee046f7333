// The table of built-in functions.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Builtins.h"

#include <cassert>
#include <map>

namespace dbc::frontend {

namespace {

// clang-format off
const BuiltinInfo kTable[] = {
    // id, name, least and most arguments, axis?, binder?, state?, typing, usage, rule
    {Builtin::Exp, "exp", 1, 1, false, false, false, Typing::FloatUnary, "exp(x)", "T2"},
    {Builtin::Log, "log", 1, 1, false, false, false, Typing::FloatUnary, "log(x)", "T2"},
    {Builtin::Sqrt, "sqrt", 1, 1, false, false, false, Typing::FloatUnary, "sqrt(x)", "T2"},
    {Builtin::Sin, "sin", 1, 1, false, false, false, Typing::FloatUnary, "sin(x)", "T2"},
    {Builtin::Cos, "cos", 1, 1, false, false, false, Typing::FloatUnary, "cos(x)", "T2"},
    {Builtin::Tanh, "tanh", 1, 1, false, false, false, Typing::FloatUnary, "tanh(x)", "T2"},
    {Builtin::Sigmoid, "sigmoid", 1, 1, false, false, false, Typing::FloatUnary, "sigmoid(x)", "T2"},
    {Builtin::Relu, "relu", 1, 1, false, false, false, Typing::FloatUnary, "relu(x)", "T2"},
    {Builtin::Gelu, "gelu", 1, 1, false, false, false, Typing::FloatUnary, "gelu(x)", "T2"},
    {Builtin::Softplus, "softplus", 1, 1, false, false, false, Typing::FloatUnary, "softplus(x)", "T2"},
    {Builtin::Abs, "abs", 1, 1, false, false, false, Typing::Arithmetic, "abs(x)", "T2"},
    {Builtin::Square, "square", 1, 1, false, false, false, Typing::Arithmetic, "square(x)", "T2"},
    {Builtin::Pow, "pow", 2, 2, false, false, false, Typing::FloatBinary, "pow(x, y)", "T2"},
    {Builtin::Maximum, "maximum", 2, 2, false, false, false, Typing::Arithmetic, "maximum(x, y)", "T2"},
    {Builtin::Minimum, "minimum", 2, 2, false, false, false, Typing::Arithmetic, "minimum(x, y)", "T2"},
    {Builtin::Clip, "clip", 3, 3, false, false, false, Typing::Arithmetic, "clip(x, lo, hi)", "T2"},
    {Builtin::Select, "select", 3, 3, false, false, false, Typing::Select, "select(c, x, y)", "T2"},
    {Builtin::Dropout, "dropout", 2, 2, false, false, false, Typing::Dropout, "dropout(x, p)", "G2"},
    {Builtin::Detach, "detach", 1, 1, false, false, false, Typing::Same, "detach(x)", "G1"},
    {Builtin::Sum, "sum", 1, 1, true, true, false, Typing::Reduction, "sum(x)", "L1"},
    {Builtin::Mean, "mean", 1, 1, true, true, false, Typing::Reduction, "mean(x)", "L1"},
    {Builtin::Max, "max", 1, 1, true, true, false, Typing::Reduction, "max(x)", "L1"},
    {Builtin::Min, "min", 1, 1, true, true, false, Typing::Reduction, "min(x)", "L1"},
    {Builtin::LogSumExp, "logsumexp", 1, 1, true, true, false, Typing::Reduction, "logsumexp(x)", "L1"},
    {Builtin::ArgMax, "argmax", 1, 1, true, true, false, Typing::ArgMax, "argmax(x)", "L1"},
    {Builtin::Any, "any", 1, 1, true, true, false, Typing::Logical, "any(x)", "L1"},
    {Builtin::All, "all", 1, 1, true, true, false, Typing::Logical, "all(x)", "L1"},
    {Builtin::Softmax, "softmax", 1, 1, true, true, false, Typing::Softmax, "softmax(x)", "L1"},
    {Builtin::LogSoftmax, "log_softmax", 1, 1, true, false, false, Typing::Softmax, "log_softmax(x)", "T2"},
    {Builtin::Map, "map", 0, 0, false, true, false, Typing::Binder, "map(x in xs) ..", "L1"},
    {Builtin::Scan, "scan", 0, 0, false, true, true, Typing::Binder, "scan(x in xs, s = s0) ..", "L2"},
    {Builtin::ScanBack, "scan_back", 0, 0, false, true, true, Typing::Binder, "scan_back(x in xs, s = s0) ..", "L2"},
    {Builtin::Fold, "fold", 0, 0, false, true, true, Typing::Binder, "fold(x in xs, s = s0) ..", "L2"},
    {Builtin::Split, "split", 1, 2, true, false, false, Typing::Split, "split(x, 3)", "T3"},
    {Builtin::Transpose, "transpose", 1, 1, false, false, false, Typing::Transpose, "transpose(x)", "T2"},
    {Builtin::Reshape, "reshape", 2, -1, false, false, false, Typing::Reshape, "reshape(x, m, n)", "T1"},
    {Builtin::Zeros, "zeros", 1, -1, false, false, false, Typing::Filled, "zeros(m, n)", "T1"},
    {Builtin::Ones, "ones", 1, -1, false, false, false, Typing::Filled, "ones(m, n)", "T1"},
    {Builtin::Fill, "fill", 2, -1, false, false, false, Typing::Fill, "fill(v, m, n)", "T1"},
    {Builtin::Iota, "iota", 1, 1, false, false, false, Typing::Iota, "iota(n)", "T1"},
    {Builtin::Put, "put", 3, 3, false, false, false, Typing::Put, "put(x, i, v)", "T3"},
    {Builtin::Slice, "slice", 3, 3, false, false, false, Typing::Slice, "slice(x, start, extent)", "T3"},
    {Builtin::TopK, "topk", 2, 2, false, false, false, Typing::TopK, "topk(x, k)", "G1"},
    {Builtin::Conv2d, "conv2d", 2, 2, false, false, false, Typing::Conv2d, "conv2d(x, K)", "T2"},
    {Builtin::CrossEntropy, "cross_entropy", 2, 2, false, false, false, Typing::CrossEntropy, "cross_entropy(logits, label)", "E1"},
    {Builtin::BinaryCrossEntropy, "binary_cross_entropy", 2, 2, false, false, false, Typing::FloatBinary, "binary_cross_entropy(logit, y)", "E1"},
    {Builtin::Len, "len", 1, 1, false, false, false, Typing::Len, "len(xs)", "L1"},
    {Builtin::Zip, "zip", 2, -1, false, false, false, Typing::Zip, "zip(xs, ys)", "L1"},
    {Builtin::Reverse, "reverse", 1, 1, false, false, false, Typing::Reverse, "reverse(xs)", "L1"},
    {Builtin::Nodes, "nodes", 1, 1, false, false, false, Typing::Nodes, "nodes(t)", "D3"},
    {Builtin::Every, "every", 1, 1, false, false, false, Typing::Every, "every(down(t, x))", "C5"},
    {Builtin::F32, "f32", 1, 1, false, false, false, Typing::Conversion, "f32(i)", "T4"},
    {Builtin::Int, "int", 1, 1, false, false, false, Typing::Conversion, "int(x)", "T4"},
    {Builtin::Bool, "bool", 1, 1, false, false, false, Typing::Conversion, "bool(x)", "T4"},
    {Builtin::Index, "index", 1, 1, false, false, false, Typing::Conversion, "index[n](i)", "T4"},
    {Builtin::Div, "div", 2, 2, false, false, false, Typing::Div, "div(a, b)", "T4"},
};
// clang-format on

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
