// RUN: dbc-opt %s --batch-split-gates | FileCheck %s
//
// What is cut into gates after it was computed is computed gate by gate, as far up as it is elementwise.

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
module {
  kernel.param @U : tensor<32x16xf32>
  kernel.param @b : tensor<32xf32>
  kernel.program @p ["x"] [tensor<16xf32>] -> tensor<16xf32> {
    kernel.index_set inputs @input ["input"]
    kernel.argument @arg.x = "x" 0 value : tensor<16xf32>
    batch.relation @number : @input -> by "input"
    kernel.buffer @wx over @input : tensor<32xf32>
    kernel.buffer @h over @input : tensor<16xf32>
    kernel.buffer @all over @input : tensor<32xf32>

    // The product's slices meet those of what is added to it; b is added gate by gate too.
    // CHECK-LABEL: batch.stage @gates
    // CHECK-DAG: %[[WX:.*]] = batch.read @wx
    // CHECK-DAG: %[[UX:.*]] = linalg.contract
    // CHECK-DAG: %[[B:.*]] = dyn.get @b
    // CHECK-DAG: %[[UX0:.*]] = tensor.extract_slice %[[UX]][0] [16]
    // CHECK-DAG: %[[WX0:.*]] = tensor.extract_slice %[[WX]][0] [16]
    // CHECK-DAG: %[[B0:.*]] = tensor.extract_slice %[[B]][0] [16]
    // CHECK-DAG: %[[S0:.*]] = arith.addf %[[UX0]], %[[WX0]] : tensor<16xf32>
    // CHECK-DAG: %[[G0:.*]] = arith.addf %[[S0]], %[[B0]] : tensor<16xf32>
    // CHECK-DAG: dyn.function sigmoid %[[G0]]
    // CHECK-NOT: arith.addf {{.*}} : tensor<32xf32>
    batch.stage @gates over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %U = dyn.get @U : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %x = batch.gather @arg.x via @number : tensor<16xf32>
      %wx = batch.read @wx : tensor<32xf32>
      %ux = linalg.contract indexing_maps = [#mk, #k, #m] ins(%U, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %ux, %wx : tensor<32xf32>
      %g = arith.addf %s, %b : tensor<32xf32>
      %i = tensor.extract_slice %g[0] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %u = tensor.extract_slice %g[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %si = dyn.function sigmoid %i : tensor<16xf32>
      %tu = math.tanh %u : tensor<16xf32>
      %h = arith.mulf %si, %tu : tensor<16xf32>
      batch.write %h, @h : tensor<16xf32>
    }

    // A product starts from its bias: that sum stays, and so does what is used as a whole too.
    // CHECK-LABEL: batch.stage @stays
    // CHECK: arith.addf {{.*}} : tensor<32xf32>
    // CHECK: math.tanh {{.*}} : tensor<32xf32>
    batch.stage @stays over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %U = dyn.get @U : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %x = batch.gather @arg.x via @number : tensor<16xf32>
      %ux = linalg.contract indexing_maps = [#mk, #k, #m] ins(%U, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %ux, %b : tensor<32xf32>
      %i = tensor.extract_slice %s[0] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %u = tensor.extract_slice %s[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %h = arith.mulf %i, %u : tensor<16xf32>
      batch.write %h, @h : tensor<16xf32>
      %wx = batch.read @wx : tensor<32xf32>
      %t = math.tanh %wx : tensor<32xf32>
      %ti = tensor.extract_slice %t[0] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %e = math.exp %ti : tensor<16xf32>
      batch.write %e, @h : tensor<16xf32>
      batch.write %t, @all : tensor<32xf32>
    }
  }
}
