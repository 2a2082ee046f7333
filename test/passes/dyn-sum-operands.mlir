// RUN: dbc-opt %s --dyn-sum-operands --cse | FileCheck %s

dyn.param @A : tensor<3x2xf32>
dyn.param @b : tensor<3xf32>

// The sum of products and biases is the product of the sum, and as often the bias as there are elements.

// CHECK-LABEL: dyn.entry @sum
// CHECK: %[[A:[a-z0-9_]+]] = dyn.get @A
// CHECK: %[[b:[a-z0-9_]+]] = dyn.get @b
// CHECK: %[[map:[a-z0-9_]+]] = dyn.map(%[[xs:[a-z0-9_]+]]) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<2xf32>>
// CHECK-NEXT: ^bb0(%[[x:[a-z0-9_]+]]: tensor<2xf32>):
// CHECK-NEXT: %[[r:[a-z0-9_]+]] = dyn.function relu %[[x]]
// CHECK-NEXT: dyn.yield %[[r]]
// CHECK: %[[sum:[a-z0-9_]+]] = dyn.reduce_list sum %[[map]]
// CHECK: %[[y:[a-z0-9_]+]] = linalg.contract {{.*}} ins(%[[A]], %[[sum]] :
// CHECK: %[[len:[a-z0-9_]+]] = dyn.len %[[xs]]
// CHECK: %[[n:[a-z0-9_]+]] = arith.sitofp %[[len]]
// CHECK: %[[all:[a-z0-9_]+]] = dyn.broadcast %[[n]]
// CHECK: %[[bs:[a-z0-9_]+]] = arith.mulf %[[all]], %[[b]]
// CHECK: %[[s:[a-z0-9_]+]] = arith.addf %[[y]], %[[bs]]
// CHECK: dyn.return %[[s]]
dyn.entry @sum(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %b = dyn.get @b : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %r = dyn.function relu %x : tensor<2xf32>
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %r : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %z = arith.addf %y, %b : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// In a mean the bias stands once; what is no product is summed as it is; a factor that all elements have stays outside.

// CHECK-LABEL: dyn.entry @mean
// CHECK: dyn.map({{.*}}) : {{.*}} -> (!dyn.list<tensor<2xf32>>, !dyn.list<tensor<3xf32>>)
// CHECK: dyn.yield %[[x:[a-z0-9_]+]], %[[e:[a-z0-9_]+]] :
// CHECK-DAG: %[[xs:[a-z0-9_]+]] = dyn.reduce_list mean %{{.*}} -> tensor<2xf32>
// CHECK-DAG: %[[es:[a-z0-9_]+]] = dyn.reduce_list mean %{{.*}} -> tensor<3xf32>
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[xs]] :
// CHECK: arith.mulf %{{.*}}, %[[b:[a-z0-9_]+]] :
// CHECK: arith.addf %{{.*}}, %[[es]]
// CHECK: arith.addf %{{.*}}, %[[b]]
// CHECK-NOT: dyn.len
dyn.entry @mean(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %b = dyn.get @b : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %scaled = arith.mulf %y, %b : tensor<3xf32>
    %t = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %e = math.exp %t : tensor<3xf32>
    %z = arith.addf %scaled, %e : tensor<3xf32>
    %w = arith.addf %z, %b : tensor<3xf32>
    dyn.yield %w : tensor<3xf32>
  }
  %s = dyn.reduce_list mean %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// A weight of an element, one number, weighs what is multiplied; the weights' sum is what the bias is multiplied with.

// CHECK-LABEL: dyn.entry @weighted
// CHECK: dyn.map
// CHECK-NEXT: ^bb0(%[[a:[a-z0-9_]+]]: f32, %[[x:[a-z0-9_]+]]: tensor<2xf32>):
// CHECK: %[[all:[a-z0-9_]+]] = dyn.broadcast %[[a]] : f32 -> tensor<2xf32>
// CHECK: %[[ax:[a-z0-9_]+]] = arith.mulf %[[all]], %[[x]]
// CHECK: dyn.yield %[[ax]], %[[a]] : tensor<2xf32>, f32
// CHECK: %[[sum:[a-z0-9_]+]] = dyn.reduce_list sum %{{.*}} -> tensor<2xf32>
// CHECK: %[[weights:[a-z0-9_]+]] = dyn.reduce_list sum %{{.*}} -> f32
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[sum]] :
// CHECK: dyn.broadcast %[[weights]]
dyn.entry @weighted(%as: !dyn.list<f32>, %xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["as", "xs"], arg_types = [!dyn.list<f32>, !dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %b = dyn.get @b : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %zip:2 = dyn.zip %as, %xs : (!dyn.list<f32>, !dyn.list<tensor<2xf32>>) -> (!dyn.list<f32>, !dyn.list<tensor<2xf32>>)
  %ys = dyn.map(%zip#0, %zip#1) : (!dyn.list<f32>, !dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%a: f32, %x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %z = arith.addf %y, %b : tensor<3xf32>
    %all = dyn.broadcast %a : f32 -> tensor<3xf32>
    %w = arith.mulf %all, %z : tensor<3xf32>
    dyn.yield %w : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// Stays: a product that something else needs for each element.

// CHECK-LABEL: dyn.entry @needed
// CHECK: dyn.map
// CHECK: linalg.contract
// CHECK: dyn.reduce_list sum
// CHECK-NEXT: dyn.return
dyn.entry @needed(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>, !dyn.list<tensor<3xf32>>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tuple<tensor<3xf32>, !dyn.list<tensor<3xf32>>>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %y : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s, %ys : tensor<3xf32>, !dyn.list<tensor<3xf32>>
}

// Stays: a product of matrices that differ by element, for adding them up costs as much as multiplying; what is no sum; the
// product of one element.

// CHECK-LABEL: dyn.entry @stay
// CHECK: dyn.map
// CHECK: linalg.contract
// CHECK: dyn.map
// CHECK: linalg.contract
// CHECK: dyn.map
// CHECK: linalg.contract
// CHECK: dyn.reduce_list sum
// CHECK-NOT: linalg.contract
// CHECK: dyn.return
dyn.entry @stay(%Ms: !dyn.list<tensor<3x2xf32>>, %xs: !dyn.list<tensor<2xf32>>, %v: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) attributes {arg_names = ["Ms", "xs", "v"], arg_types = [!dyn.list<tensor<3x2xf32>>, !dyn.list<tensor<2xf32>>, tensor<2xf32>], surface = tuple<tensor<3xf32>, tensor<3xf32>, tensor<3xf32>>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %as = dyn.map(%Ms) : (!dyn.list<tensor<3x2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%M: tensor<3x2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%M, %v : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %y : tensor<3xf32>
  }
  %a = dyn.reduce_list sum %as : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  %bs = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %y : tensor<3xf32>
  }
  %b = dyn.reduce_list max %bs : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %one = dyn.range %i0 to %i1 : !dyn.list<i32>
  %cs = dyn.map(%one) : (!dyn.list<i32>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%i: i32):
    %x = dyn.at %xs[%i] : !dyn.list<tensor<2xf32>> -> tensor<2xf32>
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    dyn.yield %y : tensor<3xf32>
  }
  %c = dyn.reduce_list sum %cs : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// A sum of no elements is 0, also where a factor that all have is infinite, as one divided by their number is.

// CHECK-LABEL: dyn.entry @shares
// CHECK: %[[sum:[a-z0-9_]+]] = dyn.reduce_list sum %{{.*}} -> tensor<2xf32>
// CHECK: %[[y:[a-z0-9_]+]] = linalg.contract {{.*}} ins(%{{.*}}, %[[sum]] :
// CHECK: %[[any:[a-z0-9_]+]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// CHECK: %[[one:[a-z0-9_]+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[n:[a-z0-9_]+]] = arith.select %[[any]], %{{.*}}, %[[one]] : f32
// CHECK: %[[by:[a-z0-9_]+]] = dyn.broadcast %[[n]]
// CHECK: %[[all:[a-z0-9_]+]] = arith.divf %[[y]], %[[by]] : tensor<3xf32>
// CHECK: dyn.return %[[all]]
dyn.entry @shares(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %len = dyn.len %xs : !dyn.list<tensor<2xf32>>
  %n = arith.sitofp %len : i32 to f32
  %ns = dyn.broadcast %n : f32 -> tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %z = arith.divf %y, %ns : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// A finite divisor needs no test.

// CHECK-LABEL: dyn.entry @halves
// CHECK: arith.divf
// CHECK-NOT: arith.select
dyn.entry @halves(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %two = arith.constant dense<2.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %z = arith.divf %y, %two : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// What keeps the sum of nothing 0 is no obstacle: a product climbs through both sums.

// CHECK-LABEL: dyn.entry @climbs
// CHECK: dyn.map
// CHECK-NOT: linalg.contract
// CHECK: %[[w:[a-z0-9_]+]] = arith.select %{{.*}} : f32
// CHECK: %[[ws:[a-z0-9_]+]] = dyn.broadcast %[[w]] : f32 -> tensor<2xf32>
// CHECK: %[[x:[a-z0-9_]+]] = arith.mulf %[[ws]], %{{.*}} : tensor<2xf32>
// CHECK: dyn.yield %[[x]]
// CHECK: %[[sum:[a-z0-9_]+]] = dyn.reduce_list sum %{{.*}} : <tensor<2xf32>>
// CHECK: %[[y:[a-z0-9_]+]] = linalg.contract {{.*}} ins(%{{.*}}, %[[sum]] :
// CHECK: dyn.return %[[y]]
dyn.entry @climbs(%ws: !dyn.list<f32>, %xss: !dyn.list<!dyn.list<tensor<2xf32>>>) -> (tensor<3xf32>) attributes {arg_names = ["ws", "xss"], arg_types = [!dyn.list<f32>, !dyn.list<!dyn.list<tensor<2xf32>>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %cst = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %zero = linalg.fill ins(%cst : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %zip:2 = dyn.zip %ws, %xss : (!dyn.list<f32>, !dyn.list<!dyn.list<tensor<2xf32>>>) -> (!dyn.list<f32>, !dyn.list<!dyn.list<tensor<2xf32>>>)
  %outer = dyn.map(%zip#0, %zip#1) : (!dyn.list<f32>, !dyn.list<!dyn.list<tensor<2xf32>>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%w: f32, %xs: !dyn.list<tensor<2xf32>>):
    %all = dyn.broadcast %w : f32 -> tensor<3xf32>
    %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
    ^bb0(%x: tensor<2xf32>):
      %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
      %z = arith.mulf %all, %y : tensor<3xf32>
      dyn.yield %z : tensor<3xf32>
    }
    %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
    dyn.yield %s : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %outer : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}

// The values of a `const` may be infinite, as a mask's are: where there are no elements its addend is 0.

dyn.param const @mask : tensor<3xf32>

// CHECK-LABEL: dyn.entry @masked
// CHECK: %[[mask:[a-z0-9_]+]] = dyn.get @mask
// CHECK: linalg.contract
// CHECK: %[[some:[a-z0-9_]+]] = arith.select %{{.*}}, %[[mask]], %{{.*}} : tensor<3xf32>
// CHECK: arith.mulf %{{.*}}, %[[some]] : tensor<3xf32>
dyn.entry @masked(%xs: !dyn.list<tensor<2xf32>>) -> (tensor<3xf32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<tensor<2xf32>>], surface = tensor<3xf32>} {
  %A = dyn.get @A : tensor<3x2xf32>
  %mask = dyn.get @mask : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %ys = dyn.map(%xs) : (!dyn.list<tensor<2xf32>>) -> !dyn.list<tensor<3xf32>> {
  ^bb0(%x: tensor<2xf32>):
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%A, %x : tensor<3x2xf32>, tensor<2xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
    %z = arith.addf %y, %mask : tensor<3xf32>
    dyn.yield %z : tensor<3xf32>
  }
  %s = dyn.reduce_list sum %ys : !dyn.list<tensor<3xf32>> -> tensor<3xf32>
  dyn.return %s : tensor<3xf32>
}
