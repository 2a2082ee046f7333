// RUN: dbc-opt %s --kernel-share-stages=device | FileCheck %s
//
// On a GPU stages that may fail an input are shared too, and persistent loops that launch the same stages. What a loop makes of a
// stage's kernel must be the same.

module @m {
  kernel.program @first [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step", "before"] by_time_step
    kernel.buffer @h over @scan : f32
    kernel.buffer @n over @scan : i32
    // CHECK-LABEL: kernel.program @first
    // CHECK-NOT: same_as
    kernel.func stage @step(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @h[%begin] : f32
    }
    kernel.func stage @add(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @n[%begin] : i32
      %y = kernel.int add %x, %begin at "m.dyn:1:1" row %begin
      kernel.store %y, @n[%begin] : i32
    }
    kernel.run {
      kernel.steps persistent @scan syncs [@h] {
        kernel.launch @step
        kernel.block_group_barrier
        kernel.launch @add
      }
      kernel.steps persistent @scan {
        kernel.launch @add
      }
    }
  }
  // Index arrays are arrays of their own on a GPU: which ones an index set has besides does not matter.
  kernel.program @same [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step", "more", "before"] by_time_step
    kernel.buffer @h over @scan : f32
    kernel.buffer @n over @scan : i32
    // CHECK-LABEL: kernel.program @same
    // CHECK: kernel.func stage @step({{.*}}) over @scan attributes {same_as = @first::@step}
    kernel.func stage @step(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @h[%begin] : f32
    }
    // CHECK: kernel.func stage @add({{.*}}) over @scan attributes {same_as = @first::@add}
    kernel.func stage @add(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @n[%begin] : i32
      %y = kernel.int add %x, %begin at "m.dyn:1:1" row %begin
      kernel.store %y, @n[%begin] : i32
    }
    // The second loop launches another stage than the second one of @first.
    // CHECK: kernel.steps persistent @scan syncs [@h] {
    // CHECK: } {same_as = @first}
    // CHECK: kernel.steps persistent @scan {
    // CHECK-NEXT: kernel.launch @step
    // CHECK-NEXT: }{{$}}
    kernel.run {
      kernel.steps persistent @scan syncs [@h] {
        kernel.launch @step
        kernel.block_group_barrier
        kernel.launch @add
      }
      kernel.steps persistent @scan {
        kernel.launch @step
      }
    }
  }
  // Where blocks do not wait for elements of @h, the stage that reads and writes it is another kernel, and so is the loop.
  kernel.program @at_barriers [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step", "before"] by_time_step
    kernel.buffer @h over @scan : f32
    kernel.buffer @n over @scan : i32
    // CHECK-LABEL: kernel.program @at_barriers
    // CHECK: kernel.func stage @step({{.*}}) over @scan {
    kernel.func stage @step(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @h[%begin] : f32
    }
    // CHECK: kernel.func stage @add({{.*}}) over @scan attributes {same_as = @first::@add}
    kernel.func stage @add(%begin: i32, %end: i32) over @scan {
      %x = kernel.load @n[%begin] : i32
      %y = kernel.int add %x, %begin at "m.dyn:1:1" row %begin
      kernel.store %y, @n[%begin] : i32
    }
    // CHECK: kernel.steps persistent @scan {
    // CHECK-NOT: same_as
    kernel.run {
      kernel.steps persistent @scan {
        kernel.launch @step
        kernel.block_group_barrier
        kernel.launch @add
      }
    }
  }
}
