// RUN: dbc-opt %s --kernel-forward-rows | FileCheck %s
//
// Rows of operands are found in index arrays; a copy of row numbers that threads would share and wait for is gone.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set elements @set in @input ["parent", "left", "right"]
    kernel.buffer @h over @set : tensor<4xf32>
    kernel.buffer @y over @set : tensor<20xf32>
    kernel.index_set batch @batch []
    kernel.buffer @W over @batch : tensor<4x20xf32>

    // Both operands' numbers are copied by one loop, which is gone with them.
    // CHECK-LABEL: kernel.func stage @stage.both
    // CHECK-NOT: kernel.local
    // CHECK-NOT: kernel.for
    // CHECK: kernel.blocks
    // CHECK-NEXT: ^bb0(%[[FIRST:.*]]: i32, %{{.*}}: i32):
    // CHECK: kernel.rows @h through @set "left" from %[[FIRST]] at 0
    // CHECK: kernel.rows @y through @set "right" from %[[FIRST]] at 0
    kernel.func stage @stage.both(%begin: i32, %end: i32) over @set attributes {sums} {
      %zero = arith.constant 0 : i32
      %left = kernel.local : <8xi32>
      %right = kernel.local : <8xi32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          %l = kernel.load @set "left"[%row] : i32
          kernel.write %l, %left[%i] : i32, <8xi32>
          %r = kernel.load @set "right"[%row] : i32
          kernel.write %r, %right[%i] : i32, <8xi32>
          kernel.yield
        }
        %a = kernel.rows @h via %left : !kernel.local<8xi32> at 0
        %x = kernel.rows @y via %right : !kernel.local<8xi32> at 0
        kernel.outer %count of 8 rows %a height 4 by %x outputs 20 into @W
        kernel.yield
      }
    }

    // Numbers stay where something else reads them, or computes them.
    // CHECK-LABEL: kernel.func stage @stage.others
    // CHECK: kernel.rows @h via
    // CHECK: kernel.rows @y via
    kernel.func stage @stage.others(%begin: i32, %end: i32) over @set attributes {sums} {
      %zero = arith.constant 0 : i32
      %left = kernel.local : <8xi32>
      %right = kernel.local : <8xi32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          %l = kernel.load @set "left"[%row] : i32
          kernel.write %l, %left[%i] : i32, <8xi32>
          %again = kernel.read %left[%i] : <8xi32> -> i32
          %r = kernel.load @set "right"[%again] : i32
          kernel.write %r, %right[%i] : i32, <8xi32>
          kernel.yield
        }
        %a = kernel.rows @h via %left : !kernel.local<8xi32> at 0
        %x = kernel.rows @y via %right : !kernel.local<8xi32> at 0
        kernel.outer %count of 8 rows %a height 4 by %x outputs 20 into @W
        kernel.yield
      }
    }
  }
}
