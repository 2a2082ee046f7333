// REQUIRES: asserts
// RUN: dbc-opt %s --dyn-decompose --dyn-sum-operands --dyn-merge-products --mlir-pass-statistics --mlir-pass-statistics-display=list -o /dev/null 2>&1 | FileCheck %s
//
// Passes count what they did: lists of passes and of counters are sorted by name.

// CHECK: DynDecompose
// CHECK-NEXT: (S) 1 decomposed - Operations written by others
// CHECK-NEXT: DynMergeProducts
// CHECK-NEXT: (S) 0 merged-maps
// CHECK-NEXT: (S) 2 merged-products
// CHECK-NEXT: DynSumOperands
// CHECK-NEXT: (S) 1 products-behind
// CHECK-NEXT: (S) 1 rewritten-sums

dyn.param @W : tensor<3x2xf32>
dyn.param @U : tensor<3x2xf32>

// One softmax over a list.

dyn.entry @weights(%xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %w = dyn.softmax_list %xs : <f32>
  dyn.return %w : !dyn.list<f32>
}

// The two products of x become one.

dyn.entry @shared(%x: tensor<2xf32>) -> (tensor<3xf32>) attributes {arg_names = ["x"], arg_types = [tensor<2xf32>], surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %a = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %b = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %r = arith.mulf %a, %b : tensor<3xf32>
  dyn.return %r : tensor<3xf32>
}

// A sum has its product behind it.

dyn.entry @sum(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %y : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}
