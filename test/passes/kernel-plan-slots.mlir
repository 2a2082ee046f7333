// RUN: dbc-opt %s --kernel-plan-slots | FileCheck %s
//
// A cell's only secondary key is fixed where its range is the same few numbers for every node. Nodes that are alike share the
// instances of a group that reads their fields alone, if its cells have no other secondary keys than such.
kernel.data @Tree {
  kernel.ctor "Leaf" ["x"] [f32] in [0]
}
kernel.program @shared [] [] -> f32 {
  kernel.func calls @calls.plain(%node: i32) {
  }
  kernel.func calls @calls.fixed(%node: i32, %k: i32) {
  }
  kernel.func calls @calls.wide(%node: i32, %k: i32) {
  }
  kernel.func calls @calls.given(%node: i32, %k: i32) {
  }
  // CHECK: kernel.group @plain ["plain"] of [@Tree] by [@calls.plain] shared {of_fields}
  // CHECK: kernel.group @fixed {{.*}} shared {of_fields}
  // CHECK: kernel.group @wide ["wide"] of [@Tree] keys {{.*}} by [@calls.wide] {of_fields}
  // CHECK: kernel.group @given ["given"] of [@Tree] keys {{.*}} by [@calls.given] {of_fields}
  // CHECK: kernel.group @captures ["captures"] of [@Tree] by [@calls.plain]{{$}}
  kernel.group @plain ["plain"] of [@Tree] by [@calls.plain] {of_fields}
  kernel.group @fixed ["fixed"] of [@Tree] keys [["k"]] by [@calls.fixed] {of_fields}
  kernel.group @wide ["wide"] of [@Tree] keys [["k"]] by [@calls.wide] {of_fields}
  kernel.group @given ["given"] of [@Tree] keys [["k"]] by [@calls.given] {of_fields}
  kernel.group @captures ["captures"] of [@Tree] by [@calls.plain]
  // CHECK: kernel.key @fixed 0 0[%{{.*}}] = %{{.*}} fixed at "m.dyn:1:1"
  kernel.func slot @slot.fixed(%node: i32, %k: i32) {
    %slot = kernel.key @fixed 0 0[%node] = %k at "m.dyn:1:1" {
      %low = arith.constant -3 : i32
      %high = arith.constant 13 : i32
      kernel.yield %low, %high : i32, i32
    }
    kernel.yield %slot : i32
  }
  // Seventeen values.
  // CHECK: kernel.key @wide 0 0[%{{.*}}] = %{{.*}} at "m.dyn:2:1"
  kernel.func slot @slot.wide(%node: i32, %k: i32) {
    %slot = kernel.key @wide 0 0[%node] = %k at "m.dyn:2:1" {
      %low = arith.constant 0 : i32
      %high = arith.constant 17 : i32
      kernel.yield %low, %high : i32, i32
    }
    kernel.yield %slot : i32
  }
  // The input says the range.
  // CHECK: kernel.key @given 0 0[%{{.*}}] = %{{.*}} at "m.dyn:3:1"
  kernel.func slot @slot.given(%node: i32, %k: i32) {
    %slot = kernel.key @given 0 0[%node] = %k at "m.dyn:3:1" {
      %low = arith.constant 0 : i32
      kernel.yield %low, %node : i32, i32
    }
    kernel.yield %slot : i32
  }
}

// Of several secondary keys none is fixed.
// CHECK-LABEL: kernel.program @two
kernel.program @two [] [] -> f32 {
  kernel.func calls @calls(%node: i32, %k: i32, %l: i32) {
  }
  // CHECK-NOT: shared
  kernel.group @g ["g"] of [@Tree] keys [["k", "l"]] by [@calls] {of_fields}
  // CHECK-NOT: fixed
  kernel.func slot @slot(%node: i32, %k: i32, %l: i32) {
    %low = arith.constant 0 : i32
    %high = arith.constant 2 : i32
    %first = kernel.key @g 0 0[%node] = %k at "m.dyn:1:1" {
      kernel.yield %low, %high : i32, i32
    }
    %slot = kernel.key @g 0 1[%first] = %l at "m.dyn:1:1" {
      kernel.yield %low, %high : i32, i32
    }
    kernel.yield %slot : i32
  }
}

// Which nodes were called is asked.
// CHECK-LABEL: kernel.program @asked
kernel.program @asked [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
    %is = kernel.called @g 0(%node)
  }
  // CHECK-NOT: shared
  kernel.group @g ["g"] of [@Tree] by [@calls] {of_fields}
}

// Each node has a gradient of its own.
// CHECK-LABEL: kernel.program @gradients
kernel.program @gradients [] [] -> f32 {
  kernel.func calls @calls(%node: i32) {
  }
  // CHECK-NOT: shared
  kernel.group @g ["g"] of [@Tree] by [@calls] {of_fields}
  kernel.field @Tree.x = @Tree "x" 0 value : f32
  kernel.index_set column @xs in @Tree.x []
  kernel.buffer @x.gradient over @xs : f32
  kernel.input_gradient @Tree.x = @x.gradient
}
