// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --batch-classify-accesses --schedule-cpu --batch-to-kernel --canonicalize --cse | FileCheck %s
//
// Stages are loops over rows and elements; no op of batch or dyn is left in the program.

// CHECK-LABEL: kernel.program @root
// CHECK-NOT: batch.
// CHECK: kernel.weights @packed.W = [@W] at [0, 0] : 4 by 4
// CHECK: kernel.func stage @stage.encode.Node.value(%[[BEGIN:.*]]: i32, %[[END:.*]]: i32) over @encode.Node
// CHECK: kernel.for %[[BEGIN]] to %[[END]]
// CHECK: kernel.for vector
// CHECK: %[[L:.*]] = kernel.load @encode.value[
// CHECK: %[[R:.*]] = kernel.load @encode.value[
// CHECK: %[[S:.*]] = arith.addf %[[L]], %[[R]] : f32
// CHECK: %[[H:.*]] = math.tanh %[[S]] : f32
// CHECK: kernel.store %[[H]], @encode.value[

// A product reads its rows in place.
// CHECK: kernel.func stage @stage.input.value
// CHECK: kernel.blocks
// CHECK: %[[ROWS:.*]] = kernel.rows @encode.value via
// CHECK: kernel.product %{{.*}} rows(%[[ROWS]]) [4] with @packed.W
// CHECK: kernel.run {
// CHECK-NEXT: kernel.launch @stage.encode.Leaf.exp
// CHECK-NEXT: kernel.levels @encode.group
