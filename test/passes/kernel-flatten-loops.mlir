// RUN: dbc-opt %s --kernel-flatten-loops --canonicalize | FileCheck %s
//
// Loop nests over elements that lie one after the other become one loop; others stay.

module @m {
  kernel.param @W : tensor<5x16x2xf32>
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @c over @input : tensor<16x2xi1>
    kernel.buffer @x over @input : tensor<16x2xf32>
    kernel.buffer @y over @input : tensor<16x2xf32>
    kernel.buffer @longer over @input : tensor<20x2xf32>
    kernel.buffer @row over @input : tensor<2xf32>
    kernel.buffer @turned over @input : tensor<2x16xf32>

    // An input's elements, and those of a row of a parameter, are at the same offsets as the result's.
    // CHECK-LABEL: kernel.func stage @same
    // CHECK: kernel.for vector %c0{{.*}} to %c32{{.*}} {
    // CHECK-NEXT: ^bb0(%[[N:.*]]: i32):
    // CHECK-NEXT: kernel.load @c[%[[ROW:.*]], %c0{{.*}}, %[[N]]] : i1
    // CHECK-NEXT: kernel.load @x[%[[ROW]], %c0{{.*}}, %[[N]]] : f32
    // CHECK-NEXT: kernel.load @W[%c2{{.*}}, %c0{{.*}}, %[[N]]] : f32
    // CHECK-NEXT: arith.select
    // CHECK-NEXT: kernel.store %{{.*}}, @y[%[[ROW]], %c0{{.*}}, %[[N]]]
    // CHECK-NOT: kernel.for
    kernel.func stage @same(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %sixteen = arith.constant 16 : i32
      kernel.for %begin to %end {
      ^bb0(%p: i32):
        kernel.for %zero to %sixteen {
        ^bb0(%j: i32):
          kernel.for vector %zero to %two {
          ^bb0(%k: i32):
            %c = kernel.load @c[%p, %j, %k] : i1
            %x = kernel.load @x[%p, %j, %k] : f32
            %w = kernel.load @W[%two, %j, %k] : f32
            %s = arith.select %c, %w, %x : f32
            kernel.store %s, @y[%p, %j, %k] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // So does a slice that is whole along its last axes, a number made of the position, and three axes in scratch.
    // CHECK-LABEL: kernel.func stage @slices
    // CHECK: kernel.for vector %c0{{.*}} to %c32{{.*}} {
    // CHECK-NEXT: ^bb0(%[[N:.*]]: i32):
    // CHECK-NEXT: kernel.load @longer[%{{.*}}, %c3{{.*}}, %[[N]]] : f32
    // CHECK-NEXT: arith.sitofp %[[N]]
    // CHECK-NEXT: arith.addf
    // CHECK-NEXT: kernel.write %{{.*}}, %{{.*}}[%c0{{.*}}, %c0{{.*}}, %c0{{.*}}, %[[N]]]
    // CHECK-NOT: kernel.for
    kernel.func stage @slices(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %three = arith.constant 3 : i32
      %four = arith.constant 4 : i32
      %sixteen = arith.constant 16 : i32
      %local = kernel.local : <1x4x4x2xf32>
      kernel.for %begin to %end {
      ^bb0(%p: i32):
        kernel.for %zero to %four {
        ^bb0(%i: i32):
          kernel.for %zero to %four {
          ^bb0(%j: i32):
            kernel.for vector %zero to %two {
            ^bb0(%k: i32):
              %i4 = arith.muli %i, %four : i32
              %ij = arith.addi %i4, %j : i32
              %from = arith.addi %ij, %three : i32
              %x = kernel.load @longer[%p, %from, %k] : f32
              %ij2 = arith.muli %ij, %two : i32
              %n = arith.addi %ij2, %k : i32
              %number = arith.sitofp %n : i32 to f32
              %sum = arith.addf %x, %number : f32
              kernel.write %sum, %local[%zero, %i, %j, %k] : f32, <1x4x4x2xf32>
              kernel.yield
            }
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // What is stretched along an axis, or turned, is read at other offsets.
    // CHECK-LABEL: kernel.func stage @stretched
    // CHECK: kernel.for %c0{{.*}} to %c16{{.*}} {
    // CHECK: kernel.for vector %c0{{.*}} to %c2{{.*}} {
    // CHECK: kernel.for %c0{{.*}} to %c16{{.*}} {
    // CHECK: kernel.for vector %c0{{.*}} to %c2{{.*}} {
    kernel.func stage @stretched(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %sixteen = arith.constant 16 : i32
      kernel.for %begin to %end {
      ^bb0(%p: i32):
        kernel.for %zero to %sixteen {
        ^bb0(%j: i32):
          kernel.for vector %zero to %two {
          ^bb0(%k: i32):
            %x = kernel.load @row[%p, %k] : f32
            kernel.store %x, @y[%p, %j, %k] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.for %zero to %sixteen {
        ^bb0(%j: i32):
          kernel.for vector %zero to %two {
          ^bb0(%k: i32):
            %x = kernel.load @turned[%p, %k, %j] : f32
            kernel.store %x, @y[%p, %j, %k] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }

    // Nor may an iteration need what another one writes: here the outer loop's do.
    // CHECK-LABEL: kernel.func stage @handed_on
    // CHECK: kernel.for %c0{{.*}} to %c16{{.*}} {
    // CHECK: kernel.for vector %c0{{.*}} to %c2{{.*}} {
    kernel.func stage @handed_on(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %sixteen = arith.constant 16 : i32
      kernel.for %begin to %end {
      ^bb0(%p: i32):
        kernel.for %zero to %sixteen {
        ^bb0(%j: i32):
          kernel.for vector %zero to %two {
          ^bb0(%k: i32):
            %next = arith.addi %j, %one : i32
            %x = kernel.load @longer[%p, %j, %k] : f32
            kernel.store %x, @longer[%p, %next, %k] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
  }
}
