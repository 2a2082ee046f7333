// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Those passes of Passes.td's pipeline that move products of `dyn` to where there are fewer of them.

#ifndef DBC_PRODUCT_PASSES
#define DBC_PRODUCT_PASSES

include "mlir/Pass/PassBase.td"

def DynSumOperands : Pass<"dyn-sum-operands", "::mlir::ModuleOp"> {
  let summary = "Multiply once behind a sum instead of once for each element";
  let description = [{
    The sum, or mean, of what a map computes by linear maps of its elements is these maps of the sum:
    ```mlir
    %ys = dyn.map (%us) { ^bb0(%u): %x = ...  %y = contract(%A, %x) + %b  yield %y }
    %s = reduce_list sum %ys
    ==>
    %xs = dyn.map (%us) { ^bb0(%u): %x = ...  yield %x }
    %s = contract(%A, reduce_list sum %xs) + len(%us) * %b
    ```
    So with sums, differences, factors that are the same for all elements, and factors that are one number an element. A
    product moves where adding its operands up costs less than multiplying each, so matrices that differ by element stay;
    not where something else needs it for each element, a `while` ends the list, or the list has one element at most.
    Of lists whose length is the input's, a model is taken to have as many elements as rows with a list.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DynShareProducts : Pass<"dyn-share-products", "::mlir::ModuleOp"> {
  let summary = "Compute products once for each instance they are made of, not once for each row that reads it";
  let description = [{
    A product whose vector is joined of parts is cut where the parts are known at different places: outside of a binder, in
    another instance, here. What has products in it and is made of one call's results alone becomes a further result of the
    cell, which is computed once for each instance.
    ```mlir
    dyn.cell @state(%v, %t) { ... dyn.map (%near) { ^bb0(%u):
      %h = dyn.call @state(%u, %s)  %y = contract(%W, concat(%own, %h)) + %b ... }  dyn.return %new }
    ==>
    dyn.cell @state(%v, %t) { ... %part = contract(slice %W, %own) + %b
      dyn.map (%near) { ^bb0(%u): %h, %p = dyn.call @state(%u, %s)  %y = %part + %p ... }
      %product = contract(slice %W, %new)  dyn.return %new, %product }
    ```
    Instances are taken to be fewer than the rows that read them where the caller is repeated for something that is no
    matter to the callee, and where references lead to it: a graph has at least as many of them as nodes. In a recursion
    that goes down the structure a node is taken to have one parent, so nothing moves from caller to callee. See
    passes/CallSharing.h.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
}

#endif // DBC_PRODUCT_PASSES
