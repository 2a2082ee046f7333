// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Batches: building in any order, borrowing, and what validation finds.
#include "core_models.h"

#include <gtest/gtest.h>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::Code;
using dbc::ColumnRef;
using dbc::ColumnView;
using dbc::InputStatuses;
using dbc::Status;

std::vector<ColumnRef> everything(const Batch &batch) {
  std::vector<ColumnRef> all;
  for (int32_t t = 0; t <= batch.args(); ++t)
    for (int32_t c = 0; c < batch.columns(t); ++c)
      all.push_back({t, c});
  return all;
}

Status validate(Batch &batch, InputStatuses &statuses) {
  auto all = everything(batch);
  return batch.validate(all.data(), all.size(), statuses);
}

std::vector<int32_t> elements(const ColumnView &view, int32_t row) {
  return std::vector<int32_t>(view.i32 + view.lists[0].begin[row], view.i32 + view.lists[0].end[row]);
}

// --- flattening --------------------------------------------------------------------------------------------

TEST(Flatten, RecordsAndTuplesBecomeComponentsListsGoInward) {
  dbc::TypeInfo pair;
  pair.form = dbc::TypeInfo::Form::Record;
  pair.name = "Pair";
  pair.names = {"a", "b"};
  pair.elements = {scalar(dbc::Elem::F32), list(scalar(dbc::Elem::Int))};
  auto components = dbc::flatten(list(pair), "p");
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(components[0].name, "p.a");
  EXPECT_EQ(components[0].depth, 1);
  EXPECT_EQ(components[1].name, "p.b");
  EXPECT_EQ(components[1].depth, 2);
}

// --- built -------------------------------------------------------------------------------------------------

TEST(Built, NodesAreNumberedOverTheBatchAndForwardReferencesAreFine) {
  Batch batch(info());
  for (int i = 0; i < 2; ++i) {
    int32_t input = batch.begin_input();
    int32_t top = batch.add_node(Tree, Node), a = leaf(batch, 1), b = leaf(batch, 2);
    EXPECT_EQ(top, 3 * i);
    batch.set_node(Tree, top, left, a);
    batch.set_node(Tree, top, right, b);
    root(batch, input, top);
  }
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 0);
  EXPECT_EQ(batch.inputs(), 2);
  EXPECT_EQ(batch.rows(Tree), 6);
  EXPECT_EQ(batch.begin(Tree)[1], 3);
  EXPECT_EQ(batch.begin(Tree)[2], 6);
  EXPECT_EQ(batch.kinds(Tree)[3], Node);
  EXPECT_EQ(batch.column(Tree, left).i32[3], 4);
  EXPECT_EQ(batch.column(Tree, value).f32[5], 2);
  EXPECT_EQ(batch.input_of(Tree, 4), 1);
  // Every node that can have the field has it: no bytes to look at. Labels were never given.
  EXPECT_EQ(batch.column(Tree, left).present, nullptr);
  EXPECT_FALSE(batch.column(Tree, label).has(0));
}

// A column ends with the last node that has the field; what is behind it belongs to nobody (the sanitizers
// see it).
TEST(Built, ColumnsThatEndBeforeTheirTable) {
  Batch batch(info());
  int32_t input = batch.begin_input();
  root(batch, input, node(batch, leaf(batch, 1), leaf(batch, 2)));
  for (int i = 0; i < 100; ++i)
    leaf(batch, 3);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 0);
  EXPECT_EQ(batch.column(Tree, left).present, nullptr);
}

TEST(Built, AFieldOfSomeNodesHasABytePerNode) {
  Batch batch(info());
  batch.begin_input();
  leaf(batch, 1);
  batch.add_node(Tree, Leaf);
  batch.set_int(Tree, 0, label, 4);
  batch.finish();
  EXPECT_TRUE(batch.column(Tree, label).has(0));
  EXPECT_FALSE(batch.column(Tree, label).has(1));
  EXPECT_FALSE(batch.column(Tree, value).has(1));
  // After finish() filling may go on.
  batch.set_int(Tree, 1, label, 3);
  batch.begin_input();
  batch.add_node(Tree, Leaf);
  batch.finish();
  EXPECT_TRUE(batch.column(Tree, label).has(1));
  EXPECT_FALSE(batch.column(Tree, label).has(2));
  EXPECT_EQ(batch.begin(Tree)[2], 3);
}

TEST(Built, ListsMayGrowInterleaved) {
  Batch batch(info());
  batch.begin_input();
  constexpr int kBags = 7, kTrees = 200;
  for (int b = 0; b < kBags; ++b)
    batch.add_node(Bag, 0);
  for (int t = 0; t < kTrees; ++t)
    leaf(batch, 0);
  for (int t = 0; t < kTrees; ++t)
    for (int b = 0; b < kBags; ++b)
      if (t % (b + 1) == 0)
        batch.append_int(Bag, b, trees, (t + b) % kTrees);
  batch.set_empty(Bag, 6, trees);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 0);
  const ColumnView &view = batch.column(Bag, trees);
  for (int b = 0; b < 6; ++b) {
    std::vector<int32_t> expected;
    for (int t = 0; t < kTrees; t += b + 1)
      expected.push_back((t + b) % kTrees);
    EXPECT_EQ(elements(view, b), expected) << b;
  }
  EXPECT_TRUE(view.has(6));
  EXPECT_TRUE(elements(view, 6).empty());
}

TEST(Built, ListsOfListsAreStreamed) {
  Batch batch(info());
  batch.begin_input();
  batch.add_node(Bag, 0);
  batch.add_node(Bag, 0);
  for (int32_t bag : {1, 0}) {
    batch.open_list(Bag, bag, grid);
    for (int i = 0; i < 3; ++i) {
      batch.open_list(Bag, bag, grid);
      for (int k = 0; k < i; ++k)
        batch.push_int(100 * bag + 10 * i + k);
      batch.close_list();
    }
    batch.close_list();
  }
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  const ColumnView &v = batch.column(Bag, grid);
  for (int32_t bag : {0, 1}) {
    ASSERT_EQ(v.lists[0].end[bag] - v.lists[0].begin[bag], 3);
    for (int i = 0; i < 3; ++i) {
      int32_t inner = v.lists[0].begin[bag] + i;
      ASSERT_EQ(v.lists[1].end[inner] - v.lists[1].begin[inner], i);
      for (int k = 0; k < i; ++k)
        EXPECT_EQ(v.i32[v.lists[1].begin[inner] + k], 100 * bag + 10 * i + k);
    }
  }
}

TEST(Built, TensorsBoolsAndWholeLists) {
  Batch batch(info());
  batch.begin_input();
  leaf(batch, 0);
  int32_t bag = batch.add_node(Bag, 0);
  float xs[3] = {1, 2, 3};
  int32_t list[2] = {0, 0};
  batch.set_f32s(Bag, bag, x, xs, 3);
  batch.set_bool(Bag, bag, flag, true);
  batch.set_list(Bag, bag, trees, list, 2);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 0);
  EXPECT_EQ(batch.column(Bag, x).f32[2], 3);
  EXPECT_EQ(batch.column(Bag, flag).u8[0], 1);
  EXPECT_EQ(elements(batch.column(Bag, trees), 0), (std::vector<int32_t>{0, 0}));
}

TEST(Built, WrongUseIsTheBatchsStatus) {
  auto message = [](void (*fill)(Batch &)) {
    Batch batch(info());
    fill(batch);
    InputStatuses statuses;
    Status s = validate(batch, statuses);
    EXPECT_EQ(s.code, Code::bad_call);
    return s.message;
  };
  EXPECT_EQ(message([](Batch &b) { b.add_node(Tree, Leaf); }), "toy: add_node without begin_input");
  EXPECT_EQ(message([](Batch &b) {
              b.begin_input();
              b.set_int(Tree, b.add_node(Tree, Leaf), value, 1);
            }),
            "toy: `value` is set as something that it is not");
  EXPECT_EQ(message([](Batch &b) {
              b.begin_input();
              b.set_int(Tree, 5, label, 1);
            }),
            "toy: row 5 is set, but there are 0");
  EXPECT_EQ(message([](Batch &b) {
              b.begin_input();
              b.push_int(3);
            }),
            "toy: an element is pushed, but no list is open");
  EXPECT_EQ(message([](Batch &b) {
              b.begin_input();
              b.append_int(Bag, b.add_node(Bag, 0), grid, 1);
            }),
            "toy: `grid` is a list of lists, use open_list");
  EXPECT_EQ(message([](Batch &b) { b.borrow_ints(Tree, label, nullptr, 0); }),
            "toy: an array is borrowed without borrow_inputs");
  // What a program that forgets begin_input does: there is no row of the newest input.
  EXPECT_EQ(message([](Batch &b) { root(b, b.inputs() - 1, 0); }), "toy: `t` is set, but no input was begun");
}

TEST(Built, WrongNumbersAreTheirInputsStatus) {
  auto ofInput = [](void (*fill)(Batch &)) {
    Batch batch(info());
    fill(batch);
    InputStatuses statuses;
    EXPECT_TRUE(validate(batch, statuses).ok());
    return statuses[0].message;
  };
  EXPECT_EQ(ofInput([](Batch &b) {
              b.begin_input();
              b.set_f32(Tree, -1, value, 1);
            }),
            "toy: input 0: `value` is set, but no node was added");
  EXPECT_EQ(ofInput([](Batch &b) {
              float two[2] = {};
              b.begin_input();
              b.set_f32s(Bag, b.add_node(Bag, 0), x, two, 2);
            }),
            "toy: input 0: Bag node 0: field `x`: 2 numbers are given, but it has 3");
  EXPECT_EQ(ofInput([](Batch &b) {
              int32_t two[2] = {};
              b.begin_input();
              b.append_ints(Bag, b.add_node(Bag, 0), trees, two, 2);
            }),
            "toy: input 0: Bag node 0: field `trees`: 2 numbers are given, but an element has 1");
  EXPECT_EQ(ofInput([](Batch &b) {
              int32_t two[2] = {};
              b.begin_input();
              int32_t bag = b.add_node(Bag, 0);
              b.open_list(Bag, bag, grid);
              b.open_list(Bag, bag, grid);
              b.push_ints(two, 2);
            }),
            "toy: input 0: Bag node 0: field `grid`: 2 numbers are given, but an element has 1; each element "
            "is pushed by itself");
  // The open list's input, which need not be the last one.
  EXPECT_EQ(ofInput([](Batch &b) {
              int32_t two[2] = {};
              b.begin_input();
              int32_t bag = b.add_node(Bag, 0);
              b.begin_input();
              b.open_list(Bag, bag, grid);
              b.open_list(Bag, bag, grid);
              b.push_ints(two, 2);
            }),
            "toy: input 0: Bag node 0: field `grid`: 2 numbers are given, but an element has 1; each element "
            "is pushed by itself");
}

TEST(Built, AnElementOfListsOfListsIsInTheInnermost) {
  Batch batch(info());
  batch.begin_input();
  const int32_t bag = batch.add_node(Bag, 0);
  batch.open_list(Bag, bag, grid);
  batch.push_int(1);
  InputStatuses statuses;
  EXPECT_EQ(validate(batch, statuses).message,
            "toy: `grid`: an element is pushed where 1 list is open, not 2; open_list opens one a level");
}

TEST(Built, WrongNodesAreTheirInputsStatus) {
  Batch batch(info());
  batch.begin_input();
  int32_t fine = leaf(batch, 1);
  root(batch, 0, fine);
  batch.begin_input();
  EXPECT_EQ(batch.add_node(Tree, 2), -1);
  batch.set_f32(Tree, -1, value, 3); // quiet: the mistake is recorded
  batch.begin_input();
  batch.set_node(Tree, leaf(batch, 1), left, 0);
  batch.begin_input();
  leaf(batch, 7);
  int32_t top = node(batch, 0, 2); // a node of input 0
  batch.set_int(Tree, top, label, 5);
  batch.begin_input();
  batch.set_int(Tree, leaf(batch, 1), label, 5);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 4);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(statuses[1].message, "toy: input 1: constructor 2 of Tree is outside 0..1");
  EXPECT_EQ(statuses[2].message, "toy: input 2: Tree node 0 (Leaf): has no field `left`");
  EXPECT_EQ(statuses[2].field, "left");
  EXPECT_EQ(statuses[3].message, "toy: input 3: Tree node 1 (Node): field `label`: index 5 is outside 0..4");
  EXPECT_EQ(statuses[4].message, "toy: input 4: Tree node 0 (Leaf): field `label`: index 5 is outside 0..4");
  EXPECT_EQ(statuses[4].code, Code::bad_input);
  EXPECT_EQ(statuses[4].input, 4);
  EXPECT_EQ(statuses[4].node, 0);
  // Who does not read `label` is not concerned by it.
  ColumnRef refs[] = {{Tree, left}, {Tree, right}};
  ASSERT_TRUE(batch.validate(refs, 2, statuses).ok());
  EXPECT_EQ(statuses.failed(), 3);
  EXPECT_EQ(statuses[3].message,
            "toy: input 3: Tree node 1 (Node): field `left`: refers to a Tree node of an earlier input; "
            "a node belongs to one input");
}

TEST(Built, ClearKeepsNothingButMemory) {
  Batch batch(info());
  for (int round = 0; round < 3; ++round) {
    batch.begin_input();
    if (round == 0)
      batch.add_node(Tree, 9);
    else
      root(batch, 0, leaf(batch, 1));
    InputStatuses statuses;
    ASSERT_TRUE(validate(batch, statuses).ok());
    EXPECT_EQ(statuses.failed(), round == 0);
    batch.clear();
    EXPECT_EQ(batch.inputs(), 0);
    EXPECT_EQ(batch.rows(Tree), 0);
  }
}

// --- borrowed ----------------------------------------------------------------------------------------------

struct Flat {
  std::vector<uint8_t> kinds = {Leaf, Leaf, Node, Leaf};
  std::vector<int32_t> begin = {0, 3, 4}, lefts = {-7, 99, 0, 12345}, rights = {0, 0, 1, 0},
                       labels = {0, 1, 2, 3};
  std::vector<float> values = {1, 2, 0, 4};
  std::vector<int32_t> roots = {2, 3};
  std::vector<int32_t> bag_begin = {0, 1, 2}, offsets = {0, 2, 3}, members = {1, 0, 3};

  void fill(Batch &batch) const {
    batch.borrow_inputs(2);
    batch.borrow_nodes(Tree, kinds.data(), 4, begin.data());
    batch.borrow_ints(Tree, left, lefts.data(), lefts.size());
    batch.borrow_ints(Tree, right, rights.data(), rights.size());
    batch.borrow_ints(Tree, label, labels.data(), labels.size());
    batch.borrow_f32s(Tree, value, values.data(), values.size());
    batch.borrow_nodes(Bag, nullptr, 2, bag_begin.data());
    batch.borrow_offsets(Bag, trees, 0, offsets.data(), offsets.size());
    batch.borrow_ints(Bag, trees, members.data(), members.size());
    batch.borrow_ints(batch.args(), batch.arg_column(0, 0), roots.data(), 2);
  }
  /// Status of the batch, or of the first input that fails.
  std::string message() const {
    Batch batch(info());
    fill(batch);
    InputStatuses statuses;
    Status s = validate(batch, statuses);
    if (!s.ok())
      return s.message;
    for (int32_t i = 0; i < batch.inputs(); ++i)
      if (!statuses[i].ok())
        return statuses[i].message;
    return "ok";
  }
};

TEST(Borrowed, NoCopiesAndFieldsOfOtherConstructorsAreNotLookedAt) {
  Flat flat;
  Batch batch(info());
  flat.fill(batch);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 0);
  EXPECT_EQ(batch.column(Tree, left).i32, flat.lefts.data());
  EXPECT_EQ(batch.kinds(Tree), flat.kinds.data());
  EXPECT_EQ(elements(batch.column(Bag, trees), 0), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(elements(batch.column(Bag, trees), 1), (std::vector<int32_t>{3}));
}

TEST(Borrowed, WhatDoesNotFitIsFound) {
  Flat f;
  f.kinds[3] = 2;
  EXPECT_EQ(f.message(), "toy: input 1: Tree node 0: constructor 2 is outside 0..1");
  f = Flat();
  f.lefts[2] = 3;
  EXPECT_EQ(f.message(),
            "toy: input 0: Tree node 2 (Node): field `left`: refers to Tree node 3, but the input has 3");
  f = Flat();
  f.lefts[2] = -1;
  EXPECT_EQ(f.message(),
            "toy: input 0: Tree node 2 (Node): field `left`: refers to Tree node -1, but the input has 3");
  f = Flat();
  f.labels[3] = -1;
  EXPECT_EQ(f.message(), "toy: input 1: Tree node 0 (Leaf): field `label`: index -1 is outside 0..4");
  f = Flat();
  f.labels.pop_back();
  EXPECT_EQ(f.message(), "toy: Tree: field `label`: 4 values are needed, 3 were given");
  f = Flat();
  f.roots[1] = 0;
  EXPECT_EQ(f.message(),
            "toy: input 1: argument `t`: refers to a Tree node of an earlier input; a node belongs "
            "to one input");
  f = Flat();
  f.roots[1] = -1;
  EXPECT_EQ(f.message(), "toy: input 1: argument `t`: refers to Tree node -1, but the input has 1");
  f = Flat();
  f.begin = {0, 5, 4};
  EXPECT_EQ(f.message(), "toy: borrow_nodes: begin of Tree falls at input 1");
  f = Flat();
  f.begin = {0, 3, 5};
  EXPECT_EQ(f.message(), "toy: borrow_nodes: begin of Tree must start with 0 and end with 4");
}

TEST(Borrowed, HostileOffsetsAreFoundInOnePass) {
  Flat f;
  f.offsets = {0, 9, 3};
  EXPECT_EQ(f.message(),
            "toy: input 0: Bag node 0: field `trees`: offsets fall, or reach past the last element");
  f.offsets = {0, -1, 3};
  EXPECT_EQ(f.message(),
            "toy: input 0: Bag node 0: field `trees`: offsets fall, or reach past the last element");
  f.offsets = {0, 2, 4};
  EXPECT_EQ(f.message(), "toy: Bag: field `trees`: 4 values are needed, 3 were given");
  f.offsets = {0, 1, 2};
  EXPECT_EQ(f.message(), "toy: Bag: field `trees`: 2 values are needed, 3 were given");
  f.offsets = {1, 2, 3};
  EXPECT_EQ(f.message(),
            "toy: Bag: field `trees`: offsets must start with 0 and end with the number of elements");
  f.offsets = {0, 3};
  EXPECT_EQ(f.message(), "toy: Bag: field `trees`: 3 offsets are needed, 2 were given");
}

// What was checked against other nodes is checked again.
TEST(Borrowed, NodesMayBeBorrowedAgain) {
  Flat flat;
  Batch batch(info());
  flat.fill(batch);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  ASSERT_EQ(statuses.failed(), 0);
  std::vector<int32_t> begin = {0, 1, 4}; // the same nodes, distributed differently
  EXPECT_TRUE(batch.borrow_nodes(Tree, flat.kinds.data(), 4, begin.data()));
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_EQ(statuses.failed(), 2);
  EXPECT_EQ(statuses[0].message,
            "toy: input 0: Bag node 0: field `trees`: refers to Tree node 1, but the input has 1");
  std::vector<int32_t> shorter = {0, 1, 2};
  EXPECT_TRUE(batch.borrow_nodes(Tree, flat.kinds.data(), 2, shorter.data()));
  EXPECT_EQ(validate(batch, statuses).message, "toy: Tree: field `value`: 2 values are needed, 4 were given");
}

// Arrays of nothing may have no address.
TEST(Borrowed, NoNodes) {
  Batch batch(info());
  batch.borrow_inputs(1);
  const int32_t begin[] = {0, 0};
  EXPECT_TRUE(batch.borrow_nodes(Tree, nullptr, 0, begin));
  InputStatuses statuses;
  EXPECT_TRUE(validate(batch, statuses).ok());
}

// So that who hands arrays on need not look into them.
TEST(Borrowed, SaysWhatWasRefused) {
  Flat flat;
  Batch batch(info());
  batch.borrow_inputs(2);
  EXPECT_FALSE(batch.borrow_nodes(Tree, flat.kinds.data(), -1, flat.begin.data()));
  EXPECT_FALSE(batch.borrow_nodes(Tree, flat.kinds.data(), 3, flat.begin.data()));
  EXPECT_EQ(batch.borrow_offsets(Bag, trees, 0, flat.offsets.data(), 3), 3u);
  EXPECT_EQ(batch.borrow_offsets(Bag, trees, 0, flat.offsets.data(), 0), 0u);
  EXPECT_EQ(batch.borrow_offsets(Bag, trees, 0, nullptr, 3), 0u);
  flat.offsets[2] = -1;
  EXPECT_EQ(batch.borrow_offsets(Bag, trees, 0, flat.offsets.data(), 3), 0u);
}

TEST(Borrowed, NestedOffsetsAreFollowed) {
  std::vector<int32_t> begin = {0, 2}, outer = {0, 2, 3}, inner = {0, 1, 1, 3}, ints = {5, 6, 7};
  auto fails = [&] {
    Batch batch(info());
    batch.borrow_inputs(1);
    batch.borrow_nodes(Bag, nullptr, 2, begin.data());
    batch.borrow_offsets(Bag, grid, 0, outer.data(), outer.size());
    batch.borrow_offsets(Bag, grid, 1, inner.data(), inner.size());
    batch.borrow_ints(Bag, grid, ints.data(), ints.size());
    InputStatuses statuses;
    Status s = validate(batch, statuses);
    EXPECT_TRUE(s.ok()) << s.message;
    return statuses.failed();
  };
  EXPECT_EQ(fails(), 0);
  inner = {0, 2, 1, 3};
  EXPECT_EQ(fails(), 1);
  inner = {0, 100, 1, 3};
  EXPECT_EQ(fails(), 1);
}

TEST(Borrowed, MayBeMixedWithArgumentsThatAreSet) {
  Flat flat;
  Batch batch(info());
  batch.borrow_inputs(2);
  batch.borrow_nodes(Tree, flat.kinds.data(), 4, flat.begin.data());
  root(batch, 0, 2);
  InputStatuses statuses;
  ASSERT_TRUE(validate(batch, statuses).ok());
  EXPECT_TRUE(batch.column(batch.args(), batch.arg_column(0, 0)).has(0));
  EXPECT_FALSE(batch.column(batch.args(), batch.arg_column(0, 0)).has(1));
}

} // namespace
