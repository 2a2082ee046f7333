// RUN: dbc-opt %s --dyn-forward-gathers --canonicalize | FileCheck %s
//
// Binders over a list of rows of a parameter go through the row numbers and gather the rows themselves; the list disappears
// where nothing else uses it. What is tested, or is a list of other things, stays.

module {
  dyn.param @E : tensor<5x3xf32>
  // CHECK-LABEL: dyn.entry @scan
  // CHECK-NOT: dyn.map
  // CHECK: %[[RESULT:.*]] = dyn.scan(%[[WORDS:[^:]*]]) from
  // CHECK-NEXT: ^bb0(%[[W:.*]]: i32, %[[S:.*]]: tensor<3xf32>):
  // CHECK-NEXT: %[[E:.*]] = dyn.get @E
  // CHECK-NEXT: %[[X:.*]] = dyn.gather %[[E]][%[[W]]]
  // CHECK-NEXT: arith.addf %[[X]], %[[S]]
  dyn.entry @scan(%words: !dyn.list<i32>, %s0: tensor<3xf32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["words", "s0"], arg_types = [!dyn.list<!dyn.index<5>>, tensor<3xf32>], surface = !dyn.list<tensor<3xf32>>} {
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.gather %E[%w] : tensor<5x3xf32>, i32 -> tensor<3xf32>
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
  // CHECK: dyn.gather {{.*}} checked
  // CHECK: dyn.map
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<3xf32>):
  dyn.entry @tested(%words: !dyn.list<i32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["words"], arg_types = [!dyn.list<i32>], surface = !dyn.list<tensor<3xf32>>} {
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.gather %E[%w] checked : tensor<5x3xf32>, i32 -> tensor<3xf32>
      dyn.yield %x : tensor<3xf32>
    }
    %r = dyn.map(%xs) : (!dyn.list<tensor<3xf32>>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%x: tensor<3xf32>):
      %a = math.exp %x : tensor<3xf32>
      dyn.yield %a : tensor<3xf32>
    }
    dyn.return %r : !dyn.list<tensor<3xf32>>
  }

  // From the end, a slice, and beside other lists: the numbers are turned, sliced and zipped instead.
  // CHECK-LABEL: dyn.entry @views
  // CHECK-SAME: (%[[WORDS:.*]]: !dyn.list<i32>, %[[YS:.*]]: !dyn.list<f32>)
  // CHECK: %[[TURNED:.*]] = dyn.reverse %[[WORDS]]
  // CHECK: %[[SLICED:.*]] = dyn.slice %[[TURNED]] from %{{.*}} to %{{.*}} : <i32> -> <i32>
  // CHECK: %[[BOTH:.*]]:2 = dyn.zip %[[SLICED]], %[[YS]] : (!dyn.list<i32>, !dyn.list<f32>)
  // CHECK: dyn.map(%[[BOTH]]#0, %[[BOTH]]#1)
  // CHECK-NEXT: ^bb0(%[[W:.*]]: i32, %[[Y:.*]]: f32):
  // CHECK: dyn.gather %{{.*}}[%[[W]]]
  dyn.entry @views(%words: !dyn.list<i32>, %ys: !dyn.list<f32>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["words", "ys"], arg_types = [!dyn.list<!dyn.index<5>>, !dyn.list<f32>], surface = !dyn.list<tensor<3xf32>>} {
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.gather %E[%w] : tensor<5x3xf32>, i32 -> tensor<3xf32>
      dyn.yield %x : tensor<3xf32>
    }
    %turned = dyn.reverse %xs : !dyn.list<tensor<3xf32>>
    %sliced = dyn.slice %turned from %one to %three : !dyn.list<tensor<3xf32>> -> !dyn.list<tensor<3xf32>>
    %both:2 = dyn.zip %sliced, %ys : (!dyn.list<tensor<3xf32>>, !dyn.list<f32>) -> (!dyn.list<tensor<3xf32>>, !dyn.list<f32>)
    %r = dyn.map(%both#0, %both#1) : (!dyn.list<tensor<3xf32>>, !dyn.list<f32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%x: tensor<3xf32>, %y: f32):
      %wide = tensor.splat %y : tensor<3xf32>
      %a = arith.addf %x, %wide : tensor<3xf32>
      dyn.yield %a : tensor<3xf32>
    }
    dyn.return %r : !dyn.list<tensor<3xf32>>
  }

  // One element: the row that one number names.
  // CHECK-LABEL: dyn.entry @element
  // CHECK-SAME: (%[[WORDS:.*]]: !dyn.list<i32>)
  // CHECK-NOT: dyn.map
  // CHECK: %[[W:.*]] = dyn.at %[[WORDS]][%{{.*}}] : <i32> -> i32
  // CHECK: dyn.gather %{{.*}}[%[[W]]]
  dyn.entry @element(%words: !dyn.list<i32>) -> (tensor<3xf32>) attributes {arg_names = ["words"], arg_types = [!dyn.list<!dyn.index<5>>], surface = tensor<3xf32>} {
    %one = arith.constant 1 : i32
    %E = dyn.get @E : tensor<5x3xf32>
    %xs = dyn.map(%words) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%w: i32):
      %x = dyn.gather %E[%w] : tensor<5x3xf32>, i32 -> tensor<3xf32>
      dyn.yield %x : tensor<3xf32>
    }
    %x = dyn.at %xs[%one] : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
    dyn.return %x : tensor<3xf32>
  }
}
