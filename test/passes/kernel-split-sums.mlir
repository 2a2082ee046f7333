// RUN: dbc-opt %s --kernel-split-sums | FileCheck %s
// RUN: dbc-opt %s --kernel-tensor-cores=tf32 --kernel-split-sums --kernel-map-threads | FileCheck --check-prefix=CORES %s
//
// Sums over rows are cut into slices of the rows, each with sums of its own, so that there are enough blocks of threads; the sum
// of an operand's rows is its product's.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set batch @batch []
    kernel.buffer @x over @input : tensor<4xf32>
    kernel.buffer @y over @input : tensor<20xf32>
    kernel.buffer @W over @batch : tensor<4x20xf32>
    kernel.buffer @b over @batch : tensor<4xf32>
    kernel.buffer @c over @batch : tensor<20xf32>
    kernel.buffer @s over @batch : f32
    // CHECK: kernel.buffer @outer.slices over @batch : tensor<64x104xf32>

    // @b takes the rows of @x as they are, @c those of another operand, which is no product's first.
    // CHECK-LABEL: kernel.func stage @stage.outer
    // CHECK-SAME: slices = #kernel.slices<64, arrays = [@W, @b, @c], sums = @outer.slices>, sums
    // CHECK: kernel.outer {{.*}} into @W bias @b
    // CHECK-NOT: @b
    // CHECK: kernel.store %{{.*}}, @c
    // CORES-LABEL: kernel.func stage @stage.outer
    // CORES: %[[MEMORY:.*]] = kernel.local in shared offset {{[0-9]+}} : <9216xf32>
    // CORES: kernel.outer {{.*}} memory %[[MEMORY]] : !kernel.local<9216xf32> into @W bias @b on tf32
    kernel.func stage @stage.outer(%begin: i32, %end: i32) over @input attributes {sums} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %twenty = arith.constant 20 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %four {
          ^bb0(%j: i32):
            %own = kernel.load @x[%row, %j] : f32
            %before = kernel.load @b[%zero, %j] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @b[%zero, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %twenty {
          ^bb0(%j: i32):
            %own = kernel.load @y[%row, %j] : f32
            %before = kernel.load @c[%zero, %j] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @c[%zero, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // Rows that are changed before they are added up are no operand's, and neither are those of another array.
    // CHECK-LABEL: kernel.func stage @stage.changed
    // CHECK: kernel.outer
    // CHECK-NOT: bias
    // CHECK: kernel.store %{{.*}}, @b
    kernel.func stage @stage.changed(%begin: i32, %end: i32) over @input attributes {sums} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %four {
          ^bb0(%j: i32):
            %own = kernel.load @y[%row, %j] : f32
            %before = kernel.load @b[%zero, %j] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @b[%zero, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // Nor is a stage cut that reads a sum for something else: a slice has not the whole of it.
    // CHECK-LABEL: kernel.func stage @stage.reads
    // CHECK-SAME: over @input attributes {sums}
    kernel.func stage @stage.reads(%begin: i32, %end: i32) over @input attributes {sums} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %four {
          ^bb0(%j: i32):
            %own = kernel.load @y[%row, %j] : f32
            %before = kernel.load @b[%zero, %j] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @b[%zero, %j] : f32
            kernel.yield
          }
          %some = kernel.load @b[%zero, %zero] : f32
          %so_far = kernel.load @s[%zero] : f32
          %all = arith.addf %so_far, %some : f32
          kernel.store %all, @s[%zero] : f32
          kernel.yield
        }
        kernel.yield
      }
    }

    // Of several tiles the first one adds up the bias, once.
    // CHECK-LABEL: kernel.func stage @stage.tiles
    // CHECK: kernel.outer {{.*}} into @W bias @b
    // CHECK-NOT: kernel.store
    kernel.func stage @stage.tiles(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @input attributes {sums, tiles = 4 : i64} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W tiles(%tile_begin, %tile_end)
        %is_first = arith.cmpi eq, %tile_begin, %zero : i32
        kernel.if %is_first {
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            %row = arith.addi %first, %i : i32
            kernel.for vector %zero to %four {
            ^bb0(%j: i32):
              %own = kernel.load @x[%row, %j] : f32
              %before = kernel.load @b[%zero, %j] : f32
              %sum = arith.addf %before, %own : f32
              kernel.store %sum, @b[%zero, %j] : f32
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        } else {
          kernel.yield
        }
        kernel.yield
      }
    }

    // What all tiles but the first one do is no bias.
    // CHECK-LABEL: kernel.func stage @stage.others
    // CHECK: kernel.outer
    // CHECK-NOT: bias
    // CHECK: kernel.store %{{.*}}, @b
    kernel.func stage @stage.others(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @input attributes {sums, tiles = 4 : i64} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W tiles(%tile_begin, %tile_end)
        %is_first = arith.cmpi eq, %tile_begin, %zero : i32
        kernel.if %is_first {
          kernel.yield
        } else {
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            %row = arith.addi %first, %i : i32
            kernel.for vector %zero to %four {
            ^bb0(%j: i32):
              %own = kernel.load @x[%row, %j] : f32
              %before = kernel.load @b[%zero, %j] : f32
              %sum = arith.addf %before, %own : f32
              kernel.store %sum, @b[%zero, %j] : f32
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // Nor is what those do whose number is another.
    // CHECK-LABEL: kernel.func stage @stage.unlike
    // CHECK: kernel.outer
    // CHECK-NOT: bias
    // CHECK: kernel.store %{{.*}}, @b
    kernel.func stage @stage.unlike(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @input attributes {sums, tiles = 4 : i64} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 512 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %d = kernel.rows @y from %first at 0
        kernel.outer %count of 512 rows %a height 4 by %d outputs 20 into @W tiles(%tile_begin, %tile_end)
        %is_first = arith.cmpi ne, %tile_begin, %zero : i32
        kernel.if %is_first {
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            %row = arith.addi %first, %i : i32
            kernel.for vector %zero to %four {
            ^bb0(%j: i32):
              %own = kernel.load @x[%row, %j] : f32
              %before = kernel.load @b[%zero, %j] : f32
              %sum = arith.addf %before, %own : f32
              kernel.store %sum, @b[%zero, %j] : f32
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        } else {
          kernel.yield
        }
        kernel.yield
      }
    }
  }
}
