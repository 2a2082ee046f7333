// RUN: dbc-opt %s --dyn-hoist | FileCheck %s
//
// What does not use a binder's variable is computed once outside it (manual, C8) ...

// CHECK-LABEL: dyn.entry @outside
// CHECK: math.tanh
// CHECK: dyn.map
dyn.entry @outside(%xs: !dyn.list<f32>, %y: f32) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "y"], arg_types = [!dyn.list<f32>, f32], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %t = math.tanh %y : f32
    %s = arith.addf %x, %t : f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// ... but what may fail an input does not move as it is: over an empty list it is never computed.

// CHECK-LABEL: dyn.entry @inside
// CHECK: dyn.map
// CHECK: dyn.int div
dyn.entry @inside(%xs: !dyn.list<i32>, %n: i32) -> (!dyn.list<i32>) attributes {arg_names = ["xs", "n"], arg_types = [!dyn.list<i32>, i32], surface = !dyn.list<i32>} {
  %r = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<i32> {
  ^bb0(%x: i32):
    %d = dyn.int div %n, %n : i32
    %s = dyn.int add %x, %d : i32
    dyn.yield %s : i32
  }
  dyn.return %r : !dyn.list<i32>
}

// A whole recurrence moves too, where all in it stays within it and cannot fail: lists in its state keep their length.

// CHECK-LABEL: dyn.entry @network
// CHECK: dyn.fold
// CHECK: math.tanh
// CHECK: %[[ALL:.*]] = dyn.reduce_list sum
// CHECK-NEXT: dyn.map
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: arith.addf %[[X]], %[[ALL]]
dyn.entry @network(%xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %range = dyn.range %zero to %two : <i32>
    %layers = dyn.fold(%range) from(%xs) : (!dyn.list<i32>), (!dyn.list<f32>) -> (!dyn.list<f32>) {
    ^bb0(%l: i32, %hs: !dyn.list<f32>):
      %next = dyn.map(%hs) : (!dyn.list<f32>) -> !dyn.list<f32> {
      ^bb0(%h: f32):
        %t = math.tanh %h : f32
        dyn.yield %t : f32
      }
      dyn.yield %next : !dyn.list<f32>
    }
    %all = dyn.reduce_list sum %layers : <f32> -> f32
    %s = arith.addf %x, %all : f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// Where it goes through a list or has a product, it moves into a map over a list that is empty where the binder's is ...

// CHECK-LABEL: dyn.entry @guarded
// CHECK: %[[LEN:.*]] = dyn.len %arg0
// CHECK: %[[COUNT:.*]] = dyn.int min %[[LEN]], %c1
// CHECK: %[[ONCE:.*]] = dyn.range %c0{{.*}} to %[[COUNT]]
// CHECK: %[[GUARDED:.*]] = dyn.map(%[[ONCE]])
// CHECK: dyn.reduce_list max %arg1
// CHECK: math.tanh
// CHECK: dyn.map(%arg0)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: %[[MAX:.*]] = dyn.at %[[GUARDED]][%c0{{.*}}]
// CHECK-NEXT: arith.addf %[[X]], %[[MAX]]
dyn.entry @guarded(%xs: !dyn.list<f32>, %ys: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<f32>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %max = dyn.reduce_list max %ys : <f32> -> f32
    %t = math.tanh %max : f32
    %s = arith.addf %x, %t : f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// ... unless an element is sure to be there.

// CHECK-LABEL: dyn.entry @sure
// CHECK: %[[MAX:.*]] = dyn.reduce_list max
// CHECK: dyn.map
// CHECK-NOT: dyn.at
dyn.entry @sure(%ys: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["ys"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %range = dyn.range %zero to %two : <i32>
  %r = dyn.map(%range) : (!dyn.list<i32>) -> !dyn.list<f32> {
  ^bb0(%i: i32):
    %max = dyn.reduce_list max %ys : <f32> -> f32
    %x = arith.sitofp %i : i32 to f32
    %s = arith.addf %x, %max : f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// What an arm computes stays in it.

// CHECK-LABEL: dyn.entry @arm
// CHECK: dyn.map(%arg0)
// CHECK: dyn.if
// CHECK: dyn.reduce_list max
dyn.entry @arm(%xs: !dyn.list<i32>, %ys: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<i32>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0.0 : f32
  %r = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
  ^bb0(%x: i32):
    %first = arith.cmpi eq, %x, %zero : i32
    %s = dyn.if %first -> (f32) {
      %max = dyn.reduce_list max %ys : <f32> -> f32
      dyn.yield %max : f32
    } else {
      dyn.yield %none : f32
    }
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// What an inner binder computes from its own element alone is a map over its list, outside of both; what is made of that goes
// with it, unless it has more elements.

// CHECK-LABEL: dyn.entry @pairs
// CHECK: %[[TANHS:.*]] = dyn.map(%arg1)
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32):
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[Y]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[TANH]], %[[TANH]]
// CHECK-NEXT: dyn.yield %[[TWICE]]
// CHECK: dyn.map(%arg0)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: dyn.broadcast %[[X]]
// CHECK-NEXT: dyn.map(%arg1, %[[TANHS]])
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[T:.*]]: f32):
// CHECK-NEXT: dyn.broadcast %[[T]]
// CHECK-NOT: math.tanh
dyn.entry @pairs(%xs: !dyn.list<f32>, %ys: !dyn.list<f32>) -> (!dyn.list<tensor<4xf32>>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<f32>, !dyn.list<f32>], surface = !dyn.list<tensor<4xf32>>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<tensor<4xf32>> {
  ^bb0(%x: f32):
    %ps = dyn.map(%ys) : (!dyn.list<f32>) -> !dyn.list<tensor<4xf32>> {
    ^bb0(%y: f32):
      %t = math.tanh %y : f32
      %tt = arith.addf %t, %t : f32
      %b = dyn.broadcast %tt : f32 -> tensor<4xf32>
      %c = dyn.broadcast %x : f32 -> tensor<4xf32>
      %p = arith.mulf %b, %c : tensor<4xf32>
      dyn.yield %p : tensor<4xf32>
    }
    %s = dyn.reduce_list sum %ps : <tensor<4xf32>> -> tensor<4xf32>
    dyn.yield %s : tensor<4xf32>
  }
  dyn.return %r : !dyn.list<tensor<4xf32>>
}

// What costs no more than to read it stays ...

// CHECK-LABEL: dyn.entry @cheap
// CHECK-NEXT: dyn.map(%arg0)
dyn.entry @cheap(%xs: !dyn.list<f32>, %ys: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<f32>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %ps = dyn.map(%ys) : (!dyn.list<f32>) -> !dyn.list<f32> {
    ^bb0(%y: f32):
      %t = arith.addf %y, %y : f32
      %p = arith.mulf %t, %x : f32
      dyn.yield %p : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// ... and so does what is made of a list that is another one for each element outside.

// CHECK-LABEL: dyn.entry @own
// CHECK-NEXT: dyn.map(%arg0)
// CHECK-NEXT: ^bb0(%[[YS:.*]]: !dyn.list<f32>):
// CHECK-NEXT: dyn.map(%[[YS]])
dyn.entry @own(%xs: !dyn.list<!dyn.list<f32>>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<!dyn.list<f32>>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<!dyn.list<f32>>) -> !dyn.list<f32> {
  ^bb0(%ys: !dyn.list<f32>):
    %ps = dyn.map(%ys) : (!dyn.list<f32>) -> !dyn.list<f32> {
    ^bb0(%y: f32):
      %t = math.tanh %y : f32
      dyn.yield %t : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// A filter that needs the outer element chooses of the results, where they cannot fail.

// CHECK-LABEL: dyn.entry @chosen
// CHECK: %[[TANHS:.*]] = dyn.map(%arg1)
// CHECK: math.tanh
// CHECK: dyn.map(%arg0)
// CHECK: %[[FEW:.*]]:2 = dyn.filter(%arg1, %[[TANHS]])
// CHECK: dyn.map(%[[FEW]]#0, %[[FEW]]#1)
// CHECK-NOT: math.tanh
dyn.entry @chosen(%xs: !dyn.list<i32>, %ys: !dyn.list<i32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<i32>, !dyn.list<i32>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
  ^bb0(%x: i32):
    %few = dyn.filter(%ys) : (!dyn.list<i32>) -> !dyn.list<i32> {
    ^bb0(%y: i32):
      %less = arith.cmpi slt, %y, %x : i32
      dyn.yield %less : i1
    }
    %fx = arith.sitofp %x : i32 to f32
    %ps = dyn.map(%few) : (!dyn.list<i32>) -> !dyn.list<f32> {
    ^bb0(%y: i32):
      %f = arith.sitofp %y : i32 to f32
      %t = math.tanh %f : f32
      %p = arith.mulf %t, %fx : f32
      dyn.yield %p : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// CHECK-LABEL: dyn.entry @failing
// CHECK-NEXT: dyn.map(%arg0)
// CHECK: dyn.filter(%arg1)
// CHECK: dyn.int div
// CHECK: math.tanh
dyn.entry @failing(%xs: !dyn.list<i32>, %ys: !dyn.list<i32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys"], arg_types = [!dyn.list<i32>, !dyn.list<i32>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
  ^bb0(%x: i32):
    %few = dyn.filter(%ys) : (!dyn.list<i32>) -> !dyn.list<i32> {
    ^bb0(%y: i32):
      %less = arith.cmpi slt, %x, %y : i32
      dyn.yield %less : i1
    }
    %fx = arith.sitofp %x : i32 to f32
    %ps = dyn.map(%few) : (!dyn.list<i32>) -> !dyn.list<f32> {
    ^bb0(%y: i32):
      %d = dyn.int div %y, %y : i32
      %f = arith.sitofp %d : i32 to f32
      %t = math.tanh %f : f32
      %p = arith.mulf %t, %fx : f32
      dyn.yield %p : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// So does a slice. The elements of two lists that are zipped are there together.

// CHECK-LABEL: dyn.entry @sliced
// CHECK: %[[ZIPPED:.*]]:2 = dyn.zip
// CHECK: %[[TANHS:.*]] = dyn.map(%[[ZIPPED]]#0, %[[ZIPPED]]#1)
// CHECK: math.tanh
// CHECK: dyn.map(%{{.*}})
// CHECK: %[[FIRST:.*]] = dyn.slice %[[ZIPPED]]#0
// CHECK: %[[CHOSEN:.*]] = dyn.slice %[[TANHS]]
// CHECK: dyn.map(%[[FIRST]], %{{.*}}, %[[CHOSEN]])
// CHECK-NOT: math.tanh
dyn.entry @sliced(%ys: !dyn.list<f32>, %zs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["ys", "zs"], arg_types = [!dyn.list<f32>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %range = dyn.range %zero to %three : <i32>
  %r = dyn.map(%range) : (!dyn.list<i32>) -> !dyn.list<f32> {
  ^bb0(%i: i32):
    %fi = arith.sitofp %i : i32 to f32
    %z:2 = dyn.zip %ys, %zs : (!dyn.list<f32>, !dyn.list<f32>) -> (!dyn.list<f32>, !dyn.list<f32>)
    %first = dyn.slice %z#0 from %zero to %i : !dyn.list<f32> -> !dyn.list<f32>
    %second = dyn.slice %z#1 from %zero to %i : !dyn.list<f32> -> !dyn.list<f32>
    %ps = dyn.map(%first, %second) : (!dyn.list<f32>, !dyn.list<f32>) -> !dyn.list<f32> {
    ^bb0(%y: f32, %z2: f32):
      %a = arith.addf %y, %z2 : f32
      %t = math.tanh %a : f32
      %p = arith.mulf %t, %fi : f32
      dyn.yield %p : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// Two binders in each other: what the innermost one's element gives leaves all of them.

// CHECK-LABEL: dyn.entry @deep
// CHECK: %[[TANHS:.*]] = dyn.map(%arg2)
// CHECK: math.tanh
// CHECK: %[[EXPS:.*]] = dyn.map(%arg1)
// CHECK: dyn.map(%arg2, %[[TANHS]])
// CHECK: math.exp
// CHECK: dyn.map(%arg0)
// CHECK: dyn.map(%arg1, %[[EXPS]])
// CHECK-NOT: math.exp
// CHECK-NOT: math.tanh
dyn.entry @deep(%xs: !dyn.list<f32>, %ys: !dyn.list<f32>, %zs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys", "zs"], arg_types = [!dyn.list<f32>, !dyn.list<f32>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %ps = dyn.map(%ys) : (!dyn.list<f32>) -> !dyn.list<f32> {
    ^bb0(%y: f32):
      %qs = dyn.map(%zs) : (!dyn.list<f32>) -> !dyn.list<f32> {
      ^bb0(%z: f32):
        %t = math.tanh %z : f32
        %ty = arith.mulf %t, %y : f32
        %e = math.exp %ty : f32
        %p = arith.mulf %e, %x : f32
        dyn.yield %p : f32
      }
      %q = dyn.reduce_list sum %qs : <f32> -> f32
      dyn.yield %q : f32
    }
    %s = dyn.reduce_list sum %ps : <f32> -> f32
    dyn.yield %s : f32
  }
  dyn.return %r : !dyn.list<f32>
}

// A fold that a `while` may end lets go what its inner binder computes; where that may fail, it does no harm before the first
// step ...

// CHECK-LABEL: dyn.entry @while
// CHECK: %[[GUARDED:.*]]:2 = dyn.map
// CHECK: dyn.reduce_list max
// CHECK: dyn.map(%arg1)
// CHECK: %[[SAFE:.*]] = arith.select %arg2, %{{.*}}, %{{.*}} : i32
// CHECK: dyn.int div %[[SAFE]]
// CHECK: math.tanh
// CHECK: dyn.fold stops
// CHECK: dyn.at %[[GUARDED]]
// CHECK-NOT: math.tanh
dyn.entry @while(%xs: !dyn.list<i32>, %ys: !dyn.list<tensor<2xi32>>, %on: i1) -> (f32) attributes {arg_names = ["xs", "ys", "on"], arg_types = [!dyn.list<i32>, !dyn.list<tensor<2xi32>>, i1], surface = f32} {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %r:2 = dyn.fold stops(%xs) from(%zero, %on) : (!dyn.list<i32>), (f32, i1) -> (f32, i1) {
  ^bb0(%x: i32, %s: f32, %go: i1):
    %fs = dyn.map(%ys) : (!dyn.list<tensor<2xi32>>) -> !dyn.list<f32> {
    ^bb0(%y: tensor<2xi32>):
      %i = dyn.gather %y[%first] : tensor<2xi32>, i32 -> i32
      %f = arith.sitofp %i : i32 to f32
      dyn.yield %f : f32
    }
    %most = dyn.reduce_list max %fs : <f32> -> f32
    %a = arith.addf %s, %most : f32
    %ps = dyn.map(%ys) : (!dyn.list<tensor<2xi32>>) -> !dyn.list<f32> {
    ^bb0(%y: tensor<2xi32>):
      %i = dyn.gather %y[%first] : tensor<2xi32>, i32 -> i32
      %d = dyn.int div %i, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %t = math.tanh %f : f32
      %p = arith.mulf %t, %a : f32
      dyn.yield %p : f32
    }
    %q = dyn.reduce_list sum %ps : <f32> -> f32
    %on2 = arith.cmpf olt, %q, %zero : f32
    dyn.yield %q, %on2 : f32, i1
  }
  dyn.return %r#0 : f32
}

// ... and an inner one keeps what steps compute that it may leave out.

// CHECK-LABEL: dyn.entry @left_out
// CHECK-NEXT: arith.constant
// CHECK-NEXT: dyn.map(%arg0)
// CHECK: dyn.fold stops(%arg1)
// CHECK: math.tanh
dyn.entry @left_out(%xs: !dyn.list<f32>, %ys: !dyn.list<f32>, %on: i1) -> (!dyn.list<f32>) attributes {arg_names = ["xs", "ys", "on"], arg_types = [!dyn.list<f32>, !dyn.list<f32>, i1], surface = !dyn.list<f32>} {
  %zero = arith.constant 0.0 : f32
  %r = dyn.map(%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %f:2 = dyn.fold stops(%ys) from(%x, %on) : (!dyn.list<f32>), (f32, i1) -> (f32, i1) {
    ^bb0(%y: f32, %s: f32, %go: i1):
      %t = math.tanh %y : f32
      %q = arith.mulf %t, %s : f32
      %more = arith.cmpf olt, %q, %zero : f32
      dyn.yield %q, %more : f32, i1
    }
    dyn.yield %f#0 : f32
  }
  dyn.return %r : !dyn.list<f32>
}
