// RUN: dbc-opt %S/Inputs/tree.mlir --dyn-to-batch --canonicalize | FileCheck %s
//
// A cell is an index set of its instances, an arm an index set of the rows with its constructor, a call site an index array.

// CHECK-LABEL: kernel.program @root
// CHECK-DAG: kernel.index_set inputs @input ["input", "encode"]
// CHECK-DAG: kernel.index_set instances @encode ["node"] group @encode.group cell 0
// CHECK-DAG: kernel.index_set arm @encode.Leaf in @encode ["parent", "node"]
// CHECK-DAG: kernel.index_set arm @encode.Node in @encode ["parent", "encode", "encode2"]

// The first walk says who needs whom, and asks only for fields that are read.
// CHECK: kernel.func calls @calls.encode
// CHECK: kernel.require @Tree.x
// CHECK: kernel.require @Tree.left
// CHECK: kernel.call @encode.group 0
// CHECK: kernel.call @encode.group 0

// The second makes the rows.
// CHECK: kernel.func index @index.encode
// CHECK: kernel.push @encode.Leaf(%{{.*}}, %{{.*}})
// CHECK: %[[L:.*]] = kernel.row_of @encode
// CHECK: %[[R:.*]] = kernel.row_of @encode
// CHECK: kernel.push @encode.Node(%{{.*}}, %[[L]], %[[R]])

// One stage an op; a recursive read is carried by its group.
// CHECK: batch.stage @encode.Node.value over @encode.Node
// CHECK-NEXT: batch.gather @encode.value via @rel.encode.Node.encode carried @encode.group
// CHECK-NEXT: batch.gather @encode.value via @rel.encode.Node.encode2 carried @encode.group
// CHECK: batch.stage @encode.Node.copy over @encode.Node
// CHECK: batch.scatter %{{.*}}, @encode.value via @rel.encode.Node.parent
