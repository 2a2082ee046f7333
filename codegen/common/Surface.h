// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Surface types of declarations (`!dyn.index`, `!dyn.record`, `tuple`, lists): what API and tables need of
// them.
#pragma once

#include "ir/Dyn/Dyn.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dbc::codegen {

/// What one element of a value is, as runtime/include/dbc/model_info.h has it.
enum class Elem { Index, Int, Bool, F32, Node };

/// A number, tensor or node: a surface type that is neither list nor record nor tuple.
struct Element {
  Elem elem = Elem::F32;
  int64_t bound = 0;            ///< Elem::Index
  std::string data;             ///< Elem::Node: the data type's name in the source
  std::vector<int64_t> extents; ///< empty for a scalar

  int64_t size() const;
  bool scalar() const { return extents.empty(); }
};
Element element(mlir::Type surface);

/// A flattened component of a type: no record and no tuple. In the order of `dbc::flatten` in the runtime.
struct Component {
  std::string path; ///< "state.h", "pair.0"; without the leading name where that is empty
  Element element;
  int depth = 0; ///< lists round it
};
std::vector<Component> flatten(mlir::Type surface, llvm::StringRef name);

/// The surface type of a component by itself: a (list of a) number, tensor or node.
mlir::Type componentType(const Component &component, mlir::MLIRContext *context);

/// How the source writes the type: "f32[3, 5]", "index[100]", "[Tree]", "State", "(f32, int)".
std::string spelling(mlir::Type surface);

} // namespace dbc::codegen
