// RUN: dbc-opt %s --kernel-map-lanes | FileCheck %s
// RUN: dbc-opt %s --kernel-map-lanes --kernel-map-threads | FileCheck %s --check-prefix=THREADS
//
// A row whose elements are added up, or of which the largest is found, is a warp's, and its lanes share what is long enough.
// They never read in a row what another lane wrote there; where they would have to, the row stays as it is.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input", "length", "first"]
    kernel.index_set model @table ["row"] extent 10
    kernel.buffer @x over @input : tensor<40xf32>
    kernel.buffer @sum over @input : f32
    kernel.buffer @of_table over @table : f32

    // A softmax: its largest element, then the sum, then each element. What a lane writes it reads, as its elements are the same.
    // CHECK-LABEL: kernel.func stage @softmax
    // CHECK: kernel.blocks
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[COUNT:.*]]: i32):
    // CHECK-NEXT: kernel.warps %[[COUNT]] {
    // CHECK-NEXT: ^bb0(%[[ROW:.*]]: i32):
    // CHECK-NEXT: %[[FIRST:.*]] = kernel.read
    // CHECK-NEXT: %[[MOST:.*]] = kernel.lanes %c1{{.*}} to %c40{{.*}} carry(%[[FIRST]]) by maximum : f32 -> f32 {
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32, %[[ACC:.*]]: f32):
    // CHECK: arith.maximumf %[[ACC]]
    // CHECK: %[[SUM:.*]] = kernel.lanes %c0{{.*}} to %c40{{.*}} carry(%{{.*}}) by add : f32 -> f32 {
    // CHECK: arith.subf %{{.*}}, %[[MOST]]
    // CHECK: kernel.write
    // CHECK: kernel.lanes %c0{{.*}} to %c40{{.*}} {
    // CHECK: arith.divf %{{.*}}, %[[SUM]]
    // CHECK: kernel.write
    // CHECK-NOT: kernel.for {{.*}}carry
    // What the rows' warps wrote other threads read behind a barrier.
    // THREADS-LABEL: kernel.func stage @softmax
    // THREADS: kernel.warps
    // THREADS: kernel.barrier
    // THREADS-NEXT: kernel.threads
    kernel.func stage @softmax(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %a = kernel.local : <8x40xf32>
      %b = kernel.local : <8x40xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %v0 = kernel.read %a[%i, %zero] : <8x40xf32> -> f32
          %most = kernel.for %one to %forty carry (%v0) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.read %a[%i, %k] : <8x40xf32> -> f32
            %next = arith.maximumf %acc, %v : f32
            kernel.yield %next : f32
          }
          %s = kernel.for %zero to %forty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.read %a[%i, %k] : <8x40xf32> -> f32
            %d = arith.subf %v, %most : f32
            %e = math.exp %d : f32
            kernel.write %e, %b[%i, %k] : f32, <8x40xf32>
            %next = arith.addf %acc, %e : f32
            kernel.yield %next : f32
          }
          kernel.for vector %zero to %forty {
          ^bb0(%k: i32):
            %e = kernel.read %b[%i, %k] : <8x40xf32> -> f32
            %share = arith.divf %e, %s : f32
            kernel.write %share, %b[%i, %k] : f32, <8x40xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %forty {
          ^bb0(%j: i32):
            %v = kernel.read %b[%i, %j] : <8x40xf32> -> f32
            kernel.store %v, @x[%row, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // A list may be long. What stands around its loop all lanes do; 31 elements are one thread's.
    // CHECK-LABEL: kernel.func stage @list
    // CHECK: kernel.warps
    // CHECK: kernel.for %c0{{.*}} to %c2
    // CHECK: kernel.lanes %c0{{.*}} to %{{.*}} carry(%{{.*}}) by minimum : f32 -> f32 {
    // CHECK-NOT: kernel.warps
    // CHECK-LABEL: kernel.func stage @short
    // CHECK-NOT: kernel.warps
    kernel.func stage @list(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %none = arith.constant 1.0 : f32
      %a = kernel.local : <8x2xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          %n = kernel.load @input "length"[%row] : i32
          %from = kernel.load @input "first"[%row] : i32
          kernel.for %zero to %two {
          ^bb0(%j: i32):
            %least = kernel.for %zero to %n carry (%none) : (f32) -> (f32) {
            ^bb0(%e: i32, %acc: f32):
              %r = arith.addi %from, %e : i32
              %v = kernel.load @x[%r, %j] : f32
              %next = arith.minimumf %acc, %v : f32
              kernel.yield %next : f32
            }
            kernel.write %least, %a[%i, %j] : f32, <8x2xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @short(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %some = arith.constant 31 : i32
      %none = arith.constant 0.0 : f32
      %a = kernel.local : <8xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %s = kernel.for %zero to %some carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.load @x[%i, %k] : f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.write %s, %a[%i] : f32, <8xf32>
          kernel.yield
        }
        kernel.yield
      }
    }

    // Lanes would read what the first one wrote; or number k + 1, which another one writes.
    // CHECK-LABEL: kernel.func stage @read_back
    // CHECK-NOT: kernel.warps
    // CHECK-LABEL: kernel.func stage @neighbours
    // CHECK-NOT: kernel.warps
    kernel.func stage @read_back(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %a = kernel.local : <8xf32>
      %b = kernel.local : <8x40xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %s = kernel.for %zero to %forty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.load @x[%i, %k] : f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.write %s, %a[%i] : f32, <8xf32>
          kernel.for vector %zero to %forty {
          ^bb0(%k: i32):
            %v = kernel.read %a[%i] : <8xf32> -> f32
            kernel.write %v, %b[%i, %k] : f32, <8x40xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @neighbours(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %b = kernel.local : <8x41xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          kernel.for vector %zero to %forty {
          ^bb0(%k: i32):
            %v = kernel.load @x[%i, %k] : f32
            kernel.write %v, %b[%i, %k] : f32, <8x41xf32>
            kernel.yield
          }
          %s = kernel.for %zero to %forty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %behind = arith.addi %k, %one : i32
            %v = kernel.read %b[%i, %behind] : <8x41xf32> -> f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // Lane l's elements in a loop from 1 on are others than in one from 0 on.
    // CHECK-LABEL: kernel.func stage @from_one
    // CHECK-NOT: kernel.warps
    kernel.func stage @from_one(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %b = kernel.local : <8x40xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          kernel.for vector %zero to %forty {
          ^bb0(%k: i32):
            %v = kernel.load @x[%i, %k] : f32
            kernel.write %v, %b[%i, %k] : f32, <8x40xf32>
            kernel.yield
          }
          %s = kernel.for %one to %forty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.read %b[%i, %k] : <8x40xf32> -> f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // The first of several failures is the one of the first iteration: one thread finds them in order. A sum that begins with
    // something has it once.
    // CHECK-LABEL: kernel.func stage @checked
    // CHECK-NOT: kernel.warps
    // CHECK-LABEL: kernel.func stage @begun
    // CHECK-NOT: kernel.warps
    kernel.func stage @checked(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %forty = arith.constant 40 : i32
      %a = kernel.local : <8xi32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %s = kernel.for %zero to %forty carry (%zero) : (i32) -> (i32) {
          ^bb0(%k: i32, %acc: i32):
            %v = kernel.int mul %k, %k at "m.dyn:1:1" row %i
            %next = arith.maxsi %acc, %v : i32
            kernel.yield %next : i32
          }
          kernel.write %s, %a[%i] : i32, <8xi32>
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @begun(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %forty = arith.constant 40 : i32
      %a = kernel.local : <8xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %x = kernel.load @sum[%i] : f32
          %s = kernel.for %zero to %forty carry (%x) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.load @x[%i, %k] : f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.write %s, %a[%i] : f32, <8xf32>
          kernel.yield
        }
        kernel.yield
      }
    }

    // Of independent sums each is a thread's. A model's own stages the CPU computes.
    // CHECK-LABEL: kernel.func stage @many
    // CHECK-NOT: kernel.warps
    // CHECK-LABEL: kernel.func stage @ofmodel
    // CHECK-NOT: kernel.warps
    kernel.func stage @many(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %b = kernel.local : <8x40xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          kernel.for vector %zero to %forty {
          ^bb0(%j: i32):
            %s = kernel.for %zero to %forty carry (%none) : (f32) -> (f32) {
            ^bb0(%k: i32, %acc: f32):
              %v = kernel.load @x[%k, %j] : f32
              %next = arith.addf %acc, %v : f32
              kernel.yield %next : f32
            }
            kernel.write %s, %b[%i, %j] : f32, <8x40xf32>
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @ofmodel(%begin: i32, %end: i32) over @table {
      %zero = arith.constant 0 : i32
      %forty = arith.constant 40 : i32
      %none = arith.constant 0.0 : f32
      %a = kernel.local : <8xf32>
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %s = kernel.for %zero to %forty carry (%none) : (f32) -> (f32) {
          ^bb0(%k: i32, %acc: f32):
            %v = kernel.load @x[%i, %k] : f32
            %next = arith.addf %acc, %v : f32
            kernel.yield %next : f32
          }
          kernel.write %s, %a[%i] : f32, <8xf32>
          kernel.yield
        }
        kernel.yield
      }
    }
  }
}
