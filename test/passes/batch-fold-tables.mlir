// RUN: dbc-opt %s --batch-fold-tables | FileCheck %s
// RUN: dbc-opt %s --batch-fold-tables=elements=47 | FileCheck %s --check-prefix=SMALL
//
// A function of one index is computed for all its values in an index set of the model, and looked up where it was read. What it is
// computed from comes along; there is no table of sums and rows alone, of two indices, of what can fail, or of what does not
// fit: with 47 elements there is room for one table of 24, the first of the two.

#vector = affine_map<(d0, d1) -> (d1)>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#result = affine_map<(d0, d1) -> (d0)>
module {
  kernel.param @E : tensor<6x4xf32>
  kernel.param @F : tensor<9x4xf32>
  kernel.param @W : tensor<4x4xf32>
  // CHECK: kernel.index_set model @table.leaf.word ["word"] extent 6
  // SMALL: kernel.index_set model @table.leaf.word ["word"] extent 6
  kernel.program @p ["x"] [tensor<4xf32>] -> tensor<4xf32> {
    kernel.index_set inputs @input ["input"]
    kernel.index_set elements @leaf in @input ["parent", "word", "other"]
    batch.relation @parent : @leaf -> @input by "parent"
    // CHECK: kernel.buffer @table.product over @table.leaf.word : tensor<4xf32>
    // CHECK: kernel.buffer @table.sum over @table.leaf.word : tensor<4xf32>
    // SMALL: kernel.buffer @table.product over @table.leaf.word : tensor<4xf32>
    // SMALL-NOT: @table.sum over
    kernel.buffer @product over @leaf : tensor<4xf32>
    kernel.buffer @sum over @leaf : tensor<4xf32>
    kernel.buffer @row over @leaf : tensor<4xf32>
    kernel.buffer @twice over @leaf : tensor<4xf32>
    kernel.buffer @both over @leaf : tensor<4xf32>
    kernel.buffer @whole over @leaf : i32
    kernel.buffer @state over @input : tensor<4xf32>
    %zero = arith.constant 0.000000e+00 : f32
    // The sum's table is of the product's, which comes along, and the product has one of its own: it is used elsewhere.
    // CHECK: batch.stage @leaf.product over @table.leaf.word {
    // CHECK: %[[WORD:.*]] = batch.read_index "word" : i32
    // CHECK: dyn.gather %{{.*}}[%[[WORD]]]
    // CHECK: batch.write %{{.*}}, @table.product
    batch.stage @leaf.product over @leaf {
      %E = dyn.get @E : tensor<6x4xf32>
      %W = dyn.get @W : tensor<4x4xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x4xf32>, i32 -> tensor<4xf32>
      %none = tensor.empty() : tensor<4xf32>
      %start = linalg.fill ins(%zero : f32) outs(%none : tensor<4xf32>) -> tensor<4xf32>
      %y = linalg.contract indexing_maps = [#matrix, #vector, #result] ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%start : tensor<4xf32>) -> tensor<4xf32>
      batch.write %y, @product : tensor<4xf32>
    }
    // CHECK: batch.stage @leaf.sum over @table.leaf.word {
    // CHECK-NEXT: %[[Y:.*]] = batch.read @table.product
    // CHECK-NEXT: math.tanh %[[Y]]
    // CHECK: batch.write %{{.*}}, @table.sum
    batch.stage @leaf.sum over @leaf {
      %y = batch.read @product : tensor<4xf32>
      %t = math.tanh %y : tensor<4xf32>
      batch.write %t, @sum : tensor<4xf32>
    }
    // CHECK: batch.stage @leaf.row over @leaf {
    // CHECK: dyn.gather
    batch.stage @leaf.row over @leaf {
      %E = dyn.get @E : tensor<6x4xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x4xf32>, i32 -> tensor<4xf32>
      batch.write %x, @row : tensor<4xf32>
    }
    // CHECK: batch.stage @leaf.twice over @leaf {
    // CHECK: batch.read @row
    // CHECK: arith.addf
    batch.stage @leaf.twice over @leaf {
      %x = batch.read @row : tensor<4xf32>
      %t = arith.addf %x, %x : tensor<4xf32>
      batch.write %t, @twice : tensor<4xf32>
    }
    // CHECK: batch.stage @leaf.both over @leaf {
    // CHECK: math.exp
    batch.stage @leaf.both over @leaf {
      %F = dyn.get @F : tensor<9x4xf32>
      %other = batch.read_index "other" : i32
      %x = dyn.gather %F[%other] : tensor<9x4xf32>, i32 -> tensor<4xf32>
      %y = batch.read @twice : tensor<4xf32>
      %s = arith.addf %x, %y : tensor<4xf32>
      %e = math.exp %s : tensor<4xf32>
      batch.write %e, @both : tensor<4xf32>
    }
    // CHECK: batch.stage @leaf.whole over @leaf {
    // CHECK: math.exp
    batch.stage @leaf.whole over @leaf {
      %E = dyn.get @E : tensor<6x4xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x4xf32>, i32 -> tensor<4xf32>
      %a = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
      %e = math.exp %a : tensor<1xf32>
      %m = dyn.reduce max %e axis 0 : tensor<1xf32> -> f32
      %w = arith.fptosi %m : f32 to i32
      batch.write %w, @whole : i32
    }
    // CHECK: batch.stage @uses over @leaf {
    // CHECK-DAG: batch.gather @table.sum via @rel.leaf.word.table.leaf.word : tensor<4xf32>
    // CHECK-DAG: batch.gather @table.product via @rel.leaf.word.table.leaf.word : tensor<4xf32>
    // SMALL: batch.stage @leaf.sum over @leaf {
    // SMALL-NEXT: batch.gather @table.product via @rel.leaf.word.table.leaf.word : tensor<4xf32>
    // SMALL: batch.stage @uses over @leaf {
    // SMALL-DAG: batch.gather @table.product via @rel.leaf.word.table.leaf.word : tensor<4xf32>
    // SMALL-DAG: batch.read @sum
    batch.stage @uses over @leaf {
      %product = batch.read @product : tensor<4xf32>
      %sum = batch.read @sum : tensor<4xf32>
      %twice = batch.read @twice : tensor<4xf32>
      %both = batch.read @both : tensor<4xf32>
      %whole = batch.read @whole : i32
      %number = arith.sitofp %whole : i32 to f32
      %numbers = tensor.splat %number : tensor<4xf32>
      %a = arith.addf %product, %sum : tensor<4xf32>
      %b = arith.addf %twice, %both : tensor<4xf32>
      %c = arith.addf %a, %b : tensor<4xf32>
      %d = arith.addf %c, %numbers : tensor<4xf32>
      batch.scatter %d, @state via @parent : tensor<4xf32>
    }
  }
}
