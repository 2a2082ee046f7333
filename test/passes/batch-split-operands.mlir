// RUN: dbc-opt %s --batch-split-operands=outputs=8 | FileCheck %s
// RUN: dbc-opt %s --batch-split-operands | FileCheck --check-prefix=FEW %s
// RUN: dbc compile %root/examples/tree_lstm/tree_lstm.dyn -D vocab=9 --mode train --target cuda --emit batch | FileCheck --check-prefix=LOOP %s
//
// What a product multiplies is computed in a stage before, with all that can be there, unless it lies in memory. A product of
// fewer outputs is left where it is.

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
module {
  kernel.param @W : tensor<16x16xf32>
  kernel.param @U : tensor<16x32xf32>
  kernel.program @p ["x"] [tensor<16xf32>] -> tensor<16xf32> {
    kernel.index_set inputs @input ["input"]
    kernel.argument @arg.x = "x" 0 value : tensor<16xf32>
    batch.relation @number : @input -> by "input"
    kernel.buffer @h over @input : tensor<16xf32>
    kernel.buffer @y over @input : tensor<16xf32>
    kernel.buffer @z over @input : tensor<16xf32>
    kernel.buffer @both over @input : tensor<32xf32>
    kernel.buffer @u over @input : tensor<16xf32>
    // CHECK: kernel.buffer @passed.x over @input : tensor<16xf32>

    // The first product's vector is a row of the batch; what it makes is what the second one multiplies. %z is wanted behind
    // that alone, and is computed there, of what is read again.
    // CHECK: batch.stage @computed.operands over @input {
    // CHECK: linalg.contract
    // CHECK: %[[T:.*]] = math.tanh
    // CHECK-NEXT: batch.write %[[T]], @h
    // CHECK-NOT: math.exp
    // CHECK: batch.stage @computed over @input {
    // CHECK: %[[Z:.*]] = math.exp
    // CHECK: %[[H:.*]] = batch.read @h
    // CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[H]]
    // CHECK: arith.mulf %{{.*}}, %[[Z]]
    // FEW-NOT: operands
    batch.stage @computed over @input {
      %zero = arith.constant dense<0.0> : tensor<16xf32>
      %W = dyn.get @W : tensor<16x16xf32>
      %x = batch.gather @arg.x via @number : tensor<16xf32>
      %wx = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %x : tensor<16x16xf32>, tensor<16xf32>) outs(%zero : tensor<16xf32>) -> tensor<16xf32>
      %t = math.tanh %wx : tensor<16xf32>
      %z = math.exp %x : tensor<16xf32>
      %wt = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %t : tensor<16x16xf32>, tensor<16xf32>) outs(%zero : tensor<16xf32>) -> tensor<16xf32>
      %s = arith.mulf %wt, %z : tensor<16xf32>
      batch.write %t, @h : tensor<16xf32>
      batch.write %s, @y : tensor<16xf32>
    }

    // What no buffer has goes through one of its own.
    // CHECK: batch.stage @passed.operands over @input {
    // CHECK: batch.write %{{.*}}, @passed.x
    // CHECK: batch.stage @passed over @input {
    // CHECK: batch.read @passed.x
    batch.stage @passed over @input {
      %zero = arith.constant dense<0.0> : tensor<16xf32>
      %W = dyn.get @W : tensor<16x16xf32>
      %x = batch.gather @arg.x via @number : tensor<16xf32>
      %t = math.tanh %x : tensor<16xf32>
      %wt = linalg.contract indexing_maps = [#mk, #k, #m] ins(%W, %t : tensor<16x16xf32>, tensor<16xf32>) outs(%zero : tensor<16xf32>) -> tensor<16xf32>
      batch.write %wt, @z : tensor<16xf32>
    }

    // Rows that lie in memory are joined by the product itself. That the join is kept is a stage of its own; of a loop behind it,
    // as nobody in the loop reads it.
    // CHECK: batch.stage @joined over @input {
    // CHECK: %[[LR:.*]] = tensor.concat
    // CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[LR]]
    // CHECK-NOT: @both
    // CHECK: }
    // CHECK-NEXT: batch.stage @joined.kept over @input {
    // CHECK: %[[BOTH:.*]] = tensor.concat
    // CHECK-NEXT: batch.write %[[BOTH]], @both
    // CHECK-NEXT: }
    // LOOP: kernel.program loss @nll
    // LOOP: kernel.levels @encode.group {
    // LOOP-NEXT: batch.stage @encode.Node over
    // LOOP-NOT: batch.write %{{.*}}, @encode.Node.value :
    // LOOP: {{^    }}batch.stage @encode.Node.kept over
    // LOOP: batch.write %{{.*}}, @encode.Node.value :
    // LOOP: kernel.levels @encode.group reverse {
    // LOOP-NEXT: batch.stage @encode.Node.adjoint.operands over
    // LOOP: batch.stage @encode.Node.adjoint over
    batch.stage @joined over @input {
      %zero = arith.constant dense<0.0> : tensor<16xf32>
      %U = dyn.get @U : tensor<16x32xf32>
      %l = batch.gather @arg.x via @number : tensor<16xf32>
      %r = batch.read @h : tensor<16xf32>
      %lr = tensor.concat dim(0) %l, %r : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
      %u = linalg.contract indexing_maps = [#mk, #k, #m] ins(%U, %lr : tensor<16x32xf32>, tensor<32xf32>) outs(%zero : tensor<16xf32>) -> tensor<16xf32>
      batch.write %lr, @both : tensor<32xf32>
      batch.write %u, @u : tensor<16xf32>
    }
  }
}
