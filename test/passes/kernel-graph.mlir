// RUN: dbc-opt %s --kernel-graph | FileCheck %s
//
// Launches may be one graph where the number of ticks says all of them, loops that run together too; not so where a `while`
// drops rows, or where one loop stands in another one, whose ticks depend on those of that one.

module @m {
  kernel.program @fine [] [] -> f32 {
    kernel.space inputs @input ["input"]
    kernel.space steps @scan in @input ["parent", "step"] ticked
    kernel.func stage @once(%begin: i32, %end: i32) over @input {
    }
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    // CHECK: kernel.run graph {
    kernel.run {
      kernel.launch @once
      kernel.steps @scan {
        kernel.launch @own
      }
      kernel.together {
        kernel.steps @scan {
          kernel.launch @own
        }
        kernel.steps @scan {
          kernel.launch @own
        }
      }
    }
  }
  kernel.program @dropping [] [] -> f32 {
    kernel.space inputs @input ["input"]
    kernel.space steps @scan in @input ["parent", "step"] ticked kept
    kernel.buffer @alive over @scan : i1
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    // CHECK: kernel.run {
    // CHECK: } {apart = "a `while` says which rows there are, at {{.+}}:{{[0-9]+}}:{{[0-9]+}}"}
    kernel.run {
      kernel.steps @scan {
        kernel.launch @own
        kernel.keep @scan by @alive
      }
    }
  }
  kernel.program @dropped [] [] -> f32 {
    kernel.space inputs @input ["input"] kept
    kernel.func stage @own(%begin: i32, %end: i32) over @input {
    }
    // CHECK: kernel.run {
    // CHECK: } {apart = "a `while` says which rows there are, at {{.+}}:{{[0-9]+}}:{{[0-9]+}}"}
    kernel.run {
      kernel.launch kept @own
    }
  }
  kernel.program @nested [] [] -> f32 {
    kernel.space inputs @input ["input"]
    kernel.space steps @scan in @input ["parent", "step"] ticked
    kernel.space steps @inner in @scan ["parent", "step"] ticked
    kernel.func stage @own(%begin: i32, %end: i32) over @inner {
    }
    // CHECK: kernel.run {
    // CHECK: } {apart = "a loop stands in another one, at {{.+}}"}
    kernel.run {
      kernel.steps @scan {
        kernel.steps @inner {
          kernel.launch @own
        }
      }
    }
  }
}
