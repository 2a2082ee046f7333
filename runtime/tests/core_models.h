// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A small model written by hand the way generated code is written, for the tests of the core:
//
//   data Tree { Leaf(value: f32, label: index[5]); Node(left: Tree, right: Tree, label: index[5]); }
//   data Bag(trees: [Tree], grid: [[int]], x: f32[3], flag: bool);
//   param W: f32[1, 2], b: f32;
//   cell add(t: Tree) -> f32 { match t { Leaf(value) => value, Node(left, right) => W @ [add(left),
//   add(right)] + b } } entry total(t: Tree) -> f32 { add(t) } entry all(ts: [Tree]) -> [f32] { map(t in ts)
//   add(t) }
#pragma once

#include <dbc/generated.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace core_models {

enum Data : int32_t { Tree, Bag };
enum Kind : int32_t { Leaf, Node };
enum TreeColumn : int32_t { value, label, left, right };
enum BagColumn : int32_t { trees, grid, x, flag };

inline dbc::TypeInfo scalar(dbc::Elem elem, int32_t bound = 0, int32_t data = -1) {
  dbc::TypeInfo t;
  t.elem = elem;
  t.bound = bound;
  t.data = data;
  return t;
}
inline dbc::TypeInfo list(dbc::TypeInfo element) {
  dbc::TypeInfo t;
  t.form = dbc::TypeInfo::Form::List;
  t.elements.push_back(std::move(element));
  return t;
}

inline const dbc::ModelInfo &info() {
  static const dbc::ModelInfo *made = [] {
    auto *m = new dbc::ModelInfo;
    m->name = "toy";
    dbc::TypeInfo tree = scalar(dbc::Elem::Node, 0, Tree), index5 = scalar(dbc::Elem::Index, 5);
    dbc::TypeInfo vector = scalar(dbc::Elem::F32);
    vector.extents = {3};
    dbc::DataInfo t;
    t.name = "Tree";
    t.columns = 4;
    t.constructors = {{"Leaf", {{"value", scalar(dbc::Elem::F32), value}, {"label", index5, label}}},
                      {"Node", {{"left", tree, left}, {"right", tree, right}, {"label", index5, label}}}};
    dbc::DataInfo b;
    b.name = "Bag";
    b.columns = 4;
    b.constructors = {{"Bag",
                       {{"trees", list(tree), trees},
                        {"grid", list(list(scalar(dbc::Elem::Int))), grid},
                        {"x", vector, x},
                        {"flag", scalar(dbc::Elem::Bool), flag}}}};
    m->datas = {t, b};
    dbc::ParamInfo w, bias;
    w.name = "W";
    w.extents = {1, 2};
    w.init = {dbc::InitInfo::Kind::Glorot, 0, 0};
    bias.name = "b";
    m->params = {w, bias};
    dbc::EntryInfo total, all;
    total.name = "total";
    total.args = {{"t", tree}};
    total.result = scalar(dbc::Elem::F32);
    all.name = "all";
    all.args = {{"ts", list(tree)}};
    all.result = list(scalar(dbc::Elem::F32));
    m->entries = {total, all};
    return m;
  }();
  return *made;
}

/// Both entries: they differ in the roots and in where results go.
class Plan : public dbc::EntryPlan {
public:
  explicit Plan(bool lists) : lists_(lists) {}

  void schedule(dbc::Run &run) override {
    const dbc::Batch &batch = run.batch;
    const uint8_t *kinds = batch.kinds(Tree);
    const dbc::ColumnView &l = batch.column(Tree, left), &r = batch.column(Tree, right),
                          &v = batch.column(Tree, value);
    group_.begin(batch, run.range, run.errors, run.shared);
    auto calls = [&](int32_t, int32_t node) {
      if (kinds[node] == Leaf) {
        if (!v.has(node))
          run.errors.missing(Tree, node, value);
        return;
      }
      if (!l.has(node))
        return run.errors.missing(Tree, node, left);
      if (!r.has(node))
        return run.errors.missing(Tree, node, right);
      group_.call(0, l.i32[node]);
      group_.call(0, r.i32[node]);
    };
    out_.begin();
    const dbc::ColumnView &roots = run.arg(0);
    for (int32_t i = 0; i < run.input_count; ++i) {
      int32_t input = run.inputs[i];
      if (!roots.has(input)) {
        run.errors.missing(batch.args(), input, batch.arg_column(run.entry, 0));
        continue;
      }
      int32_t begin = lists_ ? roots.lists[0].begin[input] : input,
              end = lists_ ? roots.lists[0].end[input] : input + 1;
      for (int32_t e = begin; e < end; ++e) {
        group_.discover(0, roots.i32[e], calls);
        out_.array(0).push(i);
        out_.array(1).push(roots.i32[e]);
      }
    }
    if (run.errors.any())
      return;
    group_.sort();
    if (lists_)
      run.out.list(0, 0, out_[0], out_.rows(), run.inputs, run.input_count);
    const dbc::CellRows &cell = group_.cell(0);
    for (dbc::IndexArray *c : {&left_, &right_})
      c->assign(cell.count, -1);
    for (int32_t row = 0; row < cell.count; ++row)
      if (kinds[cell.slot[row]] == Node) {
        left_[row] = cell.row_of[l.i32[cell.slot[row]]];
        right_[row] = cell.row_of[r.i32[cell.slot[row]]];
      }
  }

  void compute(dbc::Run &run) override {
    const dbc::CellRows &cell = group_.cell(0);
    run.stages[0].rows += cell.count;
    float *h = run.buffer<float>(0, cell.count);
    const float *leaf = run.batch.column(Tree, value).f32;
    const dbc::Packed<float> &w = run.model.packed<float>(0);
    for (int32_t level = 0; level < cell.levels; ++level) {
      for (int32_t row = cell.first(level, Leaf); row < cell.last(level, Leaf); ++row)
        h[row] = leaf[cell.slot[row]];
      int32_t first = cell.first(level, Node), rows = cell.last(level, Node) - first;
      if (rows == 0)
        continue;
      ++run.stages[0].launches;
      const dbc::Shares shares = dbc::share_out(rows, 1, run.pool.threads());
      run.pool.run(shares.rows, [&](int32_t item, int32_t) {
        const dbc::Share share = dbc::share_of(shares, item, first, first + rows, 1);
        dbc::Segment<float> x[2] = {{{h, left_.data() + share.begin, 1}, 1},
                                    {{h, right_.data() + share.begin, 1}, 1}};
        dbc::product<float>(share.end - share.begin, x, 2, w.whole(), {h + share.begin, nullptr, 1});
      });
    }
    float *y = run.out.values<float>(0);
    for (int32_t row = 0; row < out_.rows(); ++row)
      y[lists_ ? row : run.inputs[row]] = h[cell.row_of[out_[1][row]]];
  }

private:
  static constexpr dbc::CellInfo cells_[1] = {{"add", Tree, 2}};
  bool lists_;
  dbc::Group group_{cells_, 1};
  dbc::IndexSet out_{2};
  dbc::IndexArray left_, right_;
};

inline const dbc::ModelCode &code() {
  static const dbc::ModelCode *made = [] {
    auto *c = new dbc::ModelCode;
    c->info = &info();
    c->f64 = false;
    c->make_model = [](const dbc::Weights &weights, dbc::Model &model) {
      model.add_packed<float>(0).pack(weights.data(0), 1, 2, weights.data(1));
    };
    std::vector<dbc::ColumnRef> reads = {{Tree, value}, {Tree, left}, {Tree, right}};
    using Made = std::unique_ptr<dbc::EntryPlan>;
    c->entries = {{0, reads, {0}, true, reads, {"add"}, [] { return Made(new Plan(false)); }},
                  {1, reads, {0}, true, reads, {"add"}, [] { return Made(new Plan(true)); }}};
    return c;
  }();
  return *made;
}

/// What cannot fail here.
inline void must(const dbc::Status &status) {
  if (!status.ok())
    std::abort();
}

/// W = [1, 1], b = 0: sums of leaves.
inline dbc::Model sums() {
  dbc::Weights weights(info());
  float one[2] = {1, 1}, zero = 0;
  must(weights.set("W", one, 2));
  must(weights.set("b", &zero, 1));
  dbc::Model model;
  must(dbc::Model::make(code(), weights, &model));
  return model;
}

inline int32_t leaf(dbc::Batch &batch, float v) {
  int32_t n = batch.add_node(Tree, Leaf);
  batch.set_f32(Tree, n, value, v);
  return n;
}
inline int32_t node(dbc::Batch &batch, int32_t l, int32_t r) {
  int32_t n = batch.add_node(Tree, Node);
  batch.set_node(Tree, n, left, l);
  batch.set_node(Tree, n, right, r);
  return n;
}
inline void root(dbc::Batch &batch, int32_t input, int32_t n) {
  batch.set_node(batch.args(), input, batch.arg_column(0, 0), n);
}

} // namespace core_models
