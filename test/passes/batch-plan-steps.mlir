// RUN: dbc-opt %s --dyn-to-batch --canonicalize --batch-partition --batch-order-stages --batch-assign-levels --batch-fuse --batch-classify-accesses --batch-plan-steps | FileCheck %s
//
// Of a recursion over an integer that each call lowers by one, the state is kept for two levels and messages for one. The
// instances of a level are those of one value of the key. What sets the state of step 0 runs in the loop.

// CHECK-LABEL: kernel.program @last
// CHECK: kernel.index_set arm @state.then in @state ["parent", "node"] by_time_step
// CHECK: kernel.buffer @state.value over @state : f32 live 2
// CHECK: kernel.group @[[GROUP:.*]] ["state"] of [@Cell] {{.*}} level_key 0
// CHECK: kernel.buffer @[[MESSAGE:.*]] over @state.else.map : f32 live 1
// CHECK: kernel.time_steps @state.then
// CHECK: kernel.levels @[[GROUP]] {
// CHECK-NEXT: batch.stage @{{.*}} over @state.then
// CHECK: batch.stage @{{.*}} over @state.else.map
// CHECK-NEXT: batch.gather @state.value via @{{.*}} carried @[[GROUP]] ago 1
// CHECK: batch.write %{{.*}}, @[[MESSAGE]]
// CHECK: batch.gather @state.value via {{.*}} carried @[[GROUP]] ago 1
// The entry reads the last level.
// CHECK: batch.stage @{{.*}} over @input
// CHECK-NEXT: batch.gather @state.value via @{{[^ ]*}} :
dyn.data @Cell { dyn.ctor "Cell" ["x", "near"] [f32, !dyn.list<!dyn.node<@Cell>>] }
dyn.cell @state(%v: !dyn.node<@Cell>, %t: i32) -> (f32) attributes {surface = f32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = arith.cmpi eq, %t, %zero : i32
  %r = dyn.if %first -> (f32) {
    %x = dyn.field %v "x" : <@Cell> -> f32
    dyn.yield %x : f32
  } else {
    %before = dyn.int sub %t, %one : i32
    %s = dyn.call @state(%v, %before) : (!dyn.node<@Cell>, i32) -> f32
    %near = dyn.field %v "near" : <@Cell> -> !dyn.list<!dyn.node<@Cell>>
    %m = dyn.map (%near) : (!dyn.list<!dyn.node<@Cell>>) -> (!dyn.list<f32>) { ^bb0(%u: !dyn.node<@Cell>):
      %us = dyn.call @state(%u, %before) : (!dyn.node<@Cell>, i32) -> f32
      %e = math.exp %us : f32
      dyn.yield %e : f32
    }
    %sum = dyn.reduce_list sum %m : !dyn.list<f32> -> f32
    %y = arith.addf %s, %sum : f32
    dyn.yield %y : f32
  }
  dyn.return %r : f32
} range { ^bb0(%v: !dyn.node<@Cell>):
  %low = arith.constant 0 : i32
  %high = arith.constant 9 : i32
  dyn.yield %low, %high : i32, i32
}
dyn.entry @last(%v: !dyn.node<@Cell>) -> (f32) attributes {arg_names = ["v"], arg_types = [!dyn.node<@Cell>], surface = f32} {
  %eight = arith.constant 8 : i32
  %s = dyn.call @state(%v, %eight) : (!dyn.node<@Cell>, i32) -> f32
  %y = math.exp %s : f32
  dyn.return %y : f32
}
