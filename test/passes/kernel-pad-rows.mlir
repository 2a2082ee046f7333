// RUN: dbc-opt %s --kernel-pad-rows | FileCheck %s
//
// Rows of 16 numbers or more begin at multiples of four numbers.
kernel.param @W : tensor<5x5xf32>
// CHECK-LABEL: kernel.program @p
kernel.program @p ["x"] [tensor<17xf32>] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.index_set model @table ["row"] extent 8
  kernel.argument @arg.x = "x" 0 value : tensor<17xf32>
  kernel.index_set column @xs in @arg.x []
  // CHECK: kernel.buffer @odd over @input : tensor<17xf32> stride 20
  // CHECK: kernel.buffer @matrix over @input : tensor<5x5xf32> storage 3 stride 28
  kernel.buffer @odd over @input : tensor<17xf32>
  kernel.buffer @matrix over @input : tensor<5x5xf32> storage 3
  // They do already, are too short to be read so, or are no real numbers.
  // CHECK: kernel.buffer @even over @input : tensor<20xf32>{{$}}
  // CHECK: kernel.buffer @short over @input : tensor<15xf32>{{$}}
  // CHECK: kernel.buffer @numbers over @input : tensor<17xi32>{{$}}
  kernel.buffer @even over @input : tensor<20xf32>
  kernel.buffer @short over @input : tensor<15xf32>
  kernel.buffer @numbers over @input : tensor<17xi32>
  // The host makes a table when the model is made, and whoever asks for gradients says how they lie.
  // CHECK: kernel.buffer @h.table over @table : tensor<17xf32>{{$}}
  // CHECK: kernel.buffer @W.gradient over @batch : tensor<5x5xf32>{{$}}
  // CHECK: kernel.buffer @x.gradient over @xs : tensor<17xf32>{{$}}
  kernel.buffer @h.table over @table : tensor<17xf32>
  kernel.buffer @W.gradient over @batch : tensor<5x5xf32>
  kernel.buffer @x.gradient over @xs : tensor<17xf32>
  kernel.gradient @W = @W.gradient
  kernel.input_gradient @arg.x = @x.gradient
}
