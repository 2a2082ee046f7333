// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The operations on lists.
#include "oracle/Evaluation.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

Values Evaluation::range(RangeOp op) {
  int64_t low = value(op.getLow()).integer(), high = value(op.getHigh()).integer();
  if (high - low > INT32_MAX) // its length is an int
    return fail(op, ErrorKind::overflow, "-", high, low);
  int64_t bytes = (high - low) * static_cast<int64_t>(sizeof(Value));
  if (!fits(std::max<int64_t>(bytes, 0)))
    return exhaust(op, high - low, bytes);
  Values elements;
  elements.reserve(std::max<int64_t>(high - low, 0));
  for (int64_t i = low; i < high; ++i)
    elements.push_back(Value::number(static_cast<double>(i)));
  return {Value::list(std::move(elements))};
}

Values Evaluation::zip(ZipOp op) {
  Values lists;
  for (mlir::Value list : op.getLists()) {
    lists.push_back(value(list));
    int64_t first = lists.front().elements().size(), length = lists.back().elements().size();
    if (first != length)
      return fail(op, ErrorKind::lengths, "", first, length);
  }
  return lists;
}

Values Evaluation::reverse(ReverseOp op) {
  const Values &elements = value(op.getList()).elements();
  return {Value::list(Values(elements.rbegin(), elements.rend()))};
}

Values Evaluation::slice(dyn::SliceOp op) {
  const Values &elements = value(op.getList()).elements();
  int64_t low = value(op.getLow()).integer(), high = value(op.getHigh()).integer(), length = elements.size();
  if (low < 0 || high < 0 || low > length || high > length)
    return fail(op, ErrorKind::slice, "", low, high, length);
  if (high <= low)
    return {Value::list({})};
  return {Value::list(Values(elements.begin() + low, elements.begin() + high))};
}

Values Evaluation::at(AtOp op) {
  const Values &elements = value(op.getList()).elements();
  int64_t index = value(op.getIndex()).integer(), length = elements.size();
  bool outside = index < 0 || index >= length;
  if (outside && op.getWhen() && value(op.getWhen()).scalar() == 0) {
    auto shape = extents(op.getType());
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    return {Value::tensor(shape.vec(), std::vector<double>(size, 0))};
  }
  if (outside)
    return fail(op, ErrorKind::list_index, "", index, length);
  return {elements[index]};
}

int64_t Evaluation::length(ValueRange lists) {
  int64_t length = -1;
  for (mlir::Value list : lists) {
    if (value(list).unknown())
      return -1;
    length = value(list).elements().size();
    assert(length == static_cast<int64_t>(value(lists.front()).elements().size()) &&
           "lists that were not zipped");
  }
  return length;
}

Values Evaluation::map(MapOp op) {
  if (hasUnknownOperand(op)) {
    leaveOutAll(op.getLists(), op.getBody().front());
    return {};
  }
  std::vector<Values> lists(op.getNumResults());
  const int64_t elements = std::max<int64_t>(length(op.getLists()), 0);
  const int64_t bytes = elements * static_cast<int64_t>(lists.size() * sizeof(Value));
  if (!fits(bytes))
    return exhaust(op, elements, bytes);
  for (Values &list : lists)
    list.reserve(elements);
  for (int64_t i = 0; i < elements; ++i) {
    Values results = element(i, op.getBody().front(), ofStep(op.getLists(), i, {}));
    if (isLeft())
      return {};
    if (!fits(bytes))
      return exhaust(op, elements, bytes);
    for (size_t r = 0; r < results.size(); ++r)
      lists[r].push_back(std::move(results[r]));
  }
  // Structure is tested for what a `while` leaves out, too (manual, S4).
  if (mlir::Value list = op.getLists()[0]; isEnded(list) && length(op.getLists()) >= 0)
    for (int64_t i = length(op.getLists()), n = bound(list); i < n; ++i)
      leaveOut(i, op.getBody().front(), Values(op.getLists().size()));
  Values results;
  for (Values &list : lists)
    results.push_back(Value::list(std::move(list)));
  return results;
}

Values Evaluation::filter(FilterOp op) {
  std::vector<Values> lists(op.getNumResults());
  for (int64_t i = 0, n = length(op.getLists()); i < n; ++i) {
    Values arguments = ofStep(op.getLists(), i, {});
    Values stays = element(i, op.getBody().front(), arguments);
    if (stays.front().unknown())
      return {};
    for (size_t r = 0; stays.front().integer() && r < lists.size(); ++r)
      lists[r].push_back(arguments[r]);
  }
  Values results;
  for (Values &list : lists)
    results.push_back(Value::list(std::move(list)));
  return results;
}

/// Whether a recurrence takes a further step. Where that is not known yet it does, for the calls in its body.
static bool goesOn(bool stops, const Values &state) {
  return !stops || state.back().unknown() || state.back().at(0) != 0;
}

/// The lists' elements in a step, and the state.
Values Evaluation::ofStep(mlir::ValueRange lists, int64_t i, const Values &state) {
  Values arguments;
  arguments.reserve(lists.size() + state.size());
  for (mlir::Value list : lists)
    arguments.push_back(value(list).elements()[i]);
  llvm::append_range(arguments, state);
  return arguments;
}

/// A step that a `while` leaves out: what is known before any arithmetic is tested in it all the same (S4).
Values Evaluation::leaveOut(int64_t i, Block &body, const Values &arguments) {
  bool reached = std::exchange(reached_, false);
  Values next = element(i, body, arguments);
  reached_ = reached;
  return next;
}

/// The same for each element of a list that a `while` ends, where the list itself is unknown.
void Evaluation::leaveOutAll(mlir::ValueRange lists, Block &body) {
  for (int64_t i = 0, n = isEnded(lists[0]) ? bound(lists[0]) : 0; i < n; ++i)
    leaveOut(i, body, Values(body.getNumArguments()));
}

/// The first two lengths that differ of lists, or of lists in them; none if all are equal.
static std::optional<std::pair<int64_t, int64_t>> unequalLengths(const Value &a, const Value &b) {
  if (!a.isList() || !b.isList())
    return std::nullopt;
  if (a.elements().size() != b.elements().size())
    return std::pair<int64_t, int64_t>(a.elements().size(), b.elements().size());
  for (auto [x, y] : llvm::zip(a.elements(), b.elements()))
    if (auto lengths = unequalLengths(x, y))
      return lengths;
  return std::nullopt;
}

Values Evaluation::scan(ScanOp op) {
  int64_t n = length(op.getLists());
  if (n < 0) {
    leaveOutAll(op.getLists(), op.getBody().front());
    return {};
  }
  Values state;
  for (mlir::Value init : op.getInit())
    state.push_back(value(init));
  const int64_t bytes = n * static_cast<int64_t>(state.size() * sizeof(Value));
  if (!fits(bytes))
    return exhaust(op, n, bytes);
  std::vector<Values> lists(state.size(), Values(n));
  Block &body = op.getBody().front();
  int64_t steps = 0;
  auto position = [&](int64_t k) { return op.getBack() ? n - 1 - k : k; };
  bool sure = true;                               // how many steps there are
  bool stops = op.getStops() && !isOfStructure(); // before any arithmetic all steps are gone through
  for (; steps < n && goesOn(stops, state); ++steps) {
    sure &= !op.getStops() || !state.back().unknown();
    Values next = element(position(steps), body, ofStep(op.getLists(), position(steps), state));
    if (isLeft())
      return {};
    for (auto [a, b] : llvm::zip(state, next))
      if (auto lengths = unequalLengths(a, b))
        return fail(op, ErrorKind::state_length, op.getBack() ? "scan_back" : "scan", lengths->first,
                    lengths->second);
    if (!fits(bytes))
      return exhaust(op, n, bytes);
    state = std::move(next);
    for (size_t r = 0; r < state.size(); ++r)
      lists[r][position(steps)] = state[r];
  }
  for (int64_t k = steps; k < n; ++k)
    leaveOut(position(k), body, ofStep(op.getLists(), position(k), state));
  Values results;
  for (Values &list : lists) {
    // What was not reached is at the end, or for a scan from the back at the beginning.
    list.erase(op.getBack() ? list.begin() : list.begin() + steps,
               op.getBack() ? list.begin() + (n - steps) : list.end());
    results.push_back(Value::list(std::move(list)));
  }
  if (!isOfStructure() && (!sure || (op.getStops() && n > 0 && !state.empty() && state.back().unknown())))
    return {};
  return results;
}

Values Evaluation::fold(FoldOp op) {
  int64_t n = length(op.getLists());
  if (n < 0) {
    leaveOutAll(op.getLists(), op.getBody().front());
    return {};
  }
  Values state;
  for (mlir::Value init : op.getInit())
    state.push_back(value(init));
  Block &body = op.getBody().front();
  bool sure = true; // which steps are taken
  for (int64_t i = 0; i < n; ++i) {
    bool taken = isOfStructure() || goesOn(op.getStops(), state);
    sure &= !op.getStops() || !state.back().unknown();
    Values arguments = ofStep(op.getLists(), i, state);
    Values next = taken ? element(i, body, arguments) : leaveOut(i, body, arguments);
    if (isLeft())
      return {};
    for (auto [a, b] : llvm::zip(state, next))
      if (auto lengths = unequalLengths(a, b))
        return fail(op, ErrorKind::state_length, "fold", lengths->first, lengths->second);
    if (taken)
      state = std::move(next);
  }
  if (!isOfStructure() && (!sure || (op.getStops() && !state.empty() && state.back().unknown())))
    return {};
  return state;
}

/// What a reduction of an empty list gives (manual, L3); NaN where it fails.
static double ofNothing(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return 0;
  case ReduceKind::All:
    return 1;
  case ReduceKind::LogSumExp:
    return -INFINITY;
  default:
    return NAN;
  }
}

/// How long a list that a `while` ends is at most.
int64_t Evaluation::bound(mlir::Value list) {
  while (!list.getDefiningOp<ScanOp>())
    list = lengthFrom(list);
  return length(list.getDefiningOp<ScanOp>().getLists());
}

Values Evaluation::reduceList(ReduceListOp op) {
  const Values &elements = value(op.getList()).elements();
  bool isOpen = isOfStructure() && !interpreter_.structural_.has(op.getResult());
  if (isOpen ? !elements.empty() : llvm::any_of(elements, [](const Value &v) { return v.unknown(); }))
    return {};
  Type type = op.getResult().getType();
  auto shape = extents(type).vec();
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  if (elements.empty()) {
    double nothing = ofNothing(op.getKind());
    if (op.getWhen() && value(op.getWhen()).unknown() && !isOfStructure())
      return {};
    // In an arm that is not chosen, unless the list was empty before any arithmetic (S3).
    if (std::isnan(nothing) && !isOfStructure() && op.getWhen() && value(op.getWhen()).at(0) == 0 &&
        bound(op.getList()) > 0)
      nothing = 0;
    if (std::isnan(nothing))
      return fail(op, ErrorKind::empty, stringifyReduceKind(op.getKind()).data());
    return {Value::tensor(shape, std::vector<double>(size, nothing))};
  }
  bool isFloat = scalar(op.getList().getType().getElement()).isF32();
  std::vector<double> reduced(size), numbers(elements.size());
  for (int64_t i = 0; i < size; ++i) {
    for (size_t e = 0; e < elements.size(); ++e)
      numbers[e] = elements[e].at(i);
    reduced[i] = reduce(op.getKind(), numbers, isFloat);
    if (!isFloat && op.getKind() == ReduceKind::Sum)
      if (auto step = sumOverflow(numbers))
        return fail(op, ErrorKind::overflow, "+", step->first, step->second);
  }
  return {Value::tensor(shape, std::move(reduced))};
}

Values Evaluation::softmaxList(SoftmaxListOp op) {
  const Values &elements = value(op.getList()).elements();
  if (elements.empty())
    return {value(op.getList())};
  if (llvm::any_of(elements, [](const Value &v) { return v.unknown(); }))
    return {Value::list(Values(elements.size()))}; // as long, for what goes through it
  std::vector<std::vector<double>> weights(elements.size(), std::vector<double>(elements[0].size()));
  for (int64_t i = 0; i < elements[0].size(); ++i) {
    double most = -INFINITY, sum = 0;
    for (const Value &element : elements)
      most = std::max(most, element.at(i));
    for (size_t e = 0; e < elements.size(); ++e)
      sum += weights[e][i] = std::exp(elements[e].at(i) - most);
    for (auto &weight : weights)
      weight[i] /= sum;
  }
  Values results;
  for (auto &weight : weights)
    results.push_back(Value::tensor(elements[0].shape(), std::move(weight)));
  return {Value::list(std::move(results))};
}

} // namespace dbc::oracle
