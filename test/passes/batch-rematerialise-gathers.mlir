// RUN: dbc-opt %s --batch-rematerialise-gathers | FileCheck %s
//
// A stage gathers the row of a parameter that another stage over its index set has put into a buffer; what is read elsewhere,
// tested, or written twice stays in its buffer. Another index set gets the number of a matrix in its place.

module {
  kernel.param @W : tensor<4x8x8xf32>
  kernel.param @b : tensor<4x8xf32>
  kernel.program @p ["x"] [tensor<8xf32>] -> tensor<8xf32> {
    kernel.index_set inputs @input ["input", "kind"]
    kernel.index_set elements @other in @input ["parent", "row"]
    batch.relation @parent : @other -> @input by "parent"
    // CHECK: kernel.buffer @matrix.index over @input : i32
    // CHECK-NEXT: kernel.buffer @matrix over @input : tensor<8x8xf32>
    kernel.buffer @matrix over @input : tensor<8x8xf32>
    kernel.buffer @number over @input : i32
    kernel.buffer @row over @input : tensor<8xf32>
    kernel.buffer @tested over @input : tensor<8xf32>
    kernel.buffer @out over @input : tensor<8xf32>
    kernel.buffer @far over @other : tensor<8xf32>
    // CHECK-LABEL: batch.stage @gathers
    // CHECK: %[[KIND:.*]] = batch.read_index "kind"
    // CHECK: batch.write %[[KIND]], @matrix.index : i32
    // CHECK-NEXT: batch.write %{{.*}}, @matrix : tensor<8x8xf32>
    batch.stage @gathers over @input {
      %W = dyn.get @W : tensor<4x8x8xf32>
      %b = dyn.get @b : tensor<4x8xf32>
      %kind = batch.read_index "kind" : i32
      %number = batch.read @number : i32
      %m = dyn.gather %W[%kind] : tensor<4x8x8xf32>, i32 -> tensor<8x8xf32>
      %r = dyn.gather %b[%number] : tensor<4x8xf32>, i32 -> tensor<8xf32>
      %t = dyn.gather %b[%number] checked : tensor<4x8xf32>, i32 -> tensor<8xf32>
      batch.write %m, @matrix : tensor<8x8xf32>
      batch.write %r, @row : tensor<8xf32>
      batch.write %t, @tested : tensor<8xf32>
    }
    // CHECK-LABEL: batch.stage @uses
    // CHECK-NEXT: %[[W:.*]] = dyn.get @W
    // CHECK-NEXT: %[[KIND:.*]] = batch.read_index "kind"
    // CHECK-NEXT: %[[M:.*]] = dyn.gather %[[W]][%[[KIND]]]
    // CHECK-NEXT: %[[B:.*]] = dyn.get @b
    // CHECK-NEXT: %[[NUMBER:.*]] = batch.read @number
    // CHECK-NEXT: %[[R:.*]] = dyn.gather %[[B]][%[[NUMBER]]]
    // CHECK-NEXT: %[[T:.*]] = batch.read @tested
    // CHECK-NEXT: arith.addf %[[R]], %[[T]]
    // CHECK-NEXT: dyn.reduce sum %[[M]]
    batch.stage @uses over @input {
      %m = batch.read @matrix : tensor<8x8xf32>
      %r = batch.read @row : tensor<8xf32>
      %t = batch.read @tested : tensor<8xf32>
      %s = arith.addf %r, %t : tensor<8xf32>
      %q = dyn.reduce sum %m axis 0 : tensor<8x8xf32> -> tensor<8xf32>
      %y = arith.mulf %s, %q : tensor<8xf32>
      batch.write %y, @out : tensor<8xf32>
    }
    // CHECK-LABEL: batch.stage @elsewhere
    // CHECK-NEXT: %[[R:.*]] = batch.gather @row
    // CHECK-NEXT: %[[NUMBER:.*]] = batch.gather @matrix.index via @parent : i32
    // CHECK-NEXT: %[[W:.*]] = dyn.get @W
    // CHECK-NEXT: %[[M:.*]] = dyn.gather %[[W]][%[[NUMBER]]]
    // CHECK-NEXT: dyn.reduce sum %[[M]]
    batch.stage @elsewhere over @other {
      %r = batch.gather @row via @parent : tensor<8xf32>
      %m = batch.gather @matrix via @parent : tensor<8x8xf32>
      %q = dyn.reduce sum %m axis 0 : tensor<8x8xf32> -> tensor<8xf32>
      %s = arith.addf %r, %q : tensor<8xf32>
      batch.write %s, @far : tensor<8xf32>
    }
  }
}
