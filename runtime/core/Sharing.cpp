// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Nodes are numbered from what they refer to upwards, as hash consing does; the machine stack is not used for
// that, so structures may be deep.
#include <dbc/sharing.h>

#include <climits>
#include <cstring>

namespace dbc {

namespace {

struct Hash {
  uint64_t state = 0x9e3779b97f4a7c15u;
  void add(uint32_t word) {
    state = (state ^ word) * 0xff51afd7ed558ccdu;
    state ^= state >> 32;
  }
};

/// Calls `lists(length)` for each list among elements begin .. end - 1 of a level, and
/// `values(begin, end)` for the values at the bottom, in order.
template <class Lists, class Values>
void walk(const ColumnView::Lists *level, const ColumnView::Lists *bottom, int32_t begin, int32_t end,
          Lists &&lists, Values &&values) {
  if (level == bottom)
    return values(begin, end);
  for (int32_t e = begin; e < end; ++e) {
    lists(level->end[e] - level->begin[e]);
    walk(level + 1, bottom, level->begin[e], level->end[e], lists, values);
  }
}

/// The same for what a node has in a column.
template <class Lists, class Values>
void walk(const ColumnView &view, const ColumnInfo &info, int32_t node, Lists &&lists, Values &&values) {
  walk(view.lists, view.lists + info.depth, node, node + 1, lists, values);
}

template <class T> bool same_bits(const T *numbers, int64_t a, int64_t b, int64_t count) {
  return count == 0 || std::memcmp(numbers + a, numbers + b, static_cast<size_t>(count) * sizeof(T)) == 0;
}

} // namespace

void SharedNodes::prepare(const Batch &batch, const std::vector<ColumnRef> &fields) {
  const std::vector<DataInfo> &datas = batch.info().datas;
  tables_.resize(datas.size());
  for (size_t data = 0; data < datas.size(); ++data) {
    const int32_t number = static_cast<int32_t>(data);
    Table &table = tables_[data];
    table.kinds = datas[data].constructors.size() > 1 ? batch.kinds(number) : nullptr;
    table.fields.resize(datas[data].constructors.size());
    for (size_t kind = 0; kind < table.fields.size(); ++kind) {
      table.fields[kind].clear();
      for (const FieldInfo &field : datas[data].constructors[kind].fields)
        for (const ColumnRef &wanted : fields)
          if (wanted.table == number && wanted.column == field.column)
            table.fields[kind].push_back(
                {&batch.column_info(number, field.column), &batch.column(number, field.column)});
    }
    const size_t rows = static_cast<size_t>(batch.rows(number));
    table.same.assign(rows, kNew);
    table.hashes.resize(rows);
    size_t buckets = 16;
    while (buckets < 2 * rows)
      buckets *= 2;
    if (buckets > INT_MAX)
      throw std::bad_alloc();
    table.buckets.assign(buckets, -1);
  }
  stack_.clear();
}

void SharedNodes::find(const Batch &batch, const std::vector<ColumnRef> &fields,
                       const InputStatuses &statuses) {
  prepare(batch, fields);
  for (int32_t data = 0; data < batch.args(); ++data) {
    const int32_t *begin = batch.begin(data);
    for (int32_t input = 0; input < batch.inputs(); ++input)
      for (int32_t node = begin[input]; node < begin[input + 1]; ++node)
        if (statuses[input].ok())
          visit(data, node);
        else // what its fields refer to is not to be trusted, and nothing refers to it
          tables_[data].same[node] = node;
  }
}

/// Calls `each(data, node)` for all that the fields of a node refer to.
template <class Each> void SharedNodes::each_target(int32_t data, int32_t node, Each &&each) const {
  for (const Field &field : tables_[data].fields_of(node))
    if (field.info->elem == Elem::Node && field.view->has(node))
      walk(
          *field.view, *field.info, node, [](int32_t) {},
          [&](int32_t begin, int32_t end) {
            for (int64_t n = begin * field.info->extent; n < end * field.info->extent; ++n)
              each(field.info->target, field.view->i32[n]);
          });
}

void SharedNodes::visit(int32_t data, int32_t node) {
  stack_.push({data, node});
  while (!stack_.empty()) {
    const Visit top = stack_.back();
    int32_t &same = tables_[top.data].same[top.node];
    if (same == kNew) {
      same = kOpen;
      each_target(top.data, top.node, [&](int32_t to, int32_t target) {
        if (tables_[to].same[target] == kNew)
          stack_.push({to, target});
      });
      continue;
    }
    stack_.pop();
    if (same != kOpen)
      continue;          // met again on another way, and done meanwhile
    bool cyclic = false; // what is still open leads here
    each_target(top.data, top.node,
                [&](int32_t to, int32_t target) { cyclic |= tables_[to].same[target] == kOpen; });
    same = cyclic ? top.node : first_like(top.data, top.node);
  }
}

int32_t SharedNodes::first_like(int32_t data, int32_t node) {
  Table &table = tables_[data];
  const uint32_t hash = this->hash(table, node);
  table.hashes[node] = hash;
  const size_t mask = table.buckets.size() - 1;
  for (size_t bucket = hash & mask;; bucket = (bucket + 1) & mask) {
    const int32_t other = table.buckets[bucket];
    if (other < 0) {
      table.buckets[bucket] = node;
      return node;
    }
    if (table.hashes[other] == hash && alike(table, other, node))
      return other;
  }
}

uint32_t SharedNodes::hash(const Table &table, int32_t node) const {
  Hash hash;
  hash.add(table.kinds ? table.kinds[node] : 0);
  for (const Field &field : table.fields_of(node)) {
    const ColumnView &view = *field.view;
    if (!view.has(node)) {
      hash.add(~0u);
      continue;
    }
    const int32_t *same = field.info->elem == Elem::Node ? of(field.info->target) : nullptr;
    auto values = [&](int32_t begin, int32_t end) {
      for (int64_t n = begin * field.info->extent; n < end * field.info->extent; ++n) {
        uint32_t word;
        if (view.f32)
          std::memcpy(&word, view.f32 + n, sizeof word);
        else if (view.u8)
          word = view.u8[n];
        else
          word = static_cast<uint32_t>(same ? same[view.i32[n]] : view.i32[n]);
        hash.add(word);
      }
    };
    walk(
        view, *field.info, node, [&](int32_t length) { hash.add(static_cast<uint32_t>(length)); }, values);
  }
  return static_cast<uint32_t>(hash.state);
}

bool SharedNodes::alike(const Table &table, int32_t a, int32_t b) const {
  if (table.kinds && table.kinds[a] != table.kinds[b])
    return false;
  for (const Field &field : table.fields_of(a)) {
    const bool has = field.view->has(a);
    if (has != field.view->has(b) || (has && !alike(field, 0, a, b, 1)))
      return false;
  }
  return true;
}

/// Whether `count` elements of a level from `a` on are like those from `b` on.
bool SharedNodes::alike(const Field &field, int32_t level, int32_t a, int32_t b, int32_t count) const {
  const ColumnView &view = *field.view;
  if (level < field.info->depth) {
    const ColumnView::Lists &lists = view.lists[level];
    for (int32_t e = 0; e < count; ++e) {
      const int32_t length = lists.end[a + e] - lists.begin[a + e];
      if (length != lists.end[b + e] - lists.begin[b + e] ||
          !alike(field, level + 1, lists.begin[a + e], lists.begin[b + e], length))
        return false;
    }
    return true;
  }
  const int64_t extent = field.info->extent, numbers = count * extent;
  if (view.f32)
    return same_bits(view.f32, a * extent, b * extent, numbers);
  if (view.u8)
    return same_bits(view.u8, a * extent, b * extent, numbers);
  if (field.info->elem != Elem::Node)
    return same_bits(view.i32, a * extent, b * extent, numbers);
  const int32_t *same = of(field.info->target);
  for (int64_t n = 0; n < numbers; ++n)
    if (same[view.i32[a * extent + n]] != same[view.i32[b * extent + n]])
      return false;
  return true;
}

} // namespace dbc
