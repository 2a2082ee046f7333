// RUN: dbc-opt %s --kernel-sync-elements | FileCheck %s
// RUN: dbc-opt %s --kernel-sync-elements=real-bytes=8 | FileCheck --check-prefix=F64 %s
//
// Blocks of threads of a persistent kernel can wait for the elements that a stage of it writes and a stage of it reads, if these are of
// f32, each written once, and none of another row than it should be; their memory is then their own.

module @m {
  kernel.param @W : tensor<4x4xf32> = #dyn.init<constant, 0.0, 0.0>
  // CHECK: kernel.program @e
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input", "after"]
    kernel.index_set states @states in @input []
    kernel.index_set steps @scan in @input ["parent", "step", "before", "after"] by_time_step
    // Rows of @state are reserved: those of the first stage and those of the loop are others. @first was in its memory.
    // CHECK: kernel.buffer @first over @input : f32 storage 0
    // CHECK: kernel.buffer @state over @states : tensor<4xf32> storage 6
    kernel.buffer @first over @input : f32 storage 0
    kernel.buffer @state over @states : tensor<4xf32> storage 0
    // What nothing in the loop reads is not waited for, and may lie anywhere; nor is what the loop does not write.
    // CHECK: kernel.buffer @out over @scan : f32 storage 1
    kernel.buffer @out over @scan : f32 storage 1
    kernel.buffer @count over @scan : i32 storage 2
    kernel.buffer @chosen over @input : i32 storage 4
    kernel.buffer @wide over @scan : tensor<4xf32> storage 5
    kernel.weights @packed.W = [@W] at [0, 0] : 4 by 4
    kernel.func stage @begin(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %x = arith.constant 1.0 : f32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          kernel.store %x, @first[%row] : f32
          %after = kernel.load @input "after"[%row] : i32
          %four = arith.constant 4 : i32
          kernel.for %zero to %four {
          ^bb1(%j: i32):
            kernel.store %x, @state[%after, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @step(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %before = kernel.load @scan "before"[%row] : i32
          %after = kernel.load @scan "after"[%row] : i32
          %four = arith.constant 4 : i32
          kernel.for %zero to %four {
          ^bb1(%j: i32):
            %x = kernel.load @state[%before, %j] : f32
            kernel.store %x, @state[%after, %j] : f32
            kernel.yield
          }
          %y = kernel.load @first[%zero] : f32
          kernel.store %y, @out[%row] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    // An offset that does not depend on the round of a loop is written in each.
    kernel.func stage @again(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %four = arith.constant 4 : i32
          kernel.for %zero to %four {
          ^bb1(%j: i32):
            %x = kernel.load @out[%j] : f32
            kernel.store %x, @out[%row] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @counts(%begin: i32, %end: i32) over @scan {
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %x = kernel.load @count[%n] : i32
          kernel.store %x, @count[%row] : i32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @checks(%begin: i32, %end: i32) over @scan {
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %sum = kernel.int add %n, %row at "m.dyn:1:2" row %row
          kernel.yield
        }
        kernel.yield
      }
    }
    // Row number @chosen of @input was computed.
    kernel.func stage @chooses(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %from = kernel.load @chosen[%zero] : i32
          %x = kernel.load @wide[%from, %zero] : f32
          kernel.store %x, @wide[%row, %zero] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @multiplies(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %y = kernel.local in shared : <8x4xf32>
        %x = kernel.rows @wide from %first at 0
        kernel.product %count rows(%x) [4] with @packed.W into %y : !kernel.local<8x4xf32>
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %z = kernel.read %y[%n, %zero] : <8x4xf32> -> f32
          kernel.store %z, @wide[%row, %zero] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.run {
      kernel.launch @begin
      // CHECK: kernel.steps persistent @scan syncs [@state] {
      // F64: kernel.steps persistent @scan {
      // F64: } {barrier_reason = "elements are of 64 bits"}
      kernel.steps persistent @scan {
        kernel.launch @step
      }
      // CHECK: kernel.steps persistent @scan {
      // CHECK-NEXT: kernel.launch @again
      // CHECK-NEXT: } {barrier_reason = "an element may be written twice"}
      kernel.steps persistent @scan {
        kernel.launch @again
      }
      // CHECK: } {barrier_reason = "integers are passed between blocks"}
      kernel.steps persistent @scan {
        kernel.launch @counts
      }
      // CHECK: } {barrier_reason = "what is wrong in a row may lead to one that nobody writes"}
      kernel.steps persistent @scan {
        kernel.launch @checks
      }
      // CHECK: } {barrier_reason = "a computed number may say which rows are read"}
      kernel.steps persistent @scan {
        kernel.launch @chooses
      }
      // CHECK: } {barrier_reason = "a product takes what is passed between blocks one element after the other"}
      kernel.steps persistent @scan {
        kernel.launch @multiplies
      }
      // CHECK: kernel.steps @scan {
      // CHECK-NEXT: kernel.launch @checks
      // CHECK-NEXT: }{{$}}
      kernel.steps @scan {
        kernel.launch @checks
      }
    }
  }
  // CHECK: kernel.program @pieces
  kernel.program @pieces [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set states @states in @input []
    kernel.index_set steps @scan in @input ["parent", "step", "after"] by_time_step
    kernel.buffer @pieces over @scan : tensor<6xf32>
    kernel.buffer @cleared over @states : f32
    // Rows in three pieces, the last one as long as the others may be.
    kernel.func stage @apart(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %all = arith.muli %count, %two : i32
        kernel.threads %all {
        ^bb0(%element: i32):
          %i = arith.divsi %element, %two : i32
          %j = arith.remsi %element, %two : i32
          %row = arith.addi %first, %i : i32
          %x = kernel.load @pieces[%i, %j] : f32
          kernel.store %x, @pieces[%row, %j] : f32
          %c0 = arith.constant 2 : i32
          %at0 = arith.addi %j, %c0 : i32
          kernel.store %x, @pieces[%row, %at0] : f32
          %c1 = arith.constant 4 : i32
          %at1 = arith.addi %j, %c1 : i32
          kernel.store %x, @pieces[%row, %at1] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    // What is cleared as a whole has no rows that are another stage's.
    kernel.func stage @clear(%begin: i32, %end: i32) over @states {
      %x = arith.constant 0.0 : f32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          kernel.store %x, @cleared[%row] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @adds(%begin: i32, %end: i32) over @scan {
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.threads %count {
        ^bb0(%n: i32):
          %row = arith.addi %first, %n : i32
          %after = kernel.load @scan "after"[%row] : i32
          %x = kernel.load @cleared[%row] : f32
          kernel.store %x, @cleared[%after] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.run {
      kernel.launch @clear
      // CHECK: kernel.steps persistent @scan syncs [@pieces] {
      // CHECK-NEXT: kernel.launch @apart
      kernel.steps persistent @scan {
        kernel.launch @apart
      }
      // CHECK: kernel.launch @adds
      // CHECK-NEXT: } {barrier_reason = "an element may be written twice"}
      kernel.steps persistent @scan {
        kernel.launch @adds
      }
    }
  }
  // Pieces of which two may have elements in common.
  // CHECK: kernel.program @close
  kernel.program @close [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set steps @scan in @input ["parent", "step", "after"] by_time_step
    kernel.buffer @pieces over @scan : tensor<6xf32>
    kernel.func stage @close(%begin: i32, %end: i32) over @scan {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %all = arith.muli %count, %two : i32
        kernel.threads %all {
        ^bb0(%element: i32):
          %i = arith.divsi %element, %two : i32
          %j = arith.remsi %element, %two : i32
          %row = arith.addi %first, %i : i32
          %x = kernel.load @pieces[%i, %j] : f32
          kernel.store %x, @pieces[%row, %j] : f32
          %c0 = arith.constant 1 : i32
          %at0 = arith.addi %j, %c0 : i32
          kernel.store %x, @pieces[%row, %at0] : f32
          %c1 = arith.constant 4 : i32
          %at1 = arith.addi %j, %c1 : i32
          kernel.store %x, @pieces[%row, %at1] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.run {
      // CHECK: kernel.launch @close
      // CHECK-NEXT: } {barrier_reason = "an element may be written twice"}
      kernel.steps persistent @scan {
        kernel.launch @close
      }
    }
  }
}
