// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A `kernel.func` as a function of C++ or CUDA: what both have in common.
#pragma once

#include "codegen/common/Expressions.h"
#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <tuple>

namespace dbc::codegen {

/// Prints one function. Where it finds what it reads, and how its blocks of rows and its products are
/// computed, is the target's: see CpuFunctionEmitter and KernelEmitter.
class FunctionEmitter {
public:
  FunctionEmitter(const ModelNames &model, const Program &program, kernel::FuncOp func);
  virtual ~FunctionEmitter() = default;

  /// The definition. Fails, with an error at the op, for an op that cannot be printed.
  llvm::LogicalResult emit(Writer &out);

protected:
  /// A pointer to a row of an array, made once for all its uses.
  struct RowPointer {
    std::string array; ///< symbol, or "" for a local
    mlir::Value local, row;
    mlir::Operation *before = nullptr; ///< where it is made
    bool written = false;
    std::string name; ///< once it is made
  };
  struct Alias {
    std::string name, declaration;
  };

  // What a target decides.

  virtual std::string arraySource(llvm::StringRef symbol) = 0;
  /// What an array's local name is declared as; `pointer` to its elements where nothing else is needed.
  virtual std::string arrayType(const Array &, const std::string &pointer) { return pointer; }
  /// Whether nothing but a stage's own function writes an array while it runs.
  virtual bool restricts(llvm::StringRef) { return true; }
  virtual std::string indexArraySource(kernel::IndexSetOp indexSet, llvm::StringRef indexArray) = 0;
  /// One number of an array, and what writes it.
  virtual Expr reading(llvm::StringRef, const Expr &element) { return element; }
  virtual std::string writing(llvm::StringRef, const std::string &element, const std::string &value) {
    return element + " = " + value + ";";
  }
  /// Declares it; "": it is a parameter.
  virtual std::string weightsAlias(kernel::WeightsOp weights, const std::string &name) = 0;
  virtual Expr orderedRow(kernel::OrderOp op) = 0;
  /// What a run drops, as dbc::Dropout.
  virtual std::string dropoutSource() = 0;
  /// An expression of what only the host knows; nothing where `op` is none.
  virtual std::optional<Expr> hostExpression(mlir::Operation *) { return std::nullopt; }
  /// All of it, with what is between its braces.
  virtual void print(Writer &out, llvm::StringRef body);
  virtual void emitStageHead(Writer &out) = 0;
  virtual void emitFor(kernel::ForOp op);
  virtual void emitBlocks(kernel::BlocksOp op) = 0;
  virtual void emitLocal(kernel::LocalOp op) = 0;
  virtual void emitProduct(kernel::ProductOp op) = 0;
  virtual void emitMultiply(kernel::MultiplyOp op) = 0;
  virtual void emitOuter(kernel::OuterOp op) { unsupported(op); }
  virtual void emitCheck(kernel::CheckOp op) = 0;
  virtual void emitInt(kernel::IntOp op) = 0;
  /// Ops that make the structure of a batch.
  virtual void emitStructure(mlir::Operation *op) { unsupported(op); }
  /// Ops of a GPU's blocks of threads.
  virtual void emitOfThreads(mlir::Operation *op) { unsupported(op); }
  /// A statement that writes a number to memory.
  virtual void emitWrite(const std::string &statement) { out_->line(statement); }

  // Plan of the function, made before anything is printed.
  void findDead();
  void planInlining(mlir::Block &block);
  void planRows();
  void planAliases();
  void addRowUse(mlir::Operation *user, llvm::StringRef array, mlir::Value local, mlir::Value row,
                 bool write);
  RowPointer *rowPointer(llvm::StringRef array, mlir::Value local, mlir::Value row);

  // Names.
  std::string wish(mlir::Value value);
  std::string nameValue(mlir::Value value, llvm::StringRef role = "");
  std::string nameCounter(mlir::Value counter);
  std::string arrayName(llvm::StringRef symbol);
  std::string indexArrayName(llvm::StringRef indexSet, llvm::StringRef indexArray);
  bool isStage() { return func_.getKind() == kernel::FuncKind::Stage; }

  // Expressions.
  Expr use(mlir::Value value);
  Expr define(mlir::Operation *op);
  Expr load(kernel::LoadOp op);
  Expr dropout(kernel::DropoutOp op);
  Expr element(llvm::StringRef array, mlir::ValueRange indices);
  Expr localElement(mlir::Value local, mlir::ValueRange indices);

  // Statements.
  void emitBlock(mlir::Block &block, llvm::function_ref<void(mlir::ValueRange)> atYield);
  void emitOp(mlir::Operation *op);
  void emitRowPointers(mlir::Operation *before);
  void emitIf(kernel::IfOp op);
  kernel::IfOp onlyIf(mlir::Block &block);
  void body(llvm::StringRef head, llvm::function_ref<void()> fill);
  bool onlyExpressions(mlir::Block &block);
  std::string declare(mlir::Value result, const std::string &name);
  std::string assignment(llvm::StringRef variable, mlir::Value value);
  mlir::Operation *unsupported(mlir::Operation *op);

  const ModelNames &model_;
  const Program &program_;
  kernel::FuncOp func_;
  NameScope top_;
  NameScope *scope_;
  Writer *out_ = nullptr;
  llvm::DenseMap<mlir::Value, Expr> values_;
  llvm::DenseSet<mlir::Operation *> deferred_, dead_; ///< printed inside their users; not at all
  std::vector<std::unique_ptr<RowPointer>> rows_;
  /// The same by array, or local, and row; the first one of a row; by the operation in front of which they
  /// are made, once that is known.
  std::map<std::tuple<std::string, const void *, const void *>, RowPointer *> rowOf_;
  llvm::DenseMap<mlir::Value, RowPointer *> firstOfRow_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<RowPointer *, 1>> rowsBefore_;
  std::map<std::string, Alias> aliases_; ///< by symbol, or "index-set array"
  std::vector<std::string> aliasOrder_;
  llvm::StringSet<> stored_;
  bool failed_ = false;
};

/// The product's operand as C++ names it: elements of a row.
int64_t rowSize(kernel::LocalType type);
/// Of integers in a stage: the function's name behind "checked_", and the operator in messages.
llvm::StringRef intFunction(dyn::IntKind kind);
llvm::StringRef intWord(dyn::IntKind kind);
/// What is wrong where arithmetic of integers has no result, in C++; `divisor` is the second operand.
std::string intErrorKind(dyn::IntKind kind, const std::string &divisor);
/// The name that the source gave a value, without what made it unique; "" if it has none.
std::string sourceName(mlir::Value value);
/// C++ type of a scalar value: real, int32_t or bool.
std::string scalarType(mlir::Type type);

} // namespace dbc::codegen
