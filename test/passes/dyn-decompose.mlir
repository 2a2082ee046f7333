// RUN: dbc-opt %s --dyn-decompose | FileCheck %s
//
// A softmax over a list is a map of exp(x - logsumexp), so that batching knows reductions and maps alone.

// CHECK-LABEL: dyn.entry @weights
// CHECK: %[[TOTAL:.*]] = dyn.reduce_list logsumexp %[[LIST:.*]] : <f32> -> f32
// CHECK: dyn.map(%[[LIST]])
// CHECK: %[[SHIFTED:.*]] = arith.subf %{{.*}}, %[[TOTAL]]
// CHECK: math.exp %[[SHIFTED]]
// CHECK-NOT: softmax_list
dyn.entry @weights(%xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %w = dyn.softmax_list %xs : <f32>
  dyn.return %w : !dyn.list<f32>
}
