// RUN: dbc-opt %s --dyn-hoist-captured | FileCheck %s
//
// What a recursion computes of captured arguments that it passes on unchanged is computed where it is called (manual, C4): what
// goes through a captured list too, though other things are done with its elements in the same loop.
dyn.data @Tree {
  dyn.ctor "Tree" ["x", "kids"] [f32, !dyn.list<!dyn.node<@Tree>>]
}

// CHECK-LABEL: dyn.entry @attends(
// CHECK-SAME: %[[T:.*]]: !dyn.node<@Tree>, %[[M:.*]]: !dyn.list<f32>
// CHECK: %[[KEYS:.*]] = dyn.map(%[[M]])
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32):
// CHECK-NEXT: %[[KEY:.*]] = math.tanh %[[Y]]
// CHECK-NEXT: dyn.yield %[[KEY]]
// CHECK: dyn.call @attend(%[[T]]) captured(%[[M]], %[[KEYS]])
dyn.entry @attends(%t: !dyn.node<@Tree>, %m: !dyn.list<f32>) -> (f32) attributes {arg_names = ["t", "m"], arg_types = [!dyn.node<@Tree>, !dyn.list<f32>], surface = f32} {
  %r = dyn.call @attend(%t) captured (%m) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
  dyn.return %r : f32
}
// CHECK-LABEL: dyn.cell @attend(
// CHECK-SAME: %[[M:[^:]*]]: !dyn.list<f32>, %[[KEYS:[^:]*]]: !dyn.list<f32>) -> (f32) attributes {surface = f32, value_count = 2 : i32}
// CHECK: dyn.call @attend(%{{.*}}) captured(%[[M]], %[[KEYS]])
// CHECK-NOT: math.tanh
// CHECK: dyn.map(%[[M]], %[[KEYS]])
dyn.cell @attend(%t: !dyn.node<@Tree>, %m: !dyn.list<f32>) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %kids = dyn.field %t "kids" : <@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %below = dyn.map (%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%k: !dyn.node<@Tree>):
    %s = dyn.call @attend(%k) captured (%m) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
    dyn.yield %s : f32
  }
  %sum = dyn.reduce_list sum %below : <f32> -> f32
  %parts = dyn.map (%m) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%y: f32):
    %key = math.tanh %y : f32
    %part = arith.mulf %key, %x : f32
    %own = arith.addf %part, %y : f32
    dyn.yield %own : f32
  }
  %all = dyn.reduce_list sum %parts : <f32> -> f32
  %r = arith.addf %all, %sum : f32
  dyn.return %r : f32
}

// Out of an arm of a recursion, but not of an arm in an arm, nor what changes on the way: there %q is another one at each node.
// CHECK-LABEL: dyn.entry @walks(
// CHECK: %[[E:.*]] = math.exp %[[P:.*]] : f32
// CHECK-NOT: math
// CHECK: dyn.call @walk(%{{.*}}) captured(%[[P]], %{{.*}}, %[[E]])
dyn.entry @walks(%t: !dyn.node<@Tree>, %p: f32, %q: f32) -> (f32) attributes {arg_names = ["t", "p", "q"], arg_types = [!dyn.node<@Tree>, f32, f32], surface = f32} {
  %r = dyn.call @walk(%t) captured (%p, %q) : (!dyn.node<@Tree>, f32, f32) -> f32
  dyn.return %r : f32
}
// CHECK-LABEL: dyn.cell @walk(
// CHECK-SAME: %[[P:[^:]*]]: f32, %[[Q:[^:]*]]: f32, %[[E:[^:]*]]: f32)
// CHECK: math.cos %[[Q]]
// CHECK: math.tanh %[[P]]
dyn.cell @walk(%t: !dyn.node<@Tree>, %p: f32, %q: f32) -> (f32) attributes {surface = f32, value_count = 2 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %kids = dyn.field %t "kids" : <@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %next = arith.addf %q, %x : f32
  %below = dyn.map (%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%k: !dyn.node<@Tree>):
    %s = dyn.call @walk(%k) captured (%p, %next) : (!dyn.node<@Tree>, f32, f32) -> f32
    dyn.yield %s : f32
  }
  %sum = dyn.reduce_list sum %below : <f32> -> f32
  %more = arith.cmpf ogt, %x, %sum : f32
  %r = dyn.if %more -> (f32) {
    %moves = math.exp %p : f32
    %changes = math.cos %q : f32
    %here = arith.addf %moves, %changes : f32
    %most = arith.cmpf ogt, %x, %here : f32
    %inner = dyn.if %most -> (f32) {
      %stays = math.tanh %p : f32
      dyn.yield %stays : f32
    } else {
      dyn.yield %here : f32
    }
    dyn.yield %inner : f32
  } else {
    dyn.yield %sum : f32
  }
  dyn.return %r : f32
}

// A cell that is not recursive gives what stands in no arm, to each of the calls, and captures no more what nobody else needs.
// CHECK-LABEL: dyn.entry @once(
// CHECK: %[[E:.*]] = math.exp
// CHECK: dyn.call @plain(%{{.*}}) captured(%[[E]]) :
// CHECK: %[[F:.*]] = math.exp
// CHECK: dyn.call @plain(%{{.*}}) captured(%[[F]]) :
dyn.entry @once(%t: !dyn.node<@Tree>, %p: f32, %q: f32) -> (f32) attributes {arg_names = ["t", "p", "q"], arg_types = [!dyn.node<@Tree>, f32, f32], surface = f32} {
  %r = dyn.call @plain(%t) captured (%p) : (!dyn.node<@Tree>, f32) -> f32
  %s = dyn.call @plain(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
  %both = arith.addf %r, %s : f32
  dyn.return %both : f32
}
dyn.cell @plain(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %e = math.exp %p : f32
  %r = arith.addf %x, %e : f32
  dyn.return %r : f32
}

// Called for each element of a list, with what is the same for all of them: then of an arm too. Where it is another one for each,
// the arm may be one that few take.
// CHECK-LABEL: dyn.entry @nodes(
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: dyn.map
// CHECK-NEXT: ^bb0
// CHECK-NEXT: dyn.call @armed(%{{.*}}) captured(%{{.*}}, %[[E]]) :
dyn.entry @nodes(%ts: !dyn.list<!dyn.node<@Tree>>, %p: f32) -> (!dyn.list<f32>) attributes {arg_names = ["ts", "p"], arg_types = [!dyn.list<!dyn.node<@Tree>>, f32], surface = !dyn.list<f32>} {
  %rs = dyn.map (%ts) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%t: !dyn.node<@Tree>):
    %r = dyn.call @armed(%t) captured (%p) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %r : f32
  }
  dyn.return %rs : !dyn.list<f32>
}
dyn.cell @armed(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %more = arith.cmpf ogt, %x, %p : f32
  %r = dyn.if %more -> (f32) {
    %e = math.exp %p : f32
    dyn.yield %e : f32
  } else {
    dyn.yield %x : f32
  }
  dyn.return %r : f32
}
// CHECK-LABEL: dyn.entry @others(
// CHECK-NOT: math
// CHECK: dyn.call @own(
// CHECK-LABEL: dyn.cell @own(
// CHECK: dyn.if
// CHECK: math.exp
dyn.entry @others(%ts: !dyn.list<!dyn.node<@Tree>>) -> (!dyn.list<f32>) attributes {arg_names = ["ts"], arg_types = [!dyn.list<!dyn.node<@Tree>>], surface = !dyn.list<f32>} {
  %rs = dyn.map (%ts) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%t: !dyn.node<@Tree>):
    %p = dyn.field %t "x" : <@Tree> -> f32
    %r = dyn.call @own(%t) captured (%p) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %r : f32
  }
  dyn.return %rs : !dyn.list<f32>
}
dyn.cell @own(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %more = arith.cmpf ogt, %x, %p : f32
  %r = dyn.if %more -> (f32) {
    %e = math.exp %p : f32
    dyn.yield %e : f32
  } else {
    dyn.yield %x : f32
  }
  dyn.return %r : f32
}

// Calls that give the same capture the same, so that they have one table. What is structure stays structure: how long the list is that
// the cell goes through is asked there.
// CHECK-LABEL: dyn.entry @twice(
// CHECK: %[[KEYS:.*]] = dyn.map(%{{.*}})
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: dyn.call @half(%{{.*}}) captured(%[[KEYS]]) :
// CHECK: dyn.map
// CHECK: dyn.call @half(%{{.*}}) captured(%[[KEYS]]) :
// CHECK-LABEL: dyn.cell @half(
// CHECK: dyn.len
// CHECK: dyn.range
dyn.entry @twice(%t: !dyn.node<@Tree>, %ts: !dyn.list<!dyn.node<@Tree>>, %m: !dyn.list<f32>) -> (f32, !dyn.list<f32>) attributes {arg_names = ["t", "ts", "m"], arg_types = [!dyn.node<@Tree>, !dyn.list<!dyn.node<@Tree>>, !dyn.list<f32>], surface = tuple<f32, !dyn.list<f32>>} {
  %r = dyn.call @half(%t) captured (%m) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
  %rs = dyn.map (%ts) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%u: !dyn.node<@Tree>):
    %s = dyn.call @half(%u) captured (%m) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
    dyn.yield %s : f32
  }
  dyn.return %r, %rs : f32, !dyn.list<f32>
}
dyn.cell @half(%t: !dyn.node<@Tree>, %m: !dyn.list<f32>) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %zero = arith.constant 0 : i32
  %keys = dyn.map (%m) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%y: f32):
    %key = math.tanh %y : f32
    dyn.yield %key : f32
  }
  %length = dyn.len %keys : <f32>
  %range = dyn.range %zero to %length : <i32>
  %parts = dyn.map (%range, %keys) : (!dyn.list<i32>, !dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%i: i32, %key: f32):
    %part = arith.mulf %key, %x : f32
    dyn.yield %part : f32
  }
  %all = dyn.reduce_list sum %parts : <f32> -> f32
  dyn.return %all : f32
}

// A cell that another cell calls keeps what it does.
// CHECK-LABEL: dyn.cell @calls(
// CHECK-NOT: math.exp
// CHECK: dyn.call @called(
// CHECK-LABEL: dyn.cell @called(
// CHECK: math.exp
dyn.entry @around(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {arg_names = ["t", "p"], arg_types = [!dyn.node<@Tree>, f32], surface = f32} {
  %r = dyn.call @calls(%t) captured (%p) : (!dyn.node<@Tree>, f32) -> f32
  dyn.return %r : f32
}
dyn.cell @calls(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %q = arith.addf %p, %x : f32
  %s = dyn.call @called(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
  dyn.return %s : f32
}
dyn.cell @called(%t: !dyn.node<@Tree>, %p: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %e = math.exp %p : f32
  %r = arith.addf %x, %e : f32
  dyn.return %r : f32
}

// What may fail an input stays: there may be no instance.
// CHECK-LABEL: dyn.cell @fails(
// CHECK: dyn.reduce_list max
dyn.entry @failing(%t: !dyn.node<@Tree>, %m: !dyn.list<f32>) -> (f32) attributes {arg_names = ["t", "m"], arg_types = [!dyn.node<@Tree>, !dyn.list<f32>], surface = f32} {
  %r = dyn.call @fails(%t) captured (%m) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
  dyn.return %r : f32
}
dyn.cell @fails(%t: !dyn.node<@Tree>, %m: !dyn.list<f32>) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %e = dyn.reduce_list max %m : <f32> -> f32
  %r = arith.addf %x, %e : f32
  dyn.return %r : f32
}
