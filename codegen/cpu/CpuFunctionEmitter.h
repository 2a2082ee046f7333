// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A `kernel.func` as a C++ function of the host.
#pragma once

#include "codegen/common/FunctionEmitter.h"

namespace dbc::codegen {

/// Structure functions are methods of the program's plan; stage functions are free and take the plan, so that
/// compilers can clone them for several instruction sets.
class CpuFunctionEmitter : public FunctionEmitter {
public:
  CpuFunctionEmitter(const ModelNames &model, const Program &program, kernel::FuncOp func);

  /// The declaration inside the plan: "void calls_encode(int32_t t);". Structure functions only.
  std::string declaration();

private:
  std::string parameters(bool declaration);
  void print(Writer &out, llvm::StringRef body) override;
  void emitStageHead(Writer &out) override;
  std::string arraySource(llvm::StringRef symbol) override;
  std::string indexArraySource(kernel::IndexSetOp indexSet, llvm::StringRef indexArray) override;
  std::string weightsAlias(kernel::WeightsOp weights, const std::string &name) override;
  Expr orderedRow(kernel::OrderOp op) override;
  std::optional<Expr> hostExpression(mlir::Operation *op) override;
  std::string dropoutSource() override { return "plan.dropout"; }
  void emitBlocks(kernel::BlocksOp op) override;

  // ProductEmitter.cpp
  void emitLocal(kernel::LocalOp op) override;
  void emitProduct(kernel::ProductOp op) override;
  void emitMultiply(kernel::MultiplyOp op) override;
  void emitOuter(kernel::OuterOp op) override;
  std::string rowsOf(kernel::RowsOp op, int64_t length, mlir::Value count);

  // StructureEmitter.cpp
  void emitCheck(kernel::CheckOp op) override;
  void emitInt(kernel::IntOp op) override;
  void emitStructure(mlir::Operation *op) override;
  void emitReserveMemory(kernel::ReserveMemoryOp op);
  void emitSlot(kernel::SlotOp op);
  void emitKey(kernel::KeyOp op);
  void emitCall(kernel::CallOp op);
  void emitCollectNodes(kernel::CollectNodesOp op);
  void emitRequire(kernel::RequireOp op);
  void bindSlot(mlir::Value result, const std::string &text);
  void emitRuntimeError(const std::string &arguments);
  void emitError(const std::string &call);
  std::string leave();
  std::string inRow(const std::string &row);
  /// "table, row" of the node or input that the function runs for, see ScheduleErrors.
  std::string owner();

  std::string at_;         ///< of a `slot` function: the parameter that says where the call stands
  int ownerArgument_ = -1; ///< the parameter that errors are reported at, if any are
};

} // namespace dbc::codegen
