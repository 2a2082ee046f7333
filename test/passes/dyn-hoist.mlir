// RUN: dbc-opt %s --dyn-hoist | FileCheck %s
//
// What does not use a binder's variable is computed once outside it (LANGUAGE C8) ...

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
