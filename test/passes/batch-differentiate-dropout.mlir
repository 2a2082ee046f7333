// RUN: dbc-opt %s --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-differentiate | FileCheck %s
//
// A stage knows of a dropout the input's position in the batch and a node's number in the input. The adjoint drops by the same mask,
// which is found again, not kept; in an entry nothing is dropped. Of parameters alone it is no value of the model: each run drops others.

// CHECK-LABEL: kernel.program loss @miss
// CHECK: kernel.input
// CHECK: kernel.node_number @Tree(

// CHECK: batch.stage @up.dropout over @up
// CHECK-DAG: %[[INPUT:.*]] = batch.read_index "input"
// CHECK-DAG: %[[NODE:.*]] = batch.read_index "node_number"
// CHECK: dyn.dropout %{{.*}} rate 2.500000e-01 place 7 input %[[INPUT]] keys(%[[NODE]] : i32) : tensor<4xf32>
// CHECK: batch.stage @up.dropout{{.*}} over @up
// CHECK: dyn.dropout %{{.*}} rate 5.000000e-01 place 9 of_run : tensor<4xf32>

// CHECK: batch.stage @up.adjoint over @up
// CHECK-DAG: %[[INPUT:.*]] = batch.read_index "input"
// CHECK-DAG: %[[NODE:.*]] = batch.read_index "node_number"
// CHECK: dyn.dropout %{{.*}} rate 2.500000e-01 place 7 input %[[INPUT]] keys(%[[NODE]] : i32) : tensor<4xf32>

// CHECK: dyn.dropout %{{.*}} rate 5.000000e-01 place 9 of_run : tensor<4xf32>

// CHECK-LABEL: kernel.program @plain
// CHECK-NOT: dyn.dropout
dyn.data @Tree {
  dyn.ctor "Tree" ["x"] [tensor<4xf32>]
}
dyn.param @a : tensor<4xf32> = <constant, 0.000000e+00 : f64, 0.000000e+00 : f64>
dyn.cell @up(%t: !dyn.node<@Tree>) -> (tensor<4xf32>) attributes {surface = tensor<4xf32>} {
  %x = dyn.field %t "x" of "Tree" : <@Tree> -> tensor<4xf32>
  %a = dyn.get @a : tensor<4xf32>
  %y = arith.mulf %x, %a : tensor<4xf32>
  %kept = dyn.dropout %y rate 2.500000e-01 place 7 keys(%t : !dyn.node<@Tree>) : tensor<4xf32>
  %same = dyn.dropout %a rate 5.000000e-01 place 9 of_run : tensor<4xf32>
  %z = arith.addf %kept, %same : tensor<4xf32>
  dyn.return %z : tensor<4xf32>
}
dyn.entry @miss(%t: !dyn.node<@Tree>) -> (f32) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], loss, surface = f32} {
  %0 = dyn.call @up(%t) : (!dyn.node<@Tree>) -> tensor<4xf32>
  %1 = dyn.reduce  sum %0 : tensor<4xf32> -> f32
  dyn.return %1 : f32
}
dyn.entry @plain(%t: !dyn.node<@Tree>) -> (tensor<4xf32>) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], surface = tensor<4xf32>} {
  %0 = dyn.call @up(%t) : (!dyn.node<@Tree>) -> tensor<4xf32>
  dyn.return %0 : tensor<4xf32>
}
