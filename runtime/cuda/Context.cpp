// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Memory of a device, copies, and what kernels found wrong. All of CUDA is behind Backend.
#include <dbc/cuda/context.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <tuple>
#include <utility>

namespace dbc::cuda {

/// Arrays begin where any load may: at a multiple of this many bytes.
constexpr size_t kLine = 256;
static size_t lines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

//===-- Model -------------------------------------------------------------------------------------------===//

void Model::swap(Model &other) noexcept {
  std::swap(model_, other.model_);
  std::swap(backend_, other.backend_);
  std::swap(device_, other.device_);
  std::swap(bytes_, other.bytes_);
  buffers_.swap(other.buffers_);
  matrices_.swap(other.matrices_);
}

Model::~Model() {
  for (auto *memories : {&buffers_, &matrices_})
    for (void *memory : *memories)
      if (memory != nullptr)
        backend_->release(memory);
}

Status Model::make(const dbc::Model &model, int32_t device, Model *made) {
  if (model.empty())
    return Status::error(Code::bad_call, "the model was never made");
  const std::string &name = model.info().name;
  if (model.code().cuda == nullptr)
    return Status::error(Code::bad_call, name + ": compiled without --target cuda");
  try {
    Model on;
    on.backend_ = &model.code().cuda();
    on.device_ = device;
    void *stream = nullptr;
    if (Status status = on.backend_->open(device, &stream); !status.ok()) {
      status.message = name + ": " + status.message;
      return status;
    }
    bool room = true;
    auto upload = [&](std::vector<void *> &to, int32_t count, auto &&array) {
      to.resize(static_cast<size_t>(count), nullptr);
      for (int32_t slot = 0; slot < count; ++slot) {
        const Array<unsigned char> &from = array(slot);
        if (from.empty())
          continue;
        to[slot] = on.backend_->allocate(from.size());
        if (to[slot] == nullptr) {
          room = false;
          return;
        }
        on.bytes_ += from.size();
        on.backend_->copy(to[slot], from.data(), from.size(), stream);
      }
    };
    upload(on.buffers_, model.buffers(),
           [&](int32_t slot) -> const auto & { return model.raw_buffer(slot); });
    upload(on.matrices_, model.matrices(),
           [&](int32_t slot) -> const auto & { return model.raw_matrix(slot); });
    Status status = on.backend_->wait(stream);
    on.backend_->close(stream);
    if (!room)
      return Status::error(Code::limit, name + ": not enough memory on the device for the model");
    if (!status.ok()) {
      status.message = name + ": " + status.message;
      return status;
    }
    on.model_ = &model;
    *made = std::move(on);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, name + ": not enough memory for the model");
  }
  return Status();
}

size_t elements(const ColumnView &view, int32_t rows, int32_t levels) {
  if (!view.given)
    return 0;
  for (int32_t level = 0; level < std::min(levels, kMaxListDepth); ++level) {
    const ColumnView::Lists &lists = view.lists[level];
    if (lists.end == nullptr)
      break;
    int32_t most = 0;
    for (int32_t row = 0; row < rows; ++row)
      if (level > 0 || view.has(row))
        most = std::max(most, lists.end[row]);
    rows = most;
  }
  return static_cast<size_t>(rows);
}

/// Before the fault records: their number, and what the barriers of whole loops count in.
constexpr size_t kHeader = (1 + Context::kLoops) * sizeof(int32_t);

//===-- Context -----------------------------------------------------------------------------------------===//

Context::~Context() {
  if (backend_ == nullptr)
    return;
  if (stream_ != nullptr)
    (void)backend_->wait(stream_);
  graphs_.clear(*backend_);
  for (auto *memories : {&buffers_, &scratch_, &put_, &in_, &faults_})
    for (Memory &memory : *memories)
      if (memory.data != nullptr)
        backend_->release(memory.data);
  host_put_.insert(host_put_.end(), {host_in_, host_out_, host_fetch_});
  for (Memory &memory : host_put_)
    if (memory.data != nullptr)
      backend_->release_host(memory.data);
  if (stream_ != nullptr)
    backend_->close(stream_);
}

size_t Context::bytes() const {
  size_t sum = graphs_.bytes();
  for (auto *memories : {&buffers_, &scratch_, &put_, &in_, &faults_})
    for (const Memory &memory : *memories)
      sum += memory.bytes;
  return sum;
}

void Context::fail(const char *what) {
  if (status_.ok())
    status_ = Status::error(Code::limit, model_.host().info().name + ": " + what);
}

/// The first failure stays, and names the model.
void Context::check(Status status) {
  if (status.ok() || !status_.ok())
    return;
  status_ = std::move(status);
  status_.message = model_.host().info().name + ": " + status_.message;
}

void *Context::grow(std::vector<Memory> &memories, int32_t slot, size_t bytes) {
  if (!status_.ok())
    return nullptr;
  if (static_cast<size_t>(slot) >= memories.size())
    memories.resize(static_cast<size_t>(slot) + 1);
  Memory &memory = memories[slot];
  if (memory.bytes < bytes || memory.data == nullptr) {
    if (memory.data != nullptr)
      backend_->release(memory.data);
    bytes = lines(std::max<size_t>(bytes, 1));
    memory = {backend_->allocate(bytes), bytes};
    if (memory.data == nullptr) {
      memory.bytes = 0;
      fail("not enough memory on the device for the batch");
      return nullptr;
    }
  }
  if (backend_->poison != nullptr)
    backend_->poison(memory.data, memory.bytes);
  return memory.data;
}

void *Context::grow_host(Memory &memory, size_t bytes) {
  if (!status_.ok())
    return nullptr;
  if (memory.bytes < bytes || memory.data == nullptr) {
    if (memory.data != nullptr)
      backend_->release_host(memory.data);
    bytes = lines(std::max<size_t>(bytes, 1));
    memory = {backend_->allocate_host(bytes), bytes};
    if (memory.data == nullptr) {
      memory.bytes = 0;
      fail("not enough memory of the host that the device can reach");
    }
  }
  return memory.data;
}

Status Context::serves(const dbc::Model &model) const {
  if (model_.empty() || &model_.host() == &model)
    return Status();
  return Status::error(Code::bad_call, model.info().name + ": the context is of another model");
}

void Context::begin() {
  // What a device failed at it does not get over: the status stays (CUDA calls such errors sticky).
  if (backend_ == nullptr) {
    if (model_.empty()) {
      status_ = Status::error(Code::bad_call, "the context's model was never made");
      return;
    }
    backend_ = &model_.host().code().cuda();
    check(backend_->open(model_.device(), &stream_));
    cooperative_ = status_.ok() && backend_->cooperative(model_.device());
  } else if (stream_ != nullptr) {
    backend_->use(model_.device());
    if (status_.code == Code::limit) { // a smaller batch may do
      status_ = Status();
      check(backend_->wait(stream_));
    }
  }
  found_.clear();
  again_ = false;
  launches_ = 0;
  fault_launches_ = 0;
  taken_ = path_ == Path::Persistent && cooperative_ ? Path::Persistent : Path::Levels;
  collecting_ = false;
  nodes_.clear();
  puts_ = 0;
  if (void *memory = grow(faults_, 0, kHeader + static_cast<size_t>(fault_capacity_) * sizeof(FaultRecord)))
    backend_->clear(memory, kHeader, stream_);
  else
    fault_capacity_ = kFaults;
}

Faults Context::faults() {
  if (!status_.ok())
    return {};
  auto *memory = static_cast<unsigned char *>(faults_[0].data);
  return {reinterpret_cast<FaultRecord *>(memory + kHeader), reinterpret_cast<int32_t *>(memory),
          fault_capacity_, static_cast<int32_t>(fault_launches_)};
}

void Context::collect(const Run &run) {
  if (path_ != Path::Graph || run.timed)
    return;
  taken_ = Path::Graph;
  collecting_ = true;
}

void Context::launch_nodes(const GraphSource &source) {
  if (!std::exchange(collecting_, false) || !status_.ok() ||
      std::all_of(nodes_.begin(), nodes_.end(), [](const Node &node) { return node.begin >= node.end; }))
    return;
  check(graphs_.run(*backend_, stream_, source, nodes_));
  launches_ += status_.ok();
}

void Context::copy_in(std::initializer_list<CopyIn> arrays) {
  size_t bytes = 0;
  for (const CopyIn &array : arrays)
    bytes += lines(array.bytes);
  auto *to = static_cast<unsigned char *>(grow(in_, 0, bytes));
  auto *from = static_cast<unsigned char *>(grow_host(host_in_, bytes));
  if (!status_.ok())
    return;
  size_t at = 0;
  for (const CopyIn &array : arrays) {
    *array.at = array.from != nullptr ? to + at : nullptr;
    if (array.bytes > 0)
      std::memcpy(from + at, array.from, array.bytes);
    at += lines(array.bytes);
  }
  if (bytes > 0)
    backend_->copy(to, from, bytes, stream_);
}

const uint8_t *Context::fetch(const uint8_t *from, size_t count) {
  void *to = grow_host(host_fetch_, count);
  if (!status_.ok())
    return nullptr;
  backend_->copy(to, from, count, stream_);
  check(backend_->wait(stream_));
  return static_cast<const uint8_t *>(to);
}

int32_t *Context::put(int32_t slot, const int32_t *from, size_t count) {
  const size_t bytes = count * sizeof(int32_t);
  auto *to = static_cast<int32_t *>(grow(put_, slot, bytes));
  if (static_cast<size_t>(puts_) >= host_put_.size())
    host_put_.resize(static_cast<size_t>(puts_) + 1);
  void *staged = grow_host(host_put_[puts_++], bytes);
  if (!status_.ok())
    return nullptr;
  if (count > 0)
    std::memcpy(staged, from, bytes);
  backend_->copy(to, staged, bytes, stream_);
  return to;
}

void Context::copy_out(std::initializer_list<CopyOut> arrays) {
  size_t bytes = lines(sizeof(int32_t));
  for (const CopyOut &array : arrays)
    bytes += lines(array.bytes);
  auto *to = static_cast<unsigned char *>(grow_host(host_out_, bytes));
  if (!status_.ok())
    return;
  backend_->copy(to, faults_[0].data, sizeof(int32_t), stream_);
  size_t at = lines(sizeof(int32_t));
  for (const CopyOut &array : arrays) {
    *array.at = to + at;
    if (array.bytes > 0)
      backend_->copy(to + at, array.from, array.bytes, stream_);
    at += lines(array.bytes);
  }
  check(backend_->wait(stream_));
  if (status_.ok())
    read_faults();
}

/// Threads write records down in any order, each of them its own in that of the program.
void Context::read_faults() {
  int32_t count = 0;
  std::memcpy(&count, host_out_.data, sizeof count);
  if (count == 0)
    return;
  if (count > fault_capacity_) {
    fault_capacity_ = count;
    again_ = true;
    return;
  }
  found_.resize(static_cast<size_t>(count));
  auto *memory = static_cast<unsigned char *>(faults_[0].data);
  backend_->copy(found_.data(), memory + kHeader, found_.size() * sizeof(FaultRecord), stream_);
  check(backend_->wait(stream_));
  auto key = [](const FaultRecord &r) {
    return std::tie(r.launch, r.place.row, r.place.loop, r.place.iteration);
  };
  std::stable_sort(found_.begin(), found_.end(),
                   [&](const FaultRecord &a, const FaultRecord &b) { return key(a) < key(b); });
}

int64_t Context::wait_ns() {
  check(backend_->wait(stream_));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace dbc::cuda
