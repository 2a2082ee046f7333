// RUN: dbc-opt %s --batch-name-stages | FileCheck %s
//
// Stages are called after what they are computed for.

kernel.program @p ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set arm @cell.Node in @input ["parent"]
  kernel.index_set batch @batch []
  kernel.argument @arg.x = "x" 0 value : f32
  batch.relation @number : @input -> by "input"
  batch.relation @parent : @cell.Node -> @input by "parent"
  kernel.buffer @input.h over @input : f32
  kernel.buffer @input.value over @input : f32
  kernel.buffer @input.tanh over @input : f32
  kernel.buffer @input.value.2 over @input : f32
  kernel.buffer @cell.Node.value over @cell.Node : f32
  kernel.buffer @input.exp over @input : f32
  kernel.buffer @x.adjoint over @input : f32
  kernel.buffer @h.adjoint over @cell.Node : f32
  kernel.buffer @again over @cell.Node : f32
  kernel.buffer @W.gradient over @batch : f32
  kernel.output 0 = @input.value.2 depth 0

  // Of several over one index set each has the source's word for what it writes, a name or a function, where there is one; the
  // others have numbers.
  // CHECK: batch.stage @input.h over @input {
  batch.stage @s over @input {
    %x = batch.gather @arg.x via @number : f32
    %y = arith.addf %x, %x : f32 loc("h")
    batch.write %y, @input.h : f32
  }
  // CHECK: batch.stage @input over @input {
  batch.stage @s over @input {
    %x = batch.read @input.h : f32
    %y = arith.addf %x, %x : f32
    batch.write %y, @input.value : f32
  }
  // CHECK: batch.stage @input.tanh over @input {
  batch.stage @s over @input {
    %x = batch.read @input.value : f32
    %y = math.tanh %x : f32
    batch.write %y, @input.tanh : f32
  }
  // CHECK: batch.stage @input.2 over @input {
  batch.stage @s over @input {
    %x = batch.read @input.tanh : f32
    %y = arith.addf %x, %x : f32
    batch.write %y, @input.value.2 : f32
  }

  // One that also clears what others add to is not called after that.
  // CHECK: batch.stage @input.exp over @input {
  batch.stage @s over @input {
    %x = batch.read @input.value : f32
    %y = math.exp %x : f32
    batch.write %y, @input.exp : f32
    %zero = arith.constant 0.0 : f32
    batch.write %zero, @x.adjoint : f32
  }

  // One over its index set needs no more words than that; in a role it has that.
  // CHECK: batch.stage @cell.Node over @cell.Node {
  batch.stage @cell.Node.tanh over @cell.Node {
    %x = batch.gather @input.value via @parent : f32
    %y = math.tanh %x : f32
    batch.write %y, @cell.Node.value : f32
  }
  // CHECK: batch.stage @cell.Node.again over @cell.Node role again {
  batch.stage @a over @cell.Node role again {
    %x = batch.gather @input.value via @parent : f32
    %y = math.tanh %x : f32
    batch.write %y, @again : f32
  }
  // CHECK: batch.stage @cell.Node.adjoint over @cell.Node role adjoint {
  batch.stage @b over @cell.Node role adjoint {
    %x = batch.read @again : f32
    batch.write %x, @h.adjoint : f32
  }
  // CHECK: batch.stage @cell.Node.gradient over @cell.Node role gradient {
  batch.stage @c over @cell.Node role gradient {
    %x = batch.read @h.adjoint : f32
    batch.accumulate %x, @W.gradient : f32
  }
}
