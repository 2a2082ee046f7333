// RUN: dbc-opt %s --dyn-unroll-folds --canonicalize --cse | FileCheck %s

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
dyn.param @W : tensor<2x3x3xf32>
dyn.param @E : tensor<2x3xf32>

// A fold over layers is its rounds, with a matrix of the table in each; ranges that are zipped have a number each.
// CHECK-LABEL: dyn.entry @layers
// CHECK-NOT: dyn.fold
// CHECK: %[[W:.*]] = dyn.get @W
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[W]][0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<2x3x3xf32> to tensor<3x3xf32>
// CHECK: %[[Y:.*]] = linalg.contract {{.*}} ins(%[[FIRST]], %{{.*}} :
// CHECK: %[[YS:.*]] = dyn.gather %{{.*}}[%{{.*}}]
// CHECK: %[[Z:.*]] = arith.addf %[[Y]], %[[YS]]
// CHECK: %[[SECOND:.*]] = tensor.extract_slice %[[W]][1, 0, 0] [1, 3, 3] [1, 1, 1]
// CHECK: linalg.contract {{.*}} ins(%[[SECOND]], %[[Z]] :
dyn.entry @layers(%x: tensor<3xf32>) -> (tensor<3xf32>) attributes {arg_names = ["x"], arg_types = [tensor<3xf32>], surface = tensor<3xf32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ls = dyn.range %c0 to %c2 : <i32>
  %is = dyn.range %c0 to %c2 : <i32>
  %y = dyn.fold(%ls, %is) from(%x) : (!dyn.list<i32>, !dyn.list<i32>), (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%l: i32, %i: i32, %s: tensor<3xf32>):
    %W = dyn.get @W : tensor<2x3x3xf32>
    %w = dyn.gather %W[%l] : tensor<2x3x3xf32>, i32 -> tensor<3x3xf32>
    %p = linalg.contract indexing_maps = [#mk, #k, #m] ins(%w, %s : tensor<3x3xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %E = dyn.get @E : tensor<2x3xf32>
    %e = dyn.gather %E[%i] : tensor<2x3xf32>, i32 -> tensor<3xf32>
    %z = arith.addf %p, %e : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  dyn.return %y : tensor<3xf32>
}

// So is one whose state is a list, if each round gives a list of the same length.
// CHECK-LABEL: dyn.entry @lists
// CHECK-NOT: dyn.fold
// CHECK-COUNT-2: dyn.map
dyn.entry @lists(%xs: !dyn.list<tensor<3xf32>>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<3xf32>>], surface = !dyn.list<tensor<3xf32>>} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ls = dyn.range %c0 to %c2 : <i32>
  %ys = dyn.fold(%ls) from(%xs) : (!dyn.list<i32>), (!dyn.list<tensor<3xf32>>) -> (!dyn.list<tensor<3xf32>>) {
  ^bb0(%l: i32, %s: !dyn.list<tensor<3xf32>>):
    %next = dyn.map(%s) : (!dyn.list<tensor<3xf32>>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%x: tensor<3xf32>):
      %W = dyn.get @W : tensor<2x3x3xf32>
      %w = dyn.gather %W[%l] : tensor<2x3x3xf32>, i32 -> tensor<3x3xf32>
      %p = linalg.contract indexing_maps = [#mk, #k, #m] ins(%w, %x : tensor<3x3xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
      dyn.yield %p : tensor<3xf32>
    }
    dyn.yield %next : !dyn.list<tensor<3xf32>>
  }
  dyn.return %ys : !dyn.list<tensor<3xf32>>
}

// What chooses no matrix stays a loop; so does one over as many rounds as the input says, or with a `while`.
// CHECK-LABEL: dyn.entry @others
// CHECK-COUNT-3: dyn.fold
dyn.entry @others(%x: tensor<3xf32>, %n: i32) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) attributes {arg_names = ["x", "n"], arg_types = [tensor<3xf32>, i32], surface = !dyn.record<"", ["", "", ""], [tensor<3xf32>, tensor<3xf32>, tensor<3xf32>]>} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %true = arith.constant true
  %ls = dyn.range %c0 to %c2 : <i32>
  %some = dyn.range %c0 to %n : <i32>
  %a = dyn.fold(%ls) from(%x) : (!dyn.list<i32>), (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%l: i32, %s: tensor<3xf32>):
    %E = dyn.get @E : tensor<2x3xf32>
    %e = dyn.gather %E[%l] : tensor<2x3xf32>, i32 -> tensor<3xf32>
    %z = arith.addf %s, %e : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  %b = dyn.fold(%some) from(%x) : (!dyn.list<i32>), (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%l: i32, %s: tensor<3xf32>):
    %W = dyn.get @W : tensor<2x3x3xf32>
    %w = dyn.gather %W[%l] checked : tensor<2x3x3xf32>, i32 -> tensor<3x3xf32>
    %p = linalg.contract indexing_maps = [#mk, #k, #m] ins(%w, %s : tensor<3x3xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %p : tensor<3xf32>
  }
  %c:2 = dyn.fold stops (%ls) from(%x, %true) : (!dyn.list<i32>), (tensor<3xf32>, i1) -> (tensor<3xf32>, i1) {
  ^bb0(%l: i32, %s: tensor<3xf32>, %go: i1):
    %W = dyn.get @W : tensor<2x3x3xf32>
    %w = dyn.gather %W[%l] : tensor<2x3x3xf32>, i32 -> tensor<3x3xf32>
    %p = linalg.contract indexing_maps = [#mk, #k, #m] ins(%w, %s : tensor<3x3xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %p, %true : tensor<3xf32>, i1
  }
  dyn.return %a, %b, %c#0 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
