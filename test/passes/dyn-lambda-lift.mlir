// RUN: dbc-opt %s --dyn-lambda-lift | FileCheck %s
// A captured argument is computed by a cell of its own, whose keys say for which call.

dyn.data @Tree {
  dyn.ctor "Tree" ["x", "kids"] [f32, !dyn.list<!dyn.node<@Tree>>]
}

// From an entry: the cell has no key, so it is computed once for each input; the entry reads it there, too.
// CHECK-LABEL: dyn.entry @asked(
// CHECK: %[[Q:.*]] = dyn.call @asked.score.captured() : () -> f32
// CHECK: %[[S:.*]] = dyn.call @score(%arg0) : (!dyn.node<@Tree>) -> f32
// CHECK: arith.addf %[[S]], %[[Q]]
dyn.entry @asked(%t: !dyn.node<@Tree>, %x: f32) -> (f32) attributes {arg_names = ["t", "x"], arg_types = [!dyn.node<@Tree>, f32], surface = f32} {
  %q = math.exp %x : f32
  %s = dyn.call @score(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
  %r = arith.addf %s, %q : f32
  dyn.return %r : f32
}

// In a binder: the position is a key, of the recursion, too.
// CHECK-LABEL: dyn.entry @each(
// CHECK: dyn.map
// CHECK: ^bb0(%{{.*}}: f32, %[[P:.*]]: i32):
// CHECK: dyn.call @score.2(%arg0, %[[P]]) : (!dyn.node<@Tree>, i32) -> f32
dyn.entry @each(%t: !dyn.node<@Tree>, %xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["t", "xs"], arg_types = [!dyn.node<@Tree>, !dyn.list<f32>], surface = !dyn.list<f32>} {
  %ss = dyn.map (%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %q = math.exp %x : f32
    %s = dyn.call @score(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %s : f32
  }
  dyn.return %ss : !dyn.list<f32>
}

// A value that changes: each instance asks by which relation it is called, the one from outside among them.
// CHECK-LABEL: dyn.entry @lead(
// CHECK: dyn.call @down(%arg0) from @rel.lead.down()
dyn.entry @lead(%t: !dyn.node<@Tree>, %x: f32) -> (f32) attributes {arg_names = ["t", "x"], arg_types = [!dyn.node<@Tree>, f32], surface = f32} {
  %s = dyn.call @down(%t) captured (%x) : (!dyn.node<@Tree>, f32) -> f32
  dyn.return %s : f32
}

// What the binder does not change is computed once, by a cell of its own that the entry reads, too.
// CHECK-LABEL: dyn.entry @shared(
// CHECK: %[[Z:.*]] = dyn.call @shared.value() : () -> f32
// CHECK: dyn.map
// CHECK: arith.mulf %{{.*}}, %[[Z]]
dyn.entry @shared(%t: !dyn.node<@Tree>, %xs: !dyn.list<f32>, %y: f32) -> (!dyn.list<f32>) attributes {arg_names = ["t", "xs", "y"], arg_types = [!dyn.node<@Tree>, !dyn.list<f32>, f32], surface = !dyn.list<f32>} {
  %z = math.exp %y : f32
  %ss = dyn.map (%xs) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%x: f32):
    %q = arith.mulf %x, %z : f32
    %s = dyn.call @score(%t) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %s : f32
  }
  dyn.return %ss : !dyn.list<f32>
}

// A list of what the recursion around it gives: a cell of its elements, since cells of recursions give no lists.
// CHECK-LABEL: dyn.cell @up(
// CHECK: %[[BELOW:.*]] = dyn.call @up.total.captured.element(%arg0, %{{[^)]*}})
// CHECK: dyn.call @total(%arg0, %arg0) : (!dyn.node<@Tree>, !dyn.node<@Tree>) -> f32
dyn.entry @listed(%t: !dyn.node<@Tree>) -> (f32) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], surface = f32} {
  %r = dyn.call @up(%t) : (!dyn.node<@Tree>) -> f32
  dyn.return %r : f32
}
dyn.cell @up(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %kids = dyn.field %t "kids" : <@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %below = dyn.map (%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%k: !dyn.node<@Tree>):
    %s = dyn.call @up(%k) : (!dyn.node<@Tree>) -> f32
    dyn.yield %s : f32
  }
  %r = dyn.call @total(%t) captured (%below) : (!dyn.node<@Tree>, !dyn.list<f32>) -> f32
  dyn.return %r : f32
}
dyn.cell @total(%t: !dyn.node<@Tree>, %xs: !dyn.list<f32>) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %s = dyn.reduce_list sum %xs : <f32> -> f32
  dyn.return %s : f32
}

dyn.cell @score(%t: !dyn.node<@Tree>, %q: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %kids = dyn.field %t "kids" : <@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %below = dyn.map (%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%k: !dyn.node<@Tree>):
    %s = dyn.call @score(%k) captured (%q) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %s : f32
  }
  %sum = dyn.reduce_list sum %below : <f32> -> f32
  %y = arith.mulf %x, %q : f32
  %r = arith.addf %y, %sum : f32
  dyn.return %r : f32
}

dyn.cell @down(%t: !dyn.node<@Tree>, %above: f32) -> (f32) attributes {surface = f32, value_count = 1 : i32} {
  %x = dyn.field %t "x" : <@Tree> -> f32
  %kids = dyn.field %t "kids" : <@Tree> -> !dyn.list<!dyn.node<@Tree>>
  %next = math.tanh %above : f32
  %below = dyn.map (%kids) : (!dyn.list<!dyn.node<@Tree>>) -> !dyn.list<f32> {
  ^bb0(%k: !dyn.node<@Tree>):
    %s = dyn.call @down(%k) captured (%next) : (!dyn.node<@Tree>, f32) -> f32
    dyn.yield %s : f32
  }
  %sum = dyn.reduce_list sum %below : <f32> -> f32
  %r = arith.addf %x, %sum : f32
  dyn.return %r : f32
}

// CHECK-LABEL: dyn.cell @score(%arg0: !dyn.node<@Tree>) -> (f32)
// CHECK: dyn.call @asked.score.captured()
// CHECK: dyn.map
// CHECK: dyn.call @score(%{{.*}}) : (!dyn.node<@Tree>) -> f32
// CHECK-LABEL: dyn.cell @asked.score.captured() -> (f32)
// CHECK: dyn.argument 1 : f32
// CHECK: math.exp
// CHECK-LABEL: dyn.cell @score.2(%arg0: !dyn.node<@Tree>, %arg1: i32) -> (f32)
// CHECK-SAME: frame = array<i64: 1, 1>
// CHECK-SAME: source_name = "score"
// CHECK: dyn.call @each.score.captured(%arg1) : (i32) -> f32
// CHECK: } range {
// CHECK: dyn.argument 1 : !dyn.list<f32>
// CHECK: dyn.len
// CHECK-LABEL: dyn.cell @each.score.captured(%arg0: i32) -> (f32)
// CHECK: dyn.at %{{.*}}[%arg0]
// CHECK: math.exp

// The call inside: its relation, and as what that keeps the caller's keys and where in the list it stands.
// CHECK-DAG: dyn.relation @rel.lead.down : @lead -> @down keeps 0
// CHECK-DAG: dyn.relation @rel.down.down : @down -> @down keeps 2
// CHECK-LABEL: dyn.cell @down(%arg0: !dyn.node<@Tree>) -> (f32)
// CHECK: dyn.call @down.captured(%arg0)
// CHECK: dyn.map
// CHECK: ^bb0(%{{.*}}: !dyn.node<@Tree>, %[[P:.*]]: i32):
// CHECK: dyn.call @down(%{{.*}}) from @rel.down.down(%arg0, %[[P]])
// CHECK-LABEL: dyn.cell @down.captured(%arg0: !dyn.node<@Tree>) -> (f32)
// CHECK: dyn.called_by @rel.lead.down(%arg0)
// CHECK: dyn.if
// CHECK: dyn.argument 1 : f32
// CHECK: } else {
// CHECK: %[[FROM:.*]] = dyn.caller @rel.down.down(%arg0) :
// CHECK: dyn.call @down.gives(%[[FROM]]) :
// CHECK-LABEL: dyn.cell @down.gives(%arg0: !dyn.node<@Tree>) -> (f32)
// CHECK: math.tanh
// CHECK-LABEL: dyn.cell @shared.score.captured(%arg0: i32) -> (f32)
// CHECK: dyn.call @shared.value() : () -> f32
// CHECK-LABEL: dyn.cell @total(%arg0: !dyn.node<@Tree>, %arg1: !dyn.node<@Tree>) -> (f32)
// CHECK: dyn.map
// CHECK: dyn.call @up.total.captured.element(%arg1, %{{.*}})
// CHECK-LABEL: dyn.cell @up.total.captured.element(%arg0: !dyn.node<@Tree>, %arg1: i32) -> (f32)
// CHECK: dyn.at %{{.*}}[%arg1]
// CHECK: dyn.call @up(
