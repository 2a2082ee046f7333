// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What dyn-to-batch knows about values, lists, index sets and cells while it writes the program of a batch:
// the data that the classes of Flatten*.h hand to each other.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <string>

namespace dbc::passes {

struct IndexSetInfo;

/// A list of one input, in terms of the rows of a batch. Element j is row or value `first + j * stride`.
struct ListInfo {
  enum class From {
    Range,      ///< the integer itself
    Items,      ///< an int or node: row of the int array `array`
    IndexArray, ///< an int or node: index array `via` at the row of index set `of`
    Rows,       ///< computed: row of `array`
    Via,        ///< computed: row of `array` that index array `via` of index set `of` names at the row
    Lists,      ///< a list like `inner`, whose bounds stand in the int arrays `firsts` and `lastEnds`, or in
                ///< index arrays `firsts` and `lengths` of index set `of`
  };
  From from = From::Range;
  mlir::Value first, length; ///< i32, in the function being written
  int stride = 1;
  std::string array, of, via, carried;
  std::shared_ptr<const ListInfo> inner;
  std::string firsts, lastEnds, lengths;
  mlir::Type element; ///< flat type
  /// Of a list that a `while` ends: `length` is then what it may have at most. Row `taken` + j of the truths
  /// `live` says whether element j is there, or `atEnd` row `taken` - j, since the last steps came first; row
  /// `owner` of `count` how many there are.
  struct End {
    std::string live, count;
    mlir::Value taken, owner;
    bool atEnd = false;
  } end;

  /// A list whose elements stand in an index array, and one of lists like `inner`, whose bounds
  /// stand in two. Their own bounds are not set.
  static ListInfo ofIndexArray(const IndexSetInfo &indexSet, std::string array);
  static ListInfo ofLists(const ListInfo &inner, const IndexSetInfo &indexSet, std::string firsts,
                          std::string lengths);

  bool ends() const { return !end.live.empty(); }
  /// Whether the structure function knows the elements, those of the innermost lists.
  bool isStructural() const;
  /// Whether two lists differ in nothing but first and length.
  bool sameSource(const ListInfo &other) const;
  /// The innermost list.
  const ListInfo &innermost() const { return inner ? inner->innermost() : *this; }
  /// The list, read as what a loop carries; where that has ended, `loop` is empty.
  ListInfo carriedBy(llvm::StringRef loop) const;
};

/// What a flat value of one input is in the batch.
struct AbstractValue {
  enum class Kind {
    Nothing,    ///< computed, in the walk that writes calls
    Structural, ///< `scalar`, an i32 or i1 in the function being written; a node is its number
    Stored,     ///< row `scalar` of `array`
    Model, ///< made of constants and parameters alone: `scalar` of the `dyn` function is cloned where it is
           ///< used
    List,
  };
  Kind kind = Kind::Nothing;
  mlir::Value scalar;
  std::string array;
  std::string carried; ///< loop that a Stored value is carried by, or empty
  ListInfo list;

  static AbstractValue structural(mlir::Value value) { return {Kind::Structural, value, {}, {}, {}}; }
  static AbstractValue stored(std::string array, mlir::Value row, std::string carried = {}) {
    return {Kind::Stored, row, std::move(array), std::move(carried), {}};
  }
  static AbstractValue model(mlir::Value origin) { return {Kind::Model, origin, {}, {}, {}}; }
  static AbstractValue of(ListInfo list) { return {Kind::List, {}, {}, {}, std::move(list)}; }
  bool is(Kind k) const { return kind == k; }
};

/// An index set under construction: its index arrays, and what a row's push (or set) writes to each.
struct IndexSetInfo {
  IndexSetInfo(std::string name, kernel::IndexSetKind kind, mlir::Location loc, IndexSetInfo *parent)
      : name(std::move(name)), kind(kind), loc(loc), parent(parent) {}

  std::string name;
  kernel::IndexSetKind kind;
  mlir::Location loc; ///< in the source, for reports
  IndexSetInfo *parent;
  /// Adds an index array; a name that is taken gets the next free number from 2 on behind it.
  void addArray(std::string name);

  std::vector<std::string> arrays;
  llvm::StringMap<int> numbers;          ///< of the names of arrays: the last that a further one got
  llvm::SmallVector<mlir::Value> values; ///< one for each array while a row is being made
  llvm::DenseMap<mlir::Value, unsigned> arrayOf;
  std::string group; ///< instances: the group and the cell's number in it
  int cell = -1;
  mlir::DenseI64ArrayAttr sites; ///< instances: see kernel.index_set; null: none
  std::string alive;             ///< buffer that says which rows there are; empty: all
  size_t given = 1;  ///< how many of the arrays are set when a row is made: the owner, and an instance's keys
  bool used = false; ///< a stage or an index array needs its rows
};

/// Where code is being written: the innermost index set and its row. Without an index set in the walk that
/// writes calls.
struct RowContext {
  IndexSetInfo *indexSet = nullptr;
  mlir::Value row;
};

/// A cell of the program, and where its results lie.
struct CellInfo {
  dyn::CellOp op;
  std::string group;
  int number = 0;   ///< in the group
  std::string slot; ///< its `slot` function, if it has secondary keys
  IndexSetInfo *indexSet = nullptr;
  std::vector<std::string> results;         ///< buffer of each flat result; empty for a list result
  std::vector<ListInfo> lists;              ///< of each flat list result: its source; see firsts and lengths
  std::vector<std::string> firsts, lengths; ///< index arrays of `indexSet` that hold a list result's bounds
};
using CellMap = llvm::MapVector<mlir::StringAttr, CellInfo>; ///< by name, callees first

} // namespace dbc::passes
