// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What a relation joins must be there, and a stage may go by no other one than of its own rows to those of the array.

kernel.data @Tree {
  kernel.ctor "Tree" ["x"] [f32] in [0]
}
kernel.program @p ["t"] [!dyn.node<@Tree>] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.relation' op is from @nothing, which is no index set}}
  batch.relation @r : @nothing -> @input by "parent"
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.relation' op names its rows by `parent`, which is no index array of @input}}
  batch.relation @r : @input -> @input by "parent"
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @roots(%arg0: i32) {
  }
  // expected-error @+1 {{'batch.relation' op leads to @roots, which has no rows}}
  batch.relation @r : @input -> @roots by "input"
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.index_set elements @element in @input ["parent"]
  // expected-error @+1 {{'batch.list_relation' op names its rows by `count`, which is no index array of @input}}
  batch.list_relation @r : @input -> @element by "first", "count" stride 1
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.index_set elements @element in @input ["parent"]
  // expected-error @+1 {{'batch.list_relation' op has a stride that is neither 1 nor -1}}
  batch.list_relation @r : @input -> @element by "first", "length" stride 2
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @x over @input : f32
  kernel.buffer @y over @element : f32
  batch.relation @parent : @element -> @input by "parent"
  batch.stage @s over @element {
    // expected-error @+1 {{'batch.gather' op goes by @x, which is no relation of its kind}}
    %x = batch.gather @x via @x : f32
    batch.write %x, @y : f32
  }
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @x over @input : f32
  batch.relation @parent : @element -> @input by "parent"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op goes by @parent, which is from @element, not from @input}}
    %x = batch.gather @x via @parent : f32
  }
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @y over @element : f32
  batch.relation @parent : @element -> @input by "parent"
  batch.stage @s over @element {
    %y = batch.read @y : f32
    // expected-error @+1 {{'batch.scatter' op goes by @parent, which does not lead to the rows of @y}}
    batch.scatter %y, @y via @parent : f32
  }
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @x over @input : f32
  kernel.buffer @y over @element : f32
  batch.list_relation @all : @input -> @element by "first", "length" stride 1
  batch.relation @input_of : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op goes by @input_of, which is from @input, not from @element}}
    %x = batch.segment sum @x over @all via @input_of : f32
    batch.write %x, @x : f32
  }
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @x over @input : f32
  batch.list_relation @all : @input -> @element by "first", "length" stride 1
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op goes by @all, which does not lead to the rows of @x}}
    %x = batch.segment sum @x over @all : f32
    batch.write %x, @x : f32
  }
}

// -----

// Of one index array to the same rows there is one relation: two would not be seen to be the same.
kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  batch.relation @parent : @element -> @input by "parent"
  // expected-error @+1 {{'batch.relation' op joins what @parent joins already}}
  batch.relation @again : @element -> @input by "parent"
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  // expected-error @+1 {{'batch.gather' op stands in no stage}}
  %x = batch.gather @x via @self : f32
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.buffer @x over @input : f32
  batch.list_relation @all : @input -> by "first", "length" stride 1
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op goes on from the inputs, which are no index set}}
    %x = batch.segment sum @x over @all via @self : f32
    batch.write %x, @x : f32
  }
}
