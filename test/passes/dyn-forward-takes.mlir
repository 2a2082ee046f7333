// RUN: dbc-opt %s --dyn-forward-takes --canonicalize | FileCheck %s
//
// Binders over a list of rows of a parameter go through the row numbers and take the rows themselves; the list disappears
// where nothing else uses it. What is tested, or is a list of other things, stays.

module {
  dyn.param @E : tensor<5x3xf32>
  // CHECK-LABEL: dyn.entry @scan
  // CHECK-NOT: dyn.map
  // CHECK: %[[RESULT:.*]] = dyn.scan(%[[WORDS:[^:]*]]) from
  // CHECK-NEXT: ^bb0(%[[W:.*]]: i32, %[[S:.*]]: tensor<3xf32>):
  // CHECK-NEXT: %[[E:.*]] = dyn.get @E
  // CHECK-NEXT: %[[X:.*]] = dyn.take %[[E]][%[[W]]]
  // CHECK-NEXT: arith.addf %[[X]], %[[S]]
  dyn.entry @scan(%words: !dyn.list<i32>, %s0: tensor<3xf32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["words", "s0"], arg_types = [!dyn.list<!dyn.index<5>>, tensor<3xf32>], surface = !dyn.list<tensor<3xf32>>} {
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.take %E[%w] : tensor<5x3xf32>, i32 -> tensor<3xf32>
      dyn.yield %x : tensor<3xf32>
    }
    %r = dyn.scan(%xs) from(%s0) : (!dyn.list<tensor<3xf32>>), (tensor<3xf32>) -> (!dyn.list<tensor<3xf32>>) {
    ^bb0(%x: tensor<3xf32>, %s: tensor<3xf32>):
      %a = arith.addf %x, %s : tensor<3xf32>
      dyn.yield %a : tensor<3xf32>
    }
    dyn.return %r : !dyn.list<tensor<3xf32>>
  }
  // CHECK-LABEL: dyn.entry @tested
  // CHECK: dyn.take {{.*}} checked
  // CHECK: dyn.map
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<3xf32>):
  dyn.entry @tested(%words: !dyn.list<i32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["words"], arg_types = [!dyn.list<i32>], surface = !dyn.list<tensor<3xf32>>} {
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.take %E[%w] checked : tensor<5x3xf32>, i32 -> tensor<3xf32>
      dyn.yield %x : tensor<3xf32>
    }
    %r = dyn.map(%xs) : (!dyn.list<tensor<3xf32>>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%x: tensor<3xf32>):
      %a = math.exp %x : tensor<3xf32>
      dyn.yield %a : tensor<3xf32>
    }
    dyn.return %r : !dyn.list<tensor<3xf32>>
  }
}
