// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Levels, rows, steps, reachability and integers.
#include "core_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <random>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::CellInfo;
using dbc::CellRows;
using dbc::Group;
using dbc::IndexSet;
using dbc::InputStatuses;
using dbc::NodeSet;
using dbc::ScheduleErrors;
using dbc::TimeSteps;

constexpr CellInfo kCell[] = {{"add", Tree, 2}};

/// Visits from every root given; `calls` follows left and right of Nodes.
struct Visit {
  Batch &batch;
  InputStatuses statuses;
  ScheduleErrors errors{batch, statuses};
  Group group;

  explicit Visit(Batch &b, bool cyclic = false) : batch(b), group(kCell, 1, cyclic) {
    batch.finish();
    statuses.begin(batch.inputs());
  }
  void from(const std::vector<int32_t> &roots) {
    group.begin(batch, batch.all(), errors);
    auto calls = [&](int32_t, int32_t n) {
      if (batch.kinds(Tree)[n] == Node) {
        group.call(0, batch.column(Tree, left).i32[n]);
        group.call(0, batch.column(Tree, right).i32[n]);
      }
    };
    for (int32_t r : roots)
      group.discover(0, r, calls);
    group.sort();
  }
};

// --- Group -------------------------------------------------------------------------------------------------

TEST(Group, RowsAreSortedByLevelConstructorNode) {
  Batch batch(info());
  batch.begin_input();
  // 6 = (4 5); 4 = (0 1); 5 = (4 2): shared 4; 3 is not called.
  for (int i = 0; i < 4; ++i)
    leaf(batch, 0);
  int32_t a = node(batch, 0, 1), b = node(batch, a, 2), top = node(batch, a, b);
  Visit v(batch);
  v.from({top});
  const CellRows &cell = v.group.cell(0);
  EXPECT_EQ(v.group.levels(), 4);
  EXPECT_EQ(v.group.instances(), 6);
  EXPECT_EQ(cell.count, 6);
  EXPECT_EQ(std::vector<int32_t>(cell.slot, cell.slot + 6), (std::vector<int32_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(std::vector<int32_t>(cell.row_of, cell.row_of + 7), (std::vector<int32_t>{0, 1, 2, -1, 3, 4, 5}));
  EXPECT_EQ(cell.first(0), 0);
  EXPECT_EQ(cell.first(1), 3);
  EXPECT_EQ(cell.first(0, Leaf), 0);
  EXPECT_EQ(cell.last(0, Leaf), 3);
  EXPECT_EQ(cell.first(0, Node), 3);
  EXPECT_EQ(cell.last(1, Node), 4);
  EXPECT_EQ(cell.last(3, Node), 6);
  EXPECT_EQ(cell.time_steps.time_step_of(5), 3);
}

/// Levels and rows against a plain computation, on random DAGs, visited from all nodes in random order.
TEST(Group, RandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Batch batch(info());
    batch.begin_input();
    int n = 1 + static_cast<int>(random() % 60);
    std::vector<int32_t> order(n), level(n);
    for (int i = 0; i < n; ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::pair<int32_t, int32_t>> kids(n, {-1, -1});
    for (int i = 0; i < n; ++i) // order[i] refers to earlier ones of the order only
      if (i > 0 && random() % 3) {
        kids[order[i]] = {order[random() % i], order[random() % i]};
        level[order[i]] = 1 + std::max(level[kids[order[i]].first], level[kids[order[i]].second]);
      }
    for (int i = 0; i < n; ++i)
      batch.add_node(Tree, kids[i].first < 0 ? Leaf : Node);
    for (int i = 0; i < n; ++i)
      if (kids[i].first >= 0) {
        batch.set_node(Tree, i, left, kids[i].first);
        batch.set_node(Tree, i, right, kids[i].second);
      }
    std::shuffle(order.begin(), order.end(), random);
    Visit v(batch);
    v.from(order);
    const CellRows &cell = v.group.cell(0);
    ASSERT_EQ(cell.count, n);
    EXPECT_EQ(v.group.levels(), 1 + *std::max_element(level.begin(), level.end()));
    for (int row = 0; row < n; ++row) {
      int32_t m = cell.slot[row];
      ASSERT_EQ(cell.row_of[m], row);
      ASSERT_EQ(cell.time_steps.time_step_of(row), level[m]);
      if (row > 0) {
        int32_t p = cell.slot[row - 1];
        auto key = [&](int32_t x) { return std::make_tuple(level[x], kids[x].first >= 0, x); };
        ASSERT_LT(key(p), key(m));
      }
    }
    EXPECT_FALSE(v.errors.any());
  }
}

TEST(Group, ACycleIsTheInputsErrorWithItsChain) {
  Batch batch(info());
  for (int input = 0; input < 2; ++input) {
    batch.begin_input();
    int32_t l = leaf(batch, 0), a = batch.add_node(Tree, Node), b = batch.add_node(Tree, Node);
    batch.set_node(Tree, a, left, l);
    batch.set_node(Tree, a, right, b);
    batch.set_node(Tree, b, left, input == 1 ? a : l);
    batch.set_node(Tree, b, right, l);
  }
  Visit v(batch);
  v.from({1, 4});
  EXPECT_TRUE(v.errors.any());
  EXPECT_TRUE(v.statuses[0].ok());
  EXPECT_EQ(v.statuses[1].message, "toy: input 1: Tree node 1 (Node): a value needs itself: add(Tree node 1) "
                                   "-> add(Tree node 2) -> add(Tree node 1)");
  EXPECT_EQ(v.statuses[1].node, 1);
}

TEST(Group, ALongCycleIsPrintedShort) {
  Batch batch(info());
  batch.begin_input();
  constexpr int kLength = 1000;
  for (int i = 0; i < kLength; ++i)
    batch.add_node(Tree, Node);
  for (int i = 0; i < kLength; ++i) {
    batch.set_node(Tree, i, left, (i + 1) % kLength);
    batch.set_node(Tree, i, right, (i + 1) % kLength);
  }
  Visit v(batch);
  v.from({17});
  ASSERT_FALSE(v.statuses[0].ok());
  EXPECT_NE(v.statuses[0].message.find("(992 more)"), std::string::npos) << v.statuses[0].message;
}

TEST(Group, WhereCyclesAreFineThereIsOneLevel) {
  Batch batch(info());
  batch.begin_input();
  for (int i = 0; i < 3; ++i)
    batch.add_node(Tree, Node);
  for (int i = 0; i < 3; ++i) {
    batch.set_node(Tree, i, left, (i + 1) % 3);
    batch.set_node(Tree, i, right, i);
  }
  Visit v(batch, true);
  v.from({2});
  EXPECT_FALSE(v.errors.any());
  EXPECT_EQ(v.group.levels(), 1);
  EXPECT_EQ(v.group.cell(0).count, 3);
}

TEST(Group, NothingCalled) {
  Batch batch(info());
  batch.begin_input();
  leaf(batch, 0);
  Visit v(batch);
  v.from({});
  EXPECT_EQ(v.group.levels(), 1);
  EXPECT_EQ(v.group.cell(0).count, 0);
  EXPECT_EQ(v.group.cell(0).last(0, Node), 0);
}

/// Two cells over one type that call each other: levels are common, rows are each cell's own.
TEST(Group, MutualCells) {
  constexpr CellInfo cells[] = {{"even", Tree, 1}, {"odd", Tree, 1}};
  Batch batch(info());
  batch.begin_input();
  int32_t last = leaf(batch, 0);
  for (int i = 0; i < 5; ++i)
    last = node(batch, last, last);
  batch.finish();
  InputStatuses statuses;
  statuses.begin(1);
  ScheduleErrors errors(batch, statuses);
  Group group(cells, 2);
  group.begin(batch, batch.all(), errors);
  group.discover(0, last, [&](int32_t cell, int32_t n) {
    if (batch.kinds(Tree)[n] == Node)
      group.call(1 - cell, batch.column(Tree, left).i32[n]);
  });
  group.sort();
  EXPECT_EQ(group.levels(), 6);
  EXPECT_EQ(group.cell(0).count, 3);
  EXPECT_EQ(group.cell(1).count, 3);
  EXPECT_EQ(group.cell(0).slot[0], 1);
  EXPECT_EQ(group.cell(0).row_of[5], 2);
  EXPECT_EQ(group.cell(0).time_steps.time_step_of(0), 1);
  EXPECT_EQ(group.cell(1).slot[0], 0);
  EXPECT_EQ(group.cell(1).first(1) - group.cell(1).first(0), 1);
}

// Keys behind the node are slots in tables: for each slot of the keys before, as many as its range has
// values.
TEST(Group, SecondaryKeys) {
  Batch batch(info());
  batch.begin_input();
  int32_t a = leaf(batch, 0);
  batch.begin_input();
  int32_t b = leaf(batch, 0);
  batch.finish();
  InputStatuses statuses;
  statuses.begin(batch.inputs());
  ScheduleErrors errors(batch, statuses);
  dbc::Budget budget;
  budget.begin(batch, batch.all(), 10 * dbc::KeyTable::kBytes);
  const char *const keys[] = {"i", "j"};
  const CellInfo cells[] = {{"span", Tree, 1, keys, 2}};
  Group group(cells, 1);
  group.begin(batch, batch.all(), errors);

  // Of node n: i in 0..n + 2, j in i..3.
  auto slot = [&](int32_t n, int32_t i, int32_t j) {
    if (!group.has(0, 0, n) && !group.open(0, 0, n, 0, n + 2, budget, "m.dyn:1:1"))
      return -1;
    int32_t outer = group.find(0, 0, n, i, "m.dyn:2:1");
    if (outer < 0)
      return -1;
    if (!group.has(0, 1, outer) && !group.open(0, 1, outer, i, 3, budget, "m.dyn:1:2"))
      return -1;
    return group.find(0, 1, outer, j, "m.dyn:2:1");
  };
  // span(n, i, j) needs span(n, i, j - 1).
  auto calls = [&](int32_t, int32_t p) {
    int32_t n = group.owner(0, p), i = group.key(0, 0, p), j = group.key(0, 1, p);
    if (j > i)
      group.call(0, slot(n, i, j - 1));
  };
  group.discover(0, slot(b, 1, 2), calls);
  group.discover(0, slot(a, 0, 2), calls);
  EXPECT_FALSE(errors.any());
  group.sort();
  EXPECT_EQ(group.levels(), 3);
  EXPECT_EQ(group.instances(), 5);
  IndexSet rows(4);
  rows.begin();
  group.fill(0, rows);
  ASSERT_EQ(rows.rows(), 5);
  std::vector<std::vector<int32_t>> all;
  for (int32_t row = 0; row < 5; ++row)
    all.push_back({rows[0][row], rows[1][row], rows[2][row]});
  // By level; within a level in the order in which the tables were opened.
  EXPECT_EQ(all, (std::vector<std::vector<int32_t>>{{b, 1, 1}, {a, 0, 0}, {b, 1, 2}, {a, 0, 1}, {a, 0, 2}}));
  EXPECT_EQ(group.cell(0).row_of[slot(a, 0, 1)], 3);

  EXPECT_EQ(slot(a, 2, 2), -1);
  EXPECT_EQ(statuses[0].message,
            "toy: input 0: Tree node 0 (Leaf): key `i` of `span` is 2, its range is 0..2, "
            "at m.dyn:2:1");
  budget.begin(batch, batch.all(), 2 * dbc::KeyTable::kBytes);
  EXPECT_EQ(slot(b, 0, 0), -1);
  EXPECT_EQ(
      statuses[1].message,
      "toy: input 1: Tree node 0 (Leaf): the range of key `j` of `span` has 3 values, whose table takes " +
          std::to_string(3 * dbc::KeyTable::kBytes) + " bytes more, and one input may have " +
          std::to_string(2 * dbc::KeyTable::kBytes) + " in all, at m.dyn:1:2");
}

// A key with the same few values for every node: each node has a slot for each, in the order of nodes.
TEST(Group, FixedKeys) {
  Batch batch(info());
  batch.begin_input();
  int32_t a = leaf(batch, 0), b = leaf(batch, 0);
  batch.finish();
  InputStatuses statuses;
  statuses.begin(batch.inputs());
  ScheduleErrors errors(batch, statuses);
  const char *const keys[] = {"t"};
  const CellInfo cells[] = {{"state", Tree, 1, keys, 1, 2, 3}}; // t in 2..5
  Group group(cells, 1);
  group.begin(batch, batch.all(), errors);
  auto slot = [&](int32_t n, int32_t t) { return group.find_fixed(0, n, t, 2, 3, "m.dyn:1:1"); };
  // state(n, t) needs state(b, t - 1) and then itself at t - 1.
  auto calls = [&](int32_t, int32_t p) {
    int32_t n = group.owner(0, p), t = group.key(0, 0, p);
    if (t > 2) {
      group.call(0, slot(b, t - 1));
      group.call(0, slot(n, t - 1));
    }
  };
  group.discover(0, slot(a, 4), calls);
  group.sort();
  EXPECT_EQ(group.levels(), 3);
  IndexSet rows(2);
  rows.begin();
  group.fill(0, rows);
  std::vector<std::vector<int32_t>> all;
  for (int32_t row = 0; row < rows.rows(); ++row)
    all.push_back({rows[0][row], rows[1][row]});
  EXPECT_EQ(all, (std::vector<std::vector<int32_t>>{{a, 2}, {b, 2}, {a, 3}, {b, 3}, {a, 4}}));
  EXPECT_EQ(group.cell(0).row_of[slot(b, 3)], 3);
  EXPECT_EQ(group.cell(0).row_of[slot(b, 4)], -1);
  EXPECT_FALSE(errors.any());
  EXPECT_EQ(slot(a, 5), -1);
  EXPECT_EQ(slot(a, 1), -1);
  EXPECT_EQ(statuses[0].message,
            "toy: input 0: Tree node 0 (Leaf): key `t` of `state` is 5, its range is 2..5, at m.dyn:1:1");
}

/// Where calls lower a key its values are the levels, whether an instance needs another one or not.
TEST(Group, LevelsOfAKey) {
  Batch batch(info());
  batch.begin_input();
  int32_t a = leaf(batch, 0), b = leaf(batch, 0);
  batch.finish();
  InputStatuses statuses;
  statuses.begin(batch.inputs());
  ScheduleErrors errors(batch, statuses);
  const char *const keys[] = {"t"};
  const CellInfo cells[] = {{"state", Tree, 1, keys, 1, 2, 4, 0, /*level_key=*/0}}; // t in 2..6
  Group group(cells, 1);
  auto slot = [&](int32_t n, int32_t t) { return group.find_fixed(0, n, t, 2, 4, "m.dyn:1:1"); };
  // Of a, state(a, t) needs state(b, t - 1); of b nothing.
  auto calls = [&](int32_t, int32_t p) {
    if (group.owner(0, p) == a)
      group.call(0, slot(b, group.key(0, 0, p) - 1));
  };
  for (int round = 0; round < 2; ++round) {
    group.begin(batch, batch.all(), errors);
    group.discover(0, slot(b, 5), calls);
    group.discover(0, slot(a, 4), calls);
    group.sort();
    EXPECT_EQ(group.levels(), 3); // 3, 4, 5
    for (auto [n, t] : {std::pair(b, 3), std::pair(a, 4), std::pair(b, 5)})
      EXPECT_EQ(group.cell(0).time_steps.time_step_of(group.cell(0).row_of[slot(n, t)]), t - 3);
    group.begin(batch, batch.all(), errors);
    group.sort();
    EXPECT_EQ(group.levels(), 1);
  }
}

TEST(Group, AMillionInAChainNeedNoMachineStack) {
  Batch batch(info());
  batch.begin_input();
  constexpr int kLength = 1000000;
  int32_t last = leaf(batch, 0);
  for (int i = 1; i < kLength; ++i)
    last = node(batch, last, last);
  Visit v(batch);
  v.from({last});
  EXPECT_EQ(v.group.levels(), kLength);
  EXPECT_EQ(v.group.cell(0).count, kLength);
  EXPECT_EQ(v.group.cell(0).slot[kLength - 1], last);
}

// --- TimeSteps ---------------------------------------------------------------------------------------------

IndexSet index_set_of(const std::vector<int32_t> &parents, const std::vector<int32_t> &positions = {}) {
  IndexSet s(2);
  for (int32_t p : parents)
    s.array(0).push(p);
  for (int32_t p : positions)
    s.array(1).push(p);
  return s;
}

TimeSteps time_steps_of(const std::vector<int32_t> &time_steps, int32_t count) {
  TimeSteps t;
  for (int32_t x : time_steps)
    t.time_step.push(x);
  t.sort(static_cast<int32_t>(time_steps.size()), count);
  return t;
}

std::vector<int32_t> rows_at(const TimeSteps &t, int32_t time_step) {
  std::vector<int32_t> rows;
  for (int32_t p = t.begin[time_step]; p < t.begin[time_step + 1]; ++p)
    rows.push_back(t.row_at(p));
  return rows;
}

TEST(TimeSteps, FromTheParentsInOrder) {
  TimeSteps parent = time_steps_of({0, 0, 1, 2}, 3);
  IndexSet s = index_set_of({0, 0, 1, 3, 3});
  dbc::time_steps_from_parent(s, parent);
  EXPECT_TRUE(s.time_steps.in_order);
  EXPECT_EQ(s.time_steps.count, 3);
  EXPECT_EQ(rows_at(s.time_steps, 0), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_TRUE(rows_at(s.time_steps, 1).empty());
  EXPECT_EQ(rows_at(s.time_steps, 2), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(s.time_steps.rows(), nullptr);
}

TEST(TimeSteps, FromTheParentsOutOfOrder) {
  TimeSteps parent = time_steps_of({1, 0, 1}, 2);
  EXPECT_FALSE(parent.in_order);
  IndexSet s = index_set_of({0, 1, 2});
  dbc::time_steps_from_parent(s, parent);
  EXPECT_EQ(rows_at(s.time_steps, 0), (std::vector<int32_t>{1}));
  EXPECT_EQ(rows_at(s.time_steps, 1), (std::vector<int32_t>{0, 2}));
}

/// Rows of the time steps that are kept lie apart from each other, in memory for `live` of the largest.
TEST(Window, KeepsTheLastTimeSteps) {
  TimeSteps time_steps;
  for (int32_t t : {0, 0, 1, 1, 1, 2, 4, 4, 5, 5})
    time_steps.time_step.push(t);
  time_steps.sort(10, 6);
  for (int32_t live : {1, 2, 3}) {
    dbc::Window window;
    window.begin(time_steps, live);
    EXPECT_EQ(window.rows(), 3 * live);
    std::vector<int32_t> holds(window.rows(), -1); // which row stands at a position
    for (int32_t t = 0; t < 6; ++t) {
      window.move(t);
      for (int32_t row = time_steps.begin[t]; row < time_steps.begin[t + 1]; ++row)
        holds[row - window.first(0)] = row;
      for (int32_t ago = 0; ago < live && ago <= t; ++ago)
        for (int32_t row = time_steps.begin[t - ago]; row < time_steps.begin[t - ago + 1]; ++row)
          EXPECT_EQ(holds[row - window.first(ago)], row)
              << live << " kept, time step " << t << ", " << ago << " ago";
    }
  }
  // Four of the largest are more than all rows.
  dbc::Window all;
  all.begin(time_steps, 4);
  all.move(4);
  EXPECT_EQ(all.rows(), 10);
  EXPECT_EQ(all.first(0), 0);
  EXPECT_EQ(all.first(1), 0);
}

TEST(TimeSteps, StepsOfScans) {
  TimeSteps parent;
  parent.once(3);
  // Scans of 2, 0 and 3 elements.
  IndexSet s = index_set_of({0, 0, 2, 2, 2}, {0, 1, 0, 1, 2});
  dbc::make_steps(s, parent, 1);
  EXPECT_EQ(s.time_steps.count, 3);
  EXPECT_EQ(s.time_steps.first[0], 0);
  EXPECT_EQ(s.time_steps.first[1], 3);
  EXPECT_EQ(rows_at(s.time_steps, 0), (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(rows_at(s.time_steps, 1), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(rows_at(s.time_steps, 2), (std::vector<int32_t>{4}));
}

// Of each time step those rows that are alive come first, in their order; time steps do not touch each other.
TEST(TimeSteps, MasksWhatIsNotAlive) {
  TimeSteps time_steps;
  for (int32_t row : {0, 1, 0, 1, 1, 0})
    time_steps.time_step.push(row);
  time_steps.sort(6, 2);
  const uint8_t first[] = {1, 0, 0, 0, 0, 1}, second[] = {0, 0, 0, 1, 0, 0}, third[] = {0, 0, 0, 0, 0, 1};
  time_steps.mask(0, first);
  time_steps.mask(1, second);
  auto rows = [&](int32_t t) {
    std::vector<int32_t> all;
    for (int32_t p = time_steps.begin[t]; p < time_steps.end(t); ++p)
      all.push_back(time_steps.row_at(p));
    return all;
  };
  EXPECT_EQ(rows(0), (std::vector<int32_t>{0, 5}));
  EXPECT_EQ(rows(1), std::vector<int32_t>{3});
  // Rows in order get a list of their order; a new batch forgets what was active.
  time_steps.once(6);
  time_steps.mask(0, third);
  EXPECT_EQ(rows(0), std::vector<int32_t>{5});
  time_steps.once(4);
  EXPECT_TRUE(time_steps.in_order);
  EXPECT_TRUE(time_steps.active.empty());
}

TEST(TimeSteps, NoElements) {
  TimeSteps parent;
  parent.once(3);
  IndexSet s = index_set_of({}, {});
  dbc::make_steps(s, parent, 1);
  EXPECT_EQ(s.time_steps.count, 0);
  EXPECT_EQ(s.time_steps.first[1], 0);
}

/// A scan inside a scan inside the levels of a recursion: steps are numbered over the whole run, and running
/// them in the nested loops that generated code has, each row comes once, after those it needs.
TEST(TimeSteps, ScansInsideScansInsideLevels) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    int owners = 1 + static_cast<int>(random() % 8), levels = 1 + static_cast<int>(random() % 3);
    std::vector<int32_t> level(owners);
    for (int32_t &l : level)
      l = static_cast<int32_t>(random() % levels);
    TimeSteps outer = time_steps_of(level, levels);
    IndexSet scan(2), inner(2);
    for (int o = 0; o < owners; ++o)
      for (int k = 0, n = static_cast<int>(random() % 4); k < n; ++k) {
        scan.array(0).push(o);
        scan.array(1).push(k);
      }
    for (int r = 0; r < scan.rows(); ++r)
      for (int k = 0, n = static_cast<int>(random() % 3); k < n; ++k) {
        inner.array(0).push(r);
        inner.array(1).push(n - 1 - k); // backwards, as scan_back counts
      }
    dbc::make_steps(scan, outer, 1);
    dbc::make_steps(inner, scan.time_steps, 1);
    ASSERT_EQ(inner.time_steps.first.size(), static_cast<size_t>(scan.time_steps.count) + 1);
    std::vector<int> done(inner.rows(), 0);
    int seen = 0;
    for (int32_t t = 0; t < outer.count; ++t)
      for (int32_t s = scan.time_steps.first[t]; s < scan.time_steps.first[t + 1]; ++s)
        for (int32_t u = inner.time_steps.first[s]; u < inner.time_steps.first[s + 1]; ++u)
          for (int32_t row : rows_at(inner.time_steps, u)) {
            ++seen;
            ++done[row];
            int32_t r = inner[0][row];
            ASSERT_EQ(scan.time_steps.time_step_of(r), s);
            ASSERT_EQ(level[scan[0][r]], t);
            // the step before lies one row further on, as these scans run backwards
            if (inner[1][row] > 0) {
              ASSERT_EQ(done[row + 1], 1);
            }
          }
    EXPECT_EQ(seen, inner.rows());
  }
}

// --- transpose ---------------------------------------------------------------------------------------------

using Naming = std::vector<std::vector<int32_t>>;

/// The rows that name each of `rows` rows.
Naming naming(const IndexSet &transpose, int32_t rows) {
  Naming of(rows);
  for (int32_t r = 0; r < rows; ++r)
    of[r].assign(transpose[0] + transpose[1][r], transpose[0] + transpose[1][r + 1]);
  return of;
}

TEST(Transpose, OfNothing) {
  IndexSet turned(2);
  for (int32_t rows : {0, 1, 3}) {
    dbc::transpose(turned, nullptr, 0, rows);
    EXPECT_EQ(turned.rows(), 0);
    ASSERT_EQ(turned.array(1).size(), static_cast<size_t>(rows) + 1);
    for (int32_t begin : turned.array(1))
      EXPECT_EQ(begin, 0);
  }
}

TEST(Transpose, RowsThatNobodyNamesHaveNone) {
  const std::vector<int32_t> to = {4, 1, 2};
  IndexSet turned(2);
  dbc::transpose(turned, to.data(), 3, 7);
  EXPECT_EQ(naming(turned, 7), (Naming{{}, {1}, {2}, {}, {0}, {}, {}}));
}

/// Floats are added up in this order.
TEST(Transpose, RowsThatNameTheSameStayInOrder) {
  const std::vector<int32_t> to = {2, 0, 2, 2, 0, 3};
  IndexSet turned(2);
  dbc::transpose(turned, to.data(), 6, 4);
  EXPECT_EQ(naming(turned, 4), (Naming{{1, 4}, {}, {0, 2, 3}, {5}}));
  EXPECT_EQ(turned.rows(), 6);
  EXPECT_EQ(turned.array(1).size(), 5u);
}

/// Against a plain computation, in the same arrays again and again, for fewer and for more rows.
TEST(Transpose, RandomRows) {
  std::mt19937 random(1);
  IndexSet turned(2);
  for (int32_t from : {1000, 10, 0, 1, 1000})
    for (int32_t rows : {1, 37, 300, 1000, 5000}) {
      std::vector<int32_t> to(from);
      Naming expected(rows);
      for (int32_t r = 0; r < from; ++r) {
        to[r] = static_cast<int32_t>(random() % rows);
        expected[to[r]].push_back(r);
      }
      dbc::transpose(turned, to.data(), from, rows);
      ASSERT_EQ(turned.rows(), from);
      ASSERT_EQ(turned.array(1).size(), static_cast<size_t>(rows) + 1);
      ASSERT_EQ(turned[1][0], 0);
      ASSERT_EQ(turned[1][rows], from);
      ASSERT_EQ(naming(turned, rows), expected) << from << " " << rows;
    }
}

// --- NodeSet -----------------------------------------------------------------------------------------------

TEST(NodeSet, ReachableNodesByNumberThroughCyclesAndOtherTypes) {
  Batch batch(info());
  batch.begin_input();
  constexpr int kTrees = 5000;
  for (int i = 0; i < kTrees; ++i)
    leaf(batch, 0);
  for (int b = 0; b < 2; ++b)
    batch.add_node(Bag, 0);
  for (int32_t t : {4999, 3, 700})
    batch.append_int(Bag, 0, trees, t);
  for (int32_t t = 50; t > 40; --t)
    batch.append_int(Bag, 1, trees, t);
  batch.finish();
  const dbc::ColumnView &v = batch.column(Bag, trees);
  NodeSet set;
  set.begin(batch, batch.all());
  auto fields = [&](int32_t data, int32_t n) {
    if (data == Bag)
      for (int32_t e = v.lists[0].begin[n]; e < v.lists[0].end[n]; ++e)
        set.see(Tree, v.i32[e]);
    else
      set.see(Bag, 0); // a cycle
  };
  set.collect(Tree, Bag, 0, fields);
  EXPECT_EQ(std::vector<int32_t>(set.nodes(), set.nodes() + set.count()),
            (std::vector<int32_t>{3, 700, 4999}));
  set.collect(Tree, Bag, 1, fields);
  EXPECT_EQ(set.count(), 13);
  EXPECT_EQ(set.nodes()[1], 41);
  EXPECT_EQ(set.nodes()[12], 4999);
  set.collect(Bag, Tree, 9, fields);
  EXPECT_EQ(set.count(), 1);
}

// --- errors and numbers ------------------------------------------------------------------------------------

TEST(ScheduleErrors, NameModelInputNodeFieldAndLocation) {
  Batch batch(info());
  batch.begin_input();
  batch.begin_input();
  leaf(batch, 0);
  batch.add_node(Tree, Node);
  batch.finish();
  InputStatuses statuses;
  statuses.begin(2);
  ScheduleErrors errors(batch, statuses);
  EXPECT_FALSE(errors.any());
  errors.missing(Tree, 1, left, "toy.dyn:6:11");
  errors.missing(Tree, 1, right);
  errors.error(batch.args(), 0, dbc::ErrorKind::empty, "toy.dyn:9:1", "max");
  EXPECT_TRUE(errors.any());
  EXPECT_EQ(statuses[1].message,
            "toy: input 1: Tree node 1 (Node): field `left` is not given, at toy.dyn:6:11");
  EXPECT_EQ(statuses[1].field, "left");
  EXPECT_EQ(statuses[0].message, "toy: input 0: `max` of an empty list, at toy.dyn:9:1");
  errors.begin_round();
  EXPECT_FALSE(errors.any());
}

TEST(Checked, Integers) {
  int32_t r;
  EXPECT_TRUE(dbc::checked_add(1, 2, &r));
  EXPECT_EQ(r, 3);
  EXPECT_FALSE(dbc::checked_add(INT_MAX, 1, &r));
  EXPECT_EQ(r, 0);
  EXPECT_FALSE(dbc::checked_sub(INT_MIN, 1, &r));
  EXPECT_FALSE(dbc::checked_mul(1 << 16, 1 << 15, &r));
  EXPECT_FALSE(dbc::checked_div(1, 0, &r));
  EXPECT_FALSE(dbc::checked_div(INT_MIN, -1, &r));
  EXPECT_FALSE(dbc::checked_mod(1, 0, &r));
  EXPECT_TRUE(dbc::checked_mod(INT_MIN, -1, &r));
  for (int32_t a = -7; a <= 7; ++a)
    for (int32_t b : {-3, -1, 1, 2, 5}) {
      int32_t q, m;
      ASSERT_TRUE(dbc::checked_div(a, b, &q));
      ASSERT_TRUE(dbc::checked_mod(a, b, &m));
      EXPECT_EQ(q, static_cast<int32_t>(std::floor(double(a) / b))) << a << " " << b;
      EXPECT_EQ(a, q * b + m);
    }
}

// --- errors ------------------------------------------------------------------------------------------------

// Threads report in any order; the message depends on none of it.
TEST(Errors, OfOneLaunchTheLeastRowStays) {
  dbc::Batch batch(info());
  for (int i = 0; i < 2; ++i) {
    batch.begin_input();
    for (int k = 0; k < 4; ++k)
      leaf(batch, 1);
  }
  batch.finish();
  dbc::InputStatuses statuses;
  statuses.begin(2);
  dbc::ScheduleErrors errors(batch, statuses);
  // While scheduling the first stays.
  errors.fail(Tree, 2, "first");
  errors.fail(Tree, 1, "second");
  EXPECT_EQ(statuses[0].message, "toy: input 0: Tree node 2 (Leaf): first");
  errors.begin_launch();
  errors.fail(Tree, 0, "later");
  EXPECT_EQ(statuses[0].message, "toy: input 0: Tree node 2 (Leaf): first");
  // Of a launch the least row of its index set stays, and of a row the first.
  for (int32_t p : {12, 10, 11, 10})
    errors.error_in_row({7}, p, Tree, 17 - p, dbc::ErrorKind::empty, "toy.dyn:9:1", p == 10 ? "max" : "min");
  errors.error_in_row({7}, 10, Tree, 5, dbc::ErrorKind::empty, "toy.dyn:9:1", "mean");
  EXPECT_EQ(statuses[1].message, "toy: input 1: Tree node 3 (Leaf): `max` of an empty list, at toy.dyn:9:1");
  errors.begin_launch();
  errors.error_in_row({7}, 0, Tree, 4, dbc::ErrorKind::empty, "toy.dyn:9:1", "min");
  EXPECT_EQ(statuses[1].message, "toy: input 1: Tree node 3 (Leaf): `max` of an empty list, at toy.dyn:9:1");
  EXPECT_EQ(statuses.failed(), 2);
}

} // namespace
