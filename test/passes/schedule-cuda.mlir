// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --schedule-cuda | FileCheck %s
// RUN: dbc-opt %s --schedule-cuda | FileCheck %s --check-prefix=ROWS
//
// A stage with a product computes fewer rows in a block of threads than one without.

// CHECK: batch.stage @encode.Node.value over @encode.Node schedule <rows = 32, grain = 1>
// CHECK: batch.stage @input.value over @input schedule <rows = 8, grain = 1>

// So does one whose rows are a warp's each: where 32 elements or more of a row are combined, or those of a list.
module @m {
  kernel.program @p ["t"] [tensor<32xf32>] -> f32 {
    kernel.index_set inputs @input ["input", "first", "length"]
    batch.list_relation @own_list : @input -> @input by "first", "length" stride 1
    kernel.buffer @x over @input : tensor<32xf32>
    kernel.buffer @y over @input : tensor<31xf32>
    kernel.buffer @z over @input : tensor<200xf32>
    kernel.buffer @of_z over @input : tensor<200xf32>
    kernel.buffer @of_x over @input : f32
    kernel.buffer @of_y over @input : f32
    kernel.buffer @of_list over @input : f32
    // ROWS: batch.stage @long over @input schedule <rows = 8, grain = 1>
    batch.stage @long over @input {
      %x = batch.read @x : tensor<32xf32>
      %s = dyn.reduce sum %x : tensor<32xf32> -> f32
      batch.write %s, @of_x : f32
    }
    // ROWS: batch.stage @short over @input schedule <rows = 32, grain = 1>
    batch.stage @short over @input {
      %y = batch.read @y : tensor<31xf32>
      %s = dyn.reduce sum %y : tensor<31xf32> -> f32
      batch.write %s, @of_y : f32
    }
    // ROWS: batch.stage @list over @input schedule <rows = 8, grain = 1>
    batch.stage @list over @input {
      %s = batch.segment logsumexp @of_x over @own_list : f32
      batch.write %s, @of_list : f32
    }
    // ROWS: batch.stage @position over @input schedule <rows = 32, grain = 1>
    batch.stage @position over @input {
      %x = batch.read @x : tensor<32xf32>
      %i = dyn.reduce argmax %x : tensor<32xf32> -> i32
      %s = arith.sitofp %i : i32 to f32
      batch.write %s, @of_y : f32
    }
    // Of a stage that computes element by element a block has two for each thread, or so.
    // ROWS: batch.stage @wide over @input schedule <rows = 2, grain = 1>
    batch.stage @wide over @input {
      %z = batch.read @z : tensor<200xf32>
      %t = math.tanh %z : tensor<200xf32>
      batch.write %t, @of_z : tensor<200xf32>
    }
    // ROWS: batch.stage @narrow over @input schedule <rows = 16, grain = 1>
    batch.stage @narrow over @input {
      %y = batch.read @y : tensor<31xf32>
      %t = math.tanh %y : tensor<31xf32>
      batch.write %t, @y : tensor<31xf32>
    }
  }
}
