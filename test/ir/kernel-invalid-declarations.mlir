// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `kernel` dialect refuses of declarations: data, params, programs and their arrays.

// Data types are the module's.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.data' op expects parent op 'builtin.module'}}
  kernel.data @Tree {
  }
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

// Arguments are of data types that there are.
// expected-error @+1 {{'kernel.program' op names no data type @Tree}}
kernel.program @p ["t"] [!dyn.list<!dyn.node<@Tree>>] -> f32 {
}

// -----

// So are results.
// expected-error @+1 {{'kernel.program' op names no data type @Tree}}
kernel.program @p [] [] -> tuple<f32, !dyn.node<@Tree>> {
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

kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.index_set' op has more index arrays that are filled than it has}}
  kernel.index_set inputs @input ["input"] filled 2
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

// Nodes share what is of their fields, ...
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
  }
  // expected-error @+1 {{'kernel.group' op is shared by nodes that are alike, but is not of their fields alone}}
  kernel.group @g ["cell"] of [@Tree] by [@calls] shared
}

// -----

// ... in slots that are as many for each.
kernel.program @p [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %t: i32) {
  }
  // expected-error @+1 {{'kernel.group' op is shared by nodes that are alike, but cell 0 has secondary keys that are not fixed}}
  kernel.group @g ["cell"] of [@Tree] keys [["t"]] by [@calls] shared {of_fields}
}

// -----

// So is where a relation leads.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.relation' op names @g, which is no group with a cell number 0}}
  kernel.relation @r to @g 0 keeps 0 at "m.dyn:1:1"
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

// Rows of a buffer do not overlap.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.buffer' op has rows of 17 numbers that begin 16 apart}}
  kernel.buffer @x over @input : tensor<17xf32> stride 16
}

// -----

// Storages are counted from 0.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.buffer' op attribute 'storage' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  kernel.buffer @x over @input : f32 storage -1
}

// -----

// Only where rows lie in the order of time steps may those of some be kept.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.buffer' op keeps the rows of some time steps, but its rows do not lie in the order of these}}
  kernel.buffer @x over @input : f32 live 2
}

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

// Only inputs of losses have weights.
kernel.program @p [] [] -> f32 {
  // expected-error @+1 {{'kernel.argument' op weighs the inputs of no loss}}
  kernel.argument @w = "weight" 0 loss_weight : f32
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

kernel.param @E : tensor<9x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set distinct @rows ["row"] extent 8
  kernel.buffer @sum over @rows : tensor<4xf32>
  // expected-error @+1 {{'kernel.gradient' op of @E, which has 9 rows, lies at rows of 8}}
  kernel.gradient @E = @sum
}

// -----

// A gradient is a parameter's, and has its shape.
kernel.param @W : tensor<3xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set batch @batch []
  kernel.buffer @sum over @batch : tensor<2xf32>
  // expected-error @+1 {{'kernel.gradient' op of @W, which is 'tensor<3xf32>', lies in 'tensor<2xf32>'}}
  kernel.gradient @W = @sum
}

// -----

kernel.param @W : tensor<3xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @sum over @input : tensor<3xf32>
  // expected-error @+1 {{'kernel.gradient' op lies in a buffer that has more than one row}}
  kernel.gradient @W = @sum
}

// -----

kernel.program loss @p [] [] -> f32 {
  kernel.index_set batch @batch []
  kernel.buffer @sum over @batch : tensor<3xf32>
  // expected-error @+1 {{'kernel.gradient' op names @W, which is no parameter}}
  kernel.gradient @W = @sum
}

// -----

// A sparse gradient has rows of the table, as many of them as it.
kernel.param @E : tensor<9x4xf32>
kernel.program loss @p [] [] -> f32 {
  kernel.index_set distinct @E.rows ["row"] extent 9
  kernel.buffer @sum over @E.rows : tensor<9x4xf32>
  // expected-error @+1 {{'kernel.gradient' op of @E, which is 'tensor<9x4xf32>', lies in 'tensor<9x4xf32>'}}
  kernel.gradient @E = @sum
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

// An output is a buffer's.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  // expected-error @+1 {{'kernel.output' op names @input, which is no buffer}}
  kernel.output 0 = @input depth 0
}

// -----

// It is one of the results of the program.
kernel.program @p [] [] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'kernel.output' op is result 1 of 1}}
  kernel.output 1 = @x depth 0
}

// -----

// It lies as deep in lists as the result.
kernel.program @p [] [] -> !dyn.list<f32> {
  kernel.index_set inputs @input ["input"]
  kernel.buffer @x over @input : f32
  // expected-error @+1 {{'kernel.output' op has 'f32' at depth 0 for result 0, which is '!dyn.list<f32>'}}
  kernel.output 0 = @x depth 0
}

// -----

// An output is the program's.
// expected-error @+1 {{'kernel.output' op expects parent op 'kernel.program'}}
kernel.output 0 = @x depth 0
