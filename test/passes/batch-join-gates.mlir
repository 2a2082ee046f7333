// RUN: dbc-opt %s --batch-join-gates | FileCheck %s
//
// Sums of rows in which each element is 0 in one of both are the rows' pieces side by side.

module {
  kernel.program @p ["x"] [tensor<4xf32>] -> tensor<4xf32> {
    kernel.index_set inputs @input ["input"]
    kernel.argument @arg.x = "x" 0 value : tensor<4xf32>
    batch.relation @number : @input -> by "input"
    kernel.buffer @row over @input : tensor<12xf32>
    kernel.buffer @matrix over @input : tensor<2x8xf32>

    // Three gates, added up one after the other; zeros that are left stay.
    // CHECK-LABEL: batch.stage @gates
    // CHECK: %[[X:.*]] = batch.gather @arg.x
    // CHECK: %[[Y:.*]] = math.tanh %[[X]]
    // CHECK-NOT: arith.addf
    // CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[X]], %[[Y]], %[[X]] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
    // CHECK: batch.write %[[ALL]], @row
    batch.stage @gates over @input {
      %z4 = arith.constant dense<0.0> : tensor<4xf32>
      %z8 = arith.constant dense<0.0> : tensor<8xf32>
      %x = batch.gather @arg.x via @number : tensor<4xf32>
      %y = math.tanh %x : tensor<4xf32>
      %a = tensor.concat dim(0) %x, %z8 : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
      %b = tensor.concat dim(0) %z4, %y, %z4 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
      %c = tensor.concat dim(0) %z8, %x : (tensor<8xf32>, tensor<4xf32>) -> tensor<12xf32>
      %ab = arith.addf %a, %b : tensor<12xf32>
      %abc = arith.addf %ab, %c : tensor<12xf32>
      batch.write %abc, @row : tensor<12xf32>
    }

    // Along another axis, with a gap.
    // CHECK-LABEL: batch.stage @apart
    // CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
    // CHECK: tensor.concat dim(1) %[[U:.*]], %[[Z]], %[[U]] : (tensor<2x2xf32>, tensor<2x4xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
    batch.stage @apart over @input {
      %z = arith.constant dense<0.0> : tensor<2x6xf32>
      %x = batch.gather @arg.x via @number : tensor<4xf32>
      %u = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
      %a = tensor.concat dim(1) %u, %z : (tensor<2x2xf32>, tensor<2x6xf32>) -> tensor<2x8xf32>
      %b = tensor.concat dim(1) %z, %u : (tensor<2x6xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
      %ab = arith.addf %a, %b : tensor<2x8xf32>
      batch.write %ab, @matrix : tensor<2x8xf32>
    }

    // Zeros twice: one row, of which nothing is left.
    // CHECK-LABEL: batch.stage @twice
    // CHECK-NOT: arith.addf
    // CHECK: %[[ALL:.*]] = tensor.concat dim(0) %{{[^,]*}} : (tensor<12xf32>) -> tensor<12xf32>
    // CHECK: batch.write %[[ALL]], @row
    batch.stage @twice over @input {
      %z4 = arith.constant dense<0.0> : tensor<4xf32>
      %z8 = arith.constant dense<0.0> : tensor<8xf32>
      %a = tensor.concat dim(0) %z4, %z8 : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
      %aa = arith.addf %a, %a : tensor<12xf32>
      batch.write %aa, @row : tensor<12xf32>
    }

    // What overlaps is added: the same elements, some of them, and two rows that are joined but for their ends.
    // CHECK-LABEL: batch.stage @overlap
    // CHECK-COUNT-3: arith.addf
    batch.stage @overlap over @input {
      %z3 = arith.constant dense<0.0> : tensor<3xf32>
      %z4 = arith.constant dense<0.0> : tensor<4xf32>
      %z5 = arith.constant dense<0.0> : tensor<5xf32>
      %z8 = arith.constant dense<0.0> : tensor<8xf32>
      %x = batch.gather @arg.x via @number : tensor<4xf32>
      %a = tensor.concat dim(0) %x, %z8 : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
      %b = tensor.concat dim(0) %x, %z4, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
      %c = tensor.concat dim(0) %z3, %x, %z5 : (tensor<3xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<12xf32>
      %ab = arith.addf %a, %b : tensor<12xf32>
      %ac = arith.addf %a, %c : tensor<12xf32>
      %all = arith.addf %ab, %ac : tensor<12xf32>
      batch.write %all, @row : tensor<12xf32>
    }
  }
}
