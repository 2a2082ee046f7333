// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition | %python %S/Inputs/reverse_stages.py | dbc-opt - --batch-order-stages | FileCheck %s
//
// Writers stand before readers, and the stages of a loop side by side, in whatever order they were.

// CHECK: batch.stage @encode.Leaf.exp
// CHECK: batch.stage @encode.Leaf.copy
// CHECK: batch.stage @encode.Node.value
// CHECK: batch.stage @encode.Node.tanh
// CHECK: batch.stage @encode.Node.copy
// CHECK: batch.stage @input.value
