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
