// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What dyn-to-batch knows about the values of one input while it writes the program of a batch.
//
// A `dyn` function is walked twice. The first walk writes its `calls` function: which instances need which.
// The second writes its `index` function, which makes the rows of all spaces, and one `batch.stage` an
// arithmetic op. Flattening follows Blelloch's nested data parallelism: a binder is a space whose rows are
// (row outside, element).
#pragma once

#include "ir/Batch/Batch.h"
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <memory>
#include <string>

namespace dbc::passes {

/// A list of one input, in terms of the rows of a batch. Element j is row or value `first + j * stride`.
struct ListInfo {
  enum class From {
    Range,  ///< the integer itself
    Items,  ///< an int or node: row of the int array `array`
    Column, ///< an int or node: column `via` at the row of space `of`
    Rows,   ///< computed: row of `array`
    Via,    ///< computed: row of `array` that column `via` of space `of` names at the row
    Lists,  ///< a list like `inner`, whose bounds stand in the int arrays `firsts` and `lastEnds`, or in
            ///< columns `firsts` and `lengths` of space `of`
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
  std::string live, count;
  mlir::Value taken, owner;
  bool atEnd = false;

  bool ends() const { return !live.empty(); }
  /// Whether two lists differ in nothing but first and length.
  bool sameSource(const ListInfo &o) const {
    return from == o.from && stride == o.stride && array == o.array && of == o.of && via == o.via &&
           element == o.element && firsts == o.firsts && lastEnds == o.lastEnds && lengths == o.lengths &&
           (!inner || inner->sameSource(*o.inner));
  }
};

/// What a flat value of one input is in the batch.
struct Known {
  enum class Kind {
    Nothing,    ///< computed, in the walk that writes calls
    Structural, ///< `scalar`, an i32 or i1 in the function being written; a node is its number
    Placed,     ///< row `scalar` of `array`
    Model, ///< made of constants and parameters alone: `scalar` of the `dyn` function is cloned where it is
           ///< used
    List,
  };
  Kind kind = Kind::Nothing;
  mlir::Value scalar;
  std::string array;
  std::string carried; ///< loop that a Placed value is carried by, or empty
  ListInfo list;

  static Known structural(mlir::Value v) {
    Known k;
    k.kind = Kind::Structural;
    k.scalar = v;
    return k;
  }
  static Known placed(std::string array, mlir::Value row, std::string carried = {}) {
    Known k;
    k.kind = Kind::Placed;
    k.scalar = row;
    k.array = std::move(array);
    k.carried = std::move(carried);
    return k;
  }
  static Known model(mlir::Value origin) {
    Known k;
    k.kind = Kind::Model;
    k.scalar = origin;
    return k;
  }
  static Known of(ListInfo list) {
    Known k;
    k.kind = Kind::List;
    k.list = std::move(list);
    return k;
  }
  bool is(Kind k) const { return kind == k; }
};

/// A space under construction: its columns, and the values that a row's push (or set) writes to them.
struct SpaceInfo {
  SpaceInfo(std::string name, kernel::SpaceKind kind, mlir::Location loc, SpaceInfo *parent)
      : name(std::move(name)), kind(kind), loc(loc), parent(parent) {}

  std::string name;
  kernel::SpaceKind kind;
  mlir::Location loc; ///< in the source, for reports
  SpaceInfo *parent;
  /// Adds a column; a name that is taken gets the next free number from 2 on behind it.
  void addColumn(std::string name);

  std::vector<std::string> columns;
  llvm::StringMap<int> numbers;          ///< of the names of columns: the last that a further one got
  llvm::SmallVector<mlir::Value> values; ///< one a column while its row is being made
  llvm::DenseMap<mlir::Value, unsigned> columnOf;
  std::string group; ///< instances: the group and the cell's number in it
  int cell = -1;
  std::string alive; ///< buffer that says which rows there are; empty: all
  size_t given = 1; ///< how many of the columns are set when a row is made: the owner, and an instance's keys
  bool used = false; ///< a stage or a column needs its rows
  kernel::SpaceOp op;
};

/// The program of one entry or loss under construction.
class Flattening {
public:
  /// `symbols` are those of the module before any program was written.
  Flattening(mlir::ModuleOp module, const mlir::SymbolTable &symbols, dyn::EntryOp entry);
  /// Writes the `batch.program` at the end of the module.
  mlir::LogicalResult run();

private:
  friend class Walk;
  struct Cell {
    dyn::CellOp op;
    std::string group;
    int number = 0;    ///< in the group
    std::string place; ///< its `place` function, if it has further keys
    SpaceInfo *space = nullptr;
    std::vector<std::string> results; ///< buffer of each flat result; empty for a list result
    std::vector<ListInfo> lists;      ///< of each flat list result: its source; see firsts and lengths
    std::vector<std::string> firsts, lengths; ///< columns of `space` that hold a list result's bounds
  };

  /// The cells that the entry needs and their groups, callees first.
  void findCells();
  void declareCell(Cell &cell);
  void placeFunction(Cell &cell, kernel::FuncOp func);
  SpaceInfo *addSpace(mlir::Location loc, llvm::StringRef name, kernel::SpaceKind kind, SpaceInfo *parent);
  std::string unique(llvm::StringRef name);
  std::string addBuffer(llvm::StringRef name, SpaceInfo *space, mlir::Type type);
  /// The relation from a space by one of its columns to the rows of an array; the list relation by two.
  mlir::FlatSymbolRefAttr relation(mlir::Location loc, llvm::StringRef from, llvm::StringRef column,
                                   llvm::StringRef array);
  mlir::FlatSymbolRefAttr listRelation(mlir::Location loc, llvm::StringRef from, llvm::StringRef first,
                                       llvm::StringRef length, int stride, mlir::FlatSymbolRefAttr to);
  /// The symbol of a field's array, declared when first used.
  std::string fieldArray(dyn::DataOp data, llvm::StringRef ctor, llvm::StringRef field,
                         kernel::FieldPart part, mlir::Type type, int level = 0);
  std::string argumentArray(unsigned leaf, llvm::StringRef name, kernel::FieldPart part, mlir::Type type,
                            int level);
  dyn::DataOp dataOf(mlir::Type node);
  int columnOf(dyn::DataOp data, llvm::StringRef ctor, llvm::StringRef field);

  mlir::ModuleOp module;
  const mlir::SymbolTable &symbols;
  dyn::EntryOp entry;
  mlir::MLIRContext *context;
  mlir::OpBuilder declare, stages; ///< where declarations and where stages go
  batch::ProgramOp program;
  llvm::MapVector<mlir::StringAttr, Cell> cells; ///< by name, callees first
  std::vector<std::vector<mlir::StringAttr>> groups;
  SpaceInfo *modelSpace = nullptr;
  std::deque<SpaceInfo> spaces;
  llvm::StringMap<int> names;
  llvm::StringMap<SpaceInfo *> bufferSpace;
  llvm::StringMap<std::string> arrays;                ///< fields and arguments declared so far
  llvm::StringMap<mlir::Operation *> declared;        ///< buffers, fields, arguments, by name
  llvm::StringMap<mlir::FlatSymbolRefAttr> relations; ///< by what they join, and how
  llvm::DenseMap<mlir::Operation *, llvm::StringMap<int>> fieldColumns; ///< of a data type: see columnOf
  llvm::SmallVector<std::string> argumentNames;                         ///< of each flat argument
  bool failed = false;
};

} // namespace dbc::passes
