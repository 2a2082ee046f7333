// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --schedule-cpu | FileCheck %s
//
// A stage with a product computes rows in blocks, one without goes row by row.

// CHECK: batch.stage @encode.Node.value over @encode.Node schedule <rows = 1,
// CHECK: batch.stage @input.value over @input schedule <rows = 36,

// RUN: dbc-opt %s --split-input-file --schedule-cpu | FileCheck --check-prefix=ROWS %s
//
// What a row of a looked-up table sums is work, which threads share.

// ROWS: batch.stage @E.rows.gradient over @E.rows schedule <rows = 1, grain = 1980>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "word.row"] filled 1
  kernel.index_set distinct @E.rows ["row"] extent 9
  kernel.schedule {
  }
  batch.distinct @E.rows = [@input] ["word"] rows ["word.row"]
  batch.relation @r : @input -> @E.rows by "word.row"
  batch.transpose @of of @r
  kernel.buffer @x over @input : tensor<100xf32>
  kernel.buffer @E.gradient over @E.rows : tensor<100xf32>
  batch.stage @E.rows.gradient over @E.rows {
    %0 = batch.segment sum @x over @of : tensor<100xf32>
    batch.write %0, @E.gradient : tensor<100xf32>
  }
}
