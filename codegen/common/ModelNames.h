// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The name analysis that all emitters share: what a model consists of, and how each thing is called in C++.
#pragma once

#include "codegen/common/Identifiers.h"
#include "codegen/common/Options.h"
#include "codegen/common/Surface.h"
#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>

namespace dbc::codegen {

struct Field {
  std::string source, name; ///< the source's name; the setter's name
  mlir::Type type;
  int column;
};
struct Constructor {
  std::string source, name, builder; ///< "Leaf"; the batch's method; the class it gives
  std::vector<Field> fields;
};
/// One array of a data type's table: fields of one name and type.
struct Column {
  std::string source, name;
  mlir::Type type;
  std::vector<std::string> constructors; ///< that have it
};
struct Data {
  kernel::DataOp op;
  int number;
  std::string source, name, arrays; ///< the handle struct; the struct of flat arrays
  std::vector<Constructor> constructors;
  std::vector<Column> columns;
};
struct Param {
  kernel::ParamOp op;
  int number;
  std::string path, name;
  std::vector<int64_t> shape;
  bool raw = false; ///< read as an array by some program: the Model holds a copy
  int64_t size() const;
};
struct Argument {
  std::string source;
  mlir::Type type;
  std::vector<Component> components;
  std::vector<std::string> names;   ///< a parameter's name a component
  std::vector<std::string> setters; ///< a private method of Batch a component
};
/// A component of a result, with its C++ name and type.
struct Result {
  Component component;
  std::string name; ///< member of the result struct; "" if the entry has one result
};

/// What loads, stores and products name: how its rows look in memory.
struct Array {
  enum Kind { Buffer, Field, Argument, Param } kind;
  std::string member;           ///< of the plan
  std::string pointee;          ///< C++ type of a number
  mlir::Type element;           ///< f32, i32 or i1
  std::vector<int64_t> extents; ///< of a row
  int64_t stride = 0;           ///< elements from row to row
  int storage = -1;             ///< Buffer: those of one storage share memory
  bool scalarParam = false;     ///< Param of rank 0: it has no row index
  int64_t rowSize() const;
};

/// Buffers that share memory.
struct Storage {
  std::vector<kernel::BufferOp> buffers;
  int number; ///< in the session, or for buffers of the model in the Model
  bool ofModel;
};

/// What a program's `Arrays` on a device has besides arrays: nothing of a model is called so.
constexpr llvm::StringLiteral kNoArrays[] = {"errors", "scratch", "counters", "blas"};

class ModelNames;

/// A `kernel.program` with all its names.
struct Program {
  kernel::ProgramOp op;
  int number;
  std::string source; ///< the entry's name
  std::string name;   ///< its methods' names
  std::string result; ///< class of its results
  std::string arrays; ///< struct of flat arguments
  std::string space;  ///< namespace of its plan and stages
  std::vector<Argument> arguments;
  std::vector<Result> results;

  NameScope members;                                    ///< of the plan; outer scope of its functions
  llvm::DenseMap<mlir::Operation *, std::string> names; ///< members and functions
  llvm::StringMap<mlir::Operation *> symbols;
  std::vector<kernel::IndexSetOp> indexSets;
  std::vector<kernel::GroupOp> groups;
  std::vector<kernel::RelationOp> relations;
  std::vector<kernel::BufferOp> buffers;
  std::vector<kernel::FieldOp> fields;
  std::vector<kernel::ArgumentOp> inputs;
  std::vector<kernel::WeightsOp> weights;
  std::vector<kernel::OutputOp> outputs;
  std::vector<kernel::GradientOp> gradients;
  std::vector<kernel::InputGradientOp> inputGradients; ///< numbered in this order
  std::vector<kernel::FuncOp> funcs;
  std::vector<Storage> storages;
  llvm::DenseMap<mlir::Operation *, int> storageOf;     ///< of each buffer: its position in `storages`
  std::vector<kernel::FuncOp> stages;                   ///< in the order of their launches
  std::vector<kernel::FuncOp> modelStages;              ///< run when the model is made
  llvm::StringMap<std::string> params;                  ///< path -> member, for those read as arrays
  llvm::DenseMap<mlir::Operation *, std::string> needs; ///< a group's function for calls from outside
  /// Members that say whether a required field or argument is given, and the views that they point to.
  std::vector<std::pair<std::string, std::string>> given;
  llvm::StringMap<std::string> givenBy; ///< field or argument -> member
  kernel::ScheduleOp schedule;
  kernel::RunOp run;
  bool collectsNodes = false; ///< has kernel.collect_nodes
  bool drops = false;         ///< has kernel.dropout
  /// Members that say where rows lie in buffers that keep those of the last levels. Loops that run side by
  /// side are at different levels, so each has its own.
  struct Window {
    kernel::IndexSetOp indexSet;
    int64_t live; ///< levels
    kernel::LevelsOp loop;
    std::string name;
  };
  std::vector<Window> windows;

  template <class Op> Op find(llvm::StringRef symbol) const {
    auto it = symbols.find(symbol);
    return it == symbols.end() ? Op() : llvm::dyn_cast<Op>(it->second);
  }
  const std::string &nameOf(mlir::Operation *op) const { return names.find(op)->second; }
  kernel::IndexSetOp inputIndexSet() const;
  /// The window of an index set's buffers that keep `live` levels: of the loop that runs `stage`, or behind
  /// the loops any of them, as all are at the last level there.
  const Window &window(llvm::StringRef indexSet, int64_t live, kernel::FuncOp stage = {}) const;
  int stageNumber(kernel::FuncOp func) const;
  /// Number of an array of an index set, or -1.
  int indexArray(kernel::IndexSetOp indexSet, llvm::StringRef name) const;
  /// The group whose levels order an index set's rows: its own, or that of the index set it lies in.
  kernel::GroupOp groupOf(kernel::IndexSetOp indexSet) const;
  /// The cell that a `calls` or `slot` function is of: its group and number in it.
  std::pair<kernel::GroupOp, unsigned> cellOf(kernel::FuncOp func) const;
  /// How many numbers are kept of who calls an instance of a cell: the relation's and what that keeps; 0
  /// where nobody asks.
  int callerSize(kernel::GroupOp group, unsigned cell) const;
  /// The number of a relation among the program's.
  int relationNumber(kernel::RelationOp relation) const;
  kernel::IndexSetOp parent(kernel::IndexSetOp indexSet) const;
  /// What makes an index set of kind `transpose`; null for others.
  kernel::TransposeOp transposeOf(kernel::IndexSetOp indexSet) const;
  /// What makes an index set of kind `distinct`, or fills an index array, in the course of a run; null: none.
  kernel::DistinctOp distinctInRun(kernel::IndexSetOp indexSet) const;
  kernel::DistinctOp filledInRun(kernel::IndexSetOp indexSet, llvm::StringRef array) const;
  /// C++ for the number of levels or steps that a loop goes over.
  std::string countOf(kernel::TimeStepLoopInterface loop) const;
  /// C++ for the TimeSteps of an index set.
  std::string timeSteps(kernel::IndexSetOp indexSet) const;
  /// What says of which parameter a buffer holds the gradient; null: of none.
  kernel::GradientOp gradientIn(llvm::StringRef buffer) const;
  /// The position of the field or argument whose gradient a buffer holds in `inputGradients`; -1: none.
  int inputGradientIn(llvm::StringRef buffer) const;
  /// Whether the program gives gradients, of parameters, fields or arguments.
  bool isDifferentiated() const { return !gradients.empty() || !inputGradients.empty(); }
  /// Whether a plan knows how many rows an index set has, and nothing else: there are no index arrays.
  static bool isOnlyCounted(kernel::IndexSetOp indexSet) {
    return indexSet.getKind() == kernel::IndexSetKind::Column ||
           (indexSet.getKind() == kernel::IndexSetKind::States && indexSet.getIndexArrays().empty());
  }
  /// C++ for the number of rows of an index set.
  std::string rows(kernel::IndexSetOp indexSet) const;
};

/// A field or argument whose gradient a program gives.
struct InputGradient {
  InputGradient(const ModelNames &model, const Program &program, kernel::InputGradientOp op);
  std::string path; ///< "Tree.x", "nll.y"
  int data = -1;    ///< number of the data type; -1: of an argument
  int column;       ///< of the data type; of an argument the number of the component
  bool isList;
  std::vector<int64_t> shape; ///< of a value, or of an element of the list
  int64_t width;              ///< numbers of it
};

/// What a stage does for a row.
struct Work {
  int64_t bytesRead = 0, bytesWritten = 0;
  int64_t gathers = 0;      ///< rows that it finds through index arrays
  int64_t operations = 0;   ///< of products
  std::string text() const; ///< these, as dbc::StageCost begins
};

/// A packed matrix of the Model; programs that multiply with the same parameters share it.
struct PackedMatrix {
  kernel::WeightsOp op;
  int number; ///< in the Model; the first of `tables` of them
};

class ModelNames {
public:
  ModelNames(mlir::ModuleOp module, const Options &options);

  mlir::ModuleOp module;
  const Options &options;
  std::string source; ///< the model's name
  std::string name;   ///< its identifier
  std::vector<Data> datas;
  std::vector<Param> params;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<PackedMatrix> packed;
  std::string sharedSpace; ///< namespace of the stages that several programs have

  mlir::MLIRContext *context() const { return mlir::ModuleOp(module).getContext(); }
  /// The model's namespace. Not at the top, where C has functions of any short name: `random`, `index`.
  std::string space() const { return "dbc::models::" + name; }
  /// An inner namespace that tells apart what was made of one source for different dims and numbers, and
  /// models whose names are one in C++, or whose interfaces differ: no program links a header with other code
  /// than its own.
  std::string variant() const;
  bool f64() const { return options.real == Real::F64; }
  /// Of a number of this C++ type (Array::pointee).
  int64_t bytes(llvm::StringRef pointee) const {
    return pointee == "uint8_t" ? 1 : pointee == "real" && f64() ? 8 : 4;
  }
  /// The number of a check in records of errors: check n of a stage has the same one in all programs that
  /// have a stage of this name, so that they can have its kernel in common.
  int check(mlir::Operation *op) const {
    auto found = checks_.find(op);
    assert(found != checks_.end() && "a check of a stage");
    return found->second;
  }
  Work work(kernel::FuncOp stage) const;
  llvm::StringRef real() const { return f64() ? "double" : "float"; }
  const Data &data(llvm::StringRef source) const;
  const Param *param(llvm::StringRef path) const;
  int packedNumber(kernel::WeightsOp op) const { return packedNumbers_.at(op.getPacked()); }
  /// C++ for the table that a cell's first key numbers: its data type, or the inputs.
  std::string tableOf(kernel::GroupOp group, unsigned cell) const;
  /// The array that a symbol names in a program: a buffer, field, argument or parameter.
  Array array(const Program &program, llvm::StringRef symbol) const;

private:
  void addData(kernel::DataOp op, NameScope &scope);
  void addProgram(kernel::ProgramOp op, NameScope &scope, NameScope &methods);
  void addMembers(Program &program);
  void addGiven(Program &program);
  void addStorages(Program &program);
  void findUses(Program &program);
  void numberChecks();
  int modelStorages_ = 0;
  llvm::DenseMap<mlir::Attribute, int> packedNumbers_; ///< of what is packed
  llvm::DenseMap<mlir::Operation *, int> checks_;
};

/// C++ type of elements in memory: `real` for f32 in buffers and parameters, float in fields.
std::string pointee(mlir::Type element, bool field);
/// Scalar type and extents of a kernel type.
mlir::Type scalarOf(mlir::Type type);
std::vector<int64_t> extentsOf(mlir::Type type);

} // namespace dbc::codegen
