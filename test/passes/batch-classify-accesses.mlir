// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --batch-classify-accesses | FileCheck %s --check-prefix=TREE
// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --cse --batch-classify-accesses | FileCheck %s --check-prefix=SCAN
//
// Children may be shared, an arm has each row of its parent once.

// TREE: batch.relation @[[CHILD:.*]] : @encode.Node -> @encode by "encode", many_to_one
// TREE: batch.relation @[[PARENT:.*]] : @encode.Node -> @encode by "parent", one_to_one
// TREE: batch.gather @encode.value via @[[CHILD]]
// TREE: batch.scatter %{{.*}}, @encode.value via @[[PARENT]]

// States belong to one owner each, so theirs are joined with one row each, too.
// SCAN: batch.relation @[[BEFORE:.*]] : @input.scan -> @input.scan.states by "{{.*}}", one_to_one
// SCAN: batch.gather @input.scan.state0 via @[[BEFORE]] carried @input.scan
// SCAN: batch.scatter %{{.*}}, @input.scan.state0 via

// The list that is returned lies as the map made it: its gather is not needed, nor its index array.
// SCAN: batch.stage @{{.*}} over @result.list {
// SCAN-NEXT: batch.read @input.map
