// RUN: dbc-opt %s --dyn-lambda-lift | FileCheck %s
// RUN: dbc-opt %s --dyn-lambda-lift --dyn-to-batch --canonicalize | FileCheck %s --check-prefix=BATCH
// A captured argument of a cell, and what it is made of, may fail an input where it stands (manual, E2), wherever it is computed.

dyn.data @Tree {
  dyn.ctor "Tree" ["x", "n"] [f32, i32]
}

// A call that only a call in an arm needs stays, though another cell computes what is captured.
// CHECK-LABEL: dyn.entry @before_arm(
// CHECK: %[[A:.*]] = dyn.call @scaled(%arg0) : (!dyn.node<@Tree>) -> f32
// CHECK-NEXT: dyn.need %[[A]] : f32
// CHECK: dyn.if
// CHECK: dyn.call @scaled.2(%arg0) : (!dyn.node<@Tree>) -> f32
dyn.entry @before_arm(%t: !dyn.node<@Tree>) -> (f32) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], surface = f32} {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : i32
  %a = dyn.call @scaled(%t) captured (%half) : (!dyn.node<@Tree>, f32) -> f32
  %n = dyn.field %t "n" : <@Tree> -> i32
  %more = arith.cmpi sgt, %n, %two : i32
  %r = dyn.if %more -> (f32) {
    %q = math.tanh %a : f32
    %s = dyn.call @scaled(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %s : f32
  } else {
    dyn.yield %zero : f32
  }
  dyn.return %r : f32
}

// A constant that is captured does not decide which fields a cell reads; there is nothing of that in the stages.
// CHECK-LABEL: dyn.cell @scaled(
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[Q:.*]] = dyn.optimization_barrier %[[HALF]] : f32
// CHECK: arith.cmpf ogt, %[[Q]],
// BATCH-NOT: optimization_barrier
// BATCH: kernel.require @Tree.n[
dyn.cell @scaled(%t: !dyn.node<@Tree>, %q: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %zero = arith.constant 0.0 : f32
  %n = dyn.field %t "n" : <@Tree> -> i32
  %y = arith.sitofp %n : i32 to f32
  %c = arith.cmpf ogt, %q, %zero : f32
  %r = arith.select %c, %q, %y : f32
  dyn.return %r : f32
}

// An integer that is captured is computed in the cell, though it is structure where the call stands: what fails of it fails in the
// rows, not before them (manual, S2, E2). A cell that hands it on gives the integer itself, without the barrier.
// CHECK-LABEL: dyn.cell @powers(
// CHECK: %[[K:.*]] = dyn.argument 1 : i32
// CHECK: %[[COMPUTED:.*]] = dyn.optimization_barrier %[[K]] : i32
// CHECK: dyn.int mul %[[COMPUTED]], %[[COMPUTED]] : i32
// CHECK: dyn.call @cubes(%arg0, %arg0) :
// CHECK-LABEL: dyn.cell @cubes(
// CHECK: %[[AGAIN:.*]] = dyn.argument 1 : i32
// CHECK: %[[INSIDE:.*]] = dyn.optimization_barrier %[[AGAIN]] : i32
// CHECK: dyn.int mul %[[INSIDE]], %{{.*}} : i32
dyn.entry @captured(%t: !dyn.node<@Tree>, %k: i32) -> (f32) attributes {arg_names = ["t", "k"], arg_types = [!dyn.node<@Tree>, i32], surface = f32} {
  %a = dyn.call @powers(%t) captured (%k) : (!dyn.node<@Tree>, i32) -> f32
  dyn.return %a : f32
}
dyn.cell @powers(%t: !dyn.node<@Tree>, %k: i32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %square = dyn.int mul %k, %k : i32
  %x = arith.sitofp %square : i32 to f32
  %y = dyn.call @cubes(%t) captured (%k) : (!dyn.node<@Tree>, i32) -> f32
  %z = arith.addf %x, %y : f32
  dyn.return %z : f32
}
dyn.cell @cubes(%t: !dyn.node<@Tree>, %k: i32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %square = dyn.int mul %k, %k : i32
  %cube = dyn.int mul %square, %k : i32
  %x = arith.sitofp %cube : i32 to f32
  dyn.return %x : f32
}
