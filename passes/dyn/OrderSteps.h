// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The numbers in the program that dyn-order-errors writes. The runtime walks it by dbc::Step, dbc::Logic,
// dbc::Reduction, dbc::Binder and dbc::OwnerKind, whose numbers are these: test/codegen/OrderStepsTest.cpp.
#pragma once

namespace dbc::passes {

enum class Step {
  Constant,
  Move,
  Field,
  Argument,
  Int,
  Logic,
  Select,
  Narrow,
  Range,
  Length,
  Zip,
  Reverse,
  Slice,
  At,
  Some,
  Reduce,
  Event,
  Begin,
  Next,
  Jump,
  Unless,
  Switch,
  Nodes,
  Owner,
  Key,
  Call,
  Every,
  Discover,
  Return
};
enum class Logic { And, Or, Xor, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Largest, Least };
enum class Reduction { Sum, Max, Min, Any, All };
enum class Binder { Map, Filter, Scan, Fold };

/// Whose the messages of a step are: a node of a data type, or one of these.
enum class OwnerKind { Own = -1, Input = -2, OfCall = -3 };

/// dbc::site_coordinate.
constexpr int siteCoordinate(int depth) { return -2 - depth; }

} // namespace dbc::passes
