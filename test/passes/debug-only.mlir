// RUN: dbc-opt %s --dyn-decompose --dyn-merge-products --debug-only=dyn-merge-products -o /dev/null 2>&1 | FileCheck %s
//
// Of several passes only the one that is named says what it decides, and where in the source.

// CHECK-NOT: dyn-decompose
// CHECK: [dyn-merge-products DynMergeProducts.cpp:{{[0-9]+}} 1] 2 products of one vector, the first at {{.+}}
// CHECK-NOT: dyn-decompose

dyn.param @W : tensor<3x2xf32>
dyn.param @U : tensor<3x2xf32>

dyn.entry @weights(%xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %w = dyn.softmax_list %xs : <f32>
  dyn.return %w : !dyn.list<f32>
}

dyn.entry @shared(%x: tensor<2xf32>) -> (tensor<3xf32>) attributes {arg_names = ["x"], arg_types = [tensor<2xf32>], surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %a = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %b = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %r = arith.mulf %a, %b : tensor<3xf32>
  dyn.return %r : tensor<3xf32>
}
