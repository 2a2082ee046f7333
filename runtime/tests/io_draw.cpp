// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Random instances: valid for the reader, varied, the same everywhere; and cutting them down.
#include "io_models.h"

#include <algorithm>
#include <dbc/io/instance.h>
#include <dbc/io/instances.h>
#include <gtest/gtest.h>
#include <set>

using namespace dbc;
using namespace dbc::test;

namespace {

/// All nodes that a value names.
void references(const Value &value, std::vector<int32_t> &to) {
  if (value.kind == Value::Kind::Node)
    to.push_back(static_cast<int32_t>(value.number));
  for (const Value &element : value.elements)
    references(element, to);
}
std::vector<int32_t> references(const Instance::Node &node) {
  std::vector<int32_t> to;
  for (const Value &field : node.fields)
    references(field, to);
  return to;
}

/// What the draws of one entry were like.
struct Draws {
  std::vector<size_t> sizes;                          ///< nodes that the arguments reach
  std::set<std::pair<int32_t, int32_t>> constructors; ///< that occurred
  int shared = 0, forward = 0, unreached = 0, empty_lists = 0, big = 0;
  size_t median() {
    std::nth_element(sizes.begin(), sizes.begin() + sizes.size() / 2, sizes.end());
    return sizes[sizes.size() / 2];
  }
};

bool has_empty_list(const Value &value) {
  return (value.kind == Value::Kind::List && value.elements.empty()) ||
         std::any_of(value.elements.begin(), value.elements.end(), has_empty_list);
}

Draws draw(const ModelInfo &model, const EntryInfo &entry, int count) {
  Draws all;
  Batch batch(model);
  InstanceReader reader(model, entry);
  for (int i = 0; i < count; ++i) {
    Instance instance;
    Status status = draw_instance(model, entry, 1, static_cast<uint64_t>(i), instance);
    EXPECT_TRUE(status.ok()) << status.message;
    // The reader takes it and the batch holds the same.
    status = reader.append(instance_json(model, entry, instance), batch);
    EXPECT_TRUE(status.ok()) << status.message;

    // References from the arguments on: how many nodes, whether shared, and that none comes back to itself.
    std::vector<int> uses(instance.nodes.size()), state(instance.nodes.size());
    std::vector<int32_t> todo;
    bool forward = false, empty = false;
    for (const Value &arg : instance.args) {
      references(arg, todo);
      empty |= has_empty_list(arg);
    }
    for (int32_t n : todo)
      ++uses[n];
    std::vector<std::pair<int32_t, std::vector<int32_t>>> path; // depth first: 1 on the path, 2 done
    for (int32_t root : todo) {
      path.push_back({root, {}});
      if (state[root] == 0)
        path.back().second = references(instance.nodes[root]), state[root] = 1;
      while (!path.empty()) {
        auto &[node, rest] = path.back();
        if (rest.empty()) {
          state[node] = 2;
          path.pop_back();
          continue;
        }
        int32_t next = rest.back();
        rest.pop_back();
        ++uses[next];
        forward |= next > node;
        EXPECT_NE(state[next], 1) << "a cycle";
        if (state[next] == 0) {
          state[next] = 1;
          path.push_back({next, references(instance.nodes[next])});
        }
      }
    }
    size_t reached = static_cast<size_t>(std::count(state.begin(), state.end(), 2));
    for (size_t n = 0; n < instance.nodes.size(); ++n) {
      all.constructors.insert({instance.nodes[n].data, instance.nodes[n].kind});
      for (const Value &field : instance.nodes[n].fields)
        empty |= has_empty_list(field);
    }
    all.sizes.push_back(reached);
    all.shared += std::any_of(uses.begin(), uses.end(), [](int u) { return u > 1; });
    all.forward += forward;
    all.unreached += reached < instance.nodes.size();
    all.empty_lists += empty;
    all.big += reached > 60;
  }
  EXPECT_EQ(batch.inputs(), count);
  return all;
}

TEST(Draw, BinaryTrees) {
  ModelInfo model = tree_model();
  Draws d = draw(model, model.entries[0], 500);
  EXPECT_EQ(d.constructors.size(), 2u);
  EXPECT_GE(d.median(), 20u);
  EXPECT_EQ(*std::min_element(d.sizes.begin(), d.sizes.end()), 1u);
  EXPECT_GT(d.big, 2);
  EXPECT_GT(d.shared, 100);
  EXPECT_LT(d.shared, 400);
  EXPECT_GT(d.forward, 50);
  EXPECT_GT(d.unreached, 20);
}

TEST(Draw, WideTrees) {
  ModelInfo model = wide_model();
  Draws d = draw(model, model.entries[0], 500);
  EXPECT_GE(d.median(), 20u);
  EXPECT_GT(d.shared, 100);
  EXPECT_GT(d.empty_lists, 400); // every leaf has one
}

TEST(Draw, TypesThatReferToEachOther) {
  ModelInfo model = lattice_model();
  Draws d = draw(model, model.entries[0], 500);
  EXPECT_EQ(d.constructors.size(), 2u);
  EXPECT_GE(d.median(), 15u);
  EXPECT_GT(d.empty_lists, 100);
}

TEST(Draw, EveryKind) {
  ModelInfo model = kinds_model();
  Draws d = draw(model, model.entries[0], 500);
  EXPECT_EQ(d.constructors.size(), 5u);
  EXPECT_GT(d.empty_lists, 100);
  draw(model, model.entries[1], 3);
}

/// A type of one constructor with a list of numbers, and sequences of it: no recursion.
TEST(Draw, Sequences) {
  ModelInfo model;
  model.name = "tagger";
  model.datas = {data("Word", {{"Common", {{"form", index(3)}}}, {"Rare", {{"letters", list(index(9))}}}})};
  model.entries = {entry("tag", {{"ws", list(node(0))}, {"other", list(node(0))}}, list(index(3)))};
  std::set<size_t> lengths;
  int equal = 0;
  for (int i = 0; i < 200; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 5, static_cast<uint64_t>(i), instance).ok());
    lengths.insert(instance.args[0].elements.size());
    equal += instance.args[0].elements.size() == instance.args[1].elements.size();
  }
  EXPECT_EQ(lengths.size(), 13u); // 0 .. 12
  EXPECT_GT(equal, 80);           // so that `zip` has something to do
}

// `max` of an empty list is an error: where a type has other leaves, a good part of the inputs has no empty
// list.
TEST(Draw, ManyInputsHaveNoEmptyList) {
  ModelInfo model;
  model.name = "expr";
  model.datas = {data("Expr", {{"Number", {{"value", f32()}}},
                               {"Largest", {{"of", list(node(0))}}},
                               {"Pairs", {{"a", list(node(0))}, {"b", list(node(0))}}}})};
  model.entries = {entry("value", {{"x", node(0)}}, f32())};
  Draws d = draw(model, model.entries[0], 500);
  EXPECT_LT(d.empty_lists, 350);
  EXPECT_GT(d.empty_lists, 200);
  EXPECT_GE(d.median(), 20u);
}

TEST(Draw, TypesWithoutFiniteValues) {
  ModelInfo model;
  model.name = "endless";
  model.datas = {data("Ring", {{"A", {{"next", node(1)}}}, {"B", {{"next", node(0)}}}}),
                 data("Back", {{"Back", {{"ring", node(0)}}}}),
                 data("Fine", {{"Fine", {{"rings", list(node(0))}, {"x", f32()}}}})};
  model.entries = {entry("bad", {{"x", f32()}, {"b", node(1)}}, f32()),
                   entry("good", {{"f", node(2)}}, f32())};
  Instance instance;
  Status status = draw_instance(model, model.entries[0], 0, 0, instance);
  EXPECT_EQ(status.code, Code::bad_input);
  EXPECT_EQ(status.message,
            "endless: argument `b` of `bad`: data type `Back` has no finite value: each of its "
            "constructors needs another node; what may be absent is a list, `[Back]`");
  // A list of such nodes is empty.
  ASSERT_TRUE(draw_instance(model, model.entries[1], 0, 0, instance).ok());
  EXPECT_TRUE(instance.nodes[instance.nodes.size() - 1].fields[0].elements.empty());
}

// The texts below were drawn once; other machines, compilers and libraries must draw the same.
TEST(Draw, TheSameEverywhere) {
  ModelInfo model = wide_model();
  DrawOptions small;
  small.most_nodes = 5;
  small.big_nodes = 5;
  std::string lines;
  for (uint64_t i = 0; i < 3; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 42, i, instance, small).ok());
    lines += instance_json(model, model.entries[0], instance) + "\n";
  }
  EXPECT_EQ(
      lines,
      "{\"nodes\": [{\"Tree\": {\"word\": 3, \"children\": []}}, {\"Tree\": {\"word\": 2, \"children\": "
      "[]}}, {\"Tree\": {\"word\": 0, \"children\": [0, 1]}}, {\"Tree\": {\"word\": 4, \"children\": []}}, "
      "{\"Tree\": {\"word\": 0, \"children\": [3]}}], \"args\": {\"a\": 2, \"b\": 4}}\n"
      "{\"nodes\": [{\"Tree\": {\"word\": 6, \"children\": []}}, {\"Tree\": {\"word\": 3, \"children\": "
      "[0]}}, {\"Tree\": {\"word\": 6, \"children\": []}}, {\"Tree\": {\"word\": 4, \"children\": [2]}}], "
      "\"args\": {\"a\": 1, \"b\": 3}}\n"
      "{\"nodes\": [{\"Tree\": {\"word\": 3, \"children\": []}}, {\"Tree\": {\"word\": 3, \"children\": "
      "[0]}}, {\"Tree\": {\"word\": 1, \"children\": []}}], \"args\": {\"a\": 1, \"b\": 2}}\n");

  // All the rest as a checksum.
  model = kinds_model();
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 42, i, instance).ok());
    for (char c : instance_json(model, model.entries[0], instance))
      sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  EXPECT_EQ(sum, 16605976995842974748u);
}

/// Nodes on the longest way down from a node of a finite instance.
int64_t depth_from(const Instance &instance, const Value &value) {
  int64_t depth = 0;
  if (value.kind == Value::Kind::Node) {
    for (const Value &field : instance.nodes[static_cast<size_t>(value.number)].fields)
      depth = std::max(depth, depth_from(instance, field));
    ++depth;
  }
  for (const Value &element : value.elements)
    depth = std::max(depth, depth_from(instance, element));
  return depth;
}

// Sizes that are asked for hold for every input, whatever the types are like.
TEST(Draw, SizesAreKept) {
  for (const ModelInfo &model : {tree_model(), wide_model(), lattice_model()})
    for (uint64_t i = 0; i < 40; ++i) {
      DrawOptions options;
      options.depth = DrawRange{5, 7};
      options.cycles = i % 2 == 1; // ways down would have no end
      Instance instance;
      Status status = draw_instance(model, model.entries[0], 1, i, instance, options);
      ASSERT_TRUE(status.ok()) << status.message;
      int64_t depth = 0;
      for (const Value &arg : instance.args)
        depth = std::max(depth, depth_from(instance, arg));
      EXPECT_GE(depth, 5) << model.name;
      EXPECT_LE(depth, 7) << model.name;
    }
  DrawOptions options;
  options.nodes = DrawRange{100, 120};
  ModelInfo model = tree_model();
  for (uint64_t i = 0; i < 40; ++i) {
    Instance instance;
    Status status = draw_instance(model, model.entries[0], 1, i, instance, options);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_GE(instance.nodes.size(), 100u);
    EXPECT_LE(instance.nodes.size(), 120u);
  }
  options.nodes = DrawRange{12, 12};
  for (uint64_t i = 0; i < 40; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 1, i, instance, options).ok());
    EXPECT_EQ(instance.nodes.size(), 12u);
  }
}

TEST(Draw, LengthsAreKept) {
  ModelInfo model;
  model.name = "tagger";
  model.datas = {data("Word", {{"Rare", {{"letters", list(index(9))}}}})};
  model.entries = {entry("tag", {{"ws", list(node(0))}, {"xs", list(index(3))}}, list(index(3)))};
  DrawOptions options;
  options.length = DrawRange{20, 60};
  for (uint64_t i = 0; i < 40; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 1, i, instance, options).ok());
    std::vector<const Value *> lists = {&instance.args[0], &instance.args[1]};
    for (const Instance::Node &word : instance.nodes)
      lists.push_back(&word.fields[0]);
    for (const Value *each : lists) {
      EXPECT_GE(each->elements.size(), 20u);
      EXPECT_LE(each->elements.size(), 60u);
    }
  }
}

// Long lists come beside the others, which are drawn as ever. The model has lists in lists: only where not
// all are equally long.
TEST(Draw, LongLists) {
  ModelInfo model = kinds_model();
  DrawOptions options;
  options.long_elements = 30;
  int longer = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    Instance usual, instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 1, i, usual).ok());
    ASSERT_TRUE(draw_instance(model, model.entries[0], 1, i, instance, options).ok());
    longer +=
        instance_json(model, model.entries[0], usual) != instance_json(model, model.entries[0], instance);
  }
  EXPECT_GT(longer, 4);
  EXPECT_LT(longer, 20);
}

// A chain is drawn without the machine's stack; a size that cannot be says which one can.
TEST(Draw, DeepAndImpossible) {
  ModelInfo model;
  model.name = "chain";
  model.datas = {data("Link", {{"Link", {{"next", list(node(0))}}}})};
  model.entries = {entry("e", {{"c", node(0)}}, index(3))};
  DrawOptions options;
  options.depth = DrawRange{20000, 20000};
  Instance instance;
  Status status = draw_instance(model, model.entries[0], 1, 0, instance, options);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_GE(instance.nodes.size(), 20000u);
  model.datas = {data("Leaf", {{"Leaf", {{"word", index(3)}}}})};
  options.depth = DrawRange{2, 3};
  EXPECT_EQ(draw_instance(model, model.entries[0], 1, 0, instance, options).message,
            "chain: no input of `e` was drawn with depth in 2..3 (the nearest drawn has 1)");
}

TEST(Draw, OptionsAreKept) {
  ModelInfo model = lattice_model();
  DrawOptions none;
  none.most_nodes = none.big_nodes = 3;
  none.most_elements = 0;
  none.most_arg_elements = -1;
  Instance instance;
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(draw_instance(model, model.entries[0], 0, i, instance, none).ok());
    EXPECT_TRUE(instance.nodes.empty());
  }
}

// A failure that needs one Node whose right child is a Leaf with word 3 and up is cut down to just that.
TEST(Shrink, FindsTheSmallestFailure) {
  ModelInfo model = tree_model();
  auto fails = [&](const Instance &instance) {
    for (const Instance::Node &node : instance.nodes)
      if (node.kind == 1) {
        const Instance::Node &right = instance.nodes[static_cast<size_t>(node.fields[1].number)];
        if (right.kind == 0 && right.fields[0].number >= 3)
          return true;
      }
    return false;
  };
  int cut = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, model.entries[0], 3, i, instance).ok());
    if (!fails(instance))
      continue;
    ++cut;
    Instance small = shrink_instance(model, model.entries[0], instance, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_LE(small.nodes.size(), 3u) << instance_json(model, model.entries[0], small);
    Batch batch(model);
    InstanceReader reader(model, model.entries[0]);
    EXPECT_TRUE(reader.append(instance_json(model, model.entries[0], small), batch).ok());
  }
  EXPECT_GT(cut, 10);
}

TEST(Shrink, CutsListsAndNumbers) {
  ModelInfo model = kinds_model();
  Instance instance;
  uint64_t i = 0;
  auto fails = [](const Instance &x) { return x.args[1].elements.size() >= 2; };
  do
    ASSERT_TRUE(draw_instance(model, model.entries[0], 9, i++, instance).ok());
  while (instance.args[1].elements.size() < 4);
  Instance small = shrink_instance(model, model.entries[0], instance, fails);
  EXPECT_EQ(small.args[1].elements.size(), 2u);
  EXPECT_EQ(small.args[2].elements.size(), 0u);
  EXPECT_EQ(small.args[0].elements[0].data, (std::vector<double>{0, 0}));
  EXPECT_LE(small.nodes.size(), 3u);
  int calls = 0;
  shrink_instance(
      model, model.entries[0], instance, [&](const Instance &) { return ++calls, true; }, 5);
  EXPECT_LE(calls, 5);
}

} // namespace
