// RUN: dbc-opt %s --batch-blas | FileCheck %s
// RUN: dbc-opt %s --batch-blas=weights=1000 | FileCheck --check-prefix=WIDE %s
//
// A stage that runs once is cut at its products: what they need is written, if it is no row of a buffer already, each is a stage
// of its own, and what becomes of them is the last one. What is only read is read again.

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
module {
  kernel.param @W : tensor<32x16xf32>
  kernel.param @b : tensor<32xf32>
  batch.program @p ["x"] [tensor<16xf32>] -> tensor<32xf32> {
    kernel.space inputs @input ["input"]
    kernel.space inputs @some ["input"] kept
    kernel.argument @arg.x = "x" 0 value : tensor<16xf32>
    batch.buffer @h over @input : tensor<16xf32>
    batch.buffer @y over @input : tensor<32xf32>
    batch.buffer @z over @input : tensor<32xf32>
    batch.buffer @k over @some : tensor<32xf32>
    // CHECK: batch.buffer @gathered.x over @input : tensor<16xf32>
    // CHECK: batch.buffer @gathered.y over @input : tensor<32xf32>

    // CHECK: batch.stage @gathered.operands over @input {
    // CHECK-NEXT: %[[X:.*]] = batch.gather @arg.x via "input"
    // CHECK-NEXT: batch.write %[[X]], @gathered.x
    // CHECK-NEXT: }
    // CHECK: batch.stage @gathered.product over @input blas {
    // CHECK: %[[X:.*]] = batch.read @gathered.x
    // CHECK: %[[Y:.*]] = linalg.contract {{.*}} ins(%{{.*}}, %[[X]]
    // CHECK-NEXT: batch.write %[[Y]], @gathered.y
    // CHECK-NEXT: }
    // CHECK: batch.stage @gathered over @input {
    // CHECK-NOT: linalg.contract
    // CHECK: %[[Y:.*]] = batch.read @gathered.y
    // CHECK: %[[S:.*]] = arith.addf %[[Y]], %{{.*}} : tensor<32xf32>
    // CHECK: %[[T:.*]] = math.tanh %[[S]]
    // CHECK: batch.write %[[T]], @y
    // WIDE-NOT: blas
    batch.stage @gathered over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %x = batch.gather @arg.x via "input" shared : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %wx, %b : tensor<32xf32>
      %t = math.tanh %s : tensor<32xf32>
      batch.write %t, @y : tensor<32xf32>
    }

    // A row of a buffer is where it is, and a result goes where it is wanted.
    // CHECK-NOT: batch.stage @read.operands
    // CHECK: batch.stage @read.product over @input blas {
    // CHECK: batch.read @h
    // CHECK: batch.write {{.*}}, @z : tensor<32xf32>
    // CHECK-NOT: batch.stage @read over
    batch.stage @read over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %h = batch.read @h : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %h : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      batch.write %wx, @z : tensor<32xf32>
    }

    // Of a `while` not all rows are there.
    // CHECK: batch.stage @kept over @some {
    // CHECK: linalg.contract
    batch.stage @kept over @some {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %x = batch.gather @arg.x via "input" shared : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      batch.write %wx, @k : tensor<32xf32>
    }
  }
}
