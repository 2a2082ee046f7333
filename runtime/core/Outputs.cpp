// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results of a batch: offsets first, while scheduling, then room for the values.
#include <dbc/counted.h>
#include <dbc/outputs.h>

#include <algorithm>
#include <cassert>
#include <functional>

namespace dbc {

Outputs &Outputs::operator=(Outputs &&other) noexcept {
  entry_ = std::exchange(other.entry_, nullptr);
  f64_ = other.f64_;
  inputs_ = std::exchange(other.inputs_, 0);
  sub_batch_ = std::exchange(other.sub_batch_, Range());
  components_ = std::exchange(other.components_, {});
  gradients_ = std::exchange(other.gradients_, {});
  input_gradients_ = std::exchange(other.input_gradients_, {});
  wrong_ = std::exchange(other.wrong_, std::nullopt);
  return *this;
}

size_t Outputs::number_bytes(const Storage &storage) const {
  return storage.component.info.elem == Elem::F32 && f64_ ? sizeof(double) : sizeof(float);
}

void Outputs::prepare(const EntryInfo &entry, bool f64) {
  if (entry_ == &entry && f64_ == f64 && !components_.empty())
    return;
  std::vector<ColumnInfo> infos = flatten(entry.result, "");
  components_.clear();
  components_.resize(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    components_[i].component.info = infos[i];
    std::string &name = components_[i].component.info.name; // of a tuple's element: "0", not ".0"
    if (!name.empty() && name[0] == '.')
      name.erase(0, 1);
  }
  gradients_.clear();
  input_gradients_.clear();
  entry_ = &entry;
  f64_ = f64;
}

void Outputs::begin(int32_t inputs) {
  // Where there is no memory for offsets there are no results, rather than some of another batch.
  inputs_ = 0;
  for (Gradient &gradient : gradients_)
    gradient.is_given = false;
  for (InputValues &gradient : input_gradients_)
    gradient.is_given = false;
  for (Storage &storage : components_) {
    storage.component.values = 0;
    storage.memory = nullptr;
    storage.first_value = 0;
    for (Lists &lists : storage.lists) {
      lists.first = lists.count = 0;
      lists.offsets = nullptr;
    }
  }
  for (Storage &storage : components_) {
    storage.component.values = storage.component.info.depth == 0 ? inputs : 0;
    for (int32_t d = 0; d < storage.component.info.depth; ++d) {
      Lists &lists = storage.lists[d];
      const int64_t count = d == 0 ? inputs : 0;
      lists.own.assign(static_cast<size_t>(count) + 1, 0);
      lists.count = count;
      lists.offsets = lists.own.data();
    }
  }
  inputs_ = inputs;
}

bool Outputs::is_one_sub_batch() const {
  if (entry_ != nullptr && entry_->is_differentiated())
    return true; // what inputs give to a gradient is added up over all of them
  for (const Storage &storage : components_)
    for (int32_t d = 0; d < storage.component.info.depth; ++d)
      if (storage.caller || storage.lists[d].caller)
        return true;
  return false;
}

void Outputs::begin_sub_batch(Range inputs) {
  sub_batch_ = inputs;
  for (Storage &storage : components_) {
    const int32_t depth = storage.component.info.depth;
    if (depth > 0)
      storage.first_value = storage.component.values;
    for (int32_t d = 0; d < depth; ++d)
      storage.lists[d].first = d == 0 ? inputs.begin : storage.lists[d].count;
  }
}

void Outputs::leave_sub_batch(SubBatch &sub_batch) const {
  sub_batch.inputs = sub_batch_;
  sub_batch.first_values.resize(components_.size());
  sub_batch.first_lists.resize(components_.size());
  for (size_t i = 0; i < components_.size(); ++i) {
    sub_batch.first_values[i] = components_[i].first_value;
    for (int32_t d = 0; d < kMaxListDepth; ++d)
      sub_batch.first_lists[i][d] = components_[i].lists[d].first;
  }
}

void Outputs::enter_sub_batch(const SubBatch &sub_batch) {
  sub_batch_ = sub_batch.inputs;
  for (size_t i = 0; i < components_.size(); ++i) {
    components_[i].first_value = sub_batch.first_values[i];
    for (int32_t d = 0; d < kMaxListDepth; ++d)
      components_[i].lists[d].first = sub_batch.first_lists[i][d];
  }
}

void Outputs::use_values(int32_t component, void *memory, size_t capacity) {
  if (!has(component)) {
    wrong_ = {component, -1};
    return;
  }
  components_[component].caller = memory;
  components_[component].capacity = capacity;
}
void Outputs::use_offsets(int32_t component, int32_t depth, int32_t *memory, size_t capacity) {
  if (!has(component, depth)) {
    wrong_ = {component, depth};
    return;
  }
  components_[component].lists[depth].caller = memory;
  components_[component].lists[depth].capacity = capacity;
}

const Outputs::Component &Outputs::component(int32_t number) const {
  static const Component none;
  return has(number) ? components_[number].component : none;
}

const Outputs &Outputs::of(const EntryInfo &entry) const {
  static const Outputs none;
  return entry_ == &entry ? *this : none;
}

void Outputs::list(int32_t component, int32_t depth, const int32_t *parent, int32_t rows,
                   const int32_t *inputs, int32_t parents) {
  Storage &storage = components_[component];
  Lists &lists = storage.lists[depth];
  int64_t end = depth == 0 ? sub_batch_.end : lists.first + parents;
  if (depth > 0)
    lists.count = end;
  lists.own.resize(static_cast<size_t>(lists.count) + 1);
  int32_t *offsets = lists.offsets = lists.own.data();
  std::fill(offsets + lists.first + 1, offsets + end + 1, 0);
  for (int32_t row = 0; row < rows; ++row)
    ++offsets[(depth == 0 ? inputs[parent[row]] : lists.first + parent[row]) + 1];
  for (int64_t i = lists.first; i < end; ++i)
    if (__builtin_add_overflow(offsets[i], offsets[i + 1], &offsets[i + 1]))
      throw std::bad_alloc();
  if (depth + 1 == storage.component.info.depth)
    storage.component.values = storage.first_value + rows;
}

void Outputs::shorten(int32_t component, const int32_t *parent, const int32_t *rows, int32_t count,
                      const int32_t *inputs) {
  Storage &storage = components_[component];
  Lists &lists = storage.lists[0];
  std::fill(lists.offsets + sub_batch_.begin + 1, lists.offsets + sub_batch_.end + 1, 0);
  for (int32_t r = 0; r < count; ++r)
    ++lists.offsets[inputs[parent[rows[r]]] + 1];
  for (int64_t i = sub_batch_.begin; i < sub_batch_.end; ++i)
    lists.offsets[i + 1] += lists.offsets[i];
  storage.component.values = storage.first_value + count;
}

Status Outputs::commit() {
  if (wrong_) {
    const std::string of = wrong_->depth < 0 ? "output number " + std::to_string(wrong_->component)
                                             : "lists of depth " + std::to_string(wrong_->depth) +
                                                   " of output number " + std::to_string(wrong_->component);
    return Status::error(Code::bad_call, "memory was handed in for " + of + ", which there " +
                                             (wrong_->depth < 0 ? "is" : "are") +
                                             " not (or not before prepare)");
  }
  // First whether everything fits, so that nothing is half-written.
  for (Storage &storage : components_) {
    std::string name =
        storage.component.info.name.empty() ? "the output" : "output `" + storage.component.info.name + "`";
    auto small = [&](const char *what, size_t wanted, size_t given) {
      return Status::error(Code::bad_call, name + " needs room for " + counted(wanted, what) + ", " +
                                               std::to_string(given) + " were given");
    };
    size_t numbers = static_cast<size_t>(storage.component.values * storage.component.info.extent);
    if (storage.caller && storage.capacity < numbers)
      return small("number", numbers, storage.capacity);
    for (int32_t d = 0; d < storage.component.info.depth; ++d) {
      Lists &lists = storage.lists[d];
      if (lists.caller && lists.capacity < static_cast<size_t>(lists.count) + 1)
        return small("offset", static_cast<size_t>(lists.count) + 1, lists.capacity);
    }
  }
  for (Storage &storage : components_) {
    size_t bytes =
        static_cast<size_t>(storage.component.values * storage.component.info.extent) * number_bytes(storage);
    if (!storage.caller)
      storage.own.resize(bytes);
    storage.memory = storage.caller ? storage.caller : storage.own.data();
    for (int32_t d = 0; d < storage.component.info.depth; ++d) {
      Lists &lists = storage.lists[d];
      if (!lists.caller)
        continue;
      std::copy(lists.own.begin(), lists.own.begin() + lists.count + 1, lists.caller);
      lists.offsets = lists.caller;
    }
  }
  return Status();
}

void Outputs::blank(int32_t input) {
  for (Storage &storage : components_) {
    if (storage.memory == nullptr)
      continue; // on a device, which has seen to it
    int64_t first = input, last = input + 1;
    for (int32_t d = 0; d < storage.component.info.depth; ++d) {
      first = storage.lists[d].offsets[first];
      last = storage.lists[d].offsets[last];
    }
    size_t bytes = static_cast<size_t>(storage.component.info.extent) * number_bytes(storage);
    std::memset(static_cast<unsigned char *>(storage.memory) + first * bytes, 0,
                static_cast<size_t>(last - first) * bytes);
  }
}

void *Outputs::gradient_room(int32_t param, size_t bytes, const GradientRows &rows) {
  assert(std::adjacent_find(rows.rows, rows.rows + rows.count, std::greater_equal<int32_t>()) ==
         rows.rows + rows.count);
  if (static_cast<size_t>(param) >= gradients_.size())
    gradients_.resize(param + 1);
  Gradient &gradient = gradients_[param];
  gradient.is_given = false;  // should there be no memory for it
  gradient.values.reserve(1); // so that a sparse one without rows is not null, too
  gradient.values.resize(bytes);
  gradient.rows.clear();
  gradient.rows.append(rows.rows, static_cast<size_t>(rows.count));
  gradient.width = rows.width;
  gradient.is_given = true;
  return gradient.values.data();
}

void *Outputs::input_gradient_room(int32_t number, size_t bytes, const ColumnView &column, int32_t owners,
                                   int32_t count) {
  if (static_cast<size_t>(number) >= input_gradients_.size())
    input_gradients_.resize(number + 1);
  InputValues &gradient = input_gradients_[number];
  gradient.is_given = false; // should there be no memory for it
  gradient.values.reserve(1);
  gradient.values.resize(bytes);
  gradient.is_list = column.lists[0].begin != nullptr;
  gradient.begin.clear();
  gradient.end.clear();
  if (gradient.is_list) {
    gradient.begin.append(column.lists[0].begin, static_cast<size_t>(owners));
    gradient.end.append(column.lists[0].end, static_cast<size_t>(owners));
  }
  gradient.count = count;
  gradient.owners = owners;
  gradient.is_given = true;
  return gradient.values.data();
}

Range Outputs::input_gradient_range(int32_t number, int32_t owner) const {
  if (!has_input_gradient(number) || owner < 0 || owner >= input_gradients_[number].owners)
    return {};
  const InputValues &gradient = input_gradients_[number];
  const Range range = gradient.is_list ? Range{gradient.begin.data()[owner], gradient.end.data()[owner]}
                                       : Range{owner, owner + 1};
  // Lists of an input that failed may lie anywhere, and of a list that nobody has there are no values.
  return range.begin >= 0 && range.begin <= range.end && range.end <= gradient.count ? range : Range();
}

int32_t Outputs::input_gradient_number(std::string_view name) const {
  for (size_t i = 0; entry_ != nullptr && i < entry_->input_gradients.size(); ++i)
    if (entry_->input_gradients[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

template <class Real>
Status Outputs::add_gradient(int32_t param, const Real *gradient, Real *dense, size_t size) const {
  const auto bad = [&](const std::string &what) {
    return Status::error(Code::bad_call, "the gradient of parameter number " + std::to_string(param) + what);
  };
  if (gradient == nullptr)
    return bad(has_gradient(param) ? " is of numbers of another type" : " is not there");
  const GradientRows rows = gradient_rows(param);
  if (!rows) {
    if (gradient_size(param) != size)
      return bad(" has " + counted(gradient_size(param), "number") + ", not " + std::to_string(size));
    for (size_t i = 0; i < size; ++i)
      dense[i] += gradient[i];
    return Status();
  }
  const auto width = static_cast<size_t>(rows.width);
  if (size % width != 0 || (rows.count > 0 && static_cast<size_t>(rows.rows[rows.count - 1]) >= size / width))
    return bad(" is of rows of " + counted(width, "number") + " that are not all within " +
               counted(size, "number"));
  for (int32_t r = 0; r < rows.count; ++r) {
    Real *to = dense + static_cast<size_t>(rows.rows[r]) * width;
    for (size_t i = 0; i < width; ++i)
      to[i] += gradient[static_cast<size_t>(r) * width + i];
  }
  return Status();
}

Status Outputs::add_gradient_to(int32_t param, float *dense, size_t size) const {
  return add_gradient(param, gradient_f32(param), dense, size);
}
Status Outputs::add_gradient_to(int32_t param, double *dense, size_t size) const {
  return add_gradient(param, gradient_f64(param), dense, size);
}

double Outputs::number(int32_t component, size_t i) const {
  if (!has(component) || components_[component].memory == nullptr)
    return 0;
  const Storage &storage = components_[component];
  if (i >= static_cast<size_t>(storage.component.values * storage.component.info.extent))
    return 0;
  if (storage.component.info.elem != Elem::F32)
    return i32(component)[i];
  return f64_ ? f64(component)[i] : static_cast<double>(f32(component)[i]);
}

} // namespace dbc
