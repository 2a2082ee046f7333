// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Descent.h"

#include "frontend/check/Components.h"

#include <algorithm>
#include <set>

namespace dbc::frontend {

Shape Descent::unknown(const std::string &name, Number low, Number high) {
  constexpr uint32_t kBehindAllDims = 1u << 30;
  DimVar &made = unknowns_.emplace_back();
  made.name = name + "#" + std::to_string(unknowns_.size()); // no two are one to who compares them by name
  made.serial = kBehindAllDims + static_cast<uint32_t>(unknowns_.size());
  bounds_[&made] = {std::move(low), std::move(high)};
  return Shape(&made);
}

void Descent::cell(const FuncInfo &cell, std::vector<Number> keys, bool stated, Number measure) {
  cells_[&cell] = {std::move(keys), stated, std::move(measure)};
}

void Descent::call(const FuncInfo &caller, const FuncInfo &callee, SourceRange range,
                   const std::vector<AbstractValue> &keys) {
  Call made{&caller, &callee, range, {}, false};
  for (size_t k = 0; k < keys.size(); ++k) {
    made.keys.push_back(keys[k].number);
    made.goesOn |= callee.arguments[k]->type->isNode() && keys[k].ownKey == 0;
  }
  calls_.push_back(std::move(made));
}

void Descent::finish() {
  Graph<const FuncInfo> graph;
  for (const Call &call : calls_)
    graph.edge(call.caller, call.callee);
  for (std::vector<const FuncInfo *> &cells : graph.circles()) {
    for (const FuncInfo *cell : cells)
      recursionOf_[cell] = recursions_.size();
    recursions_.push_back({std::move(cells), {}});
  }
  for (const Call &call : calls_)
    if (inOneRecursion(call.caller, call.callee))
      recursions_[recursionOf_.at(call.caller)].calls.push_back(&call);
}

bool Descent::inOneRecursion(const FuncInfo *a, const FuncInfo *b) const {
  auto first = recursionOf_.find(a), second = recursionOf_.find(b);
  return first != recursionOf_.end() && second != recursionOf_.end() && first->second == second->second;
}

/// What may be a measure: what is stated; else nothing at all, one of a cell's numbers, their sums and
/// differences. Several cells without a stated one have the number that each has but one of.
std::vector<Descent::Measure> Descent::candidates(const Recursion &recursion) const {
  const std::vector<const FuncInfo *> &cells = recursion.cells;
  std::vector<Measure> measures;
  Measure stated, only;
  bool anyStated = false;
  for (const FuncInfo *each : cells) {
    const Cell &cell = cells_.at(each);
    anyStated |= cell.stated;
    stated[each] = cell.measure.value_or(Shape());
    std::vector<Shape> numbers;
    for (const Number &key : cell.keys)
      if (key)
        numbers.push_back(*key);
    if (numbers.size() == 1)
      only[each] = numbers[0];
  }
  if (anyStated)
    return {stated};
  measures.push_back(stated); // 0: a node that goes on
  if (only.size() == cells.size())
    measures.push_back(only);
  if (cells.size() == 1) {
    const auto &keys = cells_.at(cells[0]).keys;
    for (size_t i = 0; i < keys.size(); ++i)
      for (size_t j = 0; j < keys.size(); ++j) {
        if (!keys[i] || !keys[j])
          continue;
        measures.push_back({{cells[0], i == j ? *keys[i] : *keys[i] - *keys[j]}});
        if (i < j)
          measures.push_back({{cells[0], *keys[i] + *keys[j]}});
      }
  }
  return measures;
}

Descent::Course Descent::courseOf(const Call &call, const Measure &measure) const {
  const Cell &callee = cells_.at(call.callee);
  DimMap given;
  std::set<const DimVar *> lost;
  for (size_t k = 0; k < callee.keys.size(); ++k) {
    if (!callee.keys[k])
      continue;
    const DimVar *key = callee.keys[k]->singleDim();
    if (call.keys[k])
      given[key] = *call.keys[k];
    else
      lost.insert(key);
  }
  const Shape &after = measure.at(call.callee);
  for (const Shape::Term &term : after.terms())
    for (const DimVar *dim : term.dims)
      if (lost.count(dim))
        return Course::Open;
  Shape change = after.substitute(given) - measure.at(call.caller);
  if (isBelow(change, 0) || (call.goesOn && change == Shape()))
    return Course::Falls;
  return isBelow(change, 1) ? Course::Stays : Course::Open;
}

/// A call that is not known to bring a recursion nearer to its end: the measure may rise, or it stays and the
/// calls with which it does lead back to the caller. Null if there is none.
const Descent::Call *Descent::openCall(const Recursion &recursion, const Measure &measure) const {
  std::vector<const Call *> stays;
  Graph<const FuncInfo> graph;
  for (const Call *call : recursion.calls) {
    Course course = courseOf(*call, measure);
    if (course == Course::Open)
      return call;
    if (course != Course::Stays)
      continue;
    stays.push_back(call);
    graph.edge(call->caller, call->callee);
  }
  std::map<const FuncInfo *, size_t> circleOf = graph.circleNumbers();
  for (const Call *call : stays) {
    auto from = circleOf.find(call->caller), to = circleOf.find(call->callee);
    if (from != circleOf.end() && to != circleOf.end() && from->second == to->second)
      return call;
  }
  return nullptr;
}

/// Whether the largest value that the bounds of the unknowns allow is below `limit`: the last unknown first,
/// for the bounds of one speak of those before it.
bool Descent::isBelow(Shape shape, int64_t limit) const {
  while (!shape.overflowed()) {
    const DimVar *last = nullptr;
    for (const Shape::Term &term : shape.terms())
      for (const DimVar *dim : term.dims)
        if (bounds_.count(dim) && (!last || dim->serial > last->serial))
          last = dim;
    if (!last)
      return (Shape(limit - 1) - shape).provenNonNegative();
    int64_t coefficient = 0;
    for (const Shape::Term &term : shape.terms())
      if (std::count(term.dims.begin(), term.dims.end(), last)) {
        if (term.dims.size() != 1)
          return false;
        coefficient = term.coefficient;
      }
    const auto &[low, high] = bounds_.at(last);
    if (coefficient > 0 ? !high : !low)
      return false;
    shape = shape.substitute({{last, coefficient > 0 ? *high - Shape(1) : *low}});
  }
  return false;
}

void Descent::report(DiagnosticEngine &diags) const {
  std::set<const FuncInfo *> done;
  for (const auto &[cell, info] : cells_) {
    if (done.count(cell))
      continue;
    auto number = recursionOf_.find(cell);
    if (number == recursionOf_.end())
      continue;
    const Recursion &recursion = recursions_[number->second];
    done.insert(recursion.cells.begin(), recursion.cells.end());
    bool numbers = false, stated = false;
    for (const FuncInfo *each : recursion.cells) {
      stated |= cells_.at(each).stated;
      for (const Number &key : cells_.at(each).keys)
        numbers |= key.has_value();
    }
    if (!numbers)
      continue; // down the fields of nodes: that these form no circle is for the batch to show
    const Call *open = nullptr;
    for (const Measure &measure : candidates(recursion)) {
      open = openCall(recursion, measure);
      if (!open)
        break;
    }
    if (!open)
      continue;
    Diagnostic &remark = diags.remark(open->range,
                                      stated ? "it is not proven that this call of `" + open->callee->name +
                                                   "` lowers the measure; tested for each batch"
                                             : "it is not proven that this call of `" + open->callee->name +
                                                   "` comes nearer to an end; tested for each batch",
                                      "C3");
    if (!stated)
      remark.hint("state what gets smaller: `by ..` behind the type that `" + open->caller->name + "` gives");
  }
}

} // namespace dbc::frontend
