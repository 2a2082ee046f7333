// RUN: dbc-opt %s --batch-fold-tables=train=true | FileCheck %s
// RUN: dbc-opt %s --batch-fold-tables="train=true elements=0" | FileCheck --check-prefix=NONE %s
//
// In a loss whose parameters change from run to run, a function of one index is computed in each run, for the values that the batch
// has: where it has a product with 32 multiplications or more for each element that is looked up instead.

#vector = affine_map<(d0, d1) -> (d1)>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#result = affine_map<(d0, d1) -> (d0)>
// NONE-NOT: distinct
module {
  kernel.param @E : tensor<6x40xf32>
  kernel.param @W : tensor<40x40xf32>
  kernel.param @V : tensor<40x31xf32>
  // CHECK-LABEL: kernel.program loss @trained
  // CHECK: kernel.index_set distinct @table.leaf.word ["row"] extent 6
  // CHECK: batch.distinct @table.leaf.word = [@leaf] ["word"] rows ["word.row"]
  kernel.program loss @trained ["x"] [tensor<40xf32>] -> f32 {
    kernel.index_set inputs @input ["input"]
    // CHECK: kernel.index_set elements @leaf in @input ["parent", "word", "word.row"] filled 1
    kernel.index_set elements @leaf in @input ["parent", "word"]
    batch.relation @parent : @leaf -> @input by "parent"
    // CHECK: batch.relation @rel.leaf.word.row.table.leaf.word : @leaf -> @table.leaf.word by "word.row"
    // CHECK: kernel.buffer @table.product over @table.leaf.word : tensor<40xf32>
    kernel.buffer @product over @leaf : tensor<40xf32>
    kernel.buffer @small over @leaf : tensor<40xf32>
    kernel.buffer @functions over @leaf : tensor<40xf32>
    kernel.buffer @state over @input : tensor<40xf32>
    %zero = arith.constant 0.000000e+00 : f32
    // CHECK: batch.stage @leaf.product over @table.leaf.word {
    // CHECK: %[[ROW:.*]] = batch.read_index "row" : i32
    // CHECK: dyn.gather %{{.*}}[%[[ROW]]]
    // CHECK: batch.write %{{.*}}, @table.product
    batch.stage @leaf.product over @leaf {
      %E = dyn.get @E : tensor<6x40xf32>
      %W = dyn.get @W : tensor<40x40xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x40xf32>, i32 -> tensor<40xf32>
      %none = tensor.empty() : tensor<40xf32>
      %start = linalg.fill ins(%zero : f32) outs(%none : tensor<40xf32>) -> tensor<40xf32>
      %y = linalg.contract indexing_maps = [#matrix, #vector, #result] ins(%W, %x : tensor<40x40xf32>, tensor<40xf32>) outs(%start : tensor<40xf32>) -> tensor<40xf32>
      batch.write %y, @product : tensor<40xf32>
    }
    // CHECK: batch.stage @leaf.small over @leaf {
    batch.stage @leaf.small over @leaf {
      %E = dyn.get @E : tensor<6x40xf32>
      %V = dyn.get @V : tensor<40x31xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x40xf32>, i32 -> tensor<40xf32>
      %part = tensor.extract_slice %x[0] [31] [1] : tensor<40xf32> to tensor<31xf32>
      %none = tensor.empty() : tensor<40xf32>
      %start = linalg.fill ins(%zero : f32) outs(%none : tensor<40xf32>) -> tensor<40xf32>
      %y = linalg.contract indexing_maps = [#matrix, #vector, #result] ins(%V, %part : tensor<40x31xf32>, tensor<31xf32>) outs(%start : tensor<40xf32>) -> tensor<40xf32>
      batch.write %y, @small : tensor<40xf32>
    }
    // CHECK: batch.stage @leaf.functions over @leaf {
    batch.stage @leaf.functions over @leaf {
      %E = dyn.get @E : tensor<6x40xf32>
      %word = batch.read_index "word" : i32
      %x = dyn.gather %E[%word] : tensor<6x40xf32>, i32 -> tensor<40xf32>
      %y = math.tanh %x : tensor<40xf32>
      batch.write %y, @functions : tensor<40xf32>
    }
    // CHECK: batch.stage @uses over @leaf {
    // CHECK-DAG: batch.gather @table.product via @rel.leaf.word.row.table.leaf.word : tensor<40xf32>
    // CHECK-DAG: batch.read @small
    // CHECK-DAG: batch.read @functions
    batch.stage @uses over @leaf {
      %product = batch.read @product : tensor<40xf32>
      %small = batch.read @small : tensor<40xf32>
      %functions = batch.read @functions : tensor<40xf32>
      %a = arith.addf %product, %small : tensor<40xf32>
      %b = arith.addf %a, %functions : tensor<40xf32>
      batch.scatter %b, @state via @parent : tensor<40xf32>
    }
  }
}
