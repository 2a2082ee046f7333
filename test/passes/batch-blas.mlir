// RUN: dbc-opt %s --batch-blas | FileCheck %s
// RUN: dbc-opt %s --batch-blas=weights=1000 | FileCheck --check-prefix=WIDE %s
//
// A stage that runs once is cut at its products: what they need is written, if it is no row of a buffer already, each is a stage
// of its own with its bias, and what becomes of them is the last one. What is only read is read again.

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
module {
  kernel.param @W : tensor<32x16xf32>
  kernel.param @b : tensor<32xf32>
  kernel.program @p ["x"] [tensor<16xf32>] -> tensor<32xf32> {
    kernel.index_set inputs @input ["input"]
    kernel.index_set inputs @some ["input"] masked
    kernel.argument @arg.x = "x" 0 value : tensor<16xf32>
    batch.relation @number : @input -> by "input"
    batch.relation @some_number : @some -> by "input"
    kernel.buffer @h over @input : tensor<16xf32>
    kernel.buffer @y over @input : tensor<32xf32>
    kernel.buffer @z over @input : tensor<32xf32>
    kernel.buffer @k over @some : tensor<32xf32>
    // CHECK: kernel.buffer @gathered.x over @input : tensor<16xf32>
    // CHECK: kernel.buffer @gathered.y over @input : tensor<32xf32>

    // CHECK: batch.stage @gathered.operands over @input {
    // CHECK-NEXT: %[[X:.*]] = batch.gather @arg.x via @number
    // CHECK-NEXT: batch.write %[[X]], @gathered.x
    // CHECK-NEXT: }
    // CHECK: batch.stage @gathered.product over @input blas {
    // CHECK: %[[X:.*]] = batch.read @gathered.x
    // CHECK: %[[Y:.*]] = linalg.contract {{.*}} ins(%{{.*}}, %[[X]]
    // CHECK: %[[B:.*]] = dyn.get @b
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[Y]], %[[B]] : tensor<32xf32>
    // CHECK-NEXT: batch.write %[[S]], @gathered.y
    // CHECK-NEXT: }
    // CHECK: batch.stage @gathered over @input {
    // CHECK-NEXT: %[[S:.*]] = batch.read @gathered.y
    // CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]]
    // CHECK-NEXT: batch.write %[[T]], @y
    // WIDE-NOT: blas
    batch.stage @gathered over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %x = batch.gather @arg.x via @number : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %wx, %b : tensor<32xf32>
      %t = math.tanh %s : tensor<32xf32>
      batch.write %t, @y : tensor<32xf32>
    }

    // A row of a buffer is where it is, and a result goes where it is wanted, with its bias or without.
    // CHECK-NOT: batch.stage @read.operands
    // CHECK: batch.stage @read.product over @input blas {
    // CHECK: batch.read @h
    // CHECK-NOT: arith.addf
    // CHECK: batch.write {{.*}}, @z : tensor<32xf32>
    // CHECK-NOT: batch.stage @read over
    batch.stage @read over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %h = batch.read @h : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %h : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      batch.write %wx, @z : tensor<32xf32>
    }
    // CHECK: batch.stage @biased.product over @input blas {
    // CHECK: %[[S:.*]] = arith.addf
    // CHECK-NEXT: batch.write %[[S]], @z : tensor<32xf32>
    // CHECK-NOT: batch.stage @biased over
    batch.stage @biased over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %h = batch.read @h : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %h : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %b, %wx : tensor<32xf32>
      batch.write %s, @z : tensor<32xf32>
    }

    // What is made of more than the sum with a bias stays without it; so does what something else is added to.
    // CHECK: batch.stage @twice.product over @input blas {
    // CHECK-NOT: arith.addf
    // CHECK: batch.write {{.*}}, @twice.y
    // CHECK: batch.stage @twice over @input {
    // CHECK: %[[Y:.*]] = batch.read @twice.y
    // CHECK: %[[S:.*]] = arith.addf %[[Y]], %{{.*}} : tensor<32xf32>
    // CHECK: arith.mulf %[[Y]], %[[S]]
    batch.stage @twice over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %b = dyn.get @b : tensor<32xf32>
      %h = batch.read @h : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %h : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %wx, %b : tensor<32xf32>
      %t = arith.mulf %wx, %s : tensor<32xf32>
      batch.write %t, @y : tensor<32xf32>
    }
    // CHECK: batch.stage @other.product over @input blas {
    // CHECK-NOT: arith.addf
    // CHECK: batch.write {{.*}}, @other.y
    // CHECK: batch.stage @other over @input {
    // CHECK: arith.addf
    batch.stage @other over @input {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %z = batch.read @z : tensor<32xf32>
      %h = batch.read @h : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %h : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      %s = arith.addf %wx, %z : tensor<32xf32>
      batch.write %s, @y : tensor<32xf32>
    }

    // Of a `while` not all rows are there.
    // CHECK: batch.stage @masked over @some {
    // CHECK: linalg.contract
    batch.stage @masked over @some {
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      %W = dyn.get @W : tensor<32x16xf32>
      %x = batch.gather @arg.x via @some_number : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %x : tensor<32x16xf32>, tensor<16xf32>) outs(%zero : tensor<32xf32>) -> tensor<32xf32>
      batch.write %wx, @k : tensor<32xf32>
    }
  }
}
