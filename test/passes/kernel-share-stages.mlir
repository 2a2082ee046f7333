// RUN: dbc-opt %s --kernel-share-stages | FileCheck %s
//
// A stage of a program before is named by those that are the same: in name, in body, and in what they name there.

module @m {
  kernel.program @first [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @h over @input : f32 storage 0
    kernel.buffer @g over @input : f32 storage 1
    kernel.buffer @n over @input : i32
    // CHECK-LABEL: kernel.program @first
    // CHECK-NOT: same_as
    kernel.func stage @stage.copy(%begin: i32, %end: i32) over @input {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @g[%begin] : f32
    }
    kernel.func stage @stage.add(%begin: i32, %end: i32) over @input {
      %x = kernel.load @n[%begin] : i32
      %y = kernel.int add %x, %begin at "m.dyn:1:1" row %begin
      kernel.store %y, @n[%begin] : i32
    }
  }
  // Where in memory buffers lie does not matter; nor does what else the program has.
  kernel.program @same [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @more over @input : f32
    kernel.buffer @g over @input : f32 storage 4
    kernel.buffer @h over @input : f32 storage 7
    kernel.buffer @n over @input : i32
    // CHECK-LABEL: kernel.program @same
    // CHECK: kernel.func stage @stage.copy({{.*}}) over @input attributes {same_as = @first::@stage.copy}
    kernel.func stage @stage.copy(%begin: i32, %end: i32) over @input {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @g[%begin] : f32
    }
    // What may fail an input has the entry's own position in the order of evaluation.
    // CHECK: kernel.func stage @stage.add({{.*}}) over @input {
    kernel.func stage @stage.add(%begin: i32, %end: i32) over @input {
      %x = kernel.load @n[%begin] : i32
      %y = kernel.int add %x, %begin at "m.dyn:1:1" row %begin
      kernel.store %y, @n[%begin] : i32
    }
  }
  // Another body.
  kernel.program @other [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @h over @input : f32
    kernel.buffer @g over @input : f32
    // CHECK-LABEL: kernel.program @other
    // CHECK-NOT: same_as
    kernel.func stage @stage.copy(%begin: i32, %end: i32) over @input {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @h[%begin] : f32
    }
  }
  // Another form of a buffer.
  kernel.program @wider [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @h over @input : f32
    kernel.buffer @g over @input : tensor<1xf32>
    // CHECK-LABEL: kernel.program @wider
    // CHECK-NOT: same_as
    kernel.func stage @stage.copy(%begin: i32, %end: i32) over @input {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @g[%begin, %begin] : f32
    }
  }
  // Two buffers in one storage, which C++ must not take for two.
  kernel.program @in_place [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @h over @input : f32 storage 3
    kernel.buffer @g over @input : f32 storage 3
    // CHECK-LABEL: kernel.program @in_place
    // CHECK-NOT: same_as
    kernel.func stage @stage.copy(%begin: i32, %end: i32) over @input {
      %x = kernel.load @h[%begin] : f32
      kernel.store %x, @g[%begin] : f32
    }
  }
}
