// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results of a batch: offsets first, while scheduling, then room for the values.
#include <dbc/outputs.h>

#include <algorithm>

namespace dbc {

Outputs &Outputs::operator=(Outputs &&other) noexcept {
  entry_ = std::exchange(other.entry_, nullptr);
  f64_ = other.f64_;
  inputs_ = std::exchange(other.inputs_, 0);
  part_ = std::exchange(other.part_, Range());
  leaves_ = std::exchange(other.leaves_, {});
  wrong_ = std::exchange(other.wrong_, std::nullopt);
  return *this;
}

size_t Outputs::number_bytes(const Slot &slot) const {
  return slot.leaf.info.elem == Elem::F32 && f64_ ? sizeof(double) : sizeof(float);
}

void Outputs::prepare(const EntryInfo &entry, bool f64) {
  if (entry_ == &entry && f64_ == f64 && !leaves_.empty())
    return;
  std::vector<ColumnInfo> infos = flatten(entry.result, "");
  leaves_.clear();
  leaves_.resize(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    leaves_[i].leaf.info = infos[i];
    std::string &name = leaves_[i].leaf.info.name; // of a tuple's part: "0", not ".0"
    if (!name.empty() && name[0] == '.')
      name.erase(0, 1);
  }
  entry_ = &entry;
  f64_ = f64;
}

void Outputs::begin(int32_t inputs) {
  // Where there is no memory for offsets there are no results, rather than some of another batch.
  inputs_ = 0;
  for (Slot &slot : leaves_) {
    slot.leaf.values = 0;
    slot.memory = nullptr;
    slot.first_value = 0;
    for (Lists &lists : slot.lists) {
      lists.first = lists.count = 0;
      lists.offsets = nullptr;
    }
  }
  for (Slot &slot : leaves_) {
    slot.leaf.values = slot.leaf.info.depth == 0 ? inputs : 0;
    for (int32_t d = 0; d < slot.leaf.info.depth; ++d) {
      Lists &lists = slot.lists[d];
      const int64_t count = d == 0 ? inputs : 0;
      lists.own.assign(static_cast<size_t>(count) + 1, 0);
      lists.count = count;
      lists.offsets = lists.own.data();
    }
  }
  inputs_ = inputs;
}

bool Outputs::is_one_part() const {
  for (const Slot &slot : leaves_)
    for (int32_t d = 0; d < slot.leaf.info.depth; ++d)
      if (slot.caller || slot.lists[d].caller)
        return true;
  return false;
}

void Outputs::begin_part(Range inputs) {
  part_ = inputs;
  for (Slot &slot : leaves_) {
    const int32_t depth = slot.leaf.info.depth;
    if (depth > 0)
      slot.first_value = slot.leaf.values;
    for (int32_t d = 0; d < depth; ++d)
      slot.lists[d].first = d == 0 ? inputs.begin : slot.lists[d].count;
  }
}

void Outputs::leave_part(Part &part) const {
  part.inputs = part_;
  part.first_values.resize(leaves_.size());
  part.first_lists.resize(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    part.first_values[i] = leaves_[i].first_value;
    for (int32_t d = 0; d < kMaxListDepth; ++d)
      part.first_lists[i][d] = leaves_[i].lists[d].first;
  }
}

void Outputs::enter_part(const Part &part) {
  part_ = part.inputs;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    leaves_[i].first_value = part.first_values[i];
    for (int32_t d = 0; d < kMaxListDepth; ++d)
      leaves_[i].lists[d].first = part.first_lists[i][d];
  }
}

void Outputs::use_values(int32_t leaf, void *memory, size_t capacity) {
  if (!has(leaf)) {
    wrong_ = {leaf, -1};
    return;
  }
  leaves_[leaf].caller = memory;
  leaves_[leaf].capacity = capacity;
}
void Outputs::use_offsets(int32_t leaf, int32_t depth, int32_t *memory, size_t capacity) {
  if (!has(leaf, depth)) {
    wrong_ = {leaf, depth};
    return;
  }
  leaves_[leaf].lists[depth].caller = memory;
  leaves_[leaf].lists[depth].capacity = capacity;
}

const Outputs::Leaf &Outputs::leaf(int32_t number) const {
  static const Leaf none;
  return has(number) ? leaves_[number].leaf : none;
}

const Outputs &Outputs::of(const EntryInfo &entry) const {
  static const Outputs none;
  return entry_ == &entry ? *this : none;
}

void Outputs::list(int32_t leaf, int32_t depth, const int32_t *parent, int32_t rows, const int32_t *inputs,
                   int32_t parents) {
  Slot &slot = leaves_[leaf];
  Lists &lists = slot.lists[depth];
  int64_t end = depth == 0 ? part_.end : lists.first + parents;
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
  if (depth + 1 == slot.leaf.info.depth)
    slot.leaf.values = slot.first_value + rows;
}

void Outputs::shorten(int32_t leaf, const int32_t *parent, const int32_t *rows, int32_t count,
                      const int32_t *inputs) {
  Slot &slot = leaves_[leaf];
  Lists &lists = slot.lists[0];
  std::fill(lists.offsets + part_.begin + 1, lists.offsets + part_.end + 1, 0);
  for (int32_t r = 0; r < count; ++r)
    ++lists.offsets[inputs[parent[rows[r]]] + 1];
  for (int64_t i = part_.begin; i < part_.end; ++i)
    lists.offsets[i + 1] += lists.offsets[i];
  slot.leaf.values = slot.first_value + count;
}

Status Outputs::commit() {
  if (wrong_) {
    const std::string of = wrong_->depth < 0 ? "output number " + std::to_string(wrong_->leaf)
                                             : "lists of depth " + std::to_string(wrong_->depth) +
                                                   " of output number " + std::to_string(wrong_->leaf);
    return Status::error(Code::bad_call, "memory was handed in for " + of + ", which there " +
                                             (wrong_->depth < 0 ? "is" : "are") +
                                             " not (or not before prepare)");
  }
  // First whether everything fits, so that nothing is half-written.
  for (Slot &slot : leaves_) {
    std::string name = slot.leaf.info.name.empty() ? "the output" : "output `" + slot.leaf.info.name + "`";
    auto small = [&](const char *what, size_t wanted, size_t given) {
      return Status::error(Code::bad_call, name + " needs room for " + std::to_string(wanted) + " " + what +
                                               ", " + std::to_string(given) + " were given");
    };
    size_t numbers = static_cast<size_t>(slot.leaf.values * slot.leaf.info.extent);
    if (slot.caller && slot.capacity < numbers)
      return small("numbers", numbers, slot.capacity);
    for (int32_t d = 0; d < slot.leaf.info.depth; ++d) {
      Lists &lists = slot.lists[d];
      if (lists.caller && lists.capacity < static_cast<size_t>(lists.count) + 1)
        return small("offsets", static_cast<size_t>(lists.count) + 1, lists.capacity);
    }
  }
  for (Slot &slot : leaves_) {
    size_t bytes = static_cast<size_t>(slot.leaf.values * slot.leaf.info.extent) * number_bytes(slot);
    if (!slot.caller)
      slot.own.resize(bytes);
    slot.memory = slot.caller ? slot.caller : slot.own.data();
    for (int32_t d = 0; d < slot.leaf.info.depth; ++d) {
      Lists &lists = slot.lists[d];
      if (!lists.caller)
        continue;
      std::copy(lists.own.begin(), lists.own.begin() + lists.count + 1, lists.caller);
      lists.offsets = lists.caller;
    }
  }
  return Status();
}

void Outputs::blank(int32_t input) {
  for (Slot &slot : leaves_) {
    if (slot.memory == nullptr)
      continue; // on a device, which has seen to it
    int64_t first = input, last = input + 1;
    for (int32_t d = 0; d < slot.leaf.info.depth; ++d) {
      first = slot.lists[d].offsets[first];
      last = slot.lists[d].offsets[last];
    }
    size_t bytes = static_cast<size_t>(slot.leaf.info.extent) * number_bytes(slot);
    std::memset(static_cast<unsigned char *>(slot.memory) + first * bytes, 0,
                static_cast<size_t>(last - first) * bytes);
  }
}

double Outputs::number(int32_t leaf, size_t i) const {
  if (!has(leaf) || leaves_[leaf].memory == nullptr)
    return 0;
  const Slot &slot = leaves_[leaf];
  if (i >= static_cast<size_t>(slot.leaf.values * slot.leaf.info.extent))
    return 0;
  if (slot.leaf.info.elem != Elem::F32)
    return i32(leaf)[i];
  return f64_ ? f64(leaf)[i] : static_cast<double>(f32(leaf)[i]);
}

} // namespace dbc
