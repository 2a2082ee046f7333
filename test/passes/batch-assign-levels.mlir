// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels | FileCheck %s --check-prefix=TREE
// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels | FileCheck %s --check-prefix=SCAN
//
// Loops nest around their stages; a space that runs by tick says so, and the schedule finds its ticks.

// TREE: kernel.space arm @encode.Leaf in @encode ["parent", "node"]{{$}}
// TREE: kernel.space arm @encode.Node in @encode ["parent", "row_of", "row_of2"] ticked
// TREE: kernel.ticks @encode.Node
// TREE: batch.levels @group0 {
// TREE-NEXT: batch.stage @encode.Node.addf
// TREE: }
// TREE: batch.stage @input.contract

// SCAN: kernel.space steps @input.scan
// SCAN-SAME: ticked
// SCAN: kernel.ticks @input.scan
// SCAN: batch.steps @input.scan {
