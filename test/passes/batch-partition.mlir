// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition | FileCheck %s --check-prefix=TREE
// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition | FileCheck %s --check-prefix=SCAN
//
// What a recursion neither needs nor feeds has no loops: leaves run before it, the head after it.

// TREE: batch.stage @encode.Leaf.exp over @encode.Leaf attributes {loops = []}
// TREE: batch.stage @encode.Node.value over @encode.Node attributes {loops = [#batch.loop<@encode.group, 0>]}
// TREE: batch.stage @input.value over @input attributes {loops = []}

// A scan is carried by its own steps.
// SCAN: batch.stage @input.copy over @input attributes {loops = []}
// SCAN: batch.stage @input.scan.value over @input.scan attributes {loops = [#batch.loop<@input.scan, 0>]}
// SCAN: batch.stage @input.map.exp over @input.map attributes {loops = []}
