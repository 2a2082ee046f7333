// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --batch-plan-buffers | FileCheck %s
//
// Buffers whose lives overlap have slots of their own; an output has none.

// CHECK-DAG: batch.buffer @input.scan.state0 over @input.scan.states : f32 slot 0
// CHECK-DAG: batch.buffer @result over @result.list : f32{{$}}
