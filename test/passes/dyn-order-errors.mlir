// RUN: dbc-opt %s --dyn-order-errors --mlir-print-debuginfo | FileCheck %s
//
// What an entry evaluates of an input's structure is written down in the order of the source, as the steps of the runtime's
// first_error.h. What is computed is one value that is not known, 0 here; what may fail by it is an event, of a number that its
// location keeps. Binders have numbers too.

// CHECK: fptosi {{.*}} loc(#[[CONVERSION:.*]])
// CHECK: dyn.gather {{.*}} checked {{.*}} loc(#[[GATHER:.*]])
// CHECK: } loc(#[[MAP:.*]])
// CHECK: kernel.evaluation @e words ["e", "", "{{.*}}:26:11", "{{.*}}:29:12", "{{.*}}:32:10"]
// One function, which begins at 2: five values, its name, no data type and no keys. The arguments: value 2 is component 0, 3 is component 1.
// CHECK-SAME: code [1, 2, 5, 0, -1, 0, 3, 2, 0, 1, 3, 3, 1, 1,
// A map, number 2, which ends before 37, at word 2; of one list, value 2; no states; its element is not known; the result is 4.
// CHECK-SAME: 17, 0, 2, 0, 37, 2, 1, 2, 0, 1, 1, 4,
// Its body: event 0; a gather from 5 rows whose number is not known, at word 3; event 1; it gives one value, not known.
// CHECK-SAME: 16, 0, 7, 0, 5, 3, 16, 1, 18, 1, 0,
// Behind it: an element of the list 4, at the position that value 3 says, at word 4. The entry gives one value.
// CHECK-SAME: 13, 1, 4, 3, 4, 28, 1, 0]
// CHECK-DAG: #[[CONVERSION]] = loc(fused<0 : i64>
// CHECK-DAG: #[[GATHER]] = loc(fused<1 : i64>
// CHECK-DAG: #[[MAP]] = loc(fused<2 : i64>
module {
  dyn.param @E : tensor<5xf32>
  dyn.entry @e(%xs: !dyn.list<f32>, %i: i32) -> (f32) attributes {arg_names = ["xs", "i"], arg_types = [!dyn.list<f32>, i32], surface = f32} {
    %E = dyn.get @E : tensor<5xf32>
    %ys = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
    ^bb0(%x: f32):
      %n = arith.fptosi %x : f32 to i32
      %y = dyn.gather %E[%n] checked : tensor<5xf32>, i32 -> f32
      dyn.yield %y : f32
    }
    %z = dyn.at %ys[%i] : !dyn.list<f32> -> f32
    dyn.return %z : f32
  }
}
