// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-plan-buffers | FileCheck %s
// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-plan-buffers | FileCheck %s --check-prefix TREE
//
// Buffers whose lives overlap have storage of their own; one that is read no more gives its storage away; an output has none.
// The steps of a scan overlap each other, and what is behind the scan does not.

// CHECK: kernel.buffer @input.scan.state0 over @input.scan.states : f32 storage 0
// CHECK: kernel.buffer @input.scan.value over @input.scan : f32 storage 1
// CHECK-NEXT: kernel.buffer @input.scan.tanh over @input.scan : f32 storage 2
// CHECK: kernel.buffer @input.map.exp over @input.map : f32 storage 1
// CHECK: kernel.buffer @result over @result.list : f32{{$}}

// TREE: kernel.buffer @encode.value over @encode : tensor<4xf32> storage 1
// TREE: kernel.buffer @encode.Leaf.exp over @encode.Leaf : tensor<4xf32> storage 0
// TREE: kernel.buffer @encode.Node.value over @encode.Node : tensor<4xf32> storage 0
// TREE: kernel.buffer @encode.Node.tanh over @encode.Node : tensor<4xf32> storage 2
