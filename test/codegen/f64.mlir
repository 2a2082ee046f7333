// With double arithmetic the batch's numbers stay float: they are converted where they are read, operands of products row
// by row into scratch memory.
// RUN: dbc-codegen-test --f64 %S/Inputs/documents.mlir | FileCheck %s
// RUN: dbc-codegen-test --f64 %S/Inputs/documents.mlir --emit header | FileCheck %s --check-prefix HEADER

// CHECK: using real = double;
// CHECK: start[j] = 2.0 * fwd_b[j];
// CHECK: real vec_copy[32];
// CHECK: dbc::copy_rows(vec_copy, Word_vec, nodes, 0, count, 4, 0, 4);
// CHECK: real(h_number[j])
// CHECK: model.f64 = true;

// HEADER: using StatesResult = dbc::Lists<double, 4, 1>;
