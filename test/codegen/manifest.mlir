// The manifest: API, parameters, index sets, stages and their order.
// RUN: dbc-codegen-test %S/Inputs/tree_lstm.mlir --emit manifest | FileCheck %s
// RUN: dbc-codegen-test %S/Inputs/tree_lstm.mlir --emit manifest | %python -m json.tool > %t

// CHECK: "model": "tree_lstm"
// CHECK: "real": "f32"
// CHECK: "targets": [
// CHECK-NEXT: "cpu"
// CHECK-NEXT: ]
// CHECK: "name": "Leaf"
// CHECK: "text": "index[100]"
// CHECK: "bound": 100
// CHECK: "name": "E"
// CHECK: "kind": "glorot"
// CHECK: "name": "sentiment"
// CHECK: "name": "encode.Node"
// CHECK-NEXT: "kind": "arm"
// CHECK-NEXT: "parent": "encode"
// CHECK: "order"
// CHECK: "stage": "leaf"
// CHECK: "levels": "g0"
// CHECK: "stage": "node"
