// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --schedule-cpu | FileCheck %s
//
// A stage with a product computes rows in blocks, one without goes row by row.

// CHECK: batch.stage @encode.Node.addf over @encode.Node schedule <rows = 1,
// CHECK: batch.stage @input.contract over @input schedule <rows = 36,
