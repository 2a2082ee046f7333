// RUN: dbc-opt %s --kernel-plan-scratch | FileCheck %s
// RUN: dbc-opt %s --kernel-plan-scratch=real-bytes=8 | FileCheck --check-prefix=DOUBLE %s
//
// Small locals are on the stack, as far as that goes; others lie behind each other in the scratch of a thread, each at a cache
// line of its own. What the runtime packs operands into becomes a local too, and where arithmetic is double what operands
// that are float are copied to.
kernel.param @W : tensor<96x96xf32>
kernel.program @p ["x"] [tensor<96xf32>] -> f32 {
  kernel.index_set inputs @input ["input"]
  kernel.argument @x = "x" 0 value : tensor<96xf32>
  kernel.buffer @y over @input : tensor<96xf32>
  kernel.weights @w = [@W] at [0, 0] : 96 by 96

  // 36 rows of 96 numbers are more than the stack has for one local; nothing is kept for what nobody reads.
  // CHECK-LABEL: kernel.func stage @products
  // CHECK-SAME: scratch = 27648 : i64
  // CHECK: kernel.local : <36xi32>
  // CHECK: kernel.local offset 0 : <36x96xf32>
  // CHECK: kernel.local : <36x97xf32>
  // CHECK: kernel.local offset 13824 : <36x96xf32>
  // CHECK-NOT: copy
  // DOUBLE-LABEL: kernel.func stage @products
  // DOUBLE-SAME: scratch = 82944 : i64
  // DOUBLE: %[[COPY:.*]] = kernel.local offset {{[0-9]+}} : <3456xf32>
  // DOUBLE: kernel.rows @x via %{{.*}} copy %[[COPY]] : !kernel.local<3456xf32> at 0
  // DOUBLE: kernel.rows local
  // DOUBLE-NOT: copy
  kernel.func stage @products(%begin: i32, %end: i32) over @input {
    %rows = kernel.local : !kernel.local<36xi32>
    %first = kernel.local : !kernel.local<36x96xf32>
    %unread = kernel.local : !kernel.local<36x97xf32>
    %second = kernel.local : !kernel.local<36x96xf32>
    kernel.blocks %begin to %end by 36 {
    ^bb0(%base: i32, %count: i32):
      %x = kernel.rows @x via %rows : !kernel.local<36xi32> at 0
      kernel.product %count rows(%x) [96] with @w into %first : !kernel.local<36x96xf32>
      %y = kernel.rows local %first : !kernel.local<36x96xf32> at 0
      kernel.product %count rows(%y) [96] with @w into %second : !kernel.local<36x96xf32>
      kernel.yield
    }
  }

  // 9 locals of 2,048 bytes are more than the stack has for all.
  // CHECK-LABEL: kernel.func stage @small
  // CHECK-SAME: scratch = 2048 : i64
  // CHECK-COUNT-8: kernel.local : <512xf32>
  // CHECK: kernel.local offset 0 : <512xf32>
  // DOUBLE-LABEL: kernel.func stage @small
  // DOUBLE-SAME: scratch = 36864 : i64
  kernel.func stage @small(%begin: i32, %end: i32) over @input {
    %zero = arith.constant 0.0 : f32
    %a = kernel.local : !kernel.local<512xf32>
    %b = kernel.local : !kernel.local<512xf32>
    %c = kernel.local : !kernel.local<512xf32>
    %d = kernel.local : !kernel.local<512xf32>
    %e = kernel.local : !kernel.local<512xf32>
    %f = kernel.local : !kernel.local<512xf32>
    %g = kernel.local : !kernel.local<512xf32>
    %h = kernel.local : !kernel.local<512xf32>
    %i = kernel.local : !kernel.local<512xf32>
    kernel.write %zero, %a[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %b[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %c[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %d[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %e[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %f[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %g[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %h[%begin] : f32, !kernel.local<512xf32>
    kernel.write %zero, %i[%begin] : f32, !kernel.local<512xf32>
  }

  // 3 inputs of 20 columns: 4 rows of 32 numbers, of whole cache lines. It is never on the stack, which is aligned to less.
  // CHECK-LABEL: kernel.func stage @matrices
  // CHECK-SAME: scratch = 512 : i64
  // CHECK: %[[MEMORY:.*]] = kernel.local offset 0 : <128xf32>
  // CHECK: kernel.multiply {{.*}} memory %[[MEMORY]] : !kernel.local<128xf32> into
  // DOUBLE-LABEL: kernel.func stage @matrices
  // DOUBLE: kernel.multiply {{.*}} memory %{{.*}} : !kernel.local<96xf32> into
  kernel.func stage @matrices(%begin: i32, %end: i32) over @input {
    %a = kernel.local : !kernel.local<1x2x3xf32>
    %b = kernel.local : !kernel.local<1x3x20xf32>
    %c = kernel.local : !kernel.local<1x2x20xf32>
    %ra = kernel.rows local %a : !kernel.local<1x2x3xf32> at 0
    %rb = kernel.rows local %b : !kernel.local<1x3x20xf32> at 0
    %one = arith.constant 1 : i32
    kernel.multiply %begin of %one rows %ra height 2 by (%rb) [3] outputs 20 into %c : !kernel.local<1x2x20xf32>
  }
}
