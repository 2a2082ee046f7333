// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse | FileCheck %s
//
// Stages over one index set in one loop are one; values go on in registers and their buffers are gone.

// CHECK-NOT: kernel.buffer @encode.Node
// CHECK: kernel.levels @encode.group {
// CHECK-NEXT: batch.stage @encode.Node.value over @encode.Node {
// CHECK-NEXT: %[[L:.*]] = batch.gather @encode.value via @rel.encode.Node.encode
// CHECK-NEXT: %[[R:.*]] = batch.gather @encode.value via @rel.encode.Node.encode2
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[L]], %[[R]]
// CHECK-NEXT: %[[H:.*]] = math.tanh %[[S]]
// CHECK-NEXT: batch.scatter %[[H]], @encode.value via @rel.encode.Node.parent
// CHECK-NEXT: }
// CHECK-NEXT: }
