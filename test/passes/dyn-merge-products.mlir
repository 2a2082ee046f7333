// RUN: dbc-opt %s --dyn-merge-products | FileCheck %s

dyn.param @W : tensor<3x2xf32>
dyn.param @U : tensor<3x2xf32>

// Two products of one vector are one product of the stacked matrices.

// CHECK-LABEL: dyn.entry @shared
// CHECK: tensor.concat dim(0) %{{.*}}, %{{.*}} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<6x2xf32>, tensor<2xf32>)
// CHECK-NOT: linalg.contract
// CHECK: tensor.extract_slice %{{.*}}[0] [3] [1]
// CHECK: tensor.extract_slice %{{.*}}[3] [3] [1]
dyn.entry @shared(%x: tensor<2xf32>) -> (tensor<3xf32>) attributes {arg_names = ["x"], arg_types = [tensor<2xf32>], surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %a = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %b = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %r = arith.mulf %a, %b : tensor<3xf32>
  dyn.return %r : tensor<3xf32>
}

// A sum of products is one product of the joined matrices with the joined vectors.

// CHECK-LABEL: dyn.entry @sum
// CHECK-DAG: tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-DAG: tensor.concat dim(0) %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<4xf32>)
dyn.entry @sum(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<3xf32>) attributes {arg_names = ["x", "y"], arg_types = [tensor<2xf32>, tensor<2xf32>], surface = tensor<3xf32>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %a = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %b = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %r = arith.addf %a, %b : tensor<3xf32>
  dyn.return %r : tensor<3xf32>
}

// Maps over one list that have products become one, whose products are merged ...

// CHECK-LABEL: dyn.entry @keys
// CHECK: %[[BOTH:.*]]:2 = dyn.map(%arg0)
// CHECK-NEXT: ^bb0(%[[Y:.*]]: tensor<2xf32>):
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[Y]] : tensor<6x2xf32>, tensor<2xf32>)
// CHECK-NOT: linalg.contract
// CHECK: dyn.yield
// CHECK: dyn.zip %[[BOTH]]#0, %[[BOTH]]#1
dyn.entry @keys(%ys: !dyn.list<tensor<2xf32>>) -> (!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>) attributes {arg_names = ["ys"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tuple<!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ks = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %k = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %k : tensor<3xf32>
  }
  %vs = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %v = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %v : tensor<3xf32>
  }
  %z:2 = dyn.zip %ks, %vs : (!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>) -> (!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>)
  dyn.return %z#0, %z#1 : !dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>
}

// ... what they both compute once ...

// CHECK-LABEL: dyn.entry @equal
// CHECK: dyn.map(%arg0)
// CHECK: linalg.contract {{.*}} : tensor<3x2xf32>, tensor<2xf32>)
// CHECK-NOT: linalg.contract
dyn.entry @equal(%ys: !dyn.list<tensor<2xf32>>) -> (!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>) attributes {arg_names = ["ys"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tuple<!dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ks = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %k = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %k : tensor<3xf32>
  }
  %vs = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %v = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %t = math.tanh %v : tensor<3xf32>
    dyn.yield %t : tensor<3xf32>
  }
  dyn.return %ks, %vs : !dyn.list<tensor<3xf32>>, !dyn.list<tensor<3xf32>>
}

// ... but not where the second needs what is made of the first.

// CHECK-LABEL: dyn.entry @needed
// CHECK: dyn.map(%arg0)
// CHECK: %[[SUM:.*]] = dyn.reduce_list sum
// CHECK: dyn.map(%arg0)
// CHECK: arith.addf %{{.*}}, %[[SUM]]
dyn.entry @needed(%ys: !dyn.list<tensor<2xf32>>) -> (!dyn.list<tensor<3xf32>>) attributes {arg_names = ["ys"], arg_types = [!dyn.list<tensor<2xf32>>], surface = !dyn.list<tensor<3xf32>>} {
  %W = dyn.get @W : tensor<3x2xf32>
  %U = dyn.get @U : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ks = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %k = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %k : tensor<3xf32>
  }
  %sum = dyn.reduce_list sum %ks : <tensor<3xf32>> -> tensor<3xf32>
  %vs = dyn.map(%ys) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%y: tensor<2xf32>):
    %v = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%U, %y : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %t = arith.addf %v, %sum : tensor<3xf32>
    dyn.yield %t : tensor<3xf32>
  }
  dyn.return %vs : !dyn.list<tensor<3xf32>>
}
