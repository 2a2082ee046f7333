// RUN: dbc-opt %s --kernel-graph | FileCheck %s
//
// Launches may be one graph where the number of time steps says all of them, concurrent loops too; not so where a `while`
// drops rows, or where one loop stands in another one, whose time steps depend on those of that one; nor where a run may leave
// some out, as it wants no gradients.

module @m {
  kernel.program @fine [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
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
      kernel.concurrent {
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
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step"] by_time_step masked
    kernel.buffer @alive over @scan : i1
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    // CHECK: kernel.run {
    // CHECK: } {no_graph_reason = "a `while` says which rows there are, at {{.+}}:{{[0-9]+}}:{{[0-9]+}}"}
    kernel.run {
      kernel.steps @scan {
        kernel.launch @own
        kernel.mask @scan by @alive
      }
    }
  }
  kernel.program @dropped [] [] -> f32 {
    kernel.index_set inputs @input ["input"] masked
    kernel.func stage @own(%begin: i32, %end: i32) over @input {
    }
    // CHECK: kernel.run {
    // CHECK: } {no_graph_reason = "a `while` says which rows there are, at {{.+}}:{{[0-9]+}}:{{[0-9]+}}"}
    kernel.run {
      kernel.launch active @own
    }
  }
  kernel.program @nested [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
    kernel.index_set steps @inner in @scan ["parent", "step"] by_time_step
    kernel.func stage @own(%begin: i32, %end: i32) over @inner {
    }
    // CHECK: kernel.run {
    // CHECK: } {no_graph_reason = "a loop stands in another one, at {{.+}}"}
    kernel.run {
      kernel.steps @scan {
        kernel.steps @inner {
          kernel.launch @own
        }
      }
    }
  }
  kernel.program loss @differentiated [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set batch @batch []
    kernel.index_set steps @scan in @input ["parent", "step"] by_time_step
    kernel.buffer @gradient over @batch : f32
    kernel.gradient @W = @gradient
    kernel.func stage @own(%begin: i32, %end: i32) over @scan {
    }
    // CHECK: kernel.run {
    // CHECK: } {no_graph_reason = "a run may want no gradients"}
    kernel.run {
      kernel.gradients {
        kernel.steps @scan {
          kernel.launch @own
        }
      }
    }
  }
  kernel.param @W : f32
}
