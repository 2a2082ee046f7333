// RUN: dbc-opt %s --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-differentiate | FileCheck %s
//
// Behind the stages of a loss come those of its gradient, last things first. The adjoint of a row is the sum of what each read of it
// contributes: by a relation over its transpose.

// CHECK-DAG: batch.transpose @of.up.Node.up of @rel.up.Node.up
// CHECK-DAG: kernel.buffer @W.gradient over @batch : tensor<4x4xf32>
// CHECK-DAG: kernel.gradient @W = @W.gradient
// CHECK-DAG: kernel.gradient @E = @E.gradient

// Of a table that nothing but rows are looked up of it has these rows. They are not set to 0.
// CHECK-DAG: kernel.index_set distinct @E.rows ["row"] extent 9
// CHECK-DAG: kernel.index_set arm @up.Leaf in @up ["parent", "load", "load.row"] filled 1
// CHECK-DAG: batch.distinct @E.rows = [@up.Leaf] ["load"] rows ["load.row"]
// CHECK-DAG: batch.relation @rel.up.Leaf.load.row : @up.Leaf -> @E.rows by "load.row"
// CHECK-DAG: batch.transpose @of.up.Leaf.load.row of @rel.up.Leaf.load.row
// CHECK-DAG: kernel.buffer @E.gradient over @E.rows : tensor<4xf32>
// CHECK-NOT: @E.gradient.clear

// Sums begin with 0.
// CHECK: kernel.levels @up.group {
// CHECK: batch.stage @batch.clear over @batch

// An input's loss is weighted.
// CHECK: batch.gather @loss.weight via @rel.input.input

// What a level reads of the levels before it is carried; now it comes from the levels behind.
// CHECK: kernel.levels @up.group reverse {
// CHECK: batch.segment sum @up.Node.up.value.adjoint over @of.up.Node.up carried @up.group at @rel.up.Node.parent
// CHECK: batch.segment sum @up.Node.up.value.adjoint.2 over @of.up.Node.up2 carried @up.group at @rel.up.Node.parent
// CHECK: batch.segment sum @input.up.value.adjoint over @of.input.up at @rel.up.Node.parent

// The derivative of tanh has its result, which is kept.
// CHECK: batch.stage @up.Node.adjoint
// CHECK-NEXT: batch.read @up.Node.tanh

// The product's is one with the parameter turned.
// CHECK: batch.stage @up.Node.adjoint
// CHECK: dyn.transpose
// CHECK: linalg.contract

// Leaves wait for all levels.
// CHECK: batch.stage @up.Leaf.adjoint

// Parameters get what all rows give, at the end: matrices outer products, rows of tables the sum of what those contribute that have
// looked them up.
// CHECK: batch.stage @up.Node.gradient over @up.Node
// CHECK: batch.accumulate %{{.*}} outer %{{.*}} : tensor<4xf32>, @W.gradient : tensor<4xf32>
// CHECK: batch.stage @E.rows.gradient over @E.rows
// CHECK-NEXT: %[[SUM:.*]] = batch.segment sum @up.Leaf.up.Leaf.value.adjoint over @of.up.Leaf.load.row : tensor<4xf32>
// CHECK-NEXT: batch.write %[[SUM]], @E.gradient : tensor<4xf32>
dyn.data @Tree {
  dyn.ctor "Leaf" ["w"] [!dyn.index<9>]
  dyn.ctor "Node" ["left", "right"] [!dyn.node<@Tree>, !dyn.node<@Tree>]
}
dyn.param @W : tensor<4x4xf32> = <glorot, 0.000000e+00 : f64, 0.000000e+00 : f64>
dyn.param @E : tensor<9x4xf32> = <glorot, 0.000000e+00 : f64, 0.000000e+00 : f64>
dyn.cell @up(%t: !dyn.node<@Tree>) -> (tensor<4xf32>) attributes {surface = tensor<4xf32>} {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = dyn.match %t : !dyn.node<@Tree> -> (tensor<4xf32>) of "Leaf" {
    %w = dyn.field %t "w" of "Leaf" : <@Tree> -> i32
    %1 = dyn.get @E : tensor<9x4xf32>
    %2 = dyn.gather %1[%w] : tensor<9x4xf32>, i32 -> tensor<4xf32>
    dyn.yield %2 : tensor<4xf32>
  } of "Node" {
    %left = dyn.field %t "left" of "Node" : <@Tree> -> !dyn.node<@Tree>
    %right = dyn.field %t "right" of "Node" : <@Tree> -> !dyn.node<@Tree>
    %1 = dyn.get @W : tensor<4x4xf32>
    %2 = dyn.call @up(%left) : (!dyn.node<@Tree>) -> tensor<4xf32>
    %3 = tensor.empty() : tensor<4xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
    %5 = linalg.contract indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>] ins(%1, %2 : tensor<4x4xf32>, tensor<4xf32>) outs(%4 : tensor<4xf32>) -> tensor<4xf32>
    %6 = dyn.call @up(%right) : (!dyn.node<@Tree>) -> tensor<4xf32>
    %7 = arith.addf %5, %6 : tensor<4xf32>
    %8 = math.tanh %7 : tensor<4xf32>
    dyn.yield %8 : tensor<4xf32>
  }
  dyn.return %0 : tensor<4xf32>
}
dyn.entry @miss(%t: !dyn.node<@Tree>) -> (f32) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], loss, surface = f32} {
  %0 = dyn.call @up(%t) : (!dyn.node<@Tree>) -> tensor<4xf32>
  %1 = dyn.reduce  sum %0 : tensor<4xf32> -> f32
  dyn.return %1 : f32
}
