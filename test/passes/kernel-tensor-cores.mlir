// RUN: dbc-opt %s --kernel-tensor-cores | FileCheck %s
// RUN: dbc-opt %s --kernel-tensor-cores=tf32 | FileCheck %s --check-prefix=TF32
//
// The order in which products add up is the matrix's, and said before any of them is computed: split-K slices, as many
// as a block of threads has warps where there are enough K tiles, and the operands' lengths.

module @m {
  kernel.param @U : tensor<750x300xf32> = #dyn.init<constant, 0.0, 0.0>
  kernel.param @V : tensor<5x40xf32> = #dyn.init<constant, 0.0, 0.0>
  kernel.param @T : tensor<3x5x40xf32> = #dyn.init<constant, 0.0, 0.0>
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @h over @input : tensor<150xf32>

    // 5 gates of 16 channels are 5 N tiles; of 19 K tiles each warp has every eighth.
    // CHECK: kernel.weights @packed.U = {{.*}} contract <tf32x3, slices = 8, n_tiles = 5, lengths = [150, 150]>
    // TF32: kernel.weights @packed.U = {{.*}} contract <tf32, slices = 8, n_tiles = 5, lengths = [150, 150]>
    kernel.weights @packed.U = [@U] at [0, 0] : 750 by 300 gates 5 in tiles of 16
    // 40 inputs are 3 K tiles, so 2 split-K slices.
    // CHECK: kernel.weights @packed.V = {{.*}} contract <tf32x3, slices = 2, n_tiles = 1, lengths = [40]>
    kernel.weights @packed.V = [@V] at [0, 0] : 5 by 40
    // Products of operands cut in several ways have no order in common, and rows with a matrix of their own none to share.
    // CHECK: kernel.weights @packed.both = [@V] at [0, 0] : 5 by 40{{$}}
    kernel.weights @packed.both = [@V] at [0, 0] : 5 by 40
    // CHECK: kernel.weights @packed.T = [@T] at [0, 0] : 5 by 40 tables 3{{$}}
    kernel.weights @packed.T = [@T] at [0, 0] : 5 by 40 tables 3

    // CHECK-LABEL: kernel.func stage @all
    kernel.func stage @all(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %table = kernel.local : <8xi32>
      %x = kernel.local : <8x5x16xf32>
      %y = kernel.local : <8x5xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %h = kernel.rows @h from %first at 0
        kernel.for %zero to %one {
        ^bb0(%tile: i32):
          // CHECK: kernel.product %{{.*}} rows(%{{.*}}, %{{.*}}) [150, 150] with @packed.U tile %{{.*}} sums %{{.*}} : !kernel.local<8x5x16x8xf32> into
          kernel.product %count rows(%h, %h) [150, 150] with @packed.U tile %tile into %x : !kernel.local<8x5x16xf32>
          kernel.yield
        }
        // CHECK: with @packed.V sums %{{.*}} : !kernel.local<8x1x16x8xf32> into
        kernel.product %count rows(%h) [40] with @packed.V into %y : !kernel.local<8x5xf32>
        // CHECK: with @packed.both into
        // CHECK: with @packed.both into
        kernel.product %count rows(%h) [40] with @packed.both into %y : !kernel.local<8x5xf32>
        kernel.product %count rows(%h, %h) [30, 10] with @packed.both into %y : !kernel.local<8x5xf32>
        // CHECK: with @packed.T table %{{.*}} : !kernel.local<8xi32> into
        kernel.product %count rows(%h) [40] with @packed.T table %table : !kernel.local<8xi32> into %y : !kernel.local<8x5xf32>
        kernel.yield
      }
    }
  }
}
