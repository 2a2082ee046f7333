// Wrong calls of a generated interface: each is said by the run, none is dropped or read past its end. Part
// of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "rows.h"
#include <cstdio>
#include <vector>

namespace rows = dbc::models::rows;

int main() {
  rows::Weights weights;
  rows::Model model;
  if (!rows::Model::make(weights, &model).ok())
    return 1;
  rows::Session session(model);
  rows::Batch batch;
  auto run = [&] {
    dbc::Status ran = session.total(batch);
    if (!ran.ok()) {
      std::puts(ran.message.c_str());
      // Then no input is fine, and no result is one of an earlier run.
      if (batch.inputs() > 0 && (session.status(0).ok() || session.total_result()[0] != 0))
        std::puts("results of a run that failed");
    } else if (!session.status(0).ok())
      std::puts(session.status(0).message.c_str());
    else
      std::printf("%g\n", double(session.total_result()[0]));
    batch.clear();
  };

  // Numbers of two elements, and of two and a third.
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7};
  for (size_t count : {6, 7}) {
    batch.begin_input();
    batch.total(batch.T().rows({numbers.data(), count}).kids({}), 0.5f);
    run();
  }
  // No input was begun.
  batch.total(rows::T(), 0.5f);
  run();
  // Flat arrays whose number of nodes is refused are not looked into.
  std::vector<int32_t> begin = {0, 1}, offsets = {0, 2}, none = {0, 0}, first = {0};
  rows::TArrays arrays;
  arrays.begin = begin.data();
  arrays.rows = numbers.data();
  arrays.rows_offsets = offsets.data();
  arrays.kids = first.data();
  arrays.kids_offsets = none.data();
  rows::TotalArrays arguments;
  arguments.t = first.data();
  arguments.x = numbers.data();
  for (int32_t count : {1, -1}) {
    batch.borrow_inputs(1);
    arrays.count = count;
    batch.borrow(arrays);
    batch.borrow(arguments);
    run();
  }
}
