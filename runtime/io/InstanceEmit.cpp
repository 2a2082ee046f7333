// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Putting checked values into a batch, see InstanceEmit.h. Recursion goes down types only.
#include "InstanceEmit.h"
#include "InstanceCheck.h"

namespace dbc::io {

namespace {
void paths_from(const TypeInfo &type, std::vector<ComponentPath::Step> &steps,
                std::vector<ComponentPath> &paths) {
  if (type.form == TypeInfo::Form::Value) {
    paths.push_back({steps, &type});
    return;
  }
  for (size_t p = 0; p < type.elements.size(); ++p) {
    bool list = type.form == TypeInfo::Form::List;
    bool record = type.form == TypeInfo::Form::Record;
    steps.push_back(
        {list ? ComponentPath::each : static_cast<int32_t>(p), record ? type.names[p] : std::string()});
    paths_from(type.elements[p], steps, paths);
    steps.pop_back();
  }
}
} // namespace

std::vector<ComponentPath> component_paths(const TypeInfo &type) {
  std::vector<ComponentPath> paths;
  std::vector<ComponentPath::Step> steps;
  paths_from(type, steps, paths);
  return paths;
}

int32_t Emitter::integer(const TypeInfo &type, uint64_t token) const {
  int64_t value = tape_[token].integer;
  return type.elem == Elem::Node ? numbers_[static_cast<size_t>(value)] : static_cast<int32_t>(value);
}

void Emitter::gather(const TypeInfo &type, uint64_t token) {
  ints_.clear();
  bools_.clear();
  floats_.clear();
  // The nested arrays' shape is checked: their elements stand in the tape in row-major order.
  for (uint64_t end = tape_.next(token); token < end; ++token) {
    const Token &t = tape_[token];
    if (t.kind == Json::Array)
      continue;
    if (type.elem == Elem::F32)
      floats_.push_back(token_f32(schema_, t));
    else if (type.elem == Elem::Bool)
      bools_.push_back(t.kind == Json::True);
    else
      ints_.push_back(integer(type, token));
  }
}

void Emitter::set(int32_t table, int32_t row, int32_t column, const TypeInfo &type, uint64_t token) {
  bool scalar = type.extents.empty();
  switch (type.elem) {
  case Elem::Node:
    batch_.set_node(table, row, column, integer(type, token));
    return;
  case Elem::Index:
  case Elem::Int:
    if (scalar)
      return batch_.set_int(table, row, column, integer(type, token));
    gather(type, token);
    return batch_.set_ints(table, row, column, ints_.data(), ints_.size());
  case Elem::Bool:
    if (scalar)
      return batch_.set_bool(table, row, column, tape_[token].kind == Json::True);
    gather(type, token);
    return batch_.set_bools(table, row, column, bools_.data(), bools_.size());
  case Elem::F32:
    if (scalar)
      return batch_.set_f32(table, row, column, token_f32(schema_, tape_[token]));
    gather(type, token);
    return batch_.set_f32s(table, row, column, floats_.data(), floats_.size());
  }
}

void Emitter::push(const TypeInfo &type, uint64_t token) {
  bool scalar = type.extents.empty();
  switch (type.elem) {
  case Elem::Node:
  case Elem::Index:
  case Elem::Int:
    if (scalar)
      return batch_.push_int(integer(type, token));
    gather(type, token);
    return batch_.push_ints(ints_.data(), ints_.size());
  case Elem::Bool:
    if (scalar)
      return batch_.push_bool(tape_[token].kind == Json::True);
    gather(type, token);
    return batch_.push_bools(bools_.data(), bools_.size());
  case Elem::F32:
    gather(type, token);
    return batch_.push_f32s(floats_.data(), floats_.size());
  }
}

void Emitter::whole_list(int32_t table, int32_t row, int32_t column, const TypeInfo &element,
                         uint64_t token) {
  ints_.clear();
  uint64_t end = tape_.next(token);
  for (uint64_t at = token + 1; at < end; ++at)
    ints_.push_back(integer(element, at));
  batch_.set_list(table, row, column, ints_.data(), ints_.size());
}

uint64_t Emitter::element_of(const ComponentPath::Step &step, uint64_t token) const {
  uint64_t at = token + 1;
  if (tape_[token].kind == Json::Array) {
    for (int32_t k = 0; k < step.element; ++k)
      at = tape_.next(at);
    return at;
  }
  while (tape_.text(tape_[at]) != step.name)
    at = tape_.next(at + 1);
  return at + 1;
}

void Emitter::lists(int32_t table, int32_t row, int32_t column, const ComponentPath &path, size_t step,
                    uint64_t token) {
  for (; step < path.steps.size(); ++step) {
    if (path.steps[step].element != ComponentPath::each) {
      token = element_of(path.steps[step], token);
      continue;
    }
    batch_.open_list(table, row, column);
    uint64_t end = tape_.next(token);
    for (uint64_t at = token + 1; at < end; at = tape_.next(at))
      lists(table, row, column, path, step + 1, at);
    batch_.close_list();
    return;
  }
  push(*path.component, token);
}

void Emitter::component(int32_t table, int32_t row, int32_t column, const ComponentPath &path,
                        uint64_t token) {
  for (size_t step = 0; step < path.steps.size(); ++step) {
    if (path.steps[step].element == ComponentPath::each)
      return lists(table, row, column, path, step, token);
    token = element_of(path.steps[step], token);
  }
  set(table, row, column, *path.component, token);
}

void Emitter::field(int32_t table, int32_t row, int32_t column, const TypeInfo &type, uint64_t token) {
  if (type.form == TypeInfo::Form::Value)
    return set(table, row, column, type, token);
  const TypeInfo &element = type.elements[0];
  if (element.form == TypeInfo::Form::Value && element.extents.empty() && element.elem != Elem::Bool &&
      element.elem != Elem::F32)
    return whole_list(table, row, column, element, token);
  for (const ComponentPath &path : component_paths(type))
    component(table, row, column, path, token);
}

} // namespace dbc::io
