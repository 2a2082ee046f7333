// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `kernel` dialect refuses of functions, and of what stands in them.

// A function has the arguments of its kind.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op has arguments that are not those of a stage function}}
  kernel.func stage @f(%begin: i32) over @input {
  }
}

// -----

// Where a stage has tiles it is given some of them.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op has arguments that are not those of a stage function}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {tiles = 2 : i64} {
  }
}

// -----

// Arguments are integers.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op has arguments that are not those of a roots function}}
  kernel.func roots @f(%input: f32) {
  }
}

// -----

// A stage is over rows.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op is over no index set}}
  kernel.func stage @f(%begin: i32, %end: i32) {
  }
}

// -----

// What it reads of lists are its rows' lists, whose lengths an index array says.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "length"]
  kernel.index_set elements @list in @input ["parent"]
  // expected-error @+1 {{'kernel.func' op has lists of @input, whose rows are not its own}}
  kernel.func stage @stage.list(%begin: i32, %end: i32) over @list attributes {elements = [#kernel.elements<reals = 1, bytes = 0, gathered = false, of = @input, array = "length", at = "">]} {
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op names index array `length`, which @input does not have}}
  kernel.func stage @stage.input(%begin: i32, %end: i32) over @input attributes {elements = [#kernel.elements<reals = 1, bytes = 0, gathered = false, of = @input, array = "length", at = "">]} {
  }
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set transpose @of ["row", "begin"]
  // expected-error @+1 {{'kernel.func' op names index array `parent`, which @input does not have}}
  kernel.func stage @stage.input(%begin: i32, %end: i32) over @input attributes {elements = [#kernel.elements<reals = 1, bytes = 0, gathered = true, of = @of, array = "begin", at = "parent">]} {
  }
}

// -----

// A function of an input reads no lists of rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input", "length"]
  // expected-error @+1 {{'kernel.func' op is over no index set, whose rows have lists}}
  kernel.func roots @roots(%input: i32) attributes {elements = [#kernel.elements<reals = 1, bytes = 0, gathered = false, of = @input, array = "length", at = "">]} {
  }
}

// -----

// What is called for inputs is over none.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op is over an index set, but not called for its rows}}
  kernel.func roots @f(%input: i32) over @input {
  }
}

// -----

// An instance has a slot.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op does not yield a slot}}
  kernel.func slot @f(%node: i32) {
  }
}

// -----

// Other functions give nothing.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op yields something, but gives no slot}}
  kernel.func roots @f(%input: i32) {
    kernel.yield %input : i32
  }
}

// -----

// A function's rows are those of an index set.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op names @input, which is no index set}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
  }
}

// -----

// What it is the same as is another program's stage.
kernel.program @q [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
  }
}
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op is the same as @q::@f, which is no such stage of a program before}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {same_as = @q::@f} {
  }
}

// -----

// A stage of the same program is another one.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op is the same as @p::@f, which is no such stage of a program before}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {same_as = @p::@f} {
  }
}

// -----

// Stages alone are of one pass or the other.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.func' op is of the backward pass, but no stage}}
  kernel.func roots @f(%input: i32) attributes {backward} {
  }
}

// -----

// Slices of a sum have room for what each adds up.
kernel.program @p [] [] -> f32 {
  kernel.index_set batch @batch []
  kernel.buffer @into over @batch : tensor<4x4xf32>
  kernel.buffer @slices over @batch : tensor<2x15xf32>
  // expected-error @+1 {{'kernel.func' op has sums of its slices in @slices, which does not hold 2 times 16 numbers}}
  kernel.func stage @f(%begin: i32, %end: i32) over @batch attributes {sums, slices = #kernel.slices<2, arrays = [@into], sums = @slices>} {
  }
}

// -----

// Locals lie apart, each in its memory.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op has locals that overlap}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {scratch = 128 : i64} {
    %x = kernel.local offset 0 : <8xf32>
    %y = kernel.local in shared offset 16 : <8xf32>
    %z = kernel.local offset 16 : <8xf32>
  }
}

// -----

// Blocks of threads that have scratch in global memory are counted, ...
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op has scratch in global memory for any number of blocks of threads}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %zero = arith.constant 0 : i32
    %x = kernel.local in global : <8x4xi32>
    kernel.write %zero, %x[%zero, %zero] : i32, !kernel.local<8x4xi32>
  }
}

// -----

// ... and no others.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.func' op limits blocks of threads that have no scratch in global memory}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {most_blocks = 512 : i64} {
  }
}

// -----

// A stage clears rows of its own index set.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'kernel.func' op names @x, which is no buffer over its index set}}
  kernel.func stage @f(%begin: i32, %end: i32) over @batch attributes {clears = [@x]} {
  }
}

// -----

// It makes all of them 0, ...
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'kernel.func' op is said to clear @x, but does not}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {clears = [@x]} {
  }
}

// -----

// ... with nothing else.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'kernel.func' op does more than to clear buffers}}
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {clears = [@x]} {
    %one = arith.constant 1.0 : f32
    kernel.store %one, @x[%begin] : f32
  }
}

// -----

// What is cut into slices of rows is a sum over rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set batch @batch []
  // expected-error @+1 {{'kernel.func' op is cut into slices of rows, but does not add them up}}
  kernel.func stage @f(%begin: i32, %end: i32) over @batch attributes {slices = #kernel.slices<2, arrays = [@into], sums = @slices>} {
  }
}

// -----

// expected-error @+1 {{unknown kind of function phase}}
kernel.func phase @f() over @s {
}

// -----

// What is yielded is a region's of this dialect.
kernel.schedule {
  // expected-error @+1 {{'kernel.yield' op expects parent op to be one of 'kernel.func, kernel.for, kernel.if, kernel.blocks, kernel.threads, kernel.warps, kernel.lanes, kernel.key'}}
  kernel.yield
}

// -----

// A loop counts.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.for' op needs a counter and one argument a carried value}}
kernel.for %c to %c {
  kernel.yield
}

// -----

// What it carries are its body's arguments.
%c = arith.constant 0 : i32
%x = arith.constant 0.0 : f32
// expected-error @+1 {{'kernel.for' op needs a counter and one argument a carried value}}
%r = kernel.for %c to %c carry(%x) : (f32) -> (f32) {
^bb0(%k: i32, %s: i32):
  kernel.yield %x : f32
}

// -----

// It yields what it carries.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.for' op does not yield its carried values}}
%r = kernel.for %c to %c carry(%c) : (i32) -> (i32) {
^bb0(%k: i32, %s: i32):
  kernel.yield
}

// -----

// Both regions yield the results.
%t = arith.constant true
// expected-error @+1 {{'kernel.if' op has a region that does not yield its results}}
%r = kernel.if %t -> (i32) {
  %c = arith.constant 0 : i32
  kernel.yield %c : i32
} else {
  kernel.yield
}

// -----

// A block has a first row and so many.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.blocks' op does not take 2 i32 and yield nothing}}
kernel.blocks %c to %c by 8 {
^bb0(%first: i32):
  kernel.yield
}

// -----

// It has rows.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.blocks' op attribute 'size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
kernel.blocks %c to %c by 0 {
^bb0(%first: i32, %count: i32):
  kernel.yield
}

// -----

// Threads are those of a block of rows.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.threads' op stands in no block of rows}}
kernel.threads %c {
^bb0(%n: i32):
  kernel.yield
}

// -----

// Each does what its number says.
%c = arith.constant 0 : i32
kernel.blocks %c to %c by 8 {
^bb0(%first: i32, %count: i32):
  // expected-error @+1 {{'kernel.threads' op does not take 1 i32 and yield nothing}}
  kernel.threads %count {
    kernel.yield
  }
  kernel.yield
}

// -----

// So are warps.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.warps' op stands in no block of rows}}
kernel.warps %c {
^bb0(%n: i32):
  kernel.yield
}

// -----

// Lanes are those of a warp.
%c = arith.constant 0 : i32
// expected-error @+1 {{'kernel.lanes' op is no loop of a warp}}
kernel.lanes %c to %c {
^bb0(%k: i32):
  kernel.yield
}

// -----

// What is loaded is an array's.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op names @f, which is no array}}
    %x = kernel.load @f[%input] : f32
  }
}

// -----

// A load has an index for the row and one an axis.
kernel.program @p ["x"] [tensor<4xf32>] -> f32 {
  kernel.argument @x = "x" 0 value : tensor<4xf32>
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op is of 'f32' by 1 indices, but @x has rows of 'tensor<4xf32>'}}
    %x = kernel.load @x[%input] : f32
  }
}

// -----

// A parameter's row is its first axis.
kernel.param @W : tensor<4xf32>
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op is of 'f32' by 2 indices, but @W has 'tensor<4xf32>'}}
    %x = kernel.load @W[%input, %input] : f32
  }
}

// -----

// It gives what the array has.
kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @x = "x" 0 value : f32
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op is of 'i32' by 1 indices, but @x has rows of 'f32'}}
    %x = kernel.load @x[%input] : i32
  }
}

// -----

// An index array is an index set's.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op names index array `parent`, which @input does not have}}
    %x = kernel.load @input "parent"[%input] : i32
  }
}

// -----

// Index arrays are of integers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.load' op is of 'f32' by 1 indices, but in an index array}}
    %x = kernel.load @input "input"[%input] : f32
  }
}

// -----

// A window is one of levels that are kept.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.window' op is of a level that is not kept}}
    %first = kernel.window @input live 1 ago 1
  }
}

// -----

// They are those of an index set.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.window' op names @x, which is no index set}}
    %first = kernel.window @x live 1 ago 0
  }
}

// -----

// What is stored is in a buffer.
kernel.program @p ["x"] [i32] -> f32 {
  kernel.argument @x = "x" 0 value : i32
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.store' op names @x, which is no buffer}}
    kernel.store %begin, @x[%begin] : i32
  }
}

// -----

// It is an element of it.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.store' op is of 'i32' by 1 indices, but @x has rows of 'f32'}}
    kernel.store %begin, @x[%begin] : i32
  }
}

// -----

// Scratch has numbers.
// expected-error @+1 {{'kernel.local' op is no array of numbers: '!kernel.local<8x0xf32>'}}
%x = kernel.local : !kernel.local<8x0xf32>

// -----

// Scratch is a thread's, of which a stage says how much it needs.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {scratch = 64 : i64} {
    %x = kernel.local offset 0 : !kernel.local<8xf32>
    // expected-error @+1 {{'kernel.local' op lies at byte 64 of 64 bytes of a thread's scratch}}
    %y = kernel.local offset 64 : !kernel.local<8xf32>
  }
}

// -----

// expected-error @+1 {{'kernel.local' op lies at byte 0 of 0 bytes of a thread's scratch}}
%x = kernel.local offset 0 : !kernel.local<8xf32>

// -----

// Large-M tiles are the function's.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.local' op lies in large-M tiles, but its function has none in shared memory}}
    %x = kernel.local in shared offset 0 large_m 0 : <8xf32>
  }
}

// -----

// A read has an index an axis.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
// expected-error @+1 {{'kernel.read' op is of 'f32' by 1 indices, but in '!kernel.local<8x4xf32>'}}
%y = kernel.read %x[%c] : <8x4xf32> -> f32

// -----

// A write is of what the scratch has.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8xf32>
// expected-error @+1 {{'kernel.write' op is of 'i32' by 1 indices, but in '!kernel.local<8xf32>'}}
kernel.write %c, %x[%c] : i32, <8xf32>

// -----

// Rows are those of an array or of a local.
%x = kernel.local : !kernel.local<8xf32>
// expected-error @+1 {{'kernel.rows' op is neither of an array, via a local or from a row on, nor of a local}}
%r = kernel.rows @x local %x : !kernel.local<8xf32> at 0

// -----

// Rows of an array have numbers.
// expected-error @+1 {{'kernel.rows' op is neither of an array, via a local or from a row on, nor of a local}}
%r = kernel.rows @x at 0

// -----

// There is one for each row.
%x = kernel.local : !kernel.local<8xf32>
// expected-error @+1 {{'kernel.rows' op goes via '!kernel.local<8xf32>', which is no row number for each row}}
%r = kernel.rows @x via %x : !kernel.local<8xf32> at 0

// -----

// An index array names rows for those from one on.
%x = kernel.local : !kernel.local<8xi32>
// expected-error @+1 {{'kernel.rows' op goes through an index array without all that says where it begins}}
%r = kernel.rows @x through @set "left" via %x : !kernel.local<8xi32> at 0

// -----

// Products are those of real numbers.
%x = kernel.local : !kernel.local<8xi32>
// expected-error @+1 {{'kernel.rows' op is not of f32}}
%r = kernel.rows local %x : !kernel.local<8xi32> at 0

// -----

// Those of arrays too.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xi32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.rows' op is not of f32}}
    %r = kernel.rows @x from %begin at 0
  }
}

// -----

// What is in scratch is of the function's type.
%x = kernel.local : !kernel.local<8xf32>
// expected-error @+1 {{'kernel.rows' op copies scratch}}
%r = kernel.rows local %x : !kernel.local<8xf32> copy %x : !kernel.local<8xf32> at 0

// -----

// A row begins at an element.
%x = kernel.local : !kernel.local<8xf32>
// expected-error @+1 {{'kernel.rows' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
%r = kernel.rows local %x : !kernel.local<8xf32> at -1

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.rows' op names @W, which is no buffer}}
    %w = kernel.rows @W from %begin at 0
    kernel.product %end rows(%r) [4] with @w into %w : !kernel.rows
  }
}

// -----

// Each operand of a product has a length.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op has 1 operands and 2 lengths}}
kernel.product %c rows(%r) [2, 2] with @w into %x : !kernel.local<8x4xf32>

// -----

// Which matrix a row is multiplied with is a number.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op asks '!kernel.local<8x4xf32>', which is no number for each row}}
kernel.product %c rows(%r) [4] with @w table %x : !kernel.local<8x4xf32> into %x : !kernel.local<8x4xf32>

// -----

// Several tiles at once are those of large-M blocks.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op computes several tiles at once in a function without large-M tiles}}
kernel.product %c rows(%r) [4] with @w into %x : !kernel.local<8x4xf32> {large_m_tiles = 2 : i64}

// -----

// An epilogue is of one matrix's outputs.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%some = kernel.local : !kernel.local<8xi32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op has an epilogue, but is not all outputs of one matrix, of all rows, on a CPU}}
kernel.product %c rows(%r) [4] with @w some %some : !kernel.local<8xi32> relu into %x : !kernel.local<8x4xf32>

// -----

// The last tile takes what the one before has from scratch.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @y over @input : tensor<4xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    kernel.for %begin to %end {
    ^bb0(%tile: i32):
      %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
      %y = kernel.rows @y from %begin at 0
      // expected-error @+1 {{'kernel.product' op writes tiles to the rows of a buffer}}
      kernel.product %end rows(%r) [4] with @w tile %tile into %y : !kernel.rows
      kernel.yield
    }
  }
}

// -----

// Rows that a product writes are a buffer's.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op writes scratch as rows of a buffer}}
    kernel.product %end rows(%r) [4] with @w into %r : !kernel.rows
  }
}

// -----

// They hold what the product gives.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @y over @input : tensor<5xf32>
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    %y = kernel.rows @y from %begin at 0
    // expected-error @+1 {{'kernel.product' op does not give the outputs of @w to the rows of @y}}
    kernel.product %end rows(%r) [4] with @w into %y : !kernel.rows
  }
}

// -----

// A tile is the counter of a loop over tiles.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op computes a tile that is not the counter of a loop}}
kernel.product %c rows(%r) [4] with @w tile %c into %x : !kernel.local<8x4xf32>

// -----

// The last tile may take what the one before has left.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x1x4xf32>
%y = kernel.local : !kernel.local<8x4xf32>
%z = arith.constant 0.0 : f32
kernel.for %c to %c {
^bb0(%tile: i32):
  %r = kernel.rows local %y : !kernel.local<8x4xf32> at 0
  // expected-error @+1 {{'kernel.product' op computes tiles into what another operation in their loop writes}}
  kernel.product %c rows(%r) [4] with @w tile %tile into %x : !kernel.local<8x1x4xf32>
  kernel.write %z, %x[%c, %c, %c] : f32, <8x1x4xf32>
  kernel.yield
}

// -----

// A product is one with packed weights.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op names @W, which is no weights}}
    kernel.product %end rows(%r) [4] with @W into %x : !kernel.local<8x4xf32>
  }
}

// -----

// Its operands are the matrix's inputs.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op multiplies 3 elements with @w, which has 4 inputs}}
    kernel.product %end rows(%r) [3] with @w into %x : !kernel.local<8x4xf32>
  }
}

// -----

// Of several matrices each row has its own.
kernel.param @W : tensor<2x4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 tables 2
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op does not choose from @w}}
    kernel.product %end rows(%r) [4] with @w into %x : !kernel.local<8x4xf32>
  }
}

// -----

// There is one matrix, for all rows.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %t = kernel.local : !kernel.local<8xi32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op chooses from @w}}
    kernel.product %end rows(%r) [4] with @w table %t : !kernel.local<8xi32> into %x : !kernel.local<8x4xf32>
  }
}

// -----

// All outputs of a matrix in tiles lie behind each other where the tiles do not overlap.
kernel.param @W : tensor<40x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 40 by 4 gates 1 in tiles of 16
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %y = kernel.local : !kernel.local<8x40xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op computes all outputs of @w, which has tiles}}
    kernel.product %end rows(%r) [4] with @w into %y : !kernel.local<8x40xf32>
  }
}

// -----

// Tensor cores need somewhere to add up.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 contract <tf32x3, slices = 1, n_tiles = 1, lengths = [4]>
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op has no room for the sums of @w}}
    kernel.product %end rows(%r) [4] with @w into %x : !kernel.local<8x4xf32>
  }
}

// -----

// Tensor cores add up what a contract says.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.product' op knows no order of sums of @w}}
    kernel.product %end rows(%r) [4] with @w sums %x : !kernel.local<8x4xf32> into %x : !kernel.local<8x4xf32>
  }
}

// -----

// A tile is one of gates.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    kernel.for %begin to %end {
    ^bb0(%tile: i32):
      %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
      // expected-error @+1 {{'kernel.product' op computes a tile of @w, which has none}}
      kernel.product %end rows(%r) [4] with @w tile %tile into %x : !kernel.local<8x4xf32>
      kernel.yield
    }
  }
}

// -----

// A product has room for the outputs of a row.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x5xf32>
    %r = kernel.rows local %x : !kernel.local<8x5xf32> at 0
    // expected-error @+1 {{'kernel.product' op does not give the outputs of @w into '!kernel.local<8x5xf32>'}}
    kernel.product %end rows(%r) [4] with @w into %x : !kernel.local<8x5xf32>
  }
}

// -----

// Operands are cut as the matrix is laid out.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 contract <tf32x3, slices = 1, n_tiles = 1, lengths = [4]>
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    %t = kernel.rows local %x : !kernel.local<8x4xf32> at 2
    // expected-error @+1 {{'kernel.product' op cuts its operands into 2, 2 elements, but @w into 4}}
    kernel.product %end rows(%r, %t) [2, 2] with @w sums %x : !kernel.local<8x4xf32> into %x : !kernel.local<8x4xf32>
  }
}

// -----

// An operand lies within its rows: of scratch, of a buffer, of a parameter.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 1
    // expected-error @+1 {{'kernel.product' op reads 4 elements from number 1 on of rows of 4}}
    kernel.product %end rows(%r) [4] with @w into %x : !kernel.local<8x4xf32>
  }
}

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @y over @input : tensor<3xf32>
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows @y from %begin at 0
    // expected-error @+1 {{'kernel.product' op reads 4 elements from number 0 on of rows of 3}}
    kernel.product %end rows(%r) [4] with @w into %x : !kernel.local<8x4xf32>
  }
}

// -----

// What is known of sums of nothing is of one operand.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%some = kernel.local : !kernel.local<8xi32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op knows of sums of nothing, but is not of one operand and one matrix}}
kernel.product %c rows(%r, %r) [2, 2] with @w some %some : !kernel.local<8xi32> into %x : !kernel.local<8x4xf32>

// -----

// Each operand of a product of two matrices has so many rows.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.multiply' op has 1 operands and 2 lengths}}
kernel.multiply %c of %c rows %r height 2 by(%r) [1, 1] outputs 2 into %x : <8x4xf32>

// -----

// It has room for the result.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.multiply' op does not give 2 by 3 elements into '!kernel.local<8x4xf32>'}}
kernel.multiply %c of %c rows %r height 2 by(%r) [2] outputs 3 into %x : <8x4xf32>

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    %w = kernel.rows @W from %begin at 0
    // expected-error @+1 {{'kernel.multiply' op reads 20 elements from number 0 on of rows of 16}}
    kernel.multiply %end of %end rows %r height 1 by(%w) [5] outputs 4 into %x : <8x4xf32>
  }
}

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : !kernel.local<8x4xf32>
    %y = kernel.local : !kernel.local<8x8xf32>
    %z = kernel.local : !kernel.local<8x6xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    %s = kernel.rows local %y : !kernel.local<8x8xf32> at 0
    // expected-error @+1 {{'kernel.multiply' op reads 6 elements from number 0 on of rows of 4}}
    kernel.multiply %end of %end rows %r height 3 by(%s) [2] outputs 2 into %z : <8x6xf32>
  }
}

// -----

// Rows are added up where they are one thread's.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @into over @input : tensor<4x4xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %x = kernel.local : <8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.outer' op stands in no function that adds rows up}}
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @into
  }
}

// -----

// Outer products are added to one row.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @into over @input : tensor<4x4xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : <8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.outer' op adds to @into, which has more than one row}}
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @into
  }
}

// -----

// A product's rows are added up to a vector of their length.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @into over @input : tensor<4x4xf32>
  kernel.buffer @bias over @input : tensor<5xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : <8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.outer' op names @bias, which is no buffer of such a vector}}
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @into bias @bias
  }
}

// -----

// What is shared of a sum is tiles of the function.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @into over @input : tensor<4x4xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : <8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.outer' op has other bounds than those of the tiles of its function}}
    kernel.outer %end of 8 rows %r height 4 by %r outputs 4 into @into tiles(%begin, %end)
  }
}

// -----

kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.buffer @into over @batch : tensor<8x4xf32>
  kernel.func stage @f(%begin: i32, %end: i32) over @input attributes {sums} {
    %x = kernel.local : !kernel.local<8x4xf32>
    %r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
    // expected-error @+1 {{'kernel.outer' op reads 8 elements from number 0 on of rows of 4}}
    kernel.outer %end of 8 rows %r height 8 by %r outputs 4 into @into
  }
}

// -----

// A library knows no tiles.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xf32>
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 gates 1 in tiles of 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.gemm' op names @w, which is no plain weights}}
    kernel.gemm %begin to %end rows @x with @w into @x
  }
}

// -----

// It is given the inputs of rows.
kernel.param @W : tensor<4x3xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xf32>
  kernel.weights @w = [@W] at [0, 0] : 4 by 3
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.gemm' op names @x, which is no buffer of inputs}}
    kernel.gemm %begin to %end rows @x with @w into @x
  }
}

// -----

// It gives their outputs.
kernel.param @W : tensor<3x4xf32>
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : tensor<4xf32>
  kernel.weights @w = [@W] at [0, 0] : 3 by 4
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.gemm' op names @x, which is no buffer of outputs}}
    kernel.gemm %begin to %end rows @x with @w into @x
  }
}

// -----

// What is counted is there.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.count' op names @s, which is no index set}}
    %n = kernel.count @s
    kernel.reserve_memory [] %n at "m.dyn:1:1"
  }
}

// -----

// The schedule gives inputs their rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.push' op names @input, which is no index set that grows}}
    kernel.push @input(%input)
  }
}

// -----

// A row has a value in each index array.
kernel.program @p [] [] -> f32 {
  kernel.index_set states @s ["first", "length"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.push' op has 1 values, but @s has 2 index arrays}}
    kernel.push @s(%input)
  }
}

// -----

// What it fills is not pushed, and there is as much of it as there are index arrays.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set elements @map in @input ["parent", "word", "word.row"] filled 1
  kernel.func index @f(%row: i32, %input: i32) over @input {
    // expected-error @+1 {{'kernel.push' op has 3 values, but @map has 2 index arrays}}
    kernel.push @map(%row, %row, %row)
  }
}

// -----

// They are not pushed.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set distinct @rows ["row"] extent 9
  kernel.func index @f(%row: i32, %input: i32) over @input {
    // expected-error @+1 {{'kernel.push' op names @rows, which is no index set that grows}}
    kernel.push @rows(%row)
  }
}

// -----

// What is pushed is not set.
kernel.program @p [] [] -> f32 {
  kernel.index_set states @s ["first"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.set' op names @s, which is no index set of inputs or instances}}
    kernel.set @s "first"[%input], %input
  }
}

// -----

// What is set is an index array.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.set' op names index array `first`, which @input does not have}}
    kernel.set @input "first"[%input], %input
  }
}

// -----

// Rows come to index sets.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.reserve_memory' op names @s, which is no index set}}
    kernel.reserve_memory [@s] %input at "m.dyn:1:1"
  }
}

// -----

// Rows are reserved for states.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.reserve' op names @input, which is no index set of states}}
    %first = kernel.reserve @input %input
  }
}

// -----

// A slot is found by a function for that.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.slot' op names @f, which is no slot function}}
    %p = kernel.slot @f(%input) at "m.dyn:1:1"
  }
}

// -----

// It is given the keys.
kernel.program @p [] [] -> f32 {
  kernel.func slot @slot(%node: i32) {
    kernel.yield %node : i32
  }
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.slot' op has 2 keys, but @slot has 1 arguments}}
    %p = kernel.slot @slot(%input, %input) at "m.dyn:1:1"
  }
}

// -----

// Keys are looked up where slots are.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.key' op stands in no slot function}}
    %p = kernel.key @g 0 0[%input] = %input of @Tree at "m.dyn:1:1" {
    }
  }
}

// -----

// A number has a range.
kernel.program @p [] [] -> f32 {
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op has no range}}
    %p = kernel.key @g 0 0[%node] = %t at "m.dyn:1:1" {
    }
    kernel.yield %p : i32
  }
}

// -----

// A node's range is that of its data type.
kernel.program @p [] [] -> f32 {
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op has a range beside that of its nodes}}
    %p = kernel.key @g 0 0[%node] = %t of @Tree at "m.dyn:1:1" {
      kernel.yield %t, %t : i32, i32
    }
    kernel.yield %p : i32
  }
}

// -----

// A range has two bounds.
kernel.program @p [] [] -> f32 {
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op has a range that does not yield two i32}}
    %p = kernel.key @g 0 0[%node] = %t at "m.dyn:1:1" {
      kernel.yield %t : i32
    }
    kernel.yield %p : i32
  }
}

// -----

// A key is one of its cell.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %t: i32) {
  }
  kernel.group @g ["cell"] of [unit] keys [["t"]] by [@calls]
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op is secondary key 1 of a cell with 1}}
    %p = kernel.key @g 0 1[%node] = %t at "m.dyn:1:1" {
      kernel.yield %t, %t : i32, i32
    }
    kernel.yield %p : i32
  }
}

// -----

// Its nodes are of a data type.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %t: i32) {
  }
  kernel.group @g ["cell"] of [unit] keys [["t"]] by [@calls]
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op names @Tree, which is no data type}}
    %p = kernel.key @g 0 0[%node] = %t of @Tree at "m.dyn:1:1" {
    }
    kernel.yield %p : i32
  }
}

// -----

// Slots for all values of a range: a constant one, ...
kernel.program @p [] [] -> f32 {
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op is fixed, but the values of its range are not the same for every node}}
    %p = kernel.key @g 0 0[%node] = %t fixed at "m.dyn:1:1" {
      kernel.yield %node, %t : i32, i32
    }
    kernel.yield %p : i32
  }
}

// -----

// ... not one of nodes, ...
kernel.program @p [] [] -> f32 {
  kernel.func slot @f(%node: i32, %t: i32) {
    // expected-error @+1 {{'kernel.key' op is fixed, but a node}}
    %p = kernel.key @g 0 0[%node] = %t of @Tree fixed at "m.dyn:1:1" {
    }
    kernel.yield %p : i32
  }
}

// -----

// ... and of one key.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %t: i32, %u: i32) {
  }
  kernel.group @g ["cell"] of [unit] keys [["t", "u"]] by [@calls]
  kernel.func slot @f(%node: i32, %t: i32, %u: i32) {
    // expected-error @+1 {{'kernel.key' op is fixed, but its cell has more secondary keys}}
    %p = kernel.key @g 0 0[%node] = %t fixed at "m.dyn:1:1" {
      %low = arith.constant 0 : i32
      %high = arith.constant 2 : i32
      kernel.yield %low, %high : i32, i32
    }
    kernel.yield %p : i32
  }
}

// -----

// What is called is a cell.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.call' op names @g, which is no group with a cell number 0}}
    kernel.call @g 0(%input)
  }
}

// -----

// Where it is called from is kept by a relation.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%input: i32) {
    // expected-error @+1 {{'kernel.call' op has an origin, but no relation}}
    "kernel.call"(%input, %input) {cell = 0 : i32, group = @g} : (i32, i32) -> ()
  }
  kernel.group @g ["cell"] of [unit] by [@calls]
}

// -----

// That is one of the program's.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%input: i32) {
    // expected-error @+1 {{'kernel.call' op names @g, which is no relation}}
    kernel.call @g 0(%input) from @g()
  }
  kernel.group @g ["cell"] of [unit] by [@calls]
}

// -----

// It leads to the cell that is called.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%input: i32) {
    // expected-error @+1 {{'kernel.call' op is from @r, which leads to another cell}}
    kernel.call @g 0(%input) from @r()
  }
  kernel.func calls @others(%input: i32) {
  }
  kernel.group @g ["cell", "other"] of [unit, unit] by [@calls, @others]
  kernel.relation @r to @g 1 keeps 0 at "m.dyn:1:1"
}

// -----

// All that it keeps is given.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%input: i32) {
    // expected-error @+1 {{'kernel.call' op has an origin of 0 values, but @r keeps 1}}
    kernel.call @g 0(%input) from @r()
  }
  kernel.group @g ["cell"] of [unit] by [@calls]
  kernel.relation @r to @g 0 keeps 1 at "m.dyn:1:1"
}

// -----

// Who calls is asked of a relation.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.called_by' op names @g, which is no relation}}
    %o = kernel.called_by @g[%input]
  }
}

// -----

// So is from where.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.caller' op names @g, which is no relation}}
    %o = kernel.caller @g[%input] 0
  }
}

// -----

// It is among what is kept.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%input: i32) {
    // expected-error @+1 {{'kernel.caller' op is value 1, but @r keeps 1}}
    %o = kernel.caller @r[%input] 1
  }
  kernel.group @g ["cell"] of [unit] by [@calls]
  kernel.relation @r to @g 0 keeps 1 at "m.dyn:1:1"
}

// -----

// An instance is named by all its keys.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %t: i32) {
  }
  kernel.group @g ["cell"] of [unit] keys [["t"]] by [@calls]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.called' op has 1 keys, but its cell has 2}}
    %is = kernel.called @g 0(%input)
  }
}

// -----

// Instances have rows of their own.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.row_of' op names @input, which is no index set of instances}}
    %row = kernel.row_of @input(%input)
  }
}

// -----

// What must be given is the application's.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.require' op names @input, which is no field or argument}}
    kernel.require @input[%input]
  }
}

// -----

// A message has the numbers of its error.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    %t = arith.constant true
    // expected-error @+1 {{'kernel.check' op has 1 values, not 2, for index}}
    kernel.check index %t, "index" at "m.dyn:1:1" (%input)
  }
}

// -----

// In a stage it has the row in front.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    %t = arith.constant true
    // expected-error @+1 {{'kernel.check' op has 2 values, not 3, for index}}
    kernel.check index %t, "index" at "m.dyn:1:1" (%begin, %end)
  }
}

// -----

// What cannot fail is computed without a check.
kernel.func index @f(%a: i32, %b: i32) over @s {
  // expected-error @+1 {{'kernel.int' op cannot fail: arith has it}}
  %c = kernel.int max %a, %b at "m.dyn:1:1"
}

// -----

// So has a computation that may fail.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.int' op has no row of its stage}}
    %c = kernel.int add %begin, %end at "m.dyn:1:1"
  }
}

// -----

// Elsewhere the input is known.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.int' op has a row, but stands in no stage}}
    %c = kernel.int add %input, %input at "m.dyn:1:1" row %input
  }
}

// -----

// Nodes that are discovered are rows of an index set for that.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.collect_nodes' op names @input, which is no index set of states}}
    %first, %length = kernel.collect_nodes @input @Tree(%input)
  }
}

// -----

// They stand in its index array.
kernel.program @p [] [] -> f32 {
  kernel.index_set states @nodes ["first"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.collect_nodes' op names index array `node`, which @nodes does not have}}
    %first, %length = kernel.collect_nodes @nodes @Tree(%input)
  }
}

// -----

// They are of a data type.
kernel.program @p [] [] -> f32 {
  kernel.index_set states @nodes ["node"]
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.collect_nodes' op names @Tree, which is no data type}}
    %first, %length = kernel.collect_nodes @nodes @Tree(%input)
  }
}

// -----

// Rows that lie in their order have no list of it.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.func stage @f(%begin: i32, %end: i32) over @input {
    // expected-error @+1 {{'kernel.order' op names @input, which is no index set with an order list}}
    %row = kernel.order @input[%begin]
  }
}
