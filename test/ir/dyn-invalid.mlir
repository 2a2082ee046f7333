// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `dyn` dialect refuses.

// A data type has constructors.
// expected-error @+1 {{'dyn.data' op holds arith.constant, which is no constructor}}
dyn.data @Tree {
  %c = arith.constant 0 : i32
}

// -----

// They are told apart by their names.
// expected-error @+1 {{'dyn.data' op has constructor "Leaf" twice}}
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
  dyn.ctor "Leaf" ["x"] [f32]
}

// -----

// Each field has a type.
dyn.data @Tree {
  // expected-error @+1 {{'dyn.ctor' op has 2 fields and 1 types}}
  dyn.ctor "Tree" ["x", "y"] [f32]
}

// -----

// Fields are told apart by their names.
dyn.data @Tree {
  // expected-error @+1 {{'dyn.ctor' op has field "x" twice}}
  dyn.ctor "Tree" ["x", "x"] [f32, i32]
}

// -----

// A field's node is of a data type that there is, at any depth.
dyn.data @Tree {
  // expected-error @+1 {{'dyn.ctor' op names no data type @Leaf}}
  dyn.ctor "Tree" ["kids"] [!dyn.list<!dyn.node<@Leaf>>]
}

// -----

// A parameter is a number.
// expected-error @+1 {{'dyn.param' op attribute 'type' failed to satisfy constraint: type attribute of f32, i32 or i1, or a statically shaped tensor of one of them}}
dyn.param @W : tensor<?xf32>

// -----

// A const is loaded.
// expected-error @+1 {{'dyn.param' op is a const, which nothing initialises}}
dyn.param const @W : tensor<4xf32> = <constant, 0.0, 0.0>

// -----

// A cell's results are those of its surface type.
// expected-error @+1 {{'dyn.cell' op has results that are not those of its surface type 'f32'}}
dyn.cell @c() -> (i32) attributes {surface = f32} {
  %c = arith.constant 0 : i32
  dyn.return %c : i32
}

// -----

// A cell gives something.
// expected-error @+1 {{'dyn.cell' op does not end in dyn.return}}
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.yield %c : f32
}

// -----

// It gives its results.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0 : i32
  // expected-error @+1 {{'dyn.return' op gives types that are not the results of @c}}
  dyn.return %c : i32
}

// -----

// Values are arguments.
// expected-error @+1 {{'dyn.cell' op has fewer arguments than values}}
dyn.cell @c(%x: f32) -> (f32) attributes {surface = f32, value_count = 2 : i32} {
  dyn.return %x : f32
}

// -----

// Keys are nodes and integers.
// expected-error @+1 {{'dyn.cell' op has a key of type 'f32', neither node nor integer}}
dyn.cell @c(%x: f32) -> (f32) attributes {surface = f32} {
  dyn.return %x : f32
}

// -----

// A key that is a number has a range.
// expected-error @+1 {{'dyn.cell' op has a key without range}}
dyn.cell @c(%i: i32) -> (i32) attributes {surface = i32} {
  dyn.return %i : i32
}

// -----

// It has the keys before for arguments, and yields two bounds.
// expected-error @+1 {{'dyn.cell' op has a range that does not give two numbers for the keys before it}}
dyn.cell @c(%i: i32) -> (i32) attributes {surface = i32} {
  dyn.return %i : i32
} range {
  %c = arith.constant 0 : i32
  dyn.yield %c : i32
}

// -----

// Each range is a key's.
// expected-error @+1 {{'dyn.cell' op has more ranges than keys that are numbers}}
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
} range {
  %c = arith.constant 0 : i32
  dyn.yield %c, %c : i32, i32
}

// -----

// A frame is some of the keys.
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
// expected-error @+1 {{'dyn.cell' op has a frame that is no part of its keys}}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {frame = array<i64: 1, 1>, surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}

// -----

// A cell's node is of a data type that there is.
// expected-error @+1 {{'dyn.cell' op names no data type @Tree}}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}

// -----

// So is what an entry gives.
// expected-error @+1 {{'dyn.entry' op names no data type @Tree}}
dyn.entry @e() -> (!dyn.list<!dyn.node<@Tree>>) attributes {arg_names = [], arg_types = [], surface = !dyn.list<!dyn.node<@Tree>>} {
  %none = dyn.empty : !dyn.list<!dyn.node<@Tree>>
  dyn.return %none : !dyn.list<!dyn.node<@Tree>>
}

// -----

// What is no data type does not count.
dyn.param @Tree : f32
// expected-error @+1 {{'dyn.empty' op names no data type @Tree}}
%none = dyn.empty : !dyn.list<!dyn.node<@Tree>>

// -----

// An entry's arguments have names.
// expected-error @+1 {{'dyn.entry' op has 0 argument names and 1 types}}
dyn.entry @e(%x: f32) -> (f32) attributes {arg_names = [], arg_types = [f32], surface = f32} {
  dyn.return %x : f32
}

// -----

// They are the flat ones.
// expected-error @+1 {{'dyn.entry' op has arguments that are not those of its surface types}}
dyn.entry @e(%x: f32) -> (f32) attributes {arg_names = ["i"], arg_types = [!dyn.index<3>], surface = f32} {
  dyn.return %x : f32
}

// -----

// A loss gives its number first (manual, G3).
// expected-error @+1 {{'dyn.entry' op is a loss, but gives no f32 first}}
dyn.entry @e(%i: i32) -> (i32) attributes {arg_names = ["i"], arg_types = [i32], loss, surface = i32} {
  dyn.return %i : i32
}

// -----

// What a cell reads of the entry that needs it is there.
dyn.cell @inner() -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.argument' op names no argument of @e of type 'f32'}}
  %x = dyn.argument 1 : f32
  dyn.return %x : f32
}
dyn.cell @outer() -> (f32) attributes {surface = f32} {
  %x = dyn.call @inner() : () -> f32
  dyn.return %x : f32
}
dyn.entry @e(%x: f32) -> (f32) attributes {arg_names = ["x"], arg_types = [f32], surface = f32} {
  %y = dyn.call @outer() : () -> f32
  dyn.return %y : f32
}

// -----

// It has the argument's type.
dyn.cell @c() -> (i32) attributes {surface = i32} {
  // expected-error @+1 {{'dyn.argument' op names no argument of @e of type 'i32'}}
  %x = dyn.argument 0 : i32
  dyn.return %x : i32
}
dyn.entry @e(%x: f32) -> (i32) attributes {arg_names = ["x"], arg_types = [f32], surface = i32} {
  %y = dyn.call @c() : () -> i32
  dyn.return %y : i32
}

// -----

// A value is yielded to an operation of this dialect.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'dyn.yield' op expects parent op to be one of 'dyn.cell, dyn.match, dyn.if, dyn.map, dyn.filter, dyn.scan, dyn.fold'}}
    dyn.yield
  }
}

// -----

// A field is read of a constructor that there is.
dyn.data @Tree {
  dyn.ctor "Leaf" ["x"] [f32]
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.field' op names no constructor "Node" of @Tree}}
  %x = dyn.field %t "x" of "Node" : <@Tree> -> f32
  dyn.return %x : f32
}

// -----

// Without a constructor all have it.
dyn.data @Tree {
  dyn.ctor "Leaf" ["x"] [f32]
  dyn.ctor "Node" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.field' op reads 'f32' from field "x", which Node does not have}}
  %x = dyn.field %t "x" : <@Tree> -> f32
  dyn.return %x : f32
}

// -----

// It has the field's type.
dyn.data @Tree {
  dyn.ctor "Leaf" ["x"] [i32]
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.field' op reads 'f32' from field "x", which Leaf does not have}}
  %x = dyn.field %t "x" of "Leaf" : <@Tree> -> f32
  dyn.return %x : f32
}

// -----

// What is called is a cell.
dyn.param @c : f32
// expected-error @+1 {{'dyn.call' op calls @c, which is no cell}}
%x = dyn.call @c() : () -> f32

// -----

// A call gives what the cell gives.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.call' op does not have the type of @c}}
%x = dyn.call @c() : () -> i32

// -----

// Instances of every node have nodes for keys.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.call' op is of every node, but @c has none for its first key}}
%x = dyn.call every @c() : () -> !dyn.list<i32>

// -----

// An origin is kept by a relation.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
%i = arith.constant 0 : i32
// expected-error @+1 {{'dyn.call' op has an origin, but no relation}}
%x = "dyn.call"(%i) {callee = @c, operandSegmentSizes = array<i32: 0, 0, 1>} : (i32) -> f32

// -----

// An origin is kept as integers.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @c keeps 1
%y = arith.constant 0.0 : f32
// expected-error @+1 {{'dyn.call' op operand #0 must be variadic of node or 32-bit signless integer or 1-bit signless integer, but got 'f32'}}
%x = dyn.call @c() from @r (%y) : (f32) -> f32

// -----

// A call is an edge of a relation.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.call' op is from @c, which is no relation to @c}}
%x = dyn.call @c() from @c() : () -> f32

// -----

// The relation leads to the callee.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
dyn.cell @d(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @d keeps 0
// expected-error @+1 {{'dyn.call' op is from @r, which is no relation to @c}}
%x = dyn.call @c() from @r() : () -> f32

// -----

// All that the relation keeps is there.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @c keeps 1
// expected-error @+1 {{'dyn.call' op does not have the origin that @r keeps}}
%x = dyn.call @c() from @r() : () -> f32

// -----

// A relation leads to instances of a cell.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.param @p : f32
// expected-error @+1 {{'dyn.relation' op leads to @p, which is no cell}}
dyn.relation @r : @c -> @p keeps 0

// -----

// It comes from a function.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.param @p : f32
// expected-error @+1 {{'dyn.relation' op is from @p, which is no cell and no entry}}
dyn.relation @r : @p -> @c keeps 0

// -----

// What it keeps are the caller's keys, all of them.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
dyn.cell @d(%t: !dyn.node<@Tree>, %u: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.relation' op keeps 1 values, which are not the keys of @d}}
dyn.relation @r : @d -> @c keeps 1

// -----

// A number of values is none below 0.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.relation' op attribute 'keeps' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
dyn.relation @r : @c -> @c keeps -1

// -----

// A relation is asked who calls.
dyn.param @c : f32
%i = arith.constant 0 : i32
// expected-error @+1 {{'dyn.called_by' op names @c, which is no relation}}
%s = dyn.called_by @c(%i) : i32

// -----

// An instance is named by its keys.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @c keeps 0
%i = arith.constant 0 : i32
// expected-error @+1 {{'dyn.called_by' op does not have the keys of @c}}
%s = dyn.called_by @r(%i) : i32

// -----

// So is that whose caller is asked for.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
// expected-error @+1 {{'dyn.caller' op names @c, which is no relation}}
%i = dyn.caller @c() : () -> i32

// -----

// No more is known of it than is kept.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @c keeps 1
// expected-error @+1 {{'dyn.caller' op gives 2 values, but @r keeps 1}}
%i:2 = dyn.caller @r() : () -> (i32, i32)

// -----

// The caller's keys come first.
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
dyn.cell @d(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @d -> @c keeps 1
// expected-error @+1 {{'dyn.caller' op gives 'i32' for value 0 of an origin in @d}}
%i = dyn.caller @r() : () -> i32

// -----

// Then come positions.
dyn.cell @c() -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}
dyn.relation @r : @c -> @c keeps 1
// expected-error @+1 {{'dyn.caller' op gives 'f32' for value 0 of an origin in @c}}
%i = dyn.caller @r() : () -> f32

// -----

// A match has an arm.
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.match' op has not one region a constructor}}
  %x = dyn.match %t : !dyn.node<@Tree> -> (f32)
  dyn.return %x : f32
}

// -----

// An arm gives the match's results.
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %x = dyn.match %t : !dyn.node<@Tree> -> (f32) of "Leaf" {
    %c = arith.constant 0 : i32
    // expected-error @+1 {{'dyn.yield' op gives types that the op around it does not have}}
    dyn.yield %c : i32
  }
  dyn.return %x : f32
}

// -----

// Arms are of constructors.
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{'dyn.match' op names "Node", which is no constructor or stands twice}}
  %x = dyn.match %t : !dyn.node<@Tree> -> (f32) of "Node" {
    dyn.yield %c : f32
  }
  dyn.return %x : f32
}

// -----

// What stands for all others is the last.
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{'dyn.match' op names "_", which is no constructor or stands twice}}
  %x = dyn.match %t : !dyn.node<@Tree> -> (f32) of "_" {
    dyn.yield %c : f32
  } of "_" {
    dyn.yield %c : f32
  }
  dyn.return %x : f32
}

// -----

// A match is exhaustive.
dyn.data @Tree {
  dyn.ctor "Leaf" [] []
  dyn.ctor "Node" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{'dyn.match' op does not cover Node}}
  %x = dyn.match %t : !dyn.node<@Tree> -> (f32) of "Leaf" {
    dyn.yield %c : f32
  }
  dyn.return %x : f32
}

// -----

// Both arms give something.
%t = arith.constant true
// expected-error @+1 {{'dyn.if' op has a region that does not end in dyn.yield}}
%x = dyn.if %t -> (f32) {
  %c = arith.constant 0.0 : f32
  dyn.yield %c : f32
} else {
  %c = arith.constant 0.0 : f32
  kernel.yield
}

// -----

// Nodes are of one type.
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>) -> (f32) attributes {surface = f32} {
  // expected-error @+1 {{'dyn.nodes' op failed to verify that the result is a list of the node's type}}
  %all = dyn.nodes %t : <@Tree> -> <i32>
  %c = arith.constant 0.0 : f32
  dyn.return %c : f32
}

// -----

// Nodes of two types are never the same.
dyn.data @Tree {
  dyn.ctor "Tree" [] []
}
dyn.data @Leaf {
  dyn.ctor "Leaf" [] []
}
dyn.cell @c(%t: !dyn.node<@Tree>, %l: !dyn.node<@Leaf>) -> (i1) attributes {surface = i1} {
  // expected-error @+1 {{'dyn.same' op requires all operands to have the same type}}
  %same = dyn.same %t, %l : <@Tree>, <@Leaf>
  dyn.return %same : i1
}

// -----

// Integers are computed with.
%x = arith.constant 0.0 : f32
// expected-error @+1 {{'dyn.int' op operand #0 must be i32, or a statically shaped tensor of it, but got 'f32'}}
%y = dyn.int add %x, %x : f32

// -----

// Integers are narrowed.
%x = arith.constant true
// expected-error @+1 {{'dyn.narrow' op operand #0 must be i32, or a statically shaped tensor of it, but got 'i1'}}
%y = dyn.narrow %x below 2 : i1

// -----

// Some integer is below the bound.
%x = arith.constant 0 : i32
// expected-error @+1 {{'dyn.narrow' op attribute 'bound' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
%y = dyn.narrow %x below 0 : i32

// -----

// A range is a list of integers.
%x = arith.constant 0 : i32
// expected-error @+1 {{'dyn.range' op result #0 must be list of 32-bit signless integer, but got '!dyn.list<f32>'}}
%y = dyn.range %x to %x : !dyn.list<f32>

// -----

// The empty list is one of nodes: others are maps.
// expected-error @+1 {{'dyn.empty' op result #0 must be list of node, but got '!dyn.list<f32>'}}
%y = dyn.empty : !dyn.list<f32>

// -----

// A zip gives the same lists.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.zip' op gives other lists than it takes}}
%ys:2 = dyn.zip %xs : (!dyn.list<i32>) -> (!dyn.list<i32>, !dyn.list<i32>)

// -----

// A slice is a list of the same elements.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.slice' op failed to verify that all of {list, result} have same type}}
%ys = dyn.slice %xs from %x to %x : <i32> -> <f32>

// -----

// An element has the elements' type.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.at' op failed to verify that the result is an element of the list}}
%y = dyn.at %xs[%x] : <i32> -> f32

// -----

// A map's arguments are the elements.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.map' op has arguments that are not the elements of its lists}}
%ys = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
^bb0(%e: f32):
  dyn.yield %e : f32
}

// -----

// It yields the elements of its results.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
%ys = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
^bb0(%e: i32):
  // expected-error @+1 {{'dyn.yield' op gives types that the op around it does not have}}
  dyn.yield %e : i32
}

// -----

// A filter gives some of the same elements.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.filter' op gives other lists than it takes}}
%ys = dyn.filter(%xs) : (!dyn.list<i32>) -> !dyn.list<f32> {
^bb0(%e: i32):
  %stays = arith.constant true
  dyn.yield %stays : i1
}

// -----

// Its arguments are the elements.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.filter' op has arguments that are not the elements of its lists}}
%ys = dyn.filter(%xs) : (!dyn.list<i32>) -> !dyn.list<i32> {
^bb0(%e: f32):
  %stays = arith.constant true
  dyn.yield %stays : i1
}

// -----

// A scan gives its states.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.scan' op gives other types than its states}}
%ys = dyn.scan(%xs) from(%x) : (!dyn.list<i32>), (i32) -> (!dyn.list<f32>) {
^bb0(%e: i32, %s: i32):
  dyn.yield %s : i32
}

// -----

// A list in its state keeps its length, so nothing ends it.
%x = arith.constant 0 : i32
%t = arith.constant true
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.scan' op stops, but has a list in its state}}
%ys:2 = dyn.scan stops(%xs) from(%xs, %t) : (!dyn.list<i32>), (!dyn.list<i32>, i1) -> (!dyn.list<!dyn.list<i32>>, !dyn.list<i1>) {
^bb0(%e: i32, %s: !dyn.list<i32>, %go: i1):
  dyn.yield %s, %go : !dyn.list<i32>, i1
}

// -----

// A fold gives its last state.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.fold' op gives other types than its states}}
%y = dyn.fold(%xs) from(%x) : (!dyn.list<i32>), (i32) -> (f32) {
^bb0(%e: i32, %s: i32):
  dyn.yield %s : i32
}

// -----

// Its arguments are the elements and the states.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.fold' op has arguments that are not the elements of its lists and its states}}
%y = dyn.fold(%xs) from(%x) : (!dyn.list<i32>), (i32) -> (i32) {
^bb0(%s: i32):
  dyn.yield %s : i32
}

// -----

// Where a fold stops its last state says whether there is a further step.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.fold' op stops, but its last state is no i1}}
%y = dyn.fold stops(%xs) from(%x) : (!dyn.list<i32>), (i32) -> (i32) {
^bb0(%e: i32, %s: i32):
  dyn.yield %s : i32
}

// -----

// A mean is one of real numbers.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.reduce_list' op knows no mean of '!dyn.list<i32>'}}
%y = dyn.reduce_list mean %xs : <i32> -> i32

// -----

// A position is one of scalars.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
%ys = dyn.map(%xs) : (!dyn.list<i32>) -> !dyn.list<tensor<2xf32>> {
^bb0(%e: i32):
  %c = arith.constant dense<0.0> : tensor<2xf32>
  dyn.yield %c : tensor<2xf32>
}
// expected-error @+1 {{'dyn.reduce_list' op knows no argmax of '!dyn.list<tensor<2xf32>>'}}
%y = dyn.reduce_list argmax %ys : <tensor<2xf32>> -> i32

// -----

// A sum has the elements' type.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.reduce_list' op gives 'f32', not the reduction of '!dyn.list<i32>'}}
%y = dyn.reduce_list sum %xs : <i32> -> f32

// -----

// Weights are real numbers.
%x = arith.constant 0 : i32
%xs = dyn.range %x to %x : !dyn.list<i32>
// expected-error @+1 {{'dyn.softmax_list' op operand #0 must be list of f32, or a statically shaped tensor of it, but got '!dyn.list<i32>'}}
%y = dyn.softmax_list %xs : <i32>

// -----

// A parameter has its type.
dyn.param @W : tensor<4xf32>
// expected-error @+1 {{'dyn.get' op names no parameter @W of type 'tensor<3xf32>'}}
%y = dyn.get @W : tensor<3xf32>

// -----

// Rows are gathered from a tensor.
%x = arith.constant 0 : i32
// expected-error @+1 {{'dyn.gather' op takes a tensor and i32 indices}}
%y = dyn.gather %x[%x] : i32, i32 -> i32

// -----

// A row gathered has the other axes.
%W = arith.constant dense<0.0> : tensor<4x3xf32>
%x = arith.constant 0 : i32
// expected-error @+1 {{'dyn.gather' op gives 'tensor<4xf32>', not the rows gathered}}
%y = dyn.gather %W[%x] : tensor<4x3xf32>, i32 -> tensor<4xf32>

// -----

// Functions are those of real numbers.
%x = arith.constant 0 : i32
// expected-error @+1 {{'dyn.function' op operand #0 must be f32, or a statically shaped tensor of it, but got 'i32'}}
%y = dyn.function relu %x : i32

// -----

// Axes of extent 1 are stretched.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.broadcast' op does not stretch 'tensor<2xf32>' to 'tensor<4xf32>'}}
%y = dyn.broadcast %x : tensor<2xf32> -> tensor<4xf32>

// -----

// A transpose has the axes in reverse order.
%x = arith.constant dense<0.0> : tensor<2x3xf32>
// expected-error @+1 {{'dyn.transpose' op gives 'tensor<2x3xf32>', not the transpose}}
%y = dyn.transpose %x : tensor<2x3xf32> -> tensor<2x3xf32>

// -----

// A window stays in the picture and its padding.
%x = arith.constant dense<0.0> : tensor<1x3x3xf32>
// expected-error @+1 {{'dyn.patches' op does not give 'tensor<1x2x2x3x3xf32>' of 'tensor<1x3x3xf32>'}}
%y = dyn.patches %x stride [1, 1] padding [0, 0] : tensor<1x3x3xf32> -> tensor<1x2x2x3x3xf32>

// -----

// Nor does its transpose take what the windows cannot have seen.
%x = arith.constant dense<0.0> : tensor<1x2x2x3x3xf32>
// expected-error @+1 {{'dyn.sum_patches' op does not give 'tensor<1x3x3xf32>' of 'tensor<1x2x2x3x3xf32>'}}
%y = dyn.sum_patches %x stride [1, 1] padding [0, 0] : tensor<1x2x2x3x3xf32> -> tensor<1x3x3xf32>

// -----

// A tensor is reduced along one of its axes.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.reduce' op has no axis 1}}
%y = dyn.reduce sum %x axis 1 : tensor<2xf32> -> f32

// -----

// None stands before the first.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.reduce' op has no axis -1}}
%y = dyn.reduce sum %x axis -1 : tensor<2xf32> -> f32

// -----

// What is true of all is one of truths.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.reduce' op knows no all of 'tensor<2xf32>'}}
%y = dyn.reduce all %x : tensor<2xf32> -> f32

// -----

// The axis is dropped.
%x = arith.constant dense<0.0> : tensor<2x3xf32>
// expected-error @+1 {{'dyn.reduce' op gives 'tensor<2xf32>', not the reduction of 'tensor<2x3xf32>'}}
%y = dyn.reduce sum %x axis 0 : tensor<2x3xf32> -> tensor<2xf32>

// -----

// No more elements than there are have a position.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.topk' op gives 'tensor<3xi32>', not positions in 'tensor<2xf32>'}}
%y = dyn.topk %x : tensor<2xf32> -> tensor<3xi32>

// -----

// Positions are integers.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.topk' op result #0 must be statically shaped tensor of 32-bit signless integer values, but got 'tensor<2xf32>'}}
%y = dyn.topk %x : tensor<2xf32> -> tensor<2xf32>

// -----

// A softmax is one along an axis.
%x = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{'dyn.softmax' op has no axis 1}}
%y = dyn.softmax %x axis 1 : tensor<2xf32>

// -----

// Its weights are real numbers.
%x = arith.constant dense<0> : tensor<2xi32>
// expected-error @+1 {{'dyn.softmax' op operand #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<2xi32>'}}
%y = dyn.softmax %x axis 0 : tensor<2xi32>

// -----

// Not all is dropped: the others are divided by 1 - rate.
%x = arith.constant 1.0 : f32
// expected-error @+1 {{'dyn.dropout' op drops a share of 1.000000e+00, which must be at least 0 and below 1}}
%y = dyn.dropout %x rate 1.0 place 1 : f32

// -----

// A mask is that of the run or of an input, not both.
%x = arith.constant 1.0 : f32
%i = arith.constant 0 : i32
// expected-error @+1 {{'dyn.dropout' op has an input, but its mask is that of the run}}
%y = dyn.dropout %x rate 0.5 place 1 of_run input %i : f32

// -----

// Dims are a module's, and integers.
// expected-error @+1 {{has "dyn.dims", which gives the dims of a module, an i64 each}}
module attributes {dyn.dims = {hidden = 4 : i32}} {
}

// -----

// expected-error @+1 {{has "dyn.rows", an attribute that `dyn` does not know}}
module attributes {dyn.rows = 4 : i64} {
}
