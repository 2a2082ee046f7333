// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a sub-batch has of its columns.
#include "cuda_models.h"

namespace {

using dbc::cuda::input;
using dbc::cuda::lines;

using CudaColumns = CudaContext;

// Of a column the rows of a sub-batch arrive, and are had by their numbers in the whole; one that a device
// has already stays where it is.
TEST_F(CudaColumns, RowsOfASubBatch) {
  Context context(on_);
  std::vector<float> numbers(300);
  for (size_t n = 0; n < numbers.size(); ++n)
    numbers[n] = static_cast<float>(n);
  dbc::cuda::Column<float> some, last, none, absent, there;
  const float *const from = numbers.data();
  gpu.copied = 0;
  const int64_t sub_batch = context.begin({input(&some, from, {10, 20}, 3), input(&last, from, {299, 300}, 1),
                                           input(&none, from, {300, 300}, 1),
                                           input(&absent, static_cast<const float *>(nullptr), {10, 20}, 3),
                                           input(&there, from, {10, 20}, 3, /*device=*/0)});
  ASSERT_TRUE(context.status().ok());
  EXPECT_EQ(context.needed_bytes(), 256 + lines(256 * sizeof(ErrorRecord)) + 256 + 256);
  EXPECT_EQ(gpu.copied, room(256) + 2 * room(4) + 3 * room(0));
  EXPECT_EQ(std::vector<float>(some + 30, some + 60), std::vector<float>(from + 30, from + 60));
  EXPECT_EQ(some[59], 59);
  EXPECT_EQ(last[299], 299);
  EXPECT_EQ(absent.data, nullptr);
  EXPECT_EQ(there + 30, from + 30);
  context.copy_out();
  EXPECT_TRUE(context.finish(sub_batch).ok());
}

// Rows behind the last one that has a field are copied too, whatever is there: there is memory for them, as
// the address sanitizer sees.
TEST_F(CudaColumns, RowsBehindTheLastThatHasTheField) {
  Batch batch(info());
  batch.begin_input();
  const float three[] = {1, 2, 3};
  batch.set_f32s(Bag, batch.add_node(Bag, 0), x, three, 3);
  for (int32_t n = 0; n < 5000; ++n)
    batch.add_node(Bag, 0);
  dbc::InputStatuses statuses;
  const dbc::ColumnRef columns[] = {{Bag, x}};
  ASSERT_TRUE(batch.validate(columns, 1, statuses).ok());
  Context context(on_);
  for (const dbc::Range rows : {dbc::Range{0, batch.rows(Bag)}, dbc::Range{4000, batch.rows(Bag)}}) {
    dbc::cuda::Column<float> column;
    const int64_t sub_batch = context.begin({input(&column, batch.column(Bag, x).f32, rows, 3)});
    ASSERT_TRUE(context.status().ok());
    if (rows.begin == 0) {
      EXPECT_EQ(column[2], 3);
    }
    context.copy_out();
    EXPECT_TRUE(context.finish(sub_batch).ok());
  }
}

// Elements of rows of a list column are all that their lists reach, at each depth; rows without any do not
// count, and neither do other rows.
TEST(CudaElements, OfListColumns) {
  Batch batch(info());
  batch.begin_input();
  const std::vector<std::vector<int32_t>> grids[] = {{{1, 2}, {}, {3}}, {}, {{4, 5, 6, 7}}};
  for (const auto &rows : grids) {
    const int32_t bag = batch.add_node(Bag, 0);
    batch.open_list(Bag, bag, grid);
    for (const std::vector<int32_t> &row : rows) {
      batch.open_list(Bag, bag, grid);
      for (int32_t number : row)
        batch.push_int(number);
      batch.close_list();
    }
    batch.close_list();
    for (size_t n = 0; n < rows.size(); ++n)
      batch.append_int(Bag, bag, trees, leaf(batch, 1));
  }
  batch.add_node(Bag, 0); // has no lists
  dbc::InputStatuses statuses;
  const dbc::ColumnRef columns[] = {{Bag, grid}, {Bag, trees}, {Bag, flag}};
  ASSERT_TRUE(batch.validate(columns, 3, statuses).ok());
  const auto of = [&](int32_t column, dbc::Range rows, int32_t levels = dbc::kMaxListDepth) {
    const dbc::Range elements = dbc::cuda::elements(batch.column(Bag, column), rows, levels);
    return std::pair(elements.begin, elements.end);
  };
  const int32_t rows = batch.rows(Bag);
  EXPECT_EQ(of(grid, {0, rows}, 0), std::pair(0, 4));
  EXPECT_EQ(of(grid, {0, rows}, 1), std::pair(0, 4)); // lists in the lists: 3 + 0 + 1
  EXPECT_EQ(of(grid, {0, rows}), std::pair(0, 7));
  EXPECT_EQ(of(grid, {0, 1}), std::pair(0, 3));
  EXPECT_EQ(of(grid, {1, rows}, 1), std::pair(3, 4));
  EXPECT_EQ(of(grid, {1, rows}), std::pair(3, 7));
  EXPECT_EQ(of(grid, {1, 2}), std::pair(0, 0)); // its list has none
  EXPECT_EQ(of(trees, {0, rows}), std::pair(0, 4));
  EXPECT_EQ(of(trees, {2, 3}), std::pair(3, 4));
  EXPECT_EQ(of(trees, {0, 0}), std::pair(0, 0));
  EXPECT_EQ(of(flag, {0, rows}), std::pair(0, 0)); // nobody gave it
  const int32_t begins[] = {0, 50, 3}, ends[] = {3, 99, 7};
  const uint8_t present[] = {1, 0, 1};
  dbc::ColumnView lent; // anything may stand where there is no list
  lent.given = true;
  lent.present = present;
  lent.lists[0] = {begins, ends, 7};
  for (int32_t first : {0, 1, 2}) {
    const dbc::Range elements = dbc::cuda::elements(lent, {first, 3});
    EXPECT_EQ(elements.begin, first == 0 ? 0 : 3);
    EXPECT_EQ(elements.end, 7);
  }
  // Of what failed, or cannot have the field, offsets may be anything.
  const int32_t wild[] = {0, -5, 3, 1000000000}, wild_ends[] = {1000000000, 3, -7, 7};
  lent.present = nullptr;
  lent.lists[0] = {wild, wild_ends, 7};
  for (int32_t first : {0, 1, 2, 3}) {
    const dbc::Range elements = dbc::cuda::elements(lent, {first, 4});
    EXPECT_EQ(elements.begin, 0);
    EXPECT_EQ(elements.end, first == 0 ? 7 : first == 1 ? 3 : 0);
  }
}

} // namespace
