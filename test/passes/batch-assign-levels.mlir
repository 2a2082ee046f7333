// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels | FileCheck %s --check-prefix=TREE
// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels | FileCheck %s --check-prefix=SCAN
//
// Loops nest around their stages; an index set that runs by time step says so, and the schedule finds its time steps.

// TREE: kernel.index_set arm @encode.Leaf in @encode ["parent", "node"]{{$}}
// TREE: kernel.index_set arm @encode.Node in @encode ["parent", "encode", "encode2"] by_time_step
// TREE: kernel.time_steps @encode.Node
// TREE: kernel.levels @encode.group {
// TREE-NEXT: batch.stage @encode.Node.value
// TREE: }
// TREE: batch.stage @input.value

// SCAN: kernel.index_set steps @input.scan
// SCAN-SAME: by_time_step
// SCAN: kernel.time_steps @input.scan
// SCAN: kernel.steps @input.scan {
