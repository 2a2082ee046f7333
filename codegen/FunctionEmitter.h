// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A `kernel.func` as a C++ function.
#pragma once

#include "codegen/Expressions.h"
#include "codegen/ModelNames.h"
#include "codegen/Writer.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace dbc::codegen {

/// Prints one function. Structure functions are methods of the program's plan; stage functions are free and
/// take the plan, so that compilers can clone them for several instruction sets.
class FunctionEmitter {
public:
  FunctionEmitter(const ModelNames &model, const Program &program, kernel::FuncOp func);
  virtual ~FunctionEmitter() = default;

  /// The declaration inside the plan: "void calls_encode(int32_t t);". Structure functions only.
  std::string declaration();
  /// The definition. Fails, with an error at the op, for an op that cannot be printed.
  llvm::LogicalResult emit(Writer &out);
  /// Bytes of scratch memory that the function needs; after emit().
  int64_t scratch() const { return scratch_; }
  bool hasProduct() const { return hasProduct_; }

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

  // Where a stage's function finds what it reads, and what differs where a GPU computes it (KernelEmitter.h).
  virtual std::string arraySource(llvm::StringRef symbol);
  /// What an array's local name is declared as; `pointer` to its numbers where nothing else is needed.
  virtual std::string arrayType(const Array &, const std::string &pointer) { return pointer; }
  /// Whether nothing but a stage's own function writes an array while it runs.
  virtual bool restricts(llvm::StringRef) { return true; }
  virtual std::string columnSource(kernel::SpaceOp space, llvm::StringRef column);
  /// One number of an array, and what writes it.
  virtual std::string reading(llvm::StringRef, const std::string &element) { return element; }
  virtual std::string writing(llvm::StringRef, const std::string &element, const std::string &value) {
    return element + " = " + value + ";";
  }
  /// Numbers from row to row.
  virtual int64_t strideOf(llvm::StringRef symbol) { return model_.array(program_, symbol).rowSize(); }
  /// Declares it; "": it is a parameter.
  virtual std::string weightsAlias(kernel::WeightsOp weights, const std::string &name);
  virtual Expr orderedRow(kernel::OrderOp op);
  virtual void emitStageHead(Writer &out);
  virtual void emitFor(kernel::ForOp op);
  virtual void emitBlocks(kernel::BlocksOp op);
  virtual void emitLocal(kernel::LocalOp op);
  virtual void emitProduct(kernel::ProductOp op);
  virtual void emitMultiply(kernel::MultiplyOp op);
  virtual void emitCheck(kernel::CheckOp op);
  virtual void emitInt(kernel::IntOp op);
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
  std::string columnName(llvm::StringRef space, llvm::StringRef column);
  bool isStage() { return func_.getKind() == kernel::FuncKind::Stage; }

  // Expressions.
  Expr use(mlir::Value value);
  Expr define(mlir::Operation *op);
  Expr load(kernel::LoadOp op);
  std::string element(llvm::StringRef array, mlir::Value local, mlir::ValueRange indices);
  std::string localElement(mlir::Value local, mlir::ValueRange indices);

  // Statements.
  void emitBlock(mlir::Block &block, llvm::function_ref<void(mlir::ValueRange)> atYield);
  void emitOp(mlir::Operation *op);
  void emitRowPointers(mlir::Operation *before);
  void emitIf(kernel::IfOp op);
  kernel::IfOp onlyIf(mlir::Block &block);
  void emitStructure(mlir::Operation *op);
  void emitClaim(kernel::ClaimOp op);
  void emitPlace(kernel::PlaceOp op);
  void emitKey(kernel::KeyOp op);
  void emitPlaced(mlir::Value result, const std::string &text);
  std::string leave();
  std::string faultCall(const std::string &arguments);
  void emitFault(const std::string &arguments);
  void emitError(const std::string &call);
  std::string inRow(const std::string &row);
  void body(llvm::StringRef head, llvm::function_ref<void()> fill);
  std::string rowsOf(kernel::RowsOp op, int64_t length, mlir::Value count, int64_t block);
  bool onlyExpressions(mlir::Block &block);
  std::string parameters(bool declaration);
  std::string declare(mlir::Value result, const std::string &name);
  std::string assignment(llvm::StringRef variable, mlir::Value value);
  /// "table, row" of the node or input that the function runs for, see ScheduleErrors.
  std::string place();
  std::string scratchPointer(llvm::StringRef type, int64_t bytes);
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
  std::map<std::string, Alias> aliases_; ///< by symbol, or "space column"
  std::vector<std::string> aliasOrder_;
  llvm::StringSet<> stored_;
  std::string at_;         ///< of a `place` function: the parameter that says where the call stands
  int placeArgument_ = -1; ///< the parameter that errors are reported at, if any are
  int64_t scratch_ = 0, stack_ = 0;
  bool usesScratch_ = false, hasProduct_ = false, failed_ = false;
};

/// "table, row" of what a space's row belongs to: its node or its input. `plan` stands before names of the
/// plan's members.
std::pair<std::string, std::string> ownerOfRow(const ModelNames &model, const Program &program,
                                               kernel::SpaceOp space, std::string row, llvm::StringRef plan);
std::string placeOfRow(const ModelNames &model, const Program &program, kernel::SpaceOp space,
                       std::string row, llvm::StringRef plan);
/// The product's operand as C++ names it: elements of a row.
int64_t rowSize(kernel::LocalType type);
/// Of whole numbers in a stage: the function's name behind "checked_", and the operator in messages.
llvm::StringRef intFunction(kernel::IntKind kind);
llvm::StringRef intWord(kernel::IntKind kind);
/// The name that the source gave a value, without what made it unique; "" if it has none.
std::string sourceName(mlir::Value value);
/// C++ type of a scalar value: real, int32_t or bool.
std::string scalarType(mlir::Type type);

} // namespace dbc::codegen
