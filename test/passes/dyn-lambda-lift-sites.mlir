// RUN: dbc-opt %s --dyn-order-errors --dyn-lambda-lift | FileCheck %s
// RUN: dbc-opt %s --dyn-order-errors --dyn-lambda-lift --dyn-to-batch | FileCheck %s --check-prefix=BATCH
// The cells of a copy say by which call from outside their instances are reached, so that of several errors the first in the order of
// evaluation is found (manual, E2): pairs of a coordinate, -2 for calls of the outermost recursion, -3 for calls in that one, and of
// the number of the call. So does their index set.

dyn.data @Tree {
  dyn.ctor "Tree" ["x"] [f32]
}

// The calls in @twice have the numbers 3 and 4, those in @alike 5 and 6, and the one in @outer 7: in the code they stand behind the
// step, 26, and the function.
// CHECK: kernel.evaluation @twice
// CHECK-SAME: code [{{.*}} 25, 1, 3, 2, {{.*}} 25, 1, 4, 2, {{.*}} 25, 2, 7, 2,
// CHECK: kernel.evaluation @alike
// CHECK-SAME: code [{{.*}} 25, 1, 5, 2, {{.*}} 25, 1, 6, 2,
// CHECK: dyn.cell @outer({{.*}} {sites = array<i64: -2, 3>,
// CHECK: dyn.cell @inner({{.*}} sites = array<i64: -2, 3, -3, 7>,
// CHECK: dyn.cell @outer_0.inner.captured({{.*}} sites = array<i64: -2, 3>,
// CHECK: dyn.cell @outer.2({{.*}} {sites = array<i64: -2, 4>,
// CHECK: dyn.cell @inner.2({{.*}} sites = array<i64: -2, 4, -3, 7>,
// BATCH: instances @outer_0.inner.captured {{.*}} {sites = array<i64: -2, 3>}
// BATCH: instances @inner [{{.*}} {sites = array<i64: -2, 3, -3, 7>}
dyn.entry @twice(%t: !dyn.node<@Tree>, %a: f32, %b: f32) -> (f32) attributes {arg_names = ["t", "a", "b"], arg_types = [!dyn.node<@Tree>, f32, f32], surface = f32} {
  %x = dyn.call @outer(%t) captured (%a) : (!dyn.node<@Tree>, f32) -> f32
  %y = dyn.call @outer(%t) captured (%b) : (!dyn.node<@Tree>, f32) -> f32
  %z = arith.addf %x, %y : f32
  dyn.return %z : f32
}

// The calls of one cell that give it the same are calls of one copy: it is one of them.
// CHECK: dyn.cell @inner.3({{.*}} {sites = array<i64: -2, 5, -2, 6>,
// BATCH: instances @inner.3 {{.*}} {sites = array<i64: -2, 5, -2, 6>}
dyn.entry @alike(%t: !dyn.node<@Tree>, %a: f32) -> (f32) attributes {arg_names = ["t", "a"], arg_types = [!dyn.node<@Tree>, f32], surface = f32} {
  %x = dyn.call @inner(%t) captured (%a) : (!dyn.node<@Tree>, f32) -> f32
  %y = dyn.call @inner(%t) captured (%a) : (!dyn.node<@Tree>, f32) -> f32
  %z = arith.addf %x, %y : f32
  dyn.return %z : f32
}

dyn.cell @outer(%t: !dyn.node<@Tree>, %q: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %sum = arith.addf %q, %x : f32
  %z = dyn.call @inner(%t) captured (%sum) : (!dyn.node<@Tree>, f32) -> f32
  dyn.return %z : f32
}
dyn.cell @inner(%t: !dyn.node<@Tree>, %q: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %n = arith.fptosi %q : f32 to i32
  %y = arith.sitofp %n : i32 to f32
  dyn.return %y : f32
}
