// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `batch` dialect refuses; batch-relations.mlir has what it refuses of relations.

// A stage computes rows of an index set.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'batch.stage' op names @input, which is no index set}}
  batch.stage @s over @input {
  }
}

// -----

// Which of them it computes a truth of each says.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'batch.stage' op names @x, which is no truth for each row}}
  batch.stage @s over @input when @x {
  }
}

// -----

// Of its own rows, not of others.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set states @state []
  kernel.buffer @x over @state : i1
  // expected-error @+1 {{'batch.stage' op names @x, which is no truth for each row}}
  batch.stage @s over @input when @x {
  }
}

// -----

// Loops go over groups and scans.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.stage' op names @input, which is no group or index set of steps}}
  batch.stage @s over @input attributes {loops = [#batch.loop<@input, 0>]} {
  }
}

// -----

// What is concurrent are loops.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.concurrent' op holds batch.stage, which is no loop}}
  kernel.concurrent {
    batch.stage @s over @input {
    }
  }
}

// -----

// Loops that are concurrent need nothing of one another.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @one in @input ["parent", "step"]
  kernel.index_set steps @two in @input ["parent", "step"]
  kernel.buffer @x over @one : f32
  // expected-error @+1 {{'kernel.concurrent' op has a loop that writes what another one reads or writes: @x}}
  kernel.concurrent {
    kernel.steps @one {
      batch.stage @write over @one {
        %c = arith.constant 0.0 : f32
        batch.write %c, @x : f32
      }
    }
    kernel.steps @two {
      batch.stage @also over @one {
        %c = arith.constant 1.0 : f32
        batch.write %c, @x : f32
      }
    }
  }
}

// -----

// A library computes a product, and nothing else, for all rows.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set inputs @some ["input"] masked
  kernel.buffer @x over @input : tensor<4xf32>
  kernel.buffer @y over @input : tensor<4xf32>
  // expected-error @+1 {{'batch.stage' op is not one product for all rows, as a library computes it}}
  batch.stage @s over @input blas {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %W = dyn.get @W : tensor<4x4xf32>
    %x = batch.read @x : tensor<4xf32>
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
    %t = math.tanh %y : tensor<4xf32>
    batch.write %t, @y : tensor<4xf32>
  }
}

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set inputs @some ["input"] masked
  kernel.buffer @x over @some : tensor<4xf32>
  kernel.buffer @y over @some : tensor<4xf32>
  // expected-error @+1 {{'batch.stage' op is not one product for all rows, as a library computes it}}
  batch.stage @s over @some blas {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %W = dyn.get @W : tensor<4x4xf32>
    %x = batch.read @x : tensor<4xf32>
    %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
    batch.write %y, @y : tensor<4xf32>
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set inputs @some ["input"] masked
  kernel.buffer @x over @input : tensor<4xf32>
  kernel.buffer @y over @input : tensor<4xf32>
  // expected-error @+1 {{'batch.stage' op is not one product for all rows, as a library computes it}}
  batch.stage @s over @input blas {
    %x = batch.read @x : tensor<4xf32>
    batch.write %x, @y : tensor<4xf32>
  }
}

// -----

// Tiles may overlap, so what they are computed of stays as it is.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xf32>
  // expected-error @+1 {{'batch.stage' op is computed in tiles, but replaces what it reads}}
  batch.stage @s over @input schedule <rows = 8, grain = 1, channels = 4> {
    %x = batch.read @x : tensor<4xf32>
    %y = math.tanh %x : tensor<4xf32>
    batch.write %y, @x : tensor<4xf32>
  }
}

// -----

// A stage stands in a program or a loop.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.stage' op expects parent op to be one of 'kernel.program, kernel.levels, kernel.steps'}}
    batch.stage @t over @input {
    }
  }
}

// -----

// A block has rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{a schedule has one row or more, for a block and for a thread}}
  batch.stage @s over @input schedule <rows = 0, grain = 1> {
  }
}

// -----

// A read is of the stage's row.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'batch.read' op stands in no stage}}
  %x = batch.read @x : f32
}

// -----

// It is of a buffer.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op names @input, which is no buffer}}
    %x = batch.read @input : f32
  }
}

// -----

// It gives what the buffer has.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xf32>
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op is of 'f32', but @x has rows of 'tensor<4xf32>'}}
    %x = batch.read @x : f32
  }
}

// -----

// Rows of another index set are gathered.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @element in @input ["parent"]
  kernel.buffer @x over @input : f32
  batch.stage @s over @element {
    // expected-error @+1 {{'batch.read' op is over @element, but @x over @input}}
    %x = batch.read @x : f32
  }
}

// -----

// A table has a row for each index.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set model @table ["row"] extent 4
  kernel.buffer @x over @table : f32
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read' op is over @input, but @x over @table}}
    %x = batch.read @x : f32
  }
}

// -----

// A write is of what the buffer has.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : i32
  batch.stage @s over @input {
    %x = arith.constant 0.0 : f32
    // expected-error @+1 {{'batch.write' op is of 'f32', but @x has rows of 'i32'}}
    batch.write %x, @x : f32
  }
}

// -----

// It is of the stage's row, however rows lie.
kernel.program @p [] [] -> f32 {
  kernel.index_set model @model []
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @model : f32
  batch.stage @s over @input {
    %x = batch.read @x : f32
    // expected-error @+1 {{'batch.write' op is over @input, but @x over @model}}
    batch.write %x, @x : f32
  }
}

// -----

// An index array is one of the stage's index set.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.read_index' op stands in no stage}}
  %x = batch.read_index "input" : i32
}

// -----

// Its index set has it.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.read_index' op names index array `parent`, which @input does not have}}
    %x = batch.read_index "parent" : i32
  }
}

// -----

// A gather gives what the array has.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op is of 'i32', but @x has rows of 'f32'}}
    %x = batch.gather @x via @self : i32
  }
}

// -----

// What a stage gathers was there before it.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op of @x, which this stage writes}}
    %x = batch.gather @x via @self : f32
    batch.write %x, @x : f32
  }
}

// -----

// What is carried a loop carries.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op names @input, which is no group or index set of steps}}
    %x = batch.gather @x via @self carried @input : f32
  }
}

// -----

// Of buffers that keep some time steps one is read that is kept.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"]
  kernel.buffer @x over @input : f32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.gather' op reads rows of a time step that are not kept}}
    %x = batch.gather @x via @self carried @scan ago 1 : f32
  }
}

// -----

// The bounds of lists in lists are no row's.
kernel.program @p ["xs"] [!dyn.list<!dyn.list<f32>>] -> f32 {
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
kernel.program @p ["x"] [f32] -> f32 {
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
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : i32
  batch.relation @self : @input -> @input by "input"
  batch.stage @s over @input {
    %x = arith.constant 0.0 : f32
    // expected-error @+1 {{'batch.scatter' op is of 'f32', but @x has rows of 'i32'}}
    batch.scatter %x, @x via @self : f32
  }
}

// -----

// An element is picked by its number.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op picks nothing by an index}}
    %x = batch.segment pick @x over @all : f32
  }
}

// -----

// All elements are reduced.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    %n = batch.read_index "length" : i32
    // expected-error @+1 {{'batch.segment' op has an index, but picks nothing}}
    %x = batch.segment sum [%n] @x over @all : f32
  }
}

// -----

// A mean is one of real numbers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.buffer @x over @input : i32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    // expected-error @+1 {{'batch.segment' op gives 'i32' for the mean of @x, which has rows of 'i32'}}
    %x = batch.segment mean @x over @all : i32
  }
}

// -----

// What is picked is what the array has.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "first", "length"]
  kernel.buffer @x over @input : f32
  batch.list_relation @all : @input -> @input by "first", "length" stride 1
  batch.stage @s over @input {
    %n = batch.read_index "length" : i32
    // expected-error @+1 {{'batch.segment' op gives 'i32' for the pick of @x, which has rows of 'f32'}}
    %x = batch.segment pick [%n] @x over @all : i32
  }
}

// -----

// A transpose is of a relation to an index set.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  batch.relation @r : @input -> by "input"
  // expected-error @+1 {{'batch.transpose' op is of @r, which leads to no index set}}
  batch.transpose @of of @r
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.transpose' op names @input, which is no relation}}
  batch.transpose @of of @input
}

// -----

// A sum over a transpose stands where the relation leads to.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @list in @input ["parent"]
  batch.relation @r : @list -> @input by "parent"
  batch.transpose @of of @r
  kernel.buffer @x over @list : f32
  kernel.buffer @y over @list : f32
  batch.stage @s over @list {
    // expected-error @+1 {{'batch.segment' op goes by @of, which is from @input, not from @list}}
    %0 = batch.segment sum @x over @of : f32
    batch.write %0, @y : f32
  }
}

// -----

// Only a buffer with one row a run is added to by all rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    // expected-error @+1 {{'batch.accumulate' op names @x, which is no buffer over the batch}}
    batch.accumulate %0, @x : f32
  }
}

// -----

// What is added has the buffer's shape.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @x over @input : tensor<2xf32>
  kernel.buffer @sum over @batch : tensor<2x3xf32>
  batch.stage @s over @input {
    %0 = batch.read @x : tensor<2xf32>
    // expected-error @+1 {{'batch.accumulate' op adds 'tensor<2xf32>' to @sum, which is 'tensor<2x3xf32>'}}
    batch.accumulate %0 outer %0 : tensor<2xf32>, @sum : tensor<2xf32>
  }
}

// -----

// A scalar has no rows to choose from.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @x over @input : f32
  kernel.buffer @sum over @batch : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    %1 = arith.constant 0 : i32
    // expected-error @+1 {{'batch.accumulate' op has an index, but @sum is a scalar}}
    batch.accumulate %0, @sum[%1] : f32
  }
}

// -----

// What adds all rows up does nothing else.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @x over @input : f32
  kernel.buffer @y over @input : f32
  kernel.buffer @sum over @batch : f32
  batch.stage @s over @input {
    %0 = batch.read @x : f32
    batch.write %0, @y : f32
    // expected-error @+1 {{'batch.accumulate' op stands in a stage that writes rows too}}
    batch.accumulate %0, @sum : f32
  }
}

// -----

// It is done once, for all rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.index_set steps @scan in @input ["parent", "step"]
  kernel.buffer @x over @scan : f32
  kernel.buffer @sum over @batch : f32
  kernel.steps @scan {
    batch.stage @s over @scan {
      %0 = batch.read @x : f32
      // expected-error @+1 {{'batch.accumulate' op stands in a loop, or in no stage}}
      batch.accumulate %0, @sum : f32
    }
  }
}

// -----

// A relation leads to distinct numbers only by an index array that gets their rows: it is no number itself.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "word.row"] filled 1
  kernel.index_set distinct @rows ["row"] extent 9
  batch.distinct @rows = [@input] ["word"] rows ["word.row"]
  // expected-error @+1 {{'batch.relation' op goes by `word` of @input, which does not get the rows of @rows}}
  batch.relation @r : @input -> @rows by "word"
}

// -----

// Each index array that rows are made of has one for the rows, which nothing else fills.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op fills 0 index arrays with the rows of 1}}
  batch.distinct @rows = [@input] ["word"]
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "other"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op fills index array `other` of @input, which has values already}}
  batch.distinct @rows = [@input] ["word"] rows ["other"]
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.relation' op leads to @rows, which nothing makes}}
  batch.relation @r : @input -> @rows by "word"
}

// -----

// A mask is of an input, or of the run: one that knows of neither would be the same for all inputs.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  batch.stage @s over @input {
    %0 = arith.constant 1.0 : f32
    // expected-error @+1 {{'dyn.dropout' op in a stage is of an input, or of the run}}
    %1 = dyn.dropout %0 rate 5.000000e-01 place 1 : f32
    batch.write %1, @x : f32
  }
}

// -----

// Distinct numbers are those that index arrays of its index sets hold, and buffers of numbers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'batch.distinct' op names @input, which is no index set of distinct numbers}}
  batch.distinct @input = [@input] ["input"]
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op has 0 index arrays of 0 index sets}}
  batch.distinct @rows = [] []
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'batch.distinct' op names @x, which is no buffer of numbers}}
  batch.distinct @rows = [] [] numbers [@x]
}

// -----

// A transpose is of a relation, or by numbers that distinct rows are made of.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : i32
  // expected-error @+1 {{'batch.transpose' op is of a relation, or of the numbers of the rows that they lead to}}
  batch.transpose @of numbers @x
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : i32
  kernel.buffer @y over @input : i32
  batch.distinct @rows = [] [] numbers [@x]
  // expected-error @+1 {{'batch.transpose' op goes by @y, which @rows is not made of}}
  batch.transpose @of numbers @y to @rows
}

// -----

// What sums by it says so: it waits for the numbers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : i32
  kernel.buffer @y over @input : f32
  batch.distinct @rows = [] [] numbers [@x]
  batch.transpose @of numbers @x to @rows
  batch.stage @s over @rows {
    // expected-error @+1 {{'batch.segment' op is over @of, which is not made of such numbers}}
    %0 = batch.segment sum @y over @of : f32
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : i32
  batch.distinct @rows = [] [] numbers [@x]
  // expected-error @+1 {{'batch.distinct' op makes @rows, which is made already}}
  batch.distinct @rows = [] [] always [1]
}

// -----

kernel.program @p ["w"] [!dyn.index<9>] -> f32 {
  kernel.argument @arg.w = "w" 0 value : i32
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.transpose' op names @arg.w, which is no buffer}}
  batch.transpose @of numbers @arg.w to @rows
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  // expected-error @+1 {{'batch.distinct' op always has 9, but the numbers are below 9}}
  batch.distinct @rows = [] [] always [9]
}
