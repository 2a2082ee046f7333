// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// In what order sums over a batch take rows.
#include <dbc/distinct_rows.h>
#include <dbc/input_order.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using dbc::InputOrder;
using Numbers = std::vector<int32_t>;

Numbers rows_of(const InputOrder &order) {
  Numbers rows;
  for (int32_t position = 0; position < order.rows(); ++position)
    rows.push_back(order.row_at(position));
  return rows;
}

TEST(InputOrder, OfNothing) {
  InputOrder order;
  order.begin();
  EXPECT_EQ(order.rows(), 0);
  order.sort(0, {});
  EXPECT_EQ(order.rows(), 0);
  order.sort(0, {nullptr, nullptr});
  EXPECT_EQ(order.rows(), 0);
  dbc::TimeSteps none;
  none.once(0);
  order.select(none);
  EXPECT_EQ(order.rows(), 0);
}

TEST(InputOrder, RowsThatLieInOrder) {
  const Numbers node = {4, 4, 5, 9};
  InputOrder order;
  order.sort(4, {});
  EXPECT_EQ(rows_of(order), (Numbers{0, 1, 2, 3}));
  order.sort(4, {node.data()});
  EXPECT_EQ(rows_of(order), (Numbers{0, 1, 2, 3}));
}

/// The rows of a recursion: by its node, those of a node as they were.
TEST(InputOrder, RowsOfANodeStayInOrder) {
  const Numbers node = {7, 9, 5, 7, 5, 7};
  InputOrder order;
  order.sort(6, {node.data()});
  EXPECT_EQ(rows_of(order), (Numbers{2, 4, 0, 3, 5, 1}));
}

/// The rows of an arm, of a list in it: through their parents.
TEST(InputOrder, ByTheOwnerOfTheParent) {
  const Numbers element = {0, 0, 1, 2}, arm = {1, 2, 0}, node = {8, 6, 7};
  InputOrder order;
  order.sort(4, {element.data(), arm.data(), node.data()}); // owners 6, 6, 7, 8
  EXPECT_EQ(rows_of(order), (Numbers{0, 1, 2, 3}));
  const Numbers turned = {2, 1, 0};
  order.sort(4, {element.data(), turned.data(), node.data()}); // owners 7, 7, 6, 8
  EXPECT_EQ(rows_of(order), (Numbers{2, 0, 1, 3}));
}

/// Rows that a `while` has ended are left out, also when it is asked for again, and in the batch after.
TEST(InputOrder, OfActiveRows) {
  dbc::TimeSteps steps;
  steps.time_step.append(Numbers{0, 1, 0, 1, 0, 1}.data(), 6);
  steps.sort(6, 2);
  std::vector<uint8_t> alive = {1, 1, 0, 1, 1, 0};
  InputOrder order;
  order.sort(6, {});
  steps.mask(0, alive.data());
  steps.mask(1, alive.data());
  for (int again = 0; again < 2; ++again) {
    order.select(steps);
    EXPECT_EQ(rows_of(order), (Numbers{0, 1, 3, 4}));
  }
  const Numbers node = {2, 2, 1, 1, 0, 0};
  order.sort(6, {node.data()});
  EXPECT_EQ(rows_of(order), (Numbers{4, 5, 2, 3, 0, 1}));
  order.select(steps);
  EXPECT_EQ(rows_of(order), (Numbers{4, 3, 0, 1}));
}

TEST(InputOrder, RandomBatches) {
  std::mt19937 random(2);
  InputOrder order;
  for (int32_t count : {1000, 3, 0, 40, 299, 1, 1000}) {
    Numbers node(count), expected(count);
    for (int32_t &each : node)
      each = 1000 + static_cast<int32_t>(random() % 300);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int32_t a, int32_t b) { return node[a] < node[b]; });
    order.begin();
    order.sort(count, {node.data()});
    EXPECT_EQ(rows_of(order), expected);
  }
}

/// What rows give to a row of a table is added in this order.
TEST(InputOrder, OfATranspose) {
  const Numbers node = {7, 9, 5, 7}, word = {3, 0, 3, 3}, layer = {1, 0, 1, 1};
  InputOrder order;
  order.sort(4, {node.data()});
  dbc::DistinctRows words(10);
  words.begin();
  words.add(word.data(), 4);
  words.sort();
  dbc::IndexSet of_word(2), of_layer(2);
  dbc::transpose(of_word, word.data(), 4, words, &order);
  EXPECT_EQ(Numbers(of_word[0], of_word[0] + 4), (Numbers{1, 2, 0, 3}));
  EXPECT_EQ(Numbers(of_word[1], of_word[1] + 3), (Numbers{0, 1, 4}));
  dbc::transpose(of_layer, layer.data(), 4, 2, &order);
  EXPECT_EQ(Numbers(of_layer[0], of_layer[0] + 4), (Numbers{1, 2, 0, 3}));
}

} // namespace
