// RUN: dbc-opt %s --kernel-map-threads | FileCheck %s
//
// In a stage that adds rows up a thread has all rows of its elements, in order, as the order of additions is the stage's: of
// elements that store numbers of their own: what it adds to it has in hand until the end. Else one thread has all of them.

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.index_set batch @batch []
    kernel.buffer @x over @input : tensor<4xf32>
    kernel.buffer @y over @input : tensor<20xf32>
    kernel.buffer @W over @batch : tensor<4x20xf32>
    kernel.buffer @b over @batch : tensor<20xf32>
    kernel.buffer @s over @batch : f32

    // CHECK-LABEL: kernel.func stage @outer
    // CHECK-NEXT: arith.constant
    // CHECK: kernel.outer %{{.*}} of 128 rows %{{.*}} height 4 by %{{.*}} outputs 20 into @W
    // CHECK: kernel.threads %c20{{.*}} {
    // CHECK-NEXT: ^bb0(%[[ELEMENT:.*]]: i32):
    // CHECK-NEXT: %[[BEFORE:.*]] = kernel.load @b[%c0{{.*}}, %[[ELEMENT]]] : f32
    // CHECK-NEXT: %[[ALL:.*]] = kernel.for %c0{{.*}} to %{{.*}} carry(%[[BEFORE]]) : (f32) -> (f32) {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[SO_FAR:.*]]: f32):
    // CHECK: %[[OWN:.*]] = kernel.load @y[%{{.*}}, %[[ELEMENT]]] : f32
    // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SO_FAR]], %[[OWN]] : f32
    // CHECK-NEXT: kernel.yield %[[SUM]]
    // CHECK: kernel.store %[[ALL]], @b[%c0{{.*}}, %[[ELEMENT]]] : f32
    // CHECK-NEXT: kernel.yield
    // CHECK: kernel.barrier
    // CHECK-NEXT: kernel.yield
    kernel.func stage @outer(%begin: i32, %end: i32) over @input attributes {sums} {
      %zero = arith.constant 0 : i32
      %twenty = arith.constant 20 : i32
      kernel.blocks %begin to %end by 128 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %c = kernel.rows @y from %first at 0
        kernel.outer %count of 128 rows %a height 4 by %c outputs 20 into @W
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %twenty {
          ^bb0(%j: i32):
            %own = kernel.load @y[%row, %j] : f32
            %before = kernel.load @b[%zero, %j] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @b[%zero, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // One number of all rows, and an element that reads what another one stores.
    // CHECK-LABEL: kernel.func stage @one
    // CHECK: kernel.threads %c1{{.*}} {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32):
    // CHECK-NEXT: kernel.for %c0{{.*}} to %{{.*}} {
    // CHECK: kernel.store %{{.*}}, @s[%c0{{.*}}] : f32
    // CHECK: kernel.threads %c1{{.*}} {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32):
    // CHECK-NEXT: kernel.for %c0{{.*}} to %{{.*}} {
    // CHECK: kernel.for %c0{{.*}} to %c4{{.*}} {
    // CHECK: kernel.store %{{.*}}, @b[%c0{{.*}}, %{{.*}}] : f32
    kernel.func stage @one(%begin: i32, %end: i32) over @input attributes {sums} {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 32 {
      ^bb0(%first: i32, %count: i32):
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          %own = kernel.load @x[%row, %zero] : f32
          %before = kernel.load @s[%zero] : f32
          %sum = arith.addf %before, %own : f32
          kernel.store %sum, @s[%zero] : f32
          kernel.yield
        }
        kernel.for %zero to %count {
        ^bb0(%i: i32):
          %row = arith.addi %first, %i : i32
          kernel.for vector %zero to %four {
          ^bb0(%j: i32):
            %next = arith.addi %j, %one : i32
            %own = kernel.load @x[%row, %j] : f32
            %before = kernel.load @b[%zero, %next] : f32
            %sum = arith.addf %before, %own : f32
            kernel.store %sum, @b[%zero, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // What is done by the block with the first tile alone is mapped, too.
    // CHECK-LABEL: kernel.func stage @tiled
    // CHECK: kernel.if
    // CHECK: kernel.threads %c20
    kernel.func stage @tiled(%begin: i32, %end: i32, %tile_begin: i32, %tile_end: i32) over @input attributes {sums, tiles = 4 : i64} {
      %zero = arith.constant 0 : i32
      %twenty = arith.constant 20 : i32
      kernel.blocks %begin to %end by 128 {
      ^bb0(%first: i32, %count: i32):
        %a = kernel.rows @x from %first at 0
        %c = kernel.rows @y from %first at 0
        kernel.outer %count of 128 rows %a height 4 by %c outputs 20 into @W tiles(%tile_begin, %tile_end)
        %is_first = arith.cmpi eq, %tile_begin, %zero : i32
        kernel.if %is_first {
          kernel.for %zero to %count {
          ^bb0(%i: i32):
            %row = arith.addi %first, %i : i32
            kernel.for vector %zero to %twenty {
            ^bb0(%j: i32):
              %own = kernel.load @y[%row, %j] : f32
              %before = kernel.load @b[%zero, %j] : f32
              %sum = arith.addf %before, %own : f32
              kernel.store %sum, @b[%zero, %j] : f32
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        } else {
          kernel.yield
        }
        kernel.yield
      }
    }
  }
}
