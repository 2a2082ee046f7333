// RUN: dbc-opt %s --kernel-persist | FileCheck %s
//
// A loop of launches over rows that it orders itself may be one launch, with a barrier behind each; not so where a `while` drops rows, where another loop
// is inside, or where scratch is global. Matrices are resident in shared memory as long as there is room.

module @m {
  kernel.param @A : tensor<160x40xf32> = #dyn.init<constant, 0.0, 0.0>
  kernel.param @B : tensor<16x4000xf32> = #dyn.init<constant, 0.0, 0.0>
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set elements @list in @input ["parent"]
    kernel.index_set steps @scan in @list ["parent", "step"] by_time_step masked
    kernel.index_set steps @inner in @scan ["parent", "step"] by_time_step
    kernel.buffer @x over @scan : tensor<4000xf32>
    kernel.weights @packed.A = [@A] at [0, 0] : 160 by 40 gates 5 in tiles of 16 contract <tf32x3, slices = 2, n_tiles = 5, lengths = [40]>
    kernel.weights @packed.B = [@B] at [0, 0] : 16 by 4000 contract <tf32x3, slices = 8, n_tiles = 1, lengths = [4000]>
    kernel.weights @packed.C = [@A] at [0, 0] : 160 by 40 gates 5 in tiles of 16 contract <tf32x3, slices = 2, n_tiles = 5, lengths = [40]>
    kernel.func stage @multiplies(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @scan attributes {tiles = 2 : i64} {
      %a = kernel.local in shared : <8x5x16xf32>
      %b = kernel.local in shared : <8x16xf32>
      %sums = kernel.local in shared : <8x5x16x8xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %x = kernel.rows @x from %first at 0
        kernel.for %tile_begin to %tile_end {
        ^bb0(%tile: i32):
          kernel.product %count rows(%x) [40] with @packed.A tile %tile sums %sums : !kernel.local<8x5x16x8xf32> into %a : !kernel.local<8x5x16xf32>
          kernel.yield
        }
        kernel.product %count rows(%x) [4000] with @packed.B sums %sums : !kernel.local<8x5x16x8xf32> into %b : !kernel.local<8x16xf32>
        kernel.yield
      }
    }
    kernel.func stage @all_tiles(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %a = kernel.local in shared : <8x5x16xf32>
      %sums = kernel.local in shared : <8x5x16x8xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %x = kernel.rows @x from %first at 0
        kernel.for %zero to %two {
        ^bb0(%tile: i32):
          kernel.product %count rows(%x) [40] with @packed.C tile %tile sums %sums : !kernel.local<8x5x16x8xf32> into %a : !kernel.local<8x5x16xf32>
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    kernel.func stage @of_inner(%begin: i32, %end: i32) over @inner {
    }
    kernel.func stage @once(%begin: i32, %end: i32) over @input {
    }
    kernel.func stage @large(%begin: i32, %end: i32) over @scan {
      %0 = kernel.local in global : <8x1500xf32>
    }
    // CHECK: kernel.run {
    kernel.run {
      // CHECK-NEXT: kernel.steps persistent @scan {
      // CHECK-NEXT: kernel.launch @own
      // CHECK-NEXT: kernel.block_group_barrier
      // CHECK-NEXT: kernel.launch @own
      // CHECK-NEXT: kernel.block_group_barrier
      // CHECK-NEXT: }
      kernel.steps @scan {
        kernel.launch @own
        kernel.launch @own
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch active @own
      // CHECK-NEXT: } {not_persistent_reason = "a `while` says which rows there are"}
      kernel.steps @scan {
        kernel.launch active @own
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @own
      // CHECK-NEXT: kernel.steps @inner {
      // CHECK: } {not_persistent_reason = "another loop stands in it"}
      kernel.steps @scan {
        kernel.launch @own
        kernel.steps @inner {
          kernel.launch @of_inner
        }
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @once
      // CHECK-NEXT: } {not_persistent_reason = "a stage of it runs over rows that it does not order"}
      kernel.steps @scan {
        kernel.launch @once
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @large
      // CHECK-NEXT: } {not_persistent_reason = "scratch of a stage does not fit what threads share"}
      kernel.steps @scan {
        kernel.launch @large
      }
      // @packed.B has 256 KB, more than a block has; of @packed.C a block needs all tiles in turn.
      // CHECK: kernel.steps persistent @scan {
      // CHECK-NEXT: kernel.first {
      // CHECK-NEXT: kernel.copy_async @packed.A to {{[0-9]+}}
      // CHECK-NEXT: kernel.wait_copies
      // CHECK-NEXT: kernel.barrier
      // CHECK-NEXT: }
      // CHECK-NEXT: kernel.launch @multiplies
      kernel.steps @scan {
        kernel.launch @multiplies
        kernel.launch @all_tiles
      }
      // CHECK: kernel.concurrent {
      // CHECK-NEXT: kernel.steps persistent @scan {
      kernel.concurrent {
        kernel.steps @scan {
          kernel.launch @own
        }
      }
    }
  }
  // Loops of the backward pass go the other way, and are launches as others are.
  kernel.program loss @differentiated [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set batch @batch []
    kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
    kernel.buffer @gradient over @batch : f32
    kernel.gradient @W = @gradient
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    kernel.run {
      // CHECK: kernel.gradients {
      // CHECK-NEXT: kernel.steps persistent @scan reverse {
      // CHECK-NEXT: kernel.launch @own
      // CHECK-NEXT: kernel.block_group_barrier
      // CHECK-NEXT: }
      kernel.gradients {
        kernel.steps @scan reverse {
          kernel.launch @own
        }
      }
    }
  }
  kernel.param @W : f32
}
