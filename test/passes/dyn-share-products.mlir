// RUN: dbc-opt %s --dyn-share-products --cse | FileCheck %s

dyn.data @Cell { dyn.ctor "Cell" ["x", "near"] [tensor<2xf32>, !dyn.list<!dyn.node<@Cell>>] }
dyn.data @Tree { dyn.ctor "Tree" ["x", "kids"] [tensor<2xf32>, !dyn.list<!dyn.node<@Tree>>] }
dyn.param @W : tensor<3x4xf32>
dyn.param @b : tensor<3xf32>
dyn.param @V : tensor<2x3xf32>

// In steps on a graph: the half of a message that hears the cell itself is computed outside the list; the half that hears a
// neighbour by that neighbour.

// CHECK-LABEL: dyn.cell @state
// CHECK-SAME: -> (tensor<2xf32>, tensor<3xf32>) attributes {surface = !dyn.record<"", ["", "product"], [tensor<2xf32>, tensor<3xf32>]>}
// CHECK: else
// CHECK: %[[own:[a-z0-9_]+]]:2 = dyn.call @state
// CHECK: %[[left:[a-z0-9_]+]] = tensor.extract_slice %{{.*}}[0, 0] [3, 2] [1, 1]
// CHECK: %[[y:[a-z0-9_]+]] = linalg.contract {{.*}} ins(%[[left]], %[[own]]#0 :
// CHECK: %[[summand:[a-z0-9_]+]] = arith.addf %[[y]], %{{.*}}
// CHECK: dyn.map
// CHECK-NOT: linalg.contract
// CHECK: %[[their:[a-z0-9_]+]]:2 = dyn.call @state
// CHECK-NOT: linalg.contract
// CHECK: arith.addf %[[summand]], %[[their]]#1
// CHECK: dyn.yield
// CHECK: linalg.contract {{.*}} tensor<2x3xf32>
// CHECK: %[[right:[a-z0-9_]+]] = tensor.extract_slice %{{.*}}[0, 2] [3, 2] [1, 1]
// CHECK: %[[product:[a-z0-9_]+]] = linalg.contract {{.*}} ins(%[[right]], %[[new:[a-z0-9_]+]] :
// CHECK: dyn.return %[[new]], %[[product]]
dyn.cell @state(%v: !dyn.node<@Cell>, %t: i32) -> (tensor<2xf32>) attributes {surface = tensor<2xf32>} {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %W = dyn.get @W : tensor<3x4xf32>
  %b = dyn.get @b : tensor<3xf32>
  %V = dyn.get @V : tensor<2x3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %zero2 = arith.constant dense<0.0> : tensor<2xf32>
  %first = arith.cmpi eq, %t, %i0 : i32
  %new = dyn.if %first -> (tensor<2xf32>) {
    %x = dyn.field %v "x" : !dyn.node<@Cell> -> tensor<2xf32>
    dyn.yield %x : tensor<2xf32>
  } else {
    %s = dyn.int sub %t, %i1 : i32
    %own = dyn.call @state(%v, %s) : (!dyn.node<@Cell>, i32) -> tensor<2xf32>
    %near = dyn.field %v "near" : !dyn.node<@Cell> -> !dyn.list<!dyn.node<@Cell>>
    %messages = dyn.map(%near) : (!dyn.list<!dyn.node<@Cell>>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%u: !dyn.node<@Cell>):
      %h = dyn.call @state(%u, %s) : (!dyn.node<@Cell>, i32) -> tensor<2xf32>
      %both = tensor.concat dim(0) %own, %h : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
      %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %both : tensor<3x4xf32>, tensor<4xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
      %z = arith.addf %y, %b : tensor<3xf32>
      %r = dyn.function relu %z : tensor<3xf32>
      dyn.yield %r : tensor<3xf32>
    }
    %sum = dyn.reduce_list sum %messages : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
    %o = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%V, %sum : tensor<2x3xf32>, tensor<3xf32>) outs(%zero2 : tensor<2xf32>) -> tensor<2xf32>
    dyn.yield %o : tensor<2xf32>
  }
  dyn.return %new : tensor<2xf32>
} range {
^bb0(%v: !dyn.node<@Cell>):
  %low = arith.constant 0 : i32
  %high = arith.constant 5 : i32
  dyn.yield %low, %high : i32, i32
}

// Down a tree a node has one parent: what it hears of a child it computes itself. The half for its own vector is computed
// outside the list all the same.

// CHECK-LABEL: dyn.cell @encode
// CHECK-SAME: -> (tensor<3xf32>) attributes {surface
// CHECK: linalg.contract {{.*}} tensor<3x2xf32>
// CHECK: dyn.map
// CHECK: dyn.call @encode
// CHECK: linalg.contract {{.*}} tensor<3x2xf32>
// CHECK: dyn.yield
dyn.cell @encode(%v: !dyn.node<@Tree>) -> (tensor<3xf32>) attributes {surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x4xf32>
  %V = dyn.get @V : tensor<2x3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %zero2 = arith.constant dense<0.0> : tensor<2xf32>
  %x = dyn.field %v "x" : !dyn.node<@Tree> -> tensor<2xf32>
  %kids = dyn.field %v "kids" : !dyn.node<@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %ys = dyn.map(%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%u: !dyn.node<@Tree>):
    %h = dyn.call @encode(%u) : (!dyn.node<@Tree>) -> tensor<3xf32>
    %l = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%V, %h : tensor<2x3xf32>, tensor<3xf32>) outs(%zero2 : tensor<2xf32>) -> tensor<2xf32>
    %both = tensor.concat dim(0) %x, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %both : tensor<3x4xf32>, tensor<4xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %r = dyn.function relu %y : tensor<3xf32>
    dyn.yield %r : tensor<3xf32>
  }
  %sum = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %sum : tensor<3xf32>
}

// The caller is repeated for pairs, so each instance is read several times. What is made of it before the product moves too.

// CHECK-LABEL: dyn.entry @pairs
// CHECK: dyn.map
// CHECK: dyn.map
// CHECK: %[[c:[a-z0-9_]+]]:3 = dyn.call @feature
// CHECK-NOT: linalg.contract
// CHECK: dyn.return
// CHECK-LABEL: dyn.cell @feature
// CHECK-SAME: -> (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) attributes
dyn.entry @pairs(%vs: !dyn.list<!dyn.node<@Tree>>) -> (!dyn.list<!dyn.list<tensor<2xf32>>>) attributes {arg_names = ["vs"], arg_types = [!dyn.list<!dyn.node<@Tree>>], surface = !dyn.list<!dyn.list<tensor<2xf32>>>} {
  %V = dyn.get @V : tensor<2x3xf32>
  %zero2 = arith.constant dense<0.0> : tensor<2xf32>
  %all = dyn.map(%vs) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<!dyn.list<tensor<2xf32>>> {
  ^bb0(%v: !dyn.node<@Tree>):
    %row = dyn.map(%vs) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<tensor<2xf32>> {
    ^bb0(%u: !dyn.node<@Tree>):
      %h = dyn.call @feature(%u) : (!dyn.node<@Tree>) -> tensor<3xf32>
      %r = dyn.function relu %h : tensor<3xf32>
      %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%V, %r : tensor<2x3xf32>, tensor<3xf32>) outs(%zero2 : tensor<2xf32>) -> tensor<2xf32>
      %z = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%V, %h : tensor<2x3xf32>, tensor<3xf32>) outs(%zero2 : tensor<2xf32>) -> tensor<2xf32>
      %x = dyn.field %v "x" : !dyn.node<@Tree> -> tensor<2xf32>
      %p = arith.mulf %x, %y : tensor<2xf32>
      %q = arith.mulf %x, %z : tensor<2xf32>
      %s = arith.addf %p, %q : tensor<2xf32>
      dyn.yield %s : tensor<2xf32>
    }
    dyn.yield %row : !dyn.list<tensor<2xf32>>
  }
  dyn.return %all : !dyn.list<!dyn.list<tensor<2xf32>>>
}
dyn.cell @feature(%v: !dyn.node<@Tree>) -> (tensor<3xf32>) attributes {surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %x = dyn.field %v "x" : !dyn.node<@Tree> -> tensor<2xf32>
  %both = tensor.concat dim(0) %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %both : tensor<3x4xf32>, tensor<4xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  dyn.return %y : tensor<3xf32>
}
