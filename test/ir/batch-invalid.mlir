// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `batch` dialect refuses; batch-relations.mlir has what it refuses of relations.

// A program's arguments have names.
// expected-error @+1 {{'batch.program' op has 0 argument names and 1 types}}
batch.program @p [] [f32] -> f32 {
}

// -----

// They are of data types that there are.
// expected-error @+1 {{'batch.program' op names no data type @Tree}}
batch.program @p ["t"] [!dyn.list<!dyn.node<@Tree>>] -> f32 {
}

// -----

// So is what it gives.
// expected-error @+1 {{'batch.program' op names no data type @Tree}}
batch.program @p [] [] -> tuple<f32, !dyn.node<@Tree>> {
}

// -----

// A loss gives its number first (manual, G3).
// expected-error @+1 {{'batch.program' op is a loss, but gives no f32 first}}
batch.program loss @p [] [] -> i32 {
}

// -----

// A buffer has rows.
batch.program @p [] [] -> f32 {
  // expected-error @+1 {{'batch.buffer' op names @input, which is no index set}}
  batch.buffer @x over @input : f32
}

// -----

// It holds numbers.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.buffer' op attribute 'type' failed to satisfy constraint: type attribute of number or node}}
  batch.buffer @x over @input : !dyn.list<f32>
}

// -----

// Storages are counted from 0.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.buffer' op attribute 'storage' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  batch.buffer @x over @input : f32 storage -1
}

// -----

// Only where rows lie in the order of time steps may those of some be kept.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.buffer' op keeps the rows of some time steps, but its rows do not lie in the order of these}}
  batch.buffer @x over @input : f32 live 2
}

// -----

// An output is a buffer's.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.output' op names @input, which is no buffer}}
  batch.output 0 = @input depth 0
}

// -----

// It is one of the program's results.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  // expected-error @+1 {{'batch.output' op is result 1 of 1}}
  batch.output 1 = @x depth 0
}

// -----

// It has the result's type.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : i32
  // expected-error @+1 {{'batch.output' op has 'i32' at depth 0 for result 0, which is 'f32'}}
  batch.output 0 = @x depth 0
}

// -----

// It lies as deep in lists as the result.
batch.program @p [] [] -> !dyn.list<f32> {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  // expected-error @+1 {{'batch.output' op has 'f32' at depth 0 for result 0, which is '!dyn.list<f32>'}}
  batch.output 0 = @x depth 0
}

// -----

// It is the program's.
// expected-error @+1 {{'batch.output' op expects parent op 'batch.program'}}
batch.output 0 = @x depth 0

// -----

// A stage computes rows of an index set.
batch.program @p [] [] -> f32 {
  // expected-error @+1 {{'batch.stage' op names @input, which is no index set}}
  batch.stage @s over @input {
  }
}

// -----

// Which of them it computes a truth of each says.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  // expected-error @+1 {{'batch.stage' op names @x, which is no truth for each row}}
  batch.stage @s over @input when @x {
  }
}

// -----

// Of its own rows, not of others.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set states @state []
  batch.buffer @x over @state : i1
  // expected-error @+1 {{'batch.stage' op names @x, which is no truth for each row}}
  batch.stage @s over @input when @x {
  }
}

// -----

// Loops go over groups and scans.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.stage' op names @input, which is no group or index set of steps}}
  batch.stage @s over @input attributes {loops = [#batch.loop<@input, 0>]} {
  }
}

// -----

// What is concurrent are loops.
batch.program @p [] [] -> f32 {
  // expected-error @+1 {{'batch.concurrent' op holds batch.stage, which is no loop}}
  batch.concurrent {
    batch.stage @s over @input {
    }
  }
}

// -----

// A stage stands in a program or a loop.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.stage' op expects parent op to be one of 'batch.program, batch.levels, batch.steps'}}
    batch.stage @t over @input {
    }
  }
}

// -----

// A block has rows.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{a schedule has one row or more, for a block and for a thread}}
  batch.stage @s over @input schedule <rows = 0, grain = 1> {
  }
}

// -----

// A read is of the stage's row.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  // expected-error @+1 {{'batch.read' op stands in no stage}}
  %x = batch.read @x : f32
}

// -----

// It is of a buffer.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op names @input, which is no buffer}}
    %x = batch.read @input : f32
  }
}

// -----

// It gives what the buffer has.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : tensor<4xf32>
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op is of 'f32', but @x has rows of 'tensor<4xf32>'}}
    %x = batch.read @x : f32
  }
}

// -----

// Rows of another index set are gathered.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  batch.buffer @x over @input : f32
  batch.stage @s over @element {
    // expected-error @+1 {{'batch.read' op is over @element, but @x over @input}}
    %x = batch.read @x : f32
  }
}

// -----

// A table has a row for each index.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set model @table ["row"] extent 4
  batch.buffer @x over @table : f32
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op is over @input, but @x over @table}}
    %x = batch.read @x : f32
  }
}

// -----

// A write is of what the buffer has.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : i32
  batch.stage @s over @input {
    %x = arith.constant 0.0 : f32
    // expected-error @+1 {{'batch.write' op is of 'f32', but @x has rows of 'i32'}}
    batch.write %x, @x : f32
  }
}

// -----

// It is of the stage's row, however rows lie.
batch.program @p [] [] -> f32 {
  kernel.index_set model @model []
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @model : f32
  batch.stage @s over @input {
    %x = batch.read @x : f32
    // expected-error @+1 {{'batch.write' op is over @input, but @x over @model}}
    batch.write %x, @x : f32
  }
}

// -----

// An index array is one of the stage's index set.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.read_index' op stands in no stage}}
  %x = batch.read_index "input" : i32
}

// -----

// Its index set has it.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read_index' op names index array `parent`, which @input does not have}}
    %x = batch.read_index "parent" : i32
  }
}

// -----

// A gather gives what the array has.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op is of 'i32', but @x has rows of 'f32'}}
    %x = batch.gather @x via @self : i32
  }
}

// -----

// What a stage gathers was there before it.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op of @x, which this stage writes}}
    %x = batch.gather @x via @self : f32
    batch.write %x, @x : f32
  }
}

// -----

// What is carried a loop carries.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op names @input, which is no group or index set of steps}}
    %x = batch.gather @x via @self carried @input : f32
  }
}

// -----

// Of buffers that keep some time steps one is read that is kept.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"]
  batch.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op reads rows of a time step that are not kept}}
    %x = batch.gather @x via @self carried @scan ago 1 : f32
  }
}

// -----

// The bounds of lists in lists are no row's.
batch.program @p ["xs"] [!dyn.list<!dyn.list<f32>>] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.argument @bounds = "xs" 0 begin : i32 {level = 1 : i32}
  batch.relation @number : @input -> by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op @bounds bounds lists in lists, which no row names}}
    %x = batch.gather @bounds via @number : i32
  }
}

// -----

// A buffer is written.
batch.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.argument @x = "x" 0 value : f32
  batch.relation @number : @input -> by "input"
  batch.stage @s over @input {
    %x = arith.constant 1.0 : f32
    // expected-error @+1 {{'batch.scatter' op names @x, which is no buffer}}
    batch.scatter %x, @x via @number : f32
  }
}

// -----

// What is scattered is what the buffer has.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : i32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    %x = arith.constant 0.0 : f32
    // expected-error @+1 {{'batch.scatter' op is of 'f32', but @x has rows of 'i32'}}
    batch.scatter %x, @x via @self : f32
  }
}

// -----

// An element is picked by its number.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  batch.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op picks nothing by an index}}
    %x = batch.segment pick @x over @all : f32
  }
}

// -----

// All elements are reduced.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  batch.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    %n = batch.read_index "length" : i32
    // expected-error @+1 {{'batch.segment' op has an index, but picks nothing}}
    %x = batch.segment sum [%n] @x over @all : f32
  }
}

// -----

// A mean is one of real numbers.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  batch.buffer @x over @input : i32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op gives 'i32' for the mean of @x, which has rows of 'i32'}}
    %x = batch.segment mean @x over @all : i32
  }
}

// -----

// What is picked is what the array has.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  batch.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    %n = batch.read_index "length" : i32
    // expected-error @+1 {{'batch.segment' op gives 'i32' for the pick of @x, which has rows of 'f32'}}
    %x = batch.segment pick [%n] @x over @all : i32
  }
}

// -----

// Levels are those of a group.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.levels' op names @input, which is no group}}
  batch.levels @input {
  }
}

// -----

// Steps are those of a scan.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.steps' op names @input, which is no index set of steps}}
  batch.steps @input {
  }
}

// -----

// A transpose is of a relation to an index set.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.relation @r : @input -> by "input"
  // expected-error @+1 {{'batch.transpose' op is of @r, which leads to no index set}}
  batch.transpose @of of @r
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.transpose' op names @input, which is no relation}}
  batch.transpose @of of @input
}

// -----

// A sum over a transpose stands where the relation leads to.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @list in @input ["parent"]
  batch.relation @r : @list -> @input by "parent"
  batch.transpose @of of @r
  batch.buffer @x over @list : f32
  batch.buffer @y over @list : f32
  batch.stage @s over @list {
    // expected-error @+1 {{'batch.segment' op goes by @of, which is from @input, not from @list}}
    %0 = batch.segment sum @x over @of : f32
    batch.write %0, @y : f32
  }
}

// -----

// Only a buffer with one row a run is added to by all rows.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    // expected-error @+1 {{'batch.accumulate' op names @x, which is no buffer over the batch}}
    batch.accumulate %0, @x : f32
  }
}

// -----

// What is added has the buffer's shape.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  batch.buffer @x over @input : tensor<2xf32>
  batch.buffer @sum over @batch : tensor<2x3xf32>
  batch.stage @s over @input {
    %0 = batch.read @x : tensor<2xf32>
    // expected-error @+1 {{'batch.accumulate' op adds 'tensor<2xf32>' to @sum, which is 'tensor<2x3xf32>'}}
    batch.accumulate %0 outer %0 : tensor<2xf32>, @sum : tensor<2xf32>
  }
}

// -----

// A scalar has no rows to choose from.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  batch.buffer @x over @input : f32
  batch.buffer @sum over @batch : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    %1 = arith.constant 0 : i32
    // expected-error @+1 {{'batch.accumulate' op has an index, but @sum is a scalar}}
    batch.accumulate %0, @sum[%1] : f32
  }
}

// -----

// A gradient is a parameter's, and has its shape.
kernel.param @W : tensor<3xf32>
batch.program loss @p [] [] -> f32 {
  kernel.index_set batch @batch []
  batch.buffer @sum over @batch : tensor<2xf32>
  // expected-error @+1 {{'batch.gradient' op of @W, which is 'tensor<3xf32>', lies in 'tensor<2xf32>'}}
  batch.gradient @W = @sum
}

// -----

kernel.param @W : tensor<3xf32>
batch.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @sum over @input : tensor<3xf32>
  // expected-error @+1 {{'batch.gradient' op lies in a buffer that has more than one row}}
  batch.gradient @W = @sum
}

// -----

batch.program loss @p [] [] -> f32 {
  kernel.index_set batch @batch []
  batch.buffer @sum over @batch : tensor<3xf32>
  // expected-error @+1 {{'batch.gradient' op names @W, which is no parameter}}
  batch.gradient @W = @sum
}

// -----

// What adds all rows up does nothing else.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  batch.buffer @x over @input : f32
  batch.buffer @y over @input : f32
  batch.buffer @sum over @batch : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    batch.write %0, @y : f32
    // expected-error @+1 {{'batch.accumulate' op stands in a stage that writes rows too}}
    batch.accumulate %0, @sum : f32
  }
}

// -----

// It is done once, for all rows.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.index_set steps @scan in @input ["parent", "step"]
  batch.buffer @x over @scan : f32
  batch.buffer @sum over @batch : f32
  batch.steps @scan {
    batch.stage @s over @scan {
      %0 = batch.read @x : f32
      // expected-error @+1 {{'batch.accumulate' op stands in a loop, or in no stage}}
      batch.accumulate %0, @sum : f32
    }
  }
}

// -----

// A sparse gradient has rows of the table, as many of them as it.
kernel.param @E : tensor<9x4xf32>
batch.program loss @p [] [] -> f32 {
  kernel.index_set distinct @E.rows ["row"] extent 9
  batch.buffer @sum over @E.rows : tensor<9x4xf32>
  // expected-error @+1 {{'batch.gradient' op of @E, which is 'tensor<9x4xf32>', lies in 'tensor<9x4xf32>'}}
  batch.gradient @E = @sum
}

// -----

kernel.param @E : tensor<9x4xf32>
batch.program loss @p [] [] -> f32 {
  kernel.index_set distinct @E.rows ["row"] extent 8
  batch.buffer @sum over @E.rows : tensor<4xf32>
  // expected-error @+1 {{'batch.gradient' op of @E, which has 9 rows, lies at rows of 8}}
  batch.gradient @E = @sum
}

// -----

// A relation leads to distinct numbers only by an index array that gets their rows: it is no number itself.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "word.row"] filled 1
  kernel.index_set distinct @rows ["row"] extent 9
  batch.distinct @rows = [@input] ["word"] rows ["word.row"]
  // expected-error @+1 {{'batch.relation' op goes by `word` of @input, which does not get the rows of @rows}}
  batch.relation @r : @input -> @rows by "word"
}

// -----

// Each index array that rows are made of has one for the rows, which nothing else fills.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op fills 0 index arrays with the rows of 1}}
  batch.distinct @rows = [@input] ["word"]
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "other"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op fills index array `other` of @input, which has values already}}
  batch.distinct @rows = [@input] ["word"] rows ["other"]
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.relation' op leads to @rows, which nothing makes}}
  batch.relation @r : @input -> @rows by "word"
}

// -----

// A mask is of an input, or of the run: one that knows of neither would be the same for all inputs.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : f32
  batch.stage @s over @input {
    %0 = arith.constant 1.0 : f32
    // expected-error @+1 {{'dyn.dropout' op in a stage is of an input, or of the run}}
    %1 = dyn.dropout %0 rate 5.000000e-01 place 1 : f32
    batch.write %1, @x : f32
  }
}

// -----

// The gradient of an argument has its rows.
batch.program loss @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  kernel.index_set inputs @input ["input"]
  batch.buffer @gradient over @input : f32
  // expected-error @+1 {{'batch.input_gradient' op of @arg.x lies in a buffer that has other rows}}
  batch.input_gradient @arg.x = @gradient
}

// -----

// Distinct numbers are those that index arrays of its index sets hold, and buffers of numbers.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.distinct' op names @input, which is no index set of distinct numbers}}
  batch.distinct @input = [@input] ["input"]
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op has 0 index arrays of 0 index sets}}
  batch.distinct @rows = [] []
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  batch.buffer @x over @input : f32
  // expected-error @+1 {{'batch.distinct' op names @x, which is no buffer of numbers}}
  batch.distinct @rows = [] [] numbers [@x]
}

// -----

// A transpose is of a relation, or by numbers that distinct rows are made of.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.buffer @x over @input : i32
  // expected-error @+1 {{'batch.transpose' op is of a relation, or of the numbers of the rows that they lead to}}
  batch.transpose @of numbers @x
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  batch.buffer @x over @input : i32
  batch.buffer @y over @input : i32
  batch.distinct @rows = [] [] numbers [@x]
  // expected-error @+1 {{'batch.transpose' op goes by @y, which @rows is not made of}}
  batch.transpose @of numbers @y to @rows
}

// -----

// What sums by it says so: it waits for the numbers.
batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  batch.buffer @x over @input : i32
  batch.buffer @y over @input : f32
  batch.distinct @rows = [] [] numbers [@x]
  batch.transpose @of numbers @x to @rows
  batch.stage @s over @rows {
    // expected-error @+1 {{'batch.segment' op is over @of, which is not made of such numbers}}
    %0 = batch.segment sum @y over @of : f32
  }
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  batch.buffer @x over @input : i32
  batch.distinct @rows = [] [] numbers [@x]
  // expected-error @+1 {{'batch.distinct' op makes @rows, which is made already}}
  batch.distinct @rows = [] [] always [1]
}

// -----

batch.program @p ["w"] [!dyn.index<9>] -> f32 {
  kernel.argument @arg.w = "w" 0 value : i32
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.transpose' op names @arg.w, which is no buffer}}
  batch.transpose @of numbers @arg.w to @rows
}

// -----

batch.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op always has 9, but the numbers are below 9}}
  batch.distinct @rows = [] [] always [9]
}
