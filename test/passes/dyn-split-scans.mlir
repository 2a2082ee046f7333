// RUN: dbc-opt %s --dyn-split-scans | FileCheck %s
//
// What a scan computes from its elements alone is a map before it, which runs once over a batch; what uses the state stays.

// CHECK-LABEL: dyn.entry @run
// CHECK: %[[EARLY:.*]] = dyn.map(%[[XS:.*]]) :
// CHECK: math.exp
// CHECK: dyn.scan(%[[XS]], %[[EARLY]]) from
// CHECK-NOT: math.exp
// CHECK: math.tanh
dyn.entry @run(%xs: !dyn.list<f32>, %s0: f32) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "s0"], arg_types = [!dyn.list<f32>, f32], surface = !dyn.list<f32>} {
  %r = dyn.scan(%xs) from(%s0) : (!dyn.list<f32>), (f32) -> (!dyn.list<f32>) {
  ^bb0(%x: f32, %s: f32):
    %e = math.exp %x : f32
    %a = arith.addf %e, %s : f32
    %t = math.tanh %a : f32
    dyn.yield %t : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// What is a function of one index alone stays: it can become a table.

// CHECK-LABEL: dyn.entry @words
// CHECK-NOT: dyn.map
// CHECK: dyn.scan
// CHECK: dyn.gather
// CHECK: math.exp
// CHECK: math.tanh
dyn.param @E : tensor<5x3xf32>
dyn.entry @words(%xs: !dyn.list<i32>, %s0: tensor<3xf32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["xs", "s0"], arg_types = [!dyn.list<!dyn.index<5>>, tensor<3xf32>], surface = !dyn.list<tensor<3xf32>>} {
  %r = dyn.scan(%xs) from(%s0) : (!dyn.list<i32>), (tensor<3xf32>) -> (!dyn.list<tensor<3xf32>>) {
  ^bb0(%x: i32, %s: tensor<3xf32>):
    %E = dyn.get @E : tensor<5x3xf32>
    %row = dyn.gather %E[%x] : tensor<5x3xf32>, i32 -> tensor<3xf32>
    %e = math.exp %row : tensor<3xf32>
    %a = arith.addf %e, %s : tensor<3xf32>
    %t = math.tanh %a : tensor<3xf32>
    dyn.yield %t : tensor<3xf32>
  }
  dyn.return %r : !dyn.list<tensor<3xf32>>
}
