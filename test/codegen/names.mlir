// Names that C++ or the generated classes need for themselves get others; the interface and the tables still compile, and
// hosts find the model by its own name.
// RUN: rm -rf %t && dbc-codegen-test %s -o %t
// RUN: FileCheck %s --check-prefix HEADER --input-file %t/double.h
// RUN: FileCheck %s --check-prefix SOURCE --input-file %t/double.cpp
// RUN: %cxx -fsyntax-only -Wall -Wextra -Wpedantic -Werror -std=c++17 -I%root/runtime/include -I%t %t/double.cpp

// HEADER: namespace dbc::models::double_ {
// HEADER: namespace dims {
// HEADER: constexpr int64_t long_ = 3;
// HEADER: constexpr int32_t auto_ = 0; ///< `auto`, 3
// HEADER: constexpr int32_t a_b_c = 1; ///< `a.b_c`, 2 x 3
// HEADER: struct Session2 {
// HEADER: intBuilder &operator_(int32_t value) {
// HEADER: intBuilder &id2(::dbc::models::double_::Session2 value) {
// HEADER: ::dbc::models::double_::intBuilder int_()
// HEADER: ::dbc::models::double_::SessionBuilder Session_Session()
// HEADER: void run_entry(::dbc::models::double_::Session2 class_) {
// HEADER: using RunResult = dbc::Scalars<int32_t>;
// HEADER: dbc::Status run_entry(Batch &batch)

// SOURCE: extern "C" const dbc::ModelInfo *dbc_model_double() { return &dbc::models::double_::info(); }
module @double attributes {dyn.dims = {long = 3 : i64}} {
  kernel.data @Session {
    kernel.ctor "int" ["operator", "id"] [i32, !dyn.node<@Session>] in [0, 1]
    kernel.ctor "Session" [] [] in []
  }
  kernel.param @auto : tensor<3xf32> = #dyn.init<constant, 0.0 : f64, 0.0 : f64>
  kernel.param @a.b_c : tensor<2x3xf32>
  kernel.program @run ["class"] [!dyn.node<@Session>] -> i32 {
    kernel.index_set inputs @input ["input", "int"]
    kernel.buffer @row over @input : i32
    kernel.field @Session.operator = @Session "operator" 0 value : i32
    kernel.argument @class = "class" 0 value : i32
    kernel.func index @namespace(%row: i32, %input: i32) over @input {
      kernel.require @class[%input]
      %node = kernel.load @class[%input] : i32
      kernel.require @Session.operator[%node]
      %value = kernel.load @Session.operator[%node] : i32
      kernel.set @input "int"[%row], %value
    }
    kernel.func stage @return(%begin: i32, %end: i32) over @input {
      kernel.for %begin to %end {
      ^bb0(%row: i32 loc("row")):
        %x = kernel.load @input "int"[%row] : i32 loc("this")
        kernel.store %x, @row[%row] : i32
        kernel.yield
      }
    }
    kernel.schedule {
      kernel.index @namespace
    }
    kernel.run {
      kernel.launch @return
    }
    kernel.output 0 = @row depth 0
  }
}
