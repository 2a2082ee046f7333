// RUN: dbc-opt %s -split-input-file -verify-diagnostics
// What the `kernel` dialect refuses.

kernel.func index @f(%a: i32, %b: i32) over @s {
  // expected-error @+1 {{'kernel.int' op cannot fail: arith has it}}
  %c = kernel.int max %a, %b at "m.dyn:1:1"
}
