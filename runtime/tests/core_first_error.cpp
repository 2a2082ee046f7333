// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The walk in the order of evaluation: which of several errors of an input comes first.
#include "core_models.h"

#include <gtest/gtest.h>

namespace {
using namespace core_models;
using dbc::Step;

constexpr int32_t code_of(Step step) { return static_cast<int32_t>(step); }

/// The order of an entry, written as dyn-order-errors writes it.
struct Written {
  Written(int32_t functions, std::vector<const char *> words) : code(1 + functions), words(std::move(words)) {
    code[0] = functions;
  }
  /// Begins a function.
  void function(int32_t number, std::initializer_list<int32_t> head) {
    code[1 + number] = static_cast<int32_t>(code.size());
    code.insert(code.end(), head);
  }
  void put(Step step, std::initializer_list<int32_t> operands) {
    code.push_back(code_of(step));
    code.insert(code.end(), operands);
  }
  dbc::EvaluationOrder order() const { return {code.data(), words.data()}; }

  std::vector<int32_t> code;
  std::vector<const char *> words;
};

/// `total`: 1 is computed at a leaf, 2 at a node behind its children,
/// 3 at the root before all. The key has coordinate 9.
struct Total : Written {
  Total() : Written(2, {"total", "add", "t", "toy.dyn:1:1"}) {
    function(0, {2, 0, -1, 0});
    put(Step::Argument, {0, 0, 3});
    put(Step::Event, {3});
    put(Step::Call, {1, 1, 0, 3, 1, 0, 0, 1, 1});
    put(Step::Return, {1, 1});
    function(1, {4, 1, Tree, 1, 9, 2});
    const size_t kinds = code.size() + 4;
    put(Step::Switch, {0, Tree, 2, 0, 0});
    code[kinds + Leaf] = static_cast<int32_t>(code.size());
    put(Step::Field, {1, 0, Tree, value, 3});
    put(Step::Event, {1});
    put(Step::Return, {1, 1});
    code[kinds + Node] = static_cast<int32_t>(code.size());
    put(Step::Field, {2, 0, Tree, left, 3});
    put(Step::Field, {3, 0, Tree, right, 3});
    put(Step::Call, {1, 2, 0, 3, 1, 2, 0, 1, 1});
    put(Step::Call, {1, 3, 0, 3, 1, 3, 0, 1, 1});
    put(Step::Event, {2});
    put(Step::Return, {1, 1});
  }
};

/// Node 0 has nodes 2 and 1 below it, node 2 has 1 twice.
dbc::Batch made(bool values) {
  dbc::Batch batch(info());
  batch.begin_input();
  for (int32_t kind : {Node, Leaf, Node})
    batch.add_node(Tree, kind);
  batch.set_node(Tree, 0, left, 2);
  batch.set_node(Tree, 0, right, 1);
  batch.set_node(Tree, 2, left, 1);
  batch.set_node(Tree, 2, right, values ? 1 : 0);
  if (values)
    batch.set_f32(Tree, 1, value, 1);
  batch.set_node(batch.args(), 0, batch.arg_column(0, 0), 0);
  batch.finish();
  return batch;
}

TEST(FirstError, OfTheStructure) {
  Total total;
  dbc::Batch batch = made(true);
  EXPECT_TRUE(first_error(total.order(), batch, 0, 0).ok());
  // The field of the leaf is asked for before the cycle is closed.
  batch = made(false);
  EXPECT_EQ(first_error(total.order(), batch, 0, 0).message,
            "toy: input 0: Tree node 1 (Leaf): field `value` is not given, at toy.dyn:1:1");
  batch.set_f32(Tree, 1, value, 1);
  batch.finish();
  EXPECT_EQ(first_error(total.order(), batch, 0, 0).message,
            "toy: input 0: Tree node 0 (Node): a value needs itself: add(Tree node 0) -> add(Tree node 2) -> "
            "add(Tree "
            "node 0)");
}

TEST(FirstError, OfWhatIsComputed) {
  Total total;
  dbc::Batch batch = made(true);
  auto first = [&](const std::vector<dbc::ComputedError> &errors) {
    return first_computed(total.order(), batch, 0, 0, errors);
  };
  EXPECT_EQ(first({{2, {9, 0}}, {2, {9, 2}}, {1, {9, 1}}}), 2);
  EXPECT_EQ(first({{2, {9, 0}}, {2, {9, 2}}}), 1);
  EXPECT_EQ(first({{2, {9, 0}}, {3, {}}, {1, {9, 1}}}), 1);
  // Coordinates that it does not depend on are absent, and others say nothing.
  EXPECT_EQ(first({{2, {}}, {2, {9, 0}}}), 0);
  EXPECT_EQ(first({{2, {9, 0, 4, 17}}, {2, {9, 2, 4, 18}}}), 1);
  EXPECT_EQ(first({{2, {9, 1}}}), -1);
}

/// `twice(t)` calls `outer`, function 1, at calls 11 and 12, and that `inner`, function 2, at call 13, where
/// event 1 may fail. The keys have coordinates 8 and 9.
struct Twice : Written {
  Twice() : Written(3, {"twice", "outer", "inner", "t", "toy.dyn:1:1"}) {
    function(0, {2, 0, -1, 0});
    put(Step::Argument, {0, 0, 4});
    put(Step::Call, {1, 11, 2, 4, 1, 0, 0, 1, 1});
    put(Step::Call, {1, 12, 2, 4, 1, 0, 0, 1, 1});
    put(Step::Return, {1, 1});
    function(1, {2, 1, Tree, 1, 8, 3});
    put(Step::Call, {2, 13, 2, 4, 1, 0, 0, 1, 1});
    put(Step::Return, {1, 1});
    function(2, {2, 2, Tree, 1, 9, 3});
    put(Step::Event, {1});
    put(Step::Return, {1, 1});
  }
};

TEST(FirstError, OfTheCallsOfARecursion) {
  Twice twice;
  dbc::Batch batch = made(true);
  auto first = [&](const std::vector<dbc::ComputedError> &errors) {
    return first_computed(twice.order(), batch, 0, 0, errors);
  };
  constexpr int32_t outer = dbc::site_coordinate(0), inner = dbc::site_coordinate(1);
  EXPECT_EQ(first({{1, {9, 0, outer, 12, inner, 13}}, {1, {9, 0, outer, 11, inner, 13}}}), 1);
  EXPECT_EQ(first({{1, {9, 0, outer, 11, inner, 13}}, {1, {9, 0, outer, 12, inner, 13}}}), 0);
  EXPECT_EQ(first({{1, {9, 0, outer, 10, inner, 13}}, {1, {9, 0, outer, 12, inner, 13}}}), 1);
  // Calls that share their instances: it is any of them.
  EXPECT_EQ(
      first({{1, {9, 0, outer, 12, inner, 13}}, {1, {9, 0, outer, 10, outer, 11, inner, 12, inner, 13}}}), 1);
  EXPECT_EQ(
      first({{1, {9, 0, outer, 12, inner, 13}}, {1, {9, 0, outer, 10, outer, 12, inner, 12, inner, 13}}}), 0);
  EXPECT_EQ(first({{1, {9, 0, outer, 12, inner, 11}}}), -1);
}

} // namespace
