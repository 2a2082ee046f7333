// RUN: dbc-opt %s --kernel-blas | FileCheck %s
// RUN: dbc-opt %s --kernel-blas=tf32 | FileCheck --check-prefix=TF32 %s
// RUN: dbc-opt %s --kernel-blas --kernel-graph | FileCheck --check-prefix=GRAPH %s
//
// A stage with `blas` becomes a call of the library, and its matrix has no tiles but its bias; the same matrix stays as it is for
// the products of others, and with another bias it is another one. What is begun by the host for so many rows is no part of a graph.

module @m {
  kernel.param @W : tensor<64x32xf32>
  kernel.param @V : tensor<64x32xf32>
  kernel.param @b : tensor<64xf32>
  kernel.program @p [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @x over @input : tensor<32xf32>
    kernel.buffer @y over @input : tensor<64xf32>
    // CHECK-NOT: kernel.weights @packed.W
    // CHECK: kernel.weights @matrix.W = [@W] at [0, 0] : 64 by 32{{$}}
    // CHECK-NOT: kernel.weights @matrix.W
    // CHECK: kernel.weights @matrix.B = [@W] at [0, 0] : 64 by 32 init @b{{$}}
    // CHECK: kernel.weights @packed.V = [@V] at [0, 0] : 64 by 32 gates 1 in tiles of 16
    // CHECK: kernel.weights @matrix.V = [@V] at [0, 0] : 64 by 32{{$}}
    kernel.weights @packed.W = [@W] at [0, 0] : 64 by 32 gates 1 in tiles of 16
    kernel.weights @packed.B = [@W] at [0, 0] : 64 by 32 init @b
    kernel.weights @packed.V = [@V] at [0, 0] : 64 by 32 gates 1 in tiles of 16
    // CHECK: kernel.func stage @stage.w(%[[BEGIN:.*]]: i32, %[[END:.*]]: i32) over @input attributes {blas} {
    // CHECK-NEXT: kernel.gemm %[[BEGIN]] to %[[END]] rows @x with @matrix.W into @y{{$}}
    // CHECK-NEXT: }
    // TF32: kernel.gemm %{{.*}} to %{{.*}} rows @x with @matrix.W into @y tf32
    kernel.func stage @stage.w(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @input attributes {blas, tiles = 4 : i64} {
      %zero = arith.constant 0 : i32
      %c16 = arith.constant 16 : i32
      %into = kernel.local : !kernel.local<8x1x16xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %x = kernel.rows @x from %first at 0
        kernel.for %tile_begin to %tile_end {
        ^bb0(%tile: i32):
          kernel.product %count rows (%x) [32] with @packed.W tile %tile into %into : !kernel.local<8x1x16xf32>
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            kernel.for vector %zero to %c16 {
            ^bb0(%j: i32):
              %row = arith.addi %first, %i : i32
              %from = arith.muli %tile, %c16 : i32
              %channel = arith.addi %from, %j : i32
              %value = kernel.read %into[%i, %zero, %j] : !kernel.local<8x1x16xf32> -> f32
              kernel.store %value, @y[%row, %channel] : f32
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    // CHECK: kernel.func stage @stage.v
    // CHECK-NEXT: kernel.gemm %{{.*}} rows @x with @matrix.V into @y{{$}}
    kernel.func stage @stage.v(%begin: i32, %end: i32) over @input attributes {blas} {
      %into = kernel.local : !kernel.local<8x64xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %zero = arith.constant 0 : i32
        %x = kernel.rows @x from %first at 0
        kernel.product %count rows (%x) [32] with @packed.V into %into : !kernel.local<8x64xf32>
        %value = kernel.read %into[%zero, %zero] : !kernel.local<8x64xf32> -> f32
        kernel.store %value, @y[%first, %zero] : f32
        kernel.yield
      }
    }
    // CHECK: kernel.func stage @stage.b
    // CHECK-NEXT: kernel.gemm %{{.*}} rows @x with @matrix.B into @y{{$}}
    kernel.func stage @stage.b(%begin: i32, %end: i32) over @input attributes {blas} {
      %into = kernel.local : !kernel.local<8x64xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %zero = arith.constant 0 : i32
        %x = kernel.rows @x from %first at 0
        kernel.product %count rows (%x) [32] with @packed.B into %into : !kernel.local<8x64xf32>
        %value = kernel.read %into[%zero, %zero] : !kernel.local<8x64xf32> -> f32
        kernel.store %value, @y[%first, %zero] : f32
        kernel.yield
      }
    }
    // CHECK: kernel.func stage @stage.own
    // CHECK: kernel.product {{.*}} with @packed.V
    kernel.func stage @stage.own(%begin: i32, %end: i32) over @input {
      %into = kernel.local : !kernel.local<8x64xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %x = kernel.rows @x from %first at 0
        kernel.product %count rows (%x) [32] with @packed.V into %into : !kernel.local<8x64xf32>
        kernel.yield
      }
    }
    // GRAPH: kernel.run {
    // GRAPH: } {no_graph_reason = "cuBLAS computes a product, at kernel-blas.mlir:{{[0-9]+}}:{{[0-9]+}}"}
    kernel.run {
      kernel.launch @stage.w
      kernel.launch @stage.v
      kernel.launch @stage.own
    }
  }
}
