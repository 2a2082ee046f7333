// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The walk through an input's structure in the order of evaluation: its steps, and calls. Values and lists
// are in FirstErrorLists.cpp.
#include "FirstErrorWalk.h"

#include <algorithm>
#include <set>

namespace dbc {

namespace first {

//===-- Calls -------------------------------------------------------------------------------------------===//

std::vector<int32_t> Walk::coordinates() const {
  const Frame &frame = frames_.back();
  std::vector<int32_t> at;
  const int32_t *head = function(frame.function);
  for (size_t k = 0; k < frame.keys.size(); ++k)
    at.insert(at.end(), {head[4 + 2 * k], frame.keys[k]});
  for (const Loop &loop : frame.loops)
    at.insert(at.end(), {loop.coordinate, static_cast<int32_t>(loop.position())});
  if (frame.context > 0) {
    const std::vector<int32_t> &outer = contexts_[frame.context - 1].coordinates;
    at.insert(at.end(), outer.begin(), outer.end());
  }
  return at;
}

/// Which of its instances a cell's is that is called: that of the call from outside.
int32_t Walk::context(const int32_t *p) {
  const Frame &frame = frames_.back();
  if (p[2] == 0)
    return 0;
  if (p[2] == 1)
    return frame.context;
  Name name{frame.function, frame.context, p[1]};
  name.insert(name.end(), frame.keys.begin(), frame.keys.end());
  for (const Loop &loop : frame.loops)
    name.push_back(static_cast<int32_t>(loop.position()));
  auto [at, fresh] =
      context_numbers_.try_emplace(std::move(name), static_cast<int32_t>(contexts_.size()) + 1);
  if (fresh) {
    const int32_t depth = frame.context > 0 ? contexts_[frame.context - 1].depth + 1 : 0;
    std::vector<int32_t> around = coordinates();
    around.insert(around.end(), {site_coordinate(depth), p[1]});
    contexts_.push_back({frame.own, depth, std::move(around)});
  }
  return at->second;
}

/// False where the callee's values are not there yet: then it is walked, and this call met again.
bool Walk::call(const int32_t *p, Step what) {
  const int32_t f = p[0], number = p[1], changes = p[3];
  const int32_t of = context(p);
  Name name{f, of};
  std::vector<int32_t> keys;
  const int32_t *rest = p + 4;
  for (int32_t n = *rest++; n > 0; --n)
    keys.push_back(value(*rest++).number);
  name.insert(name.end(), keys.begin(), keys.end());
  auto &called = *instances_.try_emplace(name).first;
  Instance &instance = called.second;
  if (what == Step::Discover) {
    const Frame &frame = frames_.back();
    std::vector<int32_t> site{frame.function, frame.context, number};
    site.insert(site.end(), frame.keys.begin(), frame.keys.end());
    for (const Loop &loop : frame.loops)
      site.push_back(static_cast<int32_t>(loop.position()));
    if (!instance.discovered_by.empty() && instance.discovered_by != site) {
      const Owner owner = owner_of(f, of, keys);
      status_ = batch_.describe(Code::bad_input, owner.table, owner.row, -1,
                                messages::reached_twice(word(function(f)[1]), word(changes)));
    }
    instance.discovered_by = std::move(site);
    return true;
  }
  if (instance.state == Instance::Open) {
    cycle(&instance);
    return true;
  }
  if (instance.state == Instance::New) {
    instance.state = Instance::Open;
    Values captured;
    for (int32_t n = *rest++; n > 0; --n)
      captured.push_back(value(*rest++));
    enter(f, of, std::move(keys), captured, &instance);
    return false;
  }
  if (Instance *caller = frames_.back().instance)
    caller->calls.push_back(&called);
  rest += 1 + *rest; // the captured arguments
  for (const Value &result : what == Step::Every ? every(called) : instance.results)
    set(*++rest, result);
  return true;
}

/// The nodes of all instances of a function that one leads to, and what they give, which is there already.
Values Walk::every(const std::pair<const Name, Instance> &start) const {
  using Called = const std::pair<const Name, Instance> *;
  std::set<Called> seen{&start};
  std::vector<Called> open{&start};
  std::map<int32_t, const Instance *> found; // by the node
  const auto further = [](const Name &name) { return name.begin() + 3; };
  while (!open.empty()) {
    const Called next = open.back();
    open.pop_back();
    const Name &name = next->first;
    if (name[0] == start.first[0] && std::equal(further(name), name.end(), further(start.first)))
      found[name[2]] = &next->second;
    for (const Called callee : next->second.calls)
      if (seen.insert(callee).second)
        open.push_back(callee);
  }
  std::vector<Values> lists(1 + start.second.results.size());
  for (const auto &[node, instance] : found) {
    lists[0].push_back(number(node));
    for (size_t n = 0; n < instance->results.size(); ++n)
      lists[1 + n].push_back(instance->results[n]);
  }
  Values results;
  for (Values &list : lists)
    results.push_back(list_of(std::move(list)));
  return results;
}

/// "Tree node 3, t = 2".
std::string Walk::words(const Frame &frame) const {
  const int32_t *head = function(frame.function);
  std::string text;
  for (size_t k = 0; k < frame.keys.size(); ++k) {
    text += text.empty() ? "" : ", ";
    if (k == 0 && head[2] >= 0)
      text += batch_.node_name(head[2], frame.keys[0]);
    else
      text += word(head[5 + 2 * k]) + (" = " + std::to_string(frame.keys[k]));
  }
  return text;
}

/// An instance that is being walked is needed by the newest.
void Walk::cycle(const Instance *again) {
  size_t first = frames_.size() - 1;
  while (frames_[first].instance != again)
    --first;
  std::vector<messages::CycleStep> steps;
  for (size_t i = first; i < frames_.size(); ++i)
    steps.push_back({word(function(frames_[i].function)[1]), words(frames_[i])});
  const Owner &owner = frames_[first].own;
  status_ = batch_.describe(Code::bad_input, owner.table, owner.row, -1, messages::cycle(steps));
}

//===-- Events ------------------------------------------------------------------------------------------===//

void Walk::know(const ComputedError &error, int32_t number) {
  std::vector<int32_t> coordinates;
  std::vector<std::vector<int32_t>> choices{{}}; // of their values
  for (size_t i = 0; i + 1 < error.at.size();) {
    const int32_t coordinate = error.at[i];
    coordinates.push_back(coordinate);
    std::vector<std::vector<int32_t>> longer;
    for (; i + 1 < error.at.size() && error.at[i] == coordinate; i += 2)
      for (std::vector<int32_t> values : choices) {
        values.push_back(error.at[i + 1]);
        longer.push_back(std::move(values));
      }
    choices = std::move(longer);
  }
  std::vector<Alike> &alike = alike_[error.event];
  auto at = std::find_if(alike.begin(), alike.end(),
                         [&](const Alike &each) { return each.coordinates == coordinates; });
  if (at == alike.end())
    at = alike.insert(at, {std::move(coordinates), {}});
  for (std::vector<int32_t> &values : choices)
    at->first.try_emplace(std::move(values), number);
}

/// An error was here if its coordinates have the values that they have here, where the inner context counts.
void Walk::event(int32_t number) {
  const auto at = alike_.find(number);
  if (at == alike_.end())
    return;
  const std::vector<int32_t> here = coordinates();
  const auto value_of = [&](int32_t coordinate) -> const int32_t * {
    for (size_t k = 0; k + 1 < here.size(); k += 2)
      if (here[k] == coordinate)
        return &here[k + 1];
    return nullptr;
  };
  const auto find = [&](int32_t error) {
    if (found_ < 0 || error < found_)
      found_ = error;
  };
  for (const Alike &alike : at->second) {
    std::vector<const int32_t *> values;
    for (const int32_t coordinate : alike.coordinates)
      values.push_back(value_of(coordinate));
    if (std::find(values.begin(), values.end(), nullptr) == values.end()) {
      std::vector<int32_t> wanted;
      for (const int32_t *value : values)
        wanted.push_back(*value);
      if (const auto error = alike.first.find(wanted); error != alike.first.end())
        find(error->second);
      continue;
    }
    // A coordinate that is not known here, as of a list that passes made, says nothing.
    count(static_cast<int64_t>(alike.first.size()));
    for (const auto &[known, error] : alike.first)
      if (std::equal(values.begin(), values.end(), known.begin(),
                     [](const int32_t *a, int32_t b) { return a == nullptr || *a == b; }))
        find(error);
  }
}

/// One case for each kind of step, so that it is a long function.
void Walk::step() {
  Frame &frame = frames_.back();
  const int32_t *p = code_ + frame.pc;
  const Step what = static_cast<Step>(*p++);
  auto go_on = [&](int32_t operands) { frame.pc += 1 + operands; };
  switch (what) {
  case Step::Constant:
    go_on(2);
    return set(p[0], number(p[1]));
  case Step::Move:
    go_on(2);
    return set(p[0], Value(value(p[1])));
  case Step::Field:
    go_on(5);
    return load(p[0], p[2], value(p[1]).number, p[3], p[4]);
  case Step::Argument:
    go_on(3);
    return load(p[0], batch_.args(), input_, batch_.arg_column(entry_, p[1]), p[2]);
  case Step::Int:
    go_on(5);
    return integer(p);
  case Step::Logic:
    go_on(4);
    return logic(p);
  case Step::Select: {
    go_on(4);
    const Value &condition = value(p[1]);
    return set(p[0], condition.known() ? Value(value(p[condition.number != 0 ? 2 : 3])) : Value());
  }
  case Step::Narrow: {
    go_on(3);
    const Value &x = value(p[0]);
    if (x.known() && (x.number < 0 || x.number >= p[1]))
      fail(ErrorKind::index, p[2], "", x.number, p[1]);
    return;
  }
  case Step::Range:
    go_on(4);
    return range(p);
  case Step::Length:
    go_on(2);
    return set(p[0],
               value(p[1]).is_list() ? number(static_cast<int64_t>(value(p[1]).list->size())) : Value());
  case Step::Zip:
    go_on(2 + p[1]);
    return zip(p);
  case Step::Reverse: {
    go_on(2);
    if (!value(p[1]).is_list())
      return set(p[0], Value());
    const Values &elements = *value(p[1]).list;
    count(static_cast<int64_t>(elements.size()));
    return set(p[0], list_of(Values(elements.rbegin(), elements.rend())));
  }
  case Step::Slice:
    go_on(5);
    return slice(p);
  case Step::At:
    go_on(4);
    return element(p);
  case Step::Some:
    go_on(3);
    if (value(p[0]).is_list() && value(p[0]).list->empty())
      fail(ErrorKind::empty, p[2], word(p[1]));
    return;
  case Step::Reduce:
    go_on(4);
    return reduce(p);
  case Step::Event:
    go_on(1);
    return event(p[0]);
  case Step::Begin: {
    const int32_t lists = p[5], states = p[6 + lists], results = p[7 + 2 * lists + 2 * states];
    go_on(8 + 2 * lists + 2 * states + results);
    return begin(p);
  }
  case Step::Next:
    return next(p);
  case Step::Jump:
    frame.pc = p[0];
    return;
  case Step::Unless:
    if (value(p[0]).known() && value(p[0]).number == 0)
      frame.pc = p[1];
    else
      go_on(2);
    return;
  case Step::Switch: {
    const uint8_t *kinds = batch_.kinds(p[1]);
    frame.pc = p[3 + (kinds ? kinds[value(p[0]).number] : 0)];
    return;
  }
  case Step::Nodes:
    go_on(3);
    return nodes(p[0], p[1], p[2]);
  case Step::Owner:
    go_on(2);
    switch (static_cast<OwnerKind>(p[0])) {
    case OwnerKind::Own:
      frame.owner = frame.own;
      return;
    case OwnerKind::Input:
      frame.owner = {batch_.args(), input_};
      return;
    case OwnerKind::OfCall:
      frame.owner = contexts_[frame.context - 1].owner;
      return;
    }
    frame.owner = {p[0], value(p[1]).number};
    return;
  case Step::Key: {
    go_on(5);
    const int32_t x = value(p[0]).number, low = value(p[1]).number, high = value(p[2]).number;
    if (x < low || x >= high)
      fail(ErrorKind::key, p[4], word(p[3]), x, low, high);
    return;
  }
  case Step::Call:
  case Step::Every: {
    const int32_t keys = p[4], captured = p[5 + keys], results = p[6 + keys + captured];
    if (call(p, what) && status_.ok())
      go_on(7 + keys + captured + results);
    return;
  }
  case Step::Discover: {
    go_on(5 + p[4]);
    call(p, what);
    return;
  }
  case Step::Return: {
    Values results;
    for (int32_t i = 0; i < p[0]; ++i)
      results.push_back(value(p[1 + i]));
    if (frame.instance) {
      frame.instance->results = std::move(results);
      frame.instance->state = Instance::Done;
    }
    waiting_ -= frame.values.size();
    frames_.pop_back();
    return;
  }
  }
}

} // namespace first

Status first_error(const EvaluationOrder &order, const Batch &batch, int32_t entry, int32_t input) {
  first::Walk walk(order, batch, entry, input, nullptr);
  walk.run();
  return walk.status();
}

int32_t first_computed(const EvaluationOrder &order, const Batch &batch, int32_t entry, int32_t input,
                       const std::vector<ComputedError> &errors) {
  first::Walk walk(order, batch, entry, input, &errors);
  walk.run();
  return walk.found();
}

} // namespace dbc
