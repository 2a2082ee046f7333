// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --schedule-cuda | FileCheck %s
//
// A stage with a product computes fewer rows in a block of threads than one without.

// CHECK: batch.stage @encode.Node.addf over @encode.Node schedule <rows = 32, grain = 1>
// CHECK: batch.stage @input.contract over @input schedule <rows = 8, grain = 1
