// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `kernel` dialect refuses of the order in which functions are called.

// What starts asks for instances.
kernel.program @p [] [] -> f32 {
  kernel.func calls @f(%node: i32) {
  }
  kernel.schedule {
    // expected-error @+1 {{'kernel.start' op names @f, which is no roots function}}
    kernel.start @f
  }
}

// -----

// What is sorted are cells' instances.
kernel.program @p [] [] -> f32 {
  kernel.schedule {
    // expected-error @+1 {{'kernel.sort' op names @g, which is no group}}
    kernel.sort @g
  }
}

// -----

// What makes rows goes through those of an index set.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
  }
  kernel.schedule {
    // expected-error @+1 {{'kernel.index' op names @f, which is no index function}}
    kernel.index @f
  }
}

// -----

// Time steps are those of rows that run by them.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.time_steps' op names @input, which is no index set with time steps}}
    kernel.time_steps @input
  }
}

// -----

// A transpose is made of an index array, as an index set of its kind.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op names @input, which is no transpose}}
    kernel.transpose @input = @input "input" to @input
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op names index array `parent`, which @input does not have}}
    kernel.transpose @of = @input "parent" to @input
  }
}

// -----

// A transpose by distinct numbers comes behind what finds the rows of these.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "word.row"] filled 1
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op goes by `word.row` of @input, which does not get the rows of @rows before}}
    kernel.transpose @of = @input "word.row" to @rows
    kernel.distinct @rows = [@input] ["word"] rows ["word.row"]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "word", "word.row"] filled 1
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    kernel.distinct @rows = [@input] ["word"] rows ["word.row"]
    // expected-error @+1 {{'kernel.transpose' op goes by `word` of @input, which does not get the rows of @rows before}}
    kernel.transpose @of = @input "word" to @rows
  }
}

// -----

// What goes by it has the same rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @words in @input ["parent"]
  kernel.index_set by_input @order in @input []
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op takes rows of @words in the order of those of @input}}
    kernel.transpose @of = @words "parent" to @input ordered_by @order
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.index_set transpose @of ["row", "begin"]
  kernel.buffer @x over @input : i32
  kernel.run {
    // expected-error @+1 {{'kernel.transpose' op goes by @x, of which @rows is not made before}}
    kernel.transpose @of = @input numbers @x to @rows
    kernel.distinct @rows = [] [] numbers [@x]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @words in @input ["parent"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.index_set transpose @of ["row", "begin"]
  kernel.buffer @x over @input : i32
  kernel.run {
    kernel.distinct @rows = [] [] numbers [@x]
    // expected-error @+1 {{'kernel.transpose' op names @x, which is no number for each row}}
    kernel.transpose @of = @words numbers @x to @rows
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set transpose @of ["row", "begin"]
  kernel.buffer @x over @input : i32
  kernel.run {
    // expected-error @+1 {{'kernel.transpose' op goes by the numbers of rows, but @input has rows by their place}}
    kernel.transpose @of = @input numbers @x to @input
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op goes by an index array, or by the numbers that a buffer holds}}
    kernel.transpose @of = @input to @input
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"] masked
  kernel.index_set by_input @order in @input [] masked
  kernel.index_set transpose @of ["row", "begin"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.transpose' op takes rows in the order of @order, which has the active ones alone}}
    kernel.transpose @of = @input "input" to @input ordered_by @order
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.sort_by_input' op names @input, which is no index set in the order of the inputs}}
    kernel.sort_by_input @input along []
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @words in @input ["parent"]
  kernel.index_set by_input @order in @words []
  kernel.schedule {
    // expected-error @+1 {{'kernel.sort_by_input' op leads from @order to @input, which is not its parent}}
    kernel.sort_by_input @order along [@input]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set by_input @order in @input []
  kernel.schedule {
    // expected-error @+1 {{'kernel.sort_by_input' op leads to @input, which has no nodes}}
    kernel.sort_by_input @order along [@input]
  }
}

// -----

// They are made of index arrays, one an index set.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.schedule {
    // expected-error @+1 {{'kernel.distinct' op names @input, which is no index set of distinct numbers}}
    kernel.distinct @input = [@input] ["input"]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.schedule {
    // expected-error @+1 {{'kernel.distinct' op has 1 index arrays of 2 index sets}}
    kernel.distinct @rows = [@input, @input] ["input"]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.schedule {
    // expected-error @+1 {{'kernel.distinct' op names index array `word`, which @input does not have}}
    kernel.distinct @rows = [@input] ["word"] rows ["word.row"]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.schedule {
    // expected-error @+1 {{'kernel.distinct' op always has 9, but the numbers are below 9}}
    kernel.distinct @rows = [] [] always [0, 9]
  }
}

// -----

// Numbers that are computed are there in a run, in buffers of integers; a transpose goes by those of its own rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : i32
  kernel.schedule {
    // expected-error @+1 {{'kernel.distinct' op is of numbers that are not there while the batch is scheduled}}
    kernel.distinct @rows = [] [] numbers [@x]
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : f32
  kernel.run {
    // expected-error @+1 {{'kernel.distinct' op names @x, which is no buffer of numbers}}
    kernel.distinct @rows = [] [] numbers [@x]
  }
}

// -----

// What has as many rows as a run finds is a gradient, which gets its memory then.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.buffer @x over @input : i32
  kernel.buffer @y over @rows : f32
  kernel.run {
    // expected-error @+1 {{'kernel.distinct' op makes the rows of @y, which is no gradient, in a run}}
    kernel.distinct @rows = [] [] numbers [@x]
  }
}

// -----

kernel.program @p ["w"] [!dyn.index<9>] -> f32 {
  kernel.argument @arg.w = "w" 0 value : i32
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.run {
    // expected-error @+1 {{'kernel.distinct' op names @arg.w, which is no buffer of numbers}}
    kernel.distinct @rows = [] [] numbers [@arg.w]
  }
}

// -----

// What is launched is a stage.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op names @f, which is no stage function}}
    kernel.launch @f
  }
}

// -----

// Where rows are active, others are masked.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op names @input, which is no masked index set}}
    kernel.launch active @f
  }
}

// -----

// It is launched in the order of a run.
kernel.program @p [] [] -> f32 {
  kernel.schedule {
    // expected-error @+1 {{'kernel.launch' op expects parent op to be one of 'kernel.run, kernel.gradients, kernel.levels, kernel.steps'}}
    kernel.launch @f
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op names @input, which is no index set in the order of the inputs}}
    kernel.launch @f ordered_by @input
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"] masked
  kernel.index_set by_input @order in @input [] masked
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op is of the active rows, and in an order of the inputs, which says which rows}}
    kernel.launch active @f ordered_by @order
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @words in @input ["parent", "step"] by_time_step
  kernel.index_set by_input @order in @words []
  kernel.func stage @f(%begin: i32, %end: i32) over @words {
  }
  kernel.run {
    kernel.steps @words {
      // expected-error @+1 {{'kernel.launch' op in an order of the inputs stands in a loop}}
      kernel.launch @f ordered_by @order
    }
  }
}

// -----

// An order is made in the schedule, along the index sets that lead to the nodes, and a stage takes its rows in that of its launch.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set by_input @order in @input []
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op is in the order of @order, which no schedule makes}}
    kernel.launch @f ordered_by @order
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set by_input @order in @input []
  kernel.index_set by_input @other in @input []
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %0 = kernel.order @other[%begin]
  }
  kernel.schedule {
    kernel.sort_by_input @order along []
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op takes rows in another order than its function}}
    kernel.launch @f ordered_by @order
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set by_input @order in @input []
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %0 = kernel.order @order[%begin]
  }
  kernel.run {
    // expected-error @+1 {{'kernel.launch' op takes rows in another order than its function}}
    kernel.launch @f
  }
}

// -----

// Rows are masked where the index set says so.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @alive over @input : i1
  kernel.run {
    // expected-error @+1 {{'kernel.mask' op names @input, which is no masked index set}}
    kernel.mask @input by @alive
  }
}

// -----

// A truth of each says which.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"] masked
  kernel.buffer @alive over @input : i32
  kernel.run {
    // expected-error @+1 {{'kernel.mask' op names @alive, which is no truth for each row}}
    kernel.mask @input by @alive
  }
}

// -----

// Levels are those of a group.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.levels' op names @g, which is no group}}
    kernel.levels @g {
    }
  }
}

// -----

// Levels are those of a group.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.levels' op names @input, which is no group}}
  kernel.levels @input {
  }
}

// -----

// A loop that is the same as one of a program before is persistent, and the program stands before.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
  kernel.run {
    // expected-error @+1 {{'kernel.steps' op is the same as one of @p, which is no program before with such a persistent loop}}
    kernel.steps persistent @scan {
    } {same_as = @p}
  }
}

// -----

// A loop has a reason for what it is not alone.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
  kernel.run {
    // expected-error @+1 {{'kernel.steps' op has a reason for what it is not, but is it}}
    kernel.steps persistent @scan {
    } {not_persistent_reason = "another loop stands in it"}
  }
}

// -----

// Steps are those of a scan.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.run {
    // expected-error @+1 {{'kernel.steps' op names @input, which is no index set of steps}}
    kernel.steps @input {
    }
  }
}

// -----

// What threads wait for lies in buffers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"]
  kernel.run {
    // expected-error @+1 {{'kernel.steps' op names @input, which is no buffer}}
    kernel.steps persistent @scan syncs [@input] {
    }
  }
}

// -----

// What a block of threads does first stands in a loop.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.first' op expects parent op to be one of 'kernel.levels, kernel.steps'}}
    kernel.first {
    }
  }
}

// -----

// Matrices that are resident are laid out for its tensor cores.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.run {
    kernel.steps @scan {
      kernel.first {
        // expected-error @+1 {{'kernel.copy_async' op names @w, which is no weights for tensor cores}}
        kernel.copy_async @w to 0
      }
    }
  }
}

// -----

// So does what it waits at.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.block_group_barrier' op expects parent op to be one of 'kernel.levels, kernel.steps'}}
    kernel.block_group_barrier
  }
}

// -----

// What is concurrent are loops.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.concurrent' op holds kernel.block_group_barrier, which is no loop}}
    kernel.concurrent {
      kernel.block_group_barrier
    }
  }
}

// -----

// Concurrent loops need nothing of one another, and share no memory.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @one in @input ["parent", "step"] by_time_step
  kernel.index_set steps @two in @input ["parent", "step"] by_time_step
  kernel.buffer @x over @one : f32
  kernel.buffer @y over @two : f32
  kernel.func stage @write(%row: i32, %end: i32) over @one {
    %c = arith.constant 0.0 : f32
    kernel.store %c, @x[%row] : f32
  }
  kernel.func stage @read(%row: i32, %end: i32) over @two {
    %x = kernel.load @x[%row] : f32
    kernel.store %x, @y[%row] : f32
  }
  kernel.func stage @other(%row: i32, %end: i32) over @two {
    %c = arith.constant 0.0 : f32
    kernel.store %c, @y[%row] : f32
  }
  kernel.run {
    // expected-error @+1 {{'kernel.concurrent' op has a loop that writes what another one reads or writes: @x}}
    kernel.concurrent {
      kernel.steps @one {
        kernel.launch @write
      }
      kernel.steps @two {
        kernel.launch @read
      }
    }
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @one in @input ["parent", "step"] by_time_step
  kernel.index_set steps @two in @input ["parent", "step"] by_time_step
  kernel.buffer @x over @one : f32 storage 3
  kernel.buffer @y over @two : f32 storage 3
  kernel.func stage @write(%row: i32, %end: i32) over @one {
    %c = arith.constant 0.0 : f32
    kernel.store %c, @x[%row] : f32
  }
  kernel.func stage @read(%row: i32, %end: i32) over @two {
    %x = kernel.load @x[%row] : f32
    kernel.store %x, @y[%row] : f32
  }
  kernel.func stage @other(%row: i32, %end: i32) over @two {
    %c = arith.constant 0.0 : f32
    kernel.store %c, @y[%row] : f32
  }
  kernel.run {
    // expected-error @+1 {{'kernel.concurrent' op has a loop that writes what another one reads or writes: 3 : i32}}
    kernel.concurrent {
      kernel.steps @one {
        kernel.launch @write
      }
      kernel.steps @two {
        kernel.launch @other
      }
    }
  }
}

// -----

// Only where there are gradients something is for them alone.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op stands in a program that gives no gradients}}
    kernel.gradients {
    }
  }
}

// -----

// What is left out without gradients is no result, and nothing else reads it.
kernel.param @W : f32
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @result over @input : f32
  kernel.buffer @gradient over @batch : f32
  kernel.output 0 = @result depth 0
  kernel.gradient @W = @gradient
  kernel.func stage @both(%row: i32, %end: i32) over @input {
    %x = arith.constant 0.0 : f32
    kernel.store %x, @result[%row] : f32
  }
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op holds what writes @result, which is a result}}
    kernel.gradients {
      kernel.launch @both
    }
  }
}

// -----

// Products write too.
kernel.param @W : tensor<4x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @result over @input : tensor<4xf32>
  kernel.buffer @gradient over @batch : tensor<4x4xf32>
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.output 0 = @result depth 0
  kernel.gradient @W = @gradient
  kernel.func stage @both(%row: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    %y = kernel.rows @result from %row at 0
    kernel.product %end rows(%r) [4] with @w into %y : !kernel.rows
  }
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op holds what writes @result, which is a result}}
    kernel.gradients {
      kernel.launch @both
    }
  }
}

// -----

kernel.param @W : f32
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @kept over @input : f32
  kernel.buffer @result over @input : f32
  kernel.buffer @gradient over @batch : f32
  kernel.output 0 = @result depth 0
  kernel.gradient @W = @gradient
  kernel.func stage @late(%row: i32, %end: i32) over @input {
    %x = arith.constant 0.0 : f32
    kernel.store %x, @kept[%row] : f32
  }
  kernel.func stage @early(%row: i32, %end: i32) over @input {
    %x = kernel.load @kept[%row] : f32
    kernel.store %x, @result[%row] : f32
  }
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op holds what writes @kept, which is read outside of it}}
    kernel.gradients {
      kernel.launch @late
    }
    kernel.launch @early
  }
}

// -----

// Sums of outer products write, and read what they add to.
kernel.param @W : tensor<4x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @result over @batch : tensor<4x4xf32>
  kernel.buffer @gradient over @batch : tensor<4x4xf32>
  kernel.output 0 = @result depth 0
  kernel.gradient @W = @gradient
  kernel.func stage @sum(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @result
  }
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op holds what writes @result, which is a result}}
    kernel.gradients {
      kernel.launch @sum
    }
  }
}

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @result over @input : f32
  kernel.buffer @gradient over @batch : tensor<4x4xf32>
  kernel.output 0 = @result depth 0
  kernel.gradient @W = @gradient
  kernel.func stage @clear(%row: i32, %end: i32) over @batch {
    %x = arith.constant 0.0 : f32
    kernel.store %x, @gradient[%row, %row, %row] : f32
  }
  kernel.func stage @sum(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @gradient
  }
  kernel.run {
    // expected-error @+1 {{'kernel.gradients' op holds what writes @gradient, which is read outside of it}}
    kernel.gradients {
      kernel.launch @clear
    }
    kernel.launch @sum
  }
}
