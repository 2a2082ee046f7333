// RUN: dbc-opt %s --dyn-hoist | FileCheck %s
//
// What does not use a binder's variable is computed once outside it (LANGUAGE C8) ...

// CHECK-LABEL: dyn.entry @outside
// CHECK: math.tanh
// CHECK: dyn.map
dyn.entry @outside(%xs: !dyn.list<f32>, %y: f32) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "y"], arg_types = [!dyn.list<f32>, f32], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %t = math.tanh %y : f32
    %s = arith.addf %x, %t : f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// ... but nothing that may fail an input moves: over an empty list it is never computed.

// CHECK-LABEL: dyn.entry @inside
// CHECK: dyn.map
// CHECK: dyn.int div
dyn.entry @inside(%xs: !dyn.list<i32>, %n: i32) -> (!dyn.list<i32>) attributes {arg_names = ["xs", "n"], arg_types = [!dyn.list<i32>, i32], surface = !dyn.list<i32>} {
  %r = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<i32> {
  ^bb0(%x: i32):
    %d = dyn.int div %n, %n : i32
    %s = dyn.int add %x, %d : i32
    dyn.yield %s : i32
  }
  dyn.return %r : !dyn.list<i32>
}
