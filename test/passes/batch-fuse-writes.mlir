// RUN: dbc-opt %s --batch-fuse --split-input-file | FileCheck %s
//
// What batch-fuse does to buffers that several stages write.

// Of buffers that a stage writes one value to one stays, and its readers read that.
// CHECK-LABEL: kernel.program @duplicates
// CHECK: kernel.buffer @kept over @input
// CHECK-NOT: kernel.buffer @gone
// CHECK: batch.write %{{.*}}, @kept
// CHECK-NOT: batch.write %{{.*}}, @gone
// CHECK-COUNT-2: batch.gather @kept via @number
// CHECK-NOT: @gone
// CHECK: }
kernel.program @duplicates ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step", "of"]
  kernel.argument @arg.x = "x" 0 value : f32
  batch.relation @input.x : @input -> by "input"
  batch.relation @number : @scan -> @input by "of"
  kernel.buffer @kept over @input : f32
  kernel.buffer @gone over @input : f32
  kernel.buffer @a over @scan : f32
  kernel.output 0 = @a depth 0
  batch.stage @writer over @input {
    %x = batch.gather @arg.x via @input.x : f32
    %y = math.tanh %x : f32
    batch.write %y, @kept : f32
    batch.write %y, @gone : f32
  }
  batch.stage @reader over @scan {
    %y = batch.gather @kept via @number : f32
    %z = batch.gather @gone via @number : f32
    %both = arith.addf %y, %z : f32
    batch.write %both, @a : f32
  }
}

// -----

// Sums that one stage sets to the same number are two: rows add to them afterwards.
// CHECK-LABEL: kernel.program loss @sums
// CHECK: batch.accumulate %{{.*}}, @first
// CHECK: batch.accumulate %{{.*}}, @second
kernel.param @p : f32
kernel.param @q : f32
kernel.program loss @sums ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set batch @batch []
  kernel.argument @arg.x = "x" 0 value : f32
  batch.relation @input.x : @input -> by "input"
  kernel.buffer @result over @input : f32
  kernel.buffer @first over @batch : f32
  kernel.buffer @second over @batch : f32
  kernel.output 0 = @result depth 0
  kernel.gradient @p = @gradient.p
  kernel.gradient @q = @gradient.q
  kernel.buffer @gradient.p over @batch : f32
  kernel.buffer @gradient.q over @batch : f32
  batch.stage @clear over @batch {
    %zero = arith.constant 0.0 : f32
    batch.write %zero, @first : f32
    batch.write %zero, @second : f32
  }
  batch.stage @forward over @input {
    %x = batch.gather @arg.x via @input.x : f32
    batch.write %x, @result : f32
  }
  batch.stage @add over @input {
    %x = batch.gather @arg.x via @input.x : f32
    %y = math.exp %x : f32
    batch.accumulate %x, @first : f32
    batch.accumulate %y, @second : f32
  }
  batch.stage @end over @batch {
    %a = batch.read @first : f32
    %b = batch.read @second : f32
    batch.write %a, @gradient.p : f32
    batch.write %b, @gradient.q : f32
  }
}

// -----

// A buffer that one stage clears and another stores to by a relation is cleared first, though the stage that clears it could be part
// of a later one over its index set.
// CHECK-LABEL: kernel.program @stores
// CHECK: batch.write %{{.*}}, @sum
// CHECK: batch.scatter %{{.*}}, @sum via @number
// CHECK: batch.read @sum
kernel.program @stores ["x"] [f32] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.index_set steps @scan in @input ["parent", "step", "of"]
  kernel.argument @arg.x = "x" 0 value : f32
  batch.relation @input.x : @input -> by "input"
  batch.relation @scan.x : @scan -> by "of"
  batch.relation @number : @scan -> @input by "of"
  kernel.buffer @sum over @input : f32
  kernel.buffer @result over @input : f32
  kernel.output 0 = @result depth 0
  batch.stage @clear over @input {
    %zero = arith.constant 0.0 : f32
    batch.write %zero, @sum : f32
  }
  batch.stage @store over @scan {
    %x = batch.gather @arg.x via @scan.x : f32
    batch.scatter %x, @sum via @number : f32
  }
  batch.stage @read over @input {
    %x = batch.read @sum : f32
    batch.write %x, @result : f32
  }
}
