// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which of several errors of one input comes first in the order of evaluation (rule E2). Stages run over many
// rows at once and structure functions in the order that suits the arrays, so what they meet first is not
// what a reader of the source would. Where an input fails, its structure is walked once more, by itself and
// in the source's order. All of this is off the fast path.
#pragma once

#include <dbc/batch.h>
#include <dbc/messages.h>
#include <dbc/status.h>

#include <cstdint>
#include <vector>

namespace dbc {

/// The structure of an entry and of its cells in the order of evaluation, as generated code holds it: steps
/// that a walk goes through (first_error). What is computed is not in it, but for the EVENTS: numbers of the
/// operations that may fail by what is computed.
///
/// code[0] is the number of functions, of which the first is the entry; code[1 + f] is where function f
/// stands: the number of its values, its name (a word), the data type of its first key (-1: none), the number
/// of its keys, for each key its COORDINATE and its name, then the steps. Values are numbered in a function;
/// the first ones are the keys and the captured arguments.
struct EvaluationOrder {
  const int32_t *code = nullptr;
  const char *const *words = nullptr;
};

/// What a step does. `r` is the value that it gives, other letters in lower case are values that it takes;
/// `at` is the word that says where it stands in the source; a pc is a position in the code.
enum class Step : int32_t {
  Constant, ///< r, number
  Move,     ///< r, x
  Field,    ///< r, node, table, column, at
  Argument, ///< r, component, at
  Int,      ///< r, kind (IntStep), x, y, at
  Logic,    ///< r, kind (Logic), x, y
  Select,   ///< r, condition, x, y
  Narrow,   ///< x, bound, at
  Range,    ///< r, low, high, at
  Length,   ///< r, list
  Zip,      ///< at, count, lists
  Reverse,  ///< r, list
  Slice,    ///< r, list, low, high, at
  At,       ///< r, list, index, at
  Some,     ///< list, word of the reduction, at: it must not be empty
  Reduce,   ///< r, kind (Reduction), list, at
  Event,    ///< number: something is computed that may fail
  Begin,    ///< a binder: kind (Binder), coordinate, back, pc behind its Next, at; count and lists; count and
            ///< the states' first values; values of elements and states in the body; count and results
  Next,     ///< count, values that the body gives
  Jump,     ///< pc
  Unless,   ///< condition, pc
  Switch,   ///< node, table, count, pc for each constructor
  Nodes,    ///< r, node, table
  Owner,    ///< of messages from here on: table, node; or -1, the function's own; -2, the input; -3, that of
            ///< the call from outside of the recursion
  Key,      ///< x, low, high, word of the key, at
  Call,     ///< function, number of the call, gives (0 nothing, 1 inside a recursion, 2 from outside), word
            ///< of the location of the cell; count and keys; count and captured arguments; count and
            ///< results
  Every,    ///< as Call, but the results are lists: the nodes of all instances of the function that the
            ///< call leads to, with its secondary keys; and what these give
  Discover, ///< as Call up to the keys: an instance whose values change is discovered by this call
  Return    ///< count, values
};
enum class Logic : int32_t {
  And,
  Or,
  Xor,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Largest,
  Least
};
enum class IntStep : int32_t { Add, Sub, Mul, Div, Rem, Max, Min };
enum class Reduction : int32_t { Sum, Max, Min, Any, All };
enum class Binder : int32_t { Map, Filter, Scan, Fold };
/// Whose the messages of a step are: the instance's own, the input's, or the caller's; else a node of the
/// data type of this number.
enum class OwnerKind : int32_t { Own = -1, Input = -2, OfCall = -3 };

/// The coordinate whose value says by which call from outside of a recursion an instance is reached: of the
/// outermost recursion for 0, of one that is called in it for 1, and so on.
constexpr int32_t site_coordinate(int32_t depth) { return -2 - depth; }

/// Something that went wrong while computing: an event, and where it was. `at` has pairs of a coordinate (a
/// key, a binder or a site) and its value (a key, a position, or the number of a call); coordinates that the
/// operation does not depend on may be absent, and one that stands several times in a row has any of its
/// values, as several calls may share their instances.
struct ComputedError {
  int32_t event;
  std::vector<int32_t> at;
};

/// The first error of an input that structure alone decides; ok if there is none. `entry` is the number in
/// ModelInfo::entries; the batch must have been validated. Ok, too, where the walk would take more than some
/// seconds. May throw std::bad_alloc.
Status first_error(const EvaluationOrder &order, const Batch &batch, int32_t entry, int32_t input);

/// The number of the first of several computed errors of an input that has no other ones; -1 if none of them
/// was met. May throw std::bad_alloc.
int32_t first_computed(const EvaluationOrder &order, const Batch &batch, int32_t entry, int32_t input,
                       const std::vector<ComputedError> &errors);

} // namespace dbc
