// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The walk's values, lists and binders.
#include "FirstErrorWalk.h"

#include <algorithm>
#include <climits>
#include <optional>

namespace dbc::first {

//===-- Values ------------------------------------------------------------------------------------------===//

Value Walk::stored(const ColumnView &view, const ColumnInfo &info, int64_t at, int32_t level) {
  if (level < info.depth) {
    const int32_t begin = view.lists[level].begin[at], end = view.lists[level].end[at];
    count(end - begin);
    Values elements;
    for (int32_t e = begin; e < end && steps_ < kMost; ++e)
      elements.push_back(stored(view, info, e, level + 1));
    return list_of(std::move(elements));
  }
  if (info.extent != 1 || (!view.i32 && !view.u8))
    return Value();
  return number(view.u8 ? view.u8[at] : view.i32[at]);
}

void Walk::load(int32_t r, int32_t table, int32_t row, int32_t column, int32_t at) {
  const ColumnView &view = batch_.column(table, column);
  if (view.has(row))
    set(r, stored(view, batch_.column_info(table, column), row, 0));
  else
    status_ = batch_.describe_missing(table, row, column, word(at));
}

void Walk::integer(const int32_t *p) {
  const auto kind = static_cast<IntStep>(p[1]);
  const Value &a = value(p[2]), &b = value(p[3]);
  if (!a.known() || !b.known())
    return set(p[0], Value());
  const int64_t x = a.number, y = b.number;
  const bool divides = kind == IntStep::Div || kind == IntStep::Rem;
  if (divides && y == 0)
    return fail(ErrorKind::zero_division, p[4], kind == IntStep::Div ? "div" : "%", x);
  const int64_t floor = divides ? x / y - (x % y != 0 && (x < 0) != (y < 0)) : 0;
  const auto give = [&](int64_t z, const char *word) {
    if (!fits(z))
      return fail(ErrorKind::overflow, p[4], word, x, y);
    set(p[0], number(z));
  };
  switch (kind) {
  case IntStep::Add:
    return give(x + y, "+");
  case IntStep::Sub:
    return give(x - y, "-");
  case IntStep::Mul:
    return give(x * y, "*");
  case IntStep::Div:
    return give(floor, "div");
  case IntStep::Rem:
    return give(x - floor * y, "%");
  case IntStep::Max:
    return set(p[0], number(std::max(x, y)));
  case IntStep::Min:
    return set(p[0], number(std::min(x, y)));
  }
}

void Walk::logic(const int32_t *p) {
  const Value &a = value(p[2]), &b = value(p[3]);
  if (!a.known() || !b.known())
    return set(p[0], Value());
  const int32_t x = a.number, y = b.number;
  switch (static_cast<Logic>(p[1])) {
  case Logic::And:
    return set(p[0], number(x & y));
  case Logic::Or:
    return set(p[0], number(x | y));
  case Logic::Xor:
    return set(p[0], number(x ^ y));
  case Logic::Equal:
    return set(p[0], number(x == y));
  case Logic::NotEqual:
    return set(p[0], number(x != y));
  case Logic::Less:
    return set(p[0], number(x < y));
  case Logic::LessEqual:
    return set(p[0], number(x <= y));
  case Logic::Greater:
    return set(p[0], number(x > y));
  case Logic::GreaterEqual:
    return set(p[0], number(x >= y));
  case Logic::Largest:
    return set(p[0], number(std::max(x, y)));
  case Logic::Least:
    return set(p[0], number(std::min(x, y)));
  }
}

//===-- Lists -------------------------------------------------------------------------------------------===//

void Walk::range(const int32_t *p) {
  const int64_t low = value(p[1]).number, high = value(p[2]).number;
  if (high > low && !fits(high - low))
    return fail(ErrorKind::overflow, p[3], "-", high, low);
  count(std::max<int64_t>(0, high - low));
  Values elements;
  for (int64_t i = low; i < high && steps_ < kMost; ++i)
    elements.push_back(number(i));
  set(p[0], list_of(std::move(elements)));
}

void Walk::zip(const int32_t *p) {
  for (int32_t i = 1; i < p[1]; ++i) {
    const Value &first = value(p[2]), &other = value(p[2 + i]);
    if (first.is_list() && other.is_list() && first.list->size() != other.list->size())
      return fail(ErrorKind::lengths, p[0], "", static_cast<int64_t>(first.list->size()),
                  static_cast<int64_t>(other.list->size()));
  }
}

void Walk::slice(const int32_t *p) {
  const Value &list = value(p[1]);
  if (!list.is_list())
    return set(p[0], Value());
  const Values &elements = *list.list;
  const int64_t low = value(p[2]).number, high = value(p[3]).number,
                length = static_cast<int64_t>(elements.size());
  if (low < 0 || high < 0 || low > length || high > length)
    return fail(ErrorKind::slice, p[4], "", low, high, length);
  count(std::max<int64_t>(0, high - low));
  set(p[0], list_of(high > low ? Values(elements.begin() + low, elements.begin() + high) : Values()));
}

void Walk::element(const int32_t *p) {
  const Value &list = value(p[1]), &index = value(p[2]);
  if (!list.is_list() || !index.known())
    return set(p[0], Value());
  const int64_t length = static_cast<int64_t>(list.list->size());
  if (index.number < 0 || index.number >= length)
    return fail(ErrorKind::list_index, p[3], "", index.number, length);
  set(p[0], Value((*list.list)[index.number]));
}

void Walk::reduce(const int32_t *p) {
  const Value &list = value(p[2]);
  if (!list.is_list() ||
      !std::all_of(list.list->begin(), list.list->end(), [](const Value &v) { return v.known(); }))
    return set(p[0], Value());
  const Reduction kind = static_cast<Reduction>(p[1]);
  count(static_cast<int64_t>(list.list->size()));
  int64_t result = kind == Reduction::All ? 1 : 0;
  bool first = true;
  for (const Value &v : *list.list) {
    if (kind == Reduction::Sum) {
      if (!fits(result + v.number))
        return fail(ErrorKind::overflow, p[3], "+", result, v.number);
      result += v.number;
    } else if (first) {
      result = v.number;
    } else if (kind == Reduction::Max || kind == Reduction::Any) {
      result = std::max<int64_t>(result, v.number);
    } else {
      result = std::min<int64_t>(result, v.number);
    }
    first = false;
  }
  set(p[0], number(result));
}

/// Reached means: along fields of any type that refer to nodes, as far as they are given.
void Walk::nodes(int32_t r, int32_t node, int32_t table) {
  using Reached = std::pair<int32_t, int32_t>; // data type, node
  std::map<Reached, bool> seen{{{table, value(node).number}, true}};
  std::vector<Reached> open{seen.begin()->first};
  while (!open.empty() && ++steps_ < kMost) {
    auto [data, row] = open.back();
    open.pop_back();
    const int32_t kind = batch_.kinds(data) ? batch_.kinds(data)[row] : 0;
    for (const FieldInfo &field : batch_.info().datas[data].constructors[kind].fields) {
      const ColumnInfo &info = batch_.column_info(data, field.column);
      const ColumnView &view = batch_.column(data, field.column);
      if (info.elem != Elem::Node || !view.has(row))
        continue;
      Values todo{stored(view, info, row, 0)};
      while (!todo.empty()) {
        Value v = std::move(todo.back());
        todo.pop_back();
        if (v.is_list())
          todo.insert(todo.end(), v.list->begin(), v.list->end());
        else if (seen.insert({{info.target, v.number}, true}).second)
          open.push_back({info.target, v.number});
      }
    }
  }
  Values found; // in the order of the numbers
  for (const auto &[reached, yes] : seen)
    if (reached.first == table)
      found.push_back(number(reached.second));
  set(r, list_of(std::move(found)));
}

//===-- Binders -----------------------------------------------------------------------------------------===//

/// The first two lengths that differ of lists, or of lists in them.
static std::optional<std::pair<int64_t, int64_t>> unequal_lengths(const Value &a, const Value &b) {
  if (!a.is_list() || !b.is_list())
    return std::nullopt;
  if (a.list->size() != b.list->size())
    return std::pair<int64_t, int64_t>(a.list->size(), b.list->size());
  for (size_t i = 0; i < a.list->size(); ++i)
    if (auto lengths = unequal_lengths((*a.list)[i], (*b.list)[i]))
      return lengths;
  return std::nullopt;
}

void Walk::begin(const int32_t *p) {
  Frame &frame = frames_.back();
  Loop loop{static_cast<Binder>(p[0]), p[1], p[3], p[4], p[2] != 0, 0, 0, {}, {}, nullptr, 0, nullptr, {}};
  p += 5;
  for (int32_t n = *p++; n > 0; --n)
    loop.lists.push_back(frame.values[*p++]);
  for (int32_t n = *p++; n > 0; --n)
    loop.state.push_back(frame.values[*p++]);
  loop.arguments = p;
  p += loop.lists.size() + loop.state.size();
  loop.results = *p++;
  loop.to = p;
  loop.gathered.resize(loop.results);
  loop.count = loop.lists[0].is_list() ? static_cast<int64_t>(loop.lists[0].list->size()) : 0;
  frame.loops.push_back(std::move(loop));
  if (!arguments(frame.loops.back()))
    finish(frame.loops.back());
}

/// Sets the values of the body for the next element or step, if there is one.
bool Walk::arguments(Loop &loop) {
  if (loop.done == loop.count)
    return false;
  const int32_t *to = loop.arguments;
  for (const Value &list : loop.lists)
    set(*to++, list.is_list() ? (*list.list)[loop.position()] : Value());
  for (const Value &state : loop.state)
    set(*to++, state);
  return true;
}

void Walk::next(const int32_t *p) {
  Frame &frame = frames_.back();
  Loop &loop = frame.loops.back();
  count(1);
  Values gives;
  for (int32_t i = 0; i < p[0]; ++i)
    gives.push_back(frame.values[p[1 + i]]);
  switch (loop.binder) {
  case Binder::Map:
    for (int32_t i = 0; i < loop.results; ++i)
      loop.gathered[i].push_back(gives[i]);
    break;
  case Binder::Filter:
    for (int32_t i = 0; gives[0].known() && gives[0].number != 0 && i < loop.results; ++i)
      loop.gathered[i].push_back(loop.lists[i].is_list() ? (*loop.lists[i].list)[loop.position()] : Value());
    break;
  case Binder::Scan:
  case Binder::Fold:
    for (size_t i = 0; i < gives.size(); ++i)
      if (auto lengths = unequal_lengths(loop.state[i], gives[i]))
        return fail(ErrorKind::state_length, loop.at,
                    loop.binder == Binder::Fold ? "fold"
                    : loop.back                 ? "scan_back"
                                                : "scan",
                    lengths->first, lengths->second);
    for (int32_t i = 0; loop.binder == Binder::Scan && i < loop.results; ++i)
      loop.gathered[i].push_back(gives[i].is_list() ? gives[i] : Value());
    break;
  }
  ++loop.done;
  if (arguments(loop))
    frame.pc = loop.arguments + loop.lists.size() + loop.state.size() + 1 + loop.results - code_;
  else
    finish(loop);
}

void Walk::finish(Loop &loop) {
  Frame &frame = frames_.back();
  for (int32_t i = 0; i < loop.results; ++i)
    frame.values[loop.to[i]] =
        loop.binder == Binder::Fold ? loop.state[i] : list_of(std::move(loop.gathered[i]));
  frame.pc = loop.end;
  frame.loops.pop_back();
}

} // namespace dbc::first
