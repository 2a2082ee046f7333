// RUN: dbc-opt %s --kernel-persist | FileCheck %s
//
// A loop of launches over rows that it orders itself may be one launch; not so where a `while` drops rows, where another loop
// is inside, or where scratch is global.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.space inputs @input ["input"]
    kernel.space elements @list in @input ["parent"]
    kernel.space steps @scan in @list ["parent", "step"] ticked
    kernel.space steps @inner in @scan ["parent", "step"] ticked
    kernel.buffer @x over @scan : f32
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    kernel.func stage @of_inner(%begin: i32, %end: i32) over @inner {
    }
    kernel.func stage @once(%begin: i32, %end: i32) over @input {
    }
    kernel.func stage @large(%begin: i32, %end: i32) over @scan {
      %0 = kernel.local in global : <8x1500xf32>
    }
    // CHECK: kernel.run {
    kernel.run {
      // CHECK-NEXT: kernel.steps persistent @scan {
      kernel.steps @scan {
        kernel.launch @own
        kernel.launch @own
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch kept @own
      // CHECK-NEXT: } {apart = "a `while` says which rows there are"}
      kernel.steps @scan {
        kernel.launch kept @own
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @own
      // CHECK-NEXT: kernel.steps @inner {
      // CHECK: } {apart = "another loop stands in it"}
      kernel.steps @scan {
        kernel.launch @own
        kernel.steps @inner {
          kernel.launch @of_inner
        }
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @once
      // CHECK-NEXT: } {apart = "a stage of it runs over rows that it does not order"}
      kernel.steps @scan {
        kernel.launch @once
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @large
      // CHECK-NEXT: } {apart = "scratch of a stage does not fit what threads share"}
      kernel.steps @scan {
        kernel.launch @large
      }
      // CHECK: kernel.together {
      // CHECK-NEXT: kernel.steps persistent @scan {
      kernel.together {
        kernel.steps @scan {
          kernel.launch @own
        }
      }
    }
  }
}
