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
