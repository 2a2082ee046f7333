// RUN: dbc-opt %s --kernel-map-threads --split-input-file | FileCheck %s
// RUN: dbc-opt %s --kernel-map-threads=real-bytes=8 --split-input-file | FileCheck %s --check-prefix=DOUBLE
//
// A loop over the rows of a block is shared by its threads: each element of independent loops is an iteration, and each row
// where loops are not. Where a thread reads what another one wrote there is a barrier, and one more before the next block of
// rows replaces it.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @x over @input : tensor<20xf32>
    kernel.buffer @sum over @input : f32

    // CHECK-LABEL: kernel.func stage @sums
    // CHECK: kernel.local in shared offset 0 : <8x20xf32>
    // CHECK: kernel.blocks %arg0 to %arg1 by 8 {
    // CHECK-NEXT: ^bb0(%[[FIRST:.*]]: i32, %[[COUNT:.*]]: i32):
    // CHECK: %[[ALL:.*]] = arith.muli %[[COUNT]], %c20{{.*}} : i32
    // CHECK-NEXT: kernel.threads %[[ALL]] {
    // CHECK-NEXT: ^bb0(%[[ELEMENT:.*]]: i32):
    // CHECK: arith.divsi %[[ELEMENT]], %c20
    // CHECK: arith.remsi
    // CHECK: kernel.load @x
    // CHECK: kernel.write
    // CHECK: kernel.barrier
    // CHECK-NEXT: kernel.threads %[[COUNT]] {
    // CHECK: kernel.for %{{.*}} carry
    // CHECK: kernel.store {{.*}}, @sum
    // CHECK: kernel.barrier
    // CHECK-NEXT: kernel.yield
    kernel.func stage @sums(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %twenty = arith.constant 20 : i32
      %none = arith.constant 0.0 : f32
      %local = kernel.local : <8x20xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %twenty {
          ^bb0(%j: i32):
            %a = kernel.load @x[%row, %j] : f32
            %t = math.tanh %a : f32
            kernel.write %t, %local[%i, %j] : f32, <8x20xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          %s = kernel.for %zero to %twenty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %a = kernel.read %local[%i, %k] : <8x20xf32> -> f32
            %next = arith.addf %acc, %a : f32
            kernel.yield %next : f32
          }
          kernel.store %s, @sum[%row] : f32
          kernel.yield
        }
        kernel.yield
      }
    }

    // What does not fit 96 KiB lies in global memory, the largest first.
    // CHECK-LABEL: kernel.func stage @large
    // CHECK-SAME: most_blocks = 512 : i64
    // CHECK: kernel.local in global offset 0 : <8x3500xf32>
    // CHECK: kernel.local in shared offset 0 : <8x100xf32>
    // DOUBLE-LABEL: kernel.func stage @large
    // DOUBLE: kernel.local in global offset 0 : <8x3500xf32>
    // DOUBLE: kernel.local in shared offset 0 : <8x100xf32>
    kernel.func stage @large(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %some = arith.constant 100 : i32
      %large = kernel.local : <8x3500xf32>
      %small = kernel.local : <8x100xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          kernel.for vector %zero to %some {
          ^bb0(%j: i32):
            %a = kernel.load @x[%i, %j] : f32
            kernel.write %a, %small[%i, %j] : f32, <8x100xf32>
            kernel.write %a, %large[%i, %j] : f32, <8x3500xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %a = kernel.read %small[%i, %zero] : <8x100xf32> -> f32
          %b = kernel.read %large[%i, %zero] : <8x3500xf32> -> f32
          %s = arith.addf %a, %b : f32
          kernel.store %s, @sum[%i] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    // A loop that may run no times has none of the barriers that are in it.
    // CHECK-LABEL: kernel.func stage @perhaps
    // CHECK: kernel.write
    // CHECK: kernel.for %{{.*}} to %{{[0-9]+}} {
    // CHECK: kernel.barrier
    // CHECK: kernel.store
    // CHECK: kernel.barrier
    // CHECK-NEXT: kernel.yield
    // CHECK-NEXT: }
    // CHECK-NEXT: kernel.barrier
    // CHECK-NEXT: kernel.threads
    kernel.func stage @perhaps(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %twenty = arith.constant 20 : i32
      %a = kernel.local : <8x20xf32>
      %b = kernel.local : <8x20xf32>
      %n = kernel.load @input "input"[%begin] : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          kernel.for vector %zero to %twenty {
          ^bb0(%j: i32):
            %v = kernel.load @x[%i, %j] : f32
            kernel.write %v, %a[%i, %j] : f32, <8x20xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %n {
        ^bb0(%t: i32):
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            kernel.for vector %zero to %twenty {
            ^bb0(%j: i32):
              %v = kernel.load @x[%i, %j] : f32
              kernel.write %v, %b[%i, %j] : f32, <8x20xf32>
              kernel.yield
            }
            kernel.yield
          }
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            %v = kernel.read %b[%i, %zero] : <8x20xf32> -> f32
            kernel.store %v, @sum[%i] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %v = kernel.read %a[%i, %zero] : <8x20xf32> -> f32
          kernel.store %v, @sum[%i] : f32
          kernel.yield
        }
        kernel.yield
      }
    }

    // A thread has a position in all vectors of a row: what is read there was written there.
    // CHECK-LABEL: kernel.func stage @list
    // CHECK: arith.muli %{{.*}}, %c20
    // CHECK-NEXT: kernel.threads
    // CHECK: kernel.write
    // CHECK: kernel.for
    // CHECK-NOT: kernel.for
    // CHECK: kernel.read
    // CHECK: kernel.write
    // CHECK: kernel.barrier
    kernel.func stage @list(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %twenty = arith.constant 20 : i32
      %none = arith.constant 0.0 : f32
      %a = kernel.local : <8x20xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %n = kernel.load @input "input"[%i] : i32
          kernel.for vector %zero to %twenty {
          ^bb0(%j: i32):
            kernel.write %none, %a[%i, %j] : f32, <8x20xf32>
            kernel.yield
          }
          kernel.for %zero to %n {
          ^bb0(%e: i32):
            kernel.for vector %zero to %twenty {
            ^bb0(%j: i32):
              %v = kernel.load @x[%e, %j] : f32
              %so = kernel.read %a[%i, %j] : <8x20xf32> -> f32
              %next = arith.addf %so, %v : f32
              kernel.write %next, %a[%i, %j] : f32, <8x20xf32>
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %v = kernel.read %a[%i, %zero] : <8x20xf32> -> f32
          kernel.store %v, @sum[%i] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.run {
      kernel.launch @sums
      kernel.launch @large
    }
  }
}
