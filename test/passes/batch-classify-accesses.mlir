// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --batch-classify-accesses | FileCheck %s --check-prefix=TREE
// RUN: dbc-opt %S/Inputs/sequence.mlir --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --cse --batch-classify-accesses | FileCheck %s --check-prefix=SCAN
//
// Children may be shared, an arm has each row of its parent once.

// TREE: batch.gather @encode.value via "row_of" shared
// TREE: batch.scatter %{{.*}}, @encode.value via "parent" unique

// States belong to one owner each, so theirs are unique too.
// SCAN: batch.gather @input.scan.state0 via {{.*}} unique carried @input.scan
// SCAN: batch.scatter %{{.*}}, @input.scan.state0 via {{.*}} unique

// The list that is returned lies as the map made it: its gather is not needed, nor its column.
// SCAN: batch.stage @{{.*}} over @result.list {
// SCAN-NEXT: batch.read @input.map
