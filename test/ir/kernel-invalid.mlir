// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `kernel` dialect refuses.

// What cannot fail is computed without a check.
kernel.func index @f(%a: i32, %b: i32) over @s {
  // expected-error @+1 {{'kernel.int' op cannot fail: arith has it}}
  %c = kernel.int max %a, %b at "m.dyn:1:1"
}

// -----

// A field has a type and a column.
kernel.data @Tree {
  // expected-error @+1 {{'kernel.ctor' op has 1 fields, 1 types and 2 columns}}
  kernel.ctor "Tree" ["x"] [f32] in [0, 1]
}

// -----

// Its node is of a data type that there is.
kernel.data @Tree {
  // expected-error @+1 {{'kernel.ctor' op names no data type @Leaf}}
  kernel.ctor "Tree" ["x"] [!dyn.node<@Leaf>] in [0]
}

// -----

// Data types are the module's.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.data' op expects parent op 'builtin.module'}}
  kernel.data @Tree {
  }
}

// -----

// So are parameters.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.param' op expects parent op 'builtin.module'}}
  kernel.param @W : f32
}

// -----

// There is code of the entry.
// expected-error @+1 {{'kernel.evaluation' op has no code of its entry}}
kernel.evaluation @p words [] code [1]

// -----

// Functions begin in the code.
// expected-error @+1 {{'kernel.evaluation' op has a function at 5, outside of its code}}
kernel.evaluation @p words [] code [1, 5, 0]

// -----

// What is evaluated is an entry.
kernel.param @p : f32
// expected-error @+1 {{'kernel.evaluation' op names @p, which is no entry or program}}
kernel.evaluation @p words [] code [1, 2, 0]

// -----

// A program's arguments have names.
// expected-error @+1 {{'kernel.program' op has 0 argument names and 1 types}}
kernel.program @p [] [f32] -> f32 {
}

// -----

// A loss gives its number first (manual, G3).
// expected-error @+1 {{'kernel.program' op is a loss, but gives no f32 first}}
kernel.program loss @p [] [] -> i32 {
}

// -----

// Index arrays are told apart by their names.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has index array `x` twice}}
  kernel.index_set states @s ["x", "x"]
}

// -----

// Rows made from others have a parent.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has no parent}}
  kernel.index_set elements @s ["parent"]
}

// -----

// Others have none.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has a parent, but no rows that are made from others}}
  kernel.index_set inputs @s in @s ["input"]
}

// -----

// Instances are those of a cell.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op is of instances, but of no cell}}
  kernel.index_set instances @s ["node"]
}

// -----

// Only they are.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op is of a cell, but not of its instances}}
  kernel.index_set inputs @s ["input"] group @g cell 0
}

// -----

// A table has rows, with one number each.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has an extent, but is no table}}
  kernel.index_set model @s [] extent 4
}

// -----

// What rows are made from stands first.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op begins with index array `row`}}
  kernel.index_set elements @s in @input ["row", "parent"]
}

// -----

// Steps are numbered.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op has no index array `step`}}
  kernel.index_set steps @s in @input ["parent"]
}

// -----

// A parent is an index set.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op names @input, which is no index set}}
  kernel.index_set elements @s in @input ["parent"]
}

// -----

// Rows that run by step run by those of a scan.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op names @input, which is no index set of steps}}
  kernel.index_set elements @s in @input ["parent"] by_time_step steps @input
}

// -----

// A cell is one of its group.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
  }
  kernel.group @g ["cell"] of [unit] by [@calls]
  // expected-error @+1 {{'kernel.index_set' op names @g, which is no group with a cell number 1}}
  kernel.index_set instances @s ["input"] group @g cell 1
}

// -----

// A group tells of each cell what it is of, and what it calls.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.group' op does not tell the same of each of its 1 cells}}
  kernel.group @g ["cell"] of [unit] by []
}

// -----

// One secondary key may be that of its levels.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
  }
  // expected-error @+1 {{'kernel.group' op has no one cell with a secondary key 1}}
  kernel.group @g ["cell"] of [unit] keys [["t"]] by [@calls] level_key 1
}

// -----

// What a cell calls a function of its own says.
kernel.program @p [] [] -> f32 {
  kernel.func roots @roots(%input: i32) {
  }
  // expected-error @+1 {{'kernel.group' op names @roots, which is no calls function}}
  kernel.group @g ["cell"] of [unit] by [@roots]
}

// -----

// Its nodes are of a data type.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
  }
  // expected-error @+1 {{'kernel.group' op names @Tree, which is no data type}}
  kernel.group @g ["cell"] of [@Tree] by [@calls]
}

// -----

// A buffer has rows.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.buffer' op names @input, which is no index set}}
  kernel.buffer @x over @input : f32
}

// -----

// It holds numbers.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.buffer' op attribute 'type' failed to satisfy constraint: type attribute of number or node}}
  kernel.buffer @x over @input : !dyn.list<f32>
}

// -----

// Some rows of it are active.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.buffer' op attribute 'live' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  kernel.buffer @x over @input : f32 live 0
}

// -----

// It is a program's.
// expected-error @+1 {{'kernel.buffer' op expects parent op 'kernel.program'}}
kernel.buffer @x over @input : f32

// -----

// A field is one of a data type.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.field' op names @Tree, which is no data type}}
  kernel.field @x = @Tree "x" 0 value : f32
}

// -----

// Kinds are numbers.
kernel.data @Tree {
}
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.field' op holds kinds as 'f32'}}
  kernel.field @x = @Tree "" -1 kind : f32
}

// -----

// A field stands in its column.
kernel.data @Tree {
  kernel.ctor "Tree" ["x", "y"] [f32, f32] in [0, 1]
}
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.field' op is no value of a field "x" of @Tree in column 1}}
  kernel.field @x = @Tree "x" 1 value : f32
}

// -----

// It has the field's type.
kernel.data @Tree {
  kernel.ctor "Tree" ["x"] [f32] in [0]
}
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.field' op is no value of a field "x" of @Tree in column 0}}
  kernel.field @x = @Tree "x" 0 value : i32
}

// -----

// A list has bounds and items, no other field.
kernel.data @Tree {
  kernel.ctor "Tree" ["x"] [f32] in [0]
}
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.field' op is no items of a field "x" of @Tree in column 0}}
  kernel.field @x = @Tree "x" 0 items : f32
}

// -----

// An argument is the program's.
kernel.program @p ["x"] [f32] -> f32 {
  // expected-error @+1 {{'kernel.argument' op is no value of argument 1 of its program}}
  kernel.argument @x = "x" 1 value : f32
}

// -----

// Lists in lists have bounds at each level, and no more.
kernel.program @p ["xs"] [!dyn.list<f32>] -> f32 {
  // expected-error @+1 {{'kernel.argument' op is no begin of argument 0 of its program}}
  kernel.argument @xs = "xs" 0 begin : i32 {level = 1 : i32}
}

// -----

// Each submatrix has a position.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has 3 positions for 1 submatrices}}
  kernel.weights @w = [@W] at [0, 0, 0] : 4 by 4
}

// -----

// A matrix has outputs.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op attribute 'out' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  kernel.weights @w = [@W] at [0, 0] : 0 by 4
}

// -----

// Gates have as many channels each.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no tiles of 1 channels of 3 gates}}
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 gates 3 in tiles of 1
}

// -----

// Operands of all lengths are the inputs.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op cannot be laid out by #kernel.contract<tf32, slices = 1, n_tiles = 1, lengths = [4, 4]>}}
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 contract <tf32, slices = 1, n_tiles = 1, lengths = [4, 4]>
}

// -----

// A matrix is made of parameters.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op names @W, which is no parameter}}
  kernel.weights @w = [@W] at [0, 0] : 4 by 4
}

// -----

// Its submatrices lie in it.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<4x4xf32>'}}
  kernel.weights @w = [@W] at [1, 0] : 4 by 4
}

// -----

// Of blocks of parameters only the blocks are.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<4x4xf32>'}}
  kernel.weights @w = [@W] at [0, 0, 3, 0, 2, 4] : 2 by 4
}

// -----

// A table has so many matrices.
kernel.param @W : tensor<3x4x4xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<3x4x4xf32>'}}
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 tables 2
}

// -----

// The submatrices cover the matrix.
kernel.param @W : tensor<4x4xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has 32 elements, but its submatrices have 16}}
  kernel.weights @w = [@W] at [0, 0] : 8 by 4
}

// -----

// Products start from a number for each output.
kernel.param @W : tensor<4x4xf32>
kernel.param @b : tensor<3xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op does not start from @b, which is 'tensor<3xf32>'}}
  kernel.weights @w = [@W] at [0, 0] : 4 by 4 init @b
}

// -----

// An output is a buffer's.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.output' op names @x, which is no buffer}}
  kernel.output 0 = @x depth 0
}

// -----

// It has the result's type.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : i32
  // expected-error @+1 {{'kernel.output' op has 'i32' at depth 0 for result 0, which is 'f32'}}
  kernel.output 0 = @x depth 0
}

// -----

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
  kernel.func stage @f(%begin: i32, %end: i32) over @batch attributes {sums, slices = 2 : i64, of_slices = @slices, summed = [@into]} {
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

// What is cut into slices of rows is a sum over rows.
kernel.program @p [] [] -> f32 {
  kernel.index_set batch @batch []
  // expected-error @+1 {{'kernel.func' op is cut into slices of rows, but not as a sum over them is}}
  kernel.func stage @f(%begin: i32, %end: i32) over @batch attributes {slices = 2 : i64} {
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

// What is known of sums of nothing is of one operand.
%c = arith.constant 0 : i32
%x = kernel.local : !kernel.local<8x4xf32>
%some = kernel.local : !kernel.local<8xi32>
%r = kernel.rows local %x : !kernel.local<8x4xf32> at 0
// expected-error @+1 {{'kernel.product' op knows of sums of nothing, but is not of one operand and one matrix}}
kernel.product %c rows(%r, %r) [2, 2] with @w some %some : !kernel.local<8xi32> into %x : !kernel.local<8x4xf32>

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

// What is called is a cell.
kernel.program @p [] [] -> f32 {
  kernel.func roots @f(%input: i32) {
    // expected-error @+1 {{'kernel.call' op names @g, which is no group with a cell number 0}}
    kernel.call @g 0(%input)
  }
}

// -----

// So is where a relation leads.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.relation' op names @g, which is no group with a cell number 0}}
  kernel.relation @r to @g 0 keeps 0 at "m.dyn:1:1"
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

// -----

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

// So does what it waits at.
kernel.program @p [] [] -> f32 {
  kernel.run {
    // expected-error @+1 {{'kernel.block_group_barrier' op expects parent op to be one of 'kernel.levels, kernel.steps'}}
    kernel.block_group_barrier
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
        kernel.copy_async @w
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

// The batch as a whole has no index arrays, a transpose two.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has other index arrays than its kind}}
  kernel.index_set batch @batch ["row"]
}

// -----

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has other index arrays than its kind}}
  kernel.index_set transpose @of ["row"]
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

// Only inputs of losses have weights.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.argument' op weighs the inputs of no loss}}
  kernel.argument @w = "weight" 0 loss_weight : f32
}

// -----

// A matrix is turned by itself, a block of a parameter like a whole one.
kernel.param @W : tensor<3x2xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op is turned, but is not of one parameter}}
  kernel.weights @m = [@W, @W] at [0, 0, 2, 0] : 4 by 3 turned
}

// -----

kernel.param @W : tensor<3x2xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<3x2xf32>'}}
  kernel.weights @m = [@W] at [0, 0, 0, 0, 2, 3] : 3 by 2 turned
}

// -----

// A block of a parameter that has several matrices lies in these, one below the other.
kernel.param @W : tensor<2x3x2xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<2x3x2xf32>'}}
  kernel.weights @m = [@W] at [0, 0, 4, 0, 3, 2] : 3 by 2
}

// -----

kernel.param @W : tensor<3x2xf32>
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.weights' op has no position for @W, which is 'tensor<3x2xf32>'}}
  kernel.weights @m = [@W] at [0, 0] : 3 by 2 turned
}

// -----

// Distinct numbers are one index array, have a bound, and are in no order of time steps.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has other index arrays than its kind}}
  kernel.index_set distinct @rows ["number"] extent 9
}

// -----

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op of distinct numbers has no extent, or time steps}}
  kernel.index_set distinct @rows ["row"]
}

// -----

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op of distinct numbers has no extent, or time steps}}
  kernel.index_set distinct @rows ["row"] by_time_step extent 9
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

// Calls lead to instances; each site is a pair.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has sites that are no pairs of a coordinate and a call, or is not of instances}}
  kernel.index_set inputs @input ["input"] {sites = array<i64: -2, 3>}
}

// -----

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has sites that are no pairs of a coordinate and a call, or is not of instances}}
  kernel.index_set instances @s ["node"] group @g cell 0 {sites = array<i64: -2, 3, -3>}
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

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has more index arrays that are filled than it has}}
  kernel.index_set inputs @input ["input"] filled 2
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

kernel.param @E : tensor<9x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set distinct @rows ["row"] extent 8
  kernel.buffer @sum over @rows : tensor<4xf32>
  // expected-error @+1 {{'kernel.gradient' op of @E, which has 9 rows, lies at rows of 8}}
  kernel.gradient @E = @sum
}

// -----

// The rows of a column are those of a field or an argument that has values, without index arrays or time steps.
kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  // expected-error @+1 {{'kernel.index_set' op has other index arrays than its kind}}
  kernel.index_set column @rows in @arg.x ["row"]
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  // expected-error @+1 {{'kernel.index_set' op has no parent}}
  kernel.index_set column @rows []
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  // expected-error @+1 {{'kernel.index_set' op of a column has time steps}}
  kernel.index_set column @rows in @arg.x [] by_time_step
}

// -----

kernel.program @p ["xs"] [!dyn.list<f32>] -> f32 {
  kernel.argument @arg.xs.begin = "xs" 0 begin : i32
  // expected-error @+1 {{'kernel.index_set' op names @arg.xs.begin, which is no field or argument with values}}
  kernel.index_set column @rows in @arg.xs.begin []
}

// -----

// The gradient of an argument has its rows, of its type, and there is one.
kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  kernel.index_set inputs @input ["input"]
  kernel.buffer @gradient over @input : f32
  // expected-error @+1 {{'kernel.input_gradient' op of @arg.x lies in a buffer that has other rows}}
  kernel.input_gradient @arg.x = @gradient
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  kernel.index_set column @rows in @arg.x []
  kernel.buffer @gradient over @rows : tensor<2xf32>
  // expected-error @+1 {{'kernel.input_gradient' op of @arg.x, which has rows of 'f32', lies in 'tensor<2xf32>'}}
  kernel.input_gradient @arg.x = @gradient
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  kernel.index_set column @rows in @arg.x []
  kernel.buffer @gradient over @rows : f32
  // expected-error @+1 {{'kernel.input_gradient' op names @rows, which is no field or argument with values}}
  kernel.input_gradient @rows = @gradient
}

// -----

kernel.program @p ["x"] [f32] -> f32 {
  kernel.argument @arg.x = "x" 0 value : f32
  kernel.index_set column @rows in @arg.x []
  kernel.buffer @gradient over @rows : f32
  kernel.input_gradient @arg.x = @gradient
  // expected-error @+1 {{'kernel.input_gradient' op gives @arg.x a second gradient}}
  kernel.input_gradient @arg.x = @gradient
}

// -----

// The order of the inputs is that of an index set's rows, has no index arrays or time steps, and is made as such.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has no parent}}
  kernel.index_set by_input @order []
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op has other index arrays than its kind}}
  kernel.index_set by_input @order in @input ["row"]
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op in the order of the inputs has time steps}}
  kernel.index_set by_input @order in @input [] by_time_step
}

// -----

kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.index_set' op names @input, which is no masked index set}}
  kernel.index_set by_input @order in @input [] masked
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

// expected-error @+1 {{unknown kind of function phase}}
kernel.func phase @f() over @s {
}
