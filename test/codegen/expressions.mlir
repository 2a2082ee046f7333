// Expressions carry the fewest brackets that keep the order; values with a name of the source keep it, others that are
// used once stand inside their user.
// RUN: dbc-codegen-test %s | FileCheck %s

module @m {
  kernel.program @e [] [] -> f32 {
    kernel.index_set inputs @input ["input"]
    kernel.buffer @x over @input : tensor<4xf32>
    kernel.buffer @y over @input : tensor<4xf32>
    kernel.buffer @whole over @input : i32
    kernel.buffer @result over @input : f32

    // CHECK-LABEL: void elementwise(const Plan &plan, int32_t begin, int32_t end, char *) {
    // CHECK: const real *__restrict x = plan.x;
    // CHECK: real *__restrict y = plan.y;
    kernel.func stage @elementwise(%begin: i32, %end: i32) over @input attributes {grain = 256 : i64} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %half = arith.constant 0.5 : f32
      kernel.for %begin to %end {
      ^bb0(%row: i32 loc("row")):
        // CHECK: const real *x_row = x + int64_t(row) * 4;
        // CHECK: real *y_row = y + int64_t(row) * 4;
        // CHECK: DBC_VECTOR
        // CHECK-NEXT: for (int32_t j = 0; j < 4; ++j) {
        kernel.for vector %zero to %four {
        ^bb0(%j: i32):
          %a = kernel.load @x[%row, %j] : f32 loc("a")
          %sum = arith.addf %a, %half : f32
          %square = arith.mulf %sum, %a : f32
          %difference = arith.subf %a, %sum : f32
          %t = math.tanh %a : f32
          %quotient = arith.divf %square, %t : f32
          %less = arith.cmpf olt, %quotient, %half : f32
          %minus = arith.negf %a : f32
          %chosen = arith.select %less, %minus, %difference : f32
          // CHECK: const real a = x_row[j];
          // CHECK-NEXT: const real [[SUM:.*]] = a + 0.5f;
          // CHECK-NEXT: y_row[j] = math::select([[SUM]] * a / math::tanh(a) < 0.5f, -a, a - [[SUM]]);
          kernel.store %chosen, @y[%row, %j] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    // Sums run in the order of their loops.
    // CHECK-LABEL: void sums(
    kernel.func stage @sums(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %none = arith.constant 0.0 : f32
      kernel.for %begin to %end {
      ^bb0(%row: i32 loc("row")):
        // CHECK: real sum = 0.0f;
        // CHECK-NEXT: for (int32_t k = 0; k < 4; ++k)
        // CHECK-NEXT: sum += x_row[k];
        %sum = kernel.for %zero to %four carry(%none) : (f32) -> (f32) {
        ^bb0(%k: i32 loc("k"), %acc: f32):
          %x = kernel.load @x[%row, %k] : f32
          %next = arith.addf %acc, %x : f32
          kernel.yield %next : f32
        }
        // CHECK-NEXT: result[row] = sum;
        kernel.store %sum, @result[%row] : f32
        kernel.yield
      }
    }
    // CHECK: const dbc::Stage<Plan> stages[] = {
    // CHECK-NEXT: {"elementwise", elementwise, {0, 0, 0, 0, 256}},
    // CHECK: x = run.buffer<real>(0, size_t(inputs.rows()) * 4);
    kernel.schedule {
    }
    kernel.run {
      kernel.launch @elementwise
      kernel.launch @sums
    }
    kernel.output 0 = @result depth 0
  }
}
