// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The rows of a table that a batch looks up.
#include <dbc/distinct_rows.h>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace {

using dbc::DistinctRows;
using dbc::IndexSet;
using Numbers = std::vector<int32_t>;

Numbers numbers_of(const DistinctRows &rows) { return Numbers(rows[0], rows[0] + rows.rows()); }

TEST(DistinctRows, OfNothing) {
  DistinctRows rows(5);
  rows.begin();
  rows.sort();
  EXPECT_EQ(rows.rows(), 0);
  rows.begin();
  rows.add(nullptr, 0);
  rows.sort();
  EXPECT_EQ(rows.rows(), 0);
  IndexSet turned(2);
  dbc::transpose(turned, nullptr, 0, rows);
  EXPECT_EQ(turned.rows(), 0);
  ASSERT_EQ(turned.array(1).size(), 1u);
  EXPECT_EQ(turned[1][0], 0);
}

TEST(DistinctRows, NumbersOfAllArraysOnceAndAscending) {
  const Numbers some = {7, 0, 7, 3}, others = {3, 9, 0};
  DistinctRows rows(10);
  rows.begin();
  rows.add(some.data(), 4);
  rows.add(others.data(), 3);
  rows.sort();
  EXPECT_EQ(numbers_of(rows), (Numbers{0, 3, 7, 9}));
  EXPECT_EQ(rows.row_of(0), 0);
  EXPECT_EQ(rows.row_of(9), 3);
}

/// By which relations go from what holds numbers, and from the rows on to others.
TEST(DistinctRows, RowsOfNumbers) {
  const Numbers some = {7, 0, 7, 3};
  DistinctRows rows(10, 1), others(10);
  rows.begin();
  rows.add(some.data(), 4);
  rows.sort();
  IndexSet holders(2);
  rows.rows_of(some.data(), 4, holders.array(1));
  EXPECT_EQ(Numbers(holders[1], holders[1] + 4), (Numbers{2, 0, 2, 1}));
  others.begin();
  others.add(rows[0], rows.rows());
  const int32_t more = 5;
  others.add(&more, 1);
  others.sort();
  others.rows_of(rows[0], rows.rows(), rows.array(1));
  EXPECT_EQ(Numbers(rows[1], rows[1] + 3), (Numbers{0, 1, 3}));
  rows.rows_of(nullptr, 0, holders.array(1));
  EXPECT_EQ(holders.array(1).size(), 0U);
}

/// Gradients are added up in this order.
TEST(DistinctRows, RowsThatHoldTheSameNumberStayInOrder) {
  const Numbers numbers = {7, 0, 7, 3, 7};
  DistinctRows rows(10);
  rows.begin();
  rows.add(numbers.data(), 5);
  rows.sort();
  IndexSet turned(2);
  dbc::transpose(turned, numbers.data(), 5, rows);
  EXPECT_EQ(Numbers(turned[0], turned[0] + 5), (Numbers{1, 3, 0, 2, 4}));
  EXPECT_EQ(Numbers(turned[1], turned[1] + 4), (Numbers{0, 1, 2, 5}));
}

/// What a model computes may be the number of no row: such rows are in no list.
TEST(DistinctRows, NumbersOfNoRowAreLeftOut) {
  const Numbers numbers = {-1, 3, 10, 0, INT32_MAX, 3, INT32_MIN};
  DistinctRows rows(10);
  rows.begin();
  rows.add(numbers.data(), 7);
  rows.sort();
  EXPECT_EQ(numbers_of(rows), (Numbers{0, 3}));
  EXPECT_EQ(rows.row_of(-1), -1);
  EXPECT_EQ(rows.row_of(10), -1);
  IndexSet turned(2);
  dbc::transpose(turned, numbers.data(), 7, rows);
  const int32_t *begin = turned[1], *row = turned[0];
  ASSERT_EQ(turned.array(1).size(), 3u);
  EXPECT_EQ(Numbers(row + begin[0], row + begin[1]), (Numbers{3}));
  EXPECT_EQ(Numbers(row + begin[1], row + begin[2]), (Numbers{1, 5}));
}

/// Nothing of a batch is left to the next one, also where that before was given up half way.
TEST(DistinctRows, RandomBatches) {
  constexpr int32_t kExtent = 300;
  std::mt19937 random(1);
  DistinctRows rows(kExtent);
  IndexSet turned(2);
  for (int32_t count : {0, 1000, 3, 0, 40, 299, 1, 1000}) {
    Numbers numbers(count);
    std::set<int32_t> expected;
    std::map<int32_t, Numbers> holders;
    for (int32_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<int32_t>(random() % kExtent);
      expected.insert(numbers[i]);
      holders[numbers[i]].push_back(i);
    }
    rows.begin();
    rows.add(numbers.data(), count / 2);
    rows.begin();
    rows.add(numbers.data(), count / 3);
    rows.add(numbers.data() + count / 3, count - count / 3);
    rows.sort();
    ASSERT_EQ(numbers_of(rows), Numbers(expected.begin(), expected.end()));
    dbc::transpose(turned, numbers.data(), count, rows);
    for (int32_t row = 0; row < rows.rows(); ++row)
      ASSERT_EQ(Numbers(turned[0] + turned[1][row], turned[0] + turned[1][row + 1]), holders[rows[0][row]]);
  }
}

} // namespace
