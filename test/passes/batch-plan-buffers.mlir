// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-plan-buffers | FileCheck %s
// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-plan-buffers | FileCheck %s --check-prefix TREE
//
// Buffers whose lives overlap have storage of their own; one that is read no more gives its storage away; an output has none.
// The steps of a scan overlap each other, and what is behind the scan does not.

// CHECK: batch.buffer @input.scan.state0 over @input.scan.states : f32 storage [[#STATE:]]
// CHECK: batch.buffer @input.scan.value over @input.scan : f32 storage [[#ADD:]]
// CHECK-NEXT: batch.buffer @input.scan.tanh over @input.scan : f32 storage [[#ADD + 1]]
// CHECK: batch.buffer @input.map.exp over @input.map : f32 storage [[#ADD]]
// CHECK: batch.buffer @result over @result.list : f32{{$}}

// TREE: batch.buffer @encode.value over @encode : tensor<4xf32> storage 1
// TREE: batch.buffer @encode.Leaf.exp over @encode.Leaf : tensor<4xf32> storage 0
// TREE: batch.buffer @encode.Node.value over @encode.Node : tensor<4xf32> storage 0
// TREE: batch.buffer @encode.Node.tanh over @encode.Node : tensor<4xf32> storage 2
