// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Memory of a device, copies, and what kernels found wrong. All of CUDA is behind Backend.
#include "OwnStream.h"

#include <dbc/counted.h>
#include <dbc/cuda/context.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <tuple>
#include <utility>

namespace dbc::cuda {

//===-- Model -------------------------------------------------------------------------------------------===//

void Model::swap(Model &other) noexcept {
  std::swap(model_, other.model_);
  std::swap(number_, other.number_);
  std::swap(renewals_, other.renewals_);
  std::swap(backend_, other.backend_);
  std::swap(memory_, other.memory_);
  std::swap(device_, other.device_);
  std::swap(bytes_, other.bytes_);
  buffers_.swap(other.buffers_);
  matrices_.swap(other.matrices_);
}

const dbc::Model &Model::host() const {
  static const dbc::Model none;
  return model_ != nullptr ? *model_ : none;
}

Model::~Model() {
  if (bytes_ > 0)
    backend_->use(device_);
  for (auto *constants : {&buffers_, &matrices_})
    for (const Constant &constant : *constants)
      if (constant.data != nullptr)
        memory_.release(constant.data, constant.bytes);
}

Status Model::make(const dbc::Model &model, int32_t device, Model *made, const Allocator &allocator) {
  if (model.empty())
    return Status::error(Code::bad_call, "the model was never made");
  if (made == nullptr)
    return Status::error(Code::bad_call,
                         model.info().name + ": there is no model to be made, but a null pointer");
  const std::string &name = model.info().name;
  if (model.code().cuda == nullptr)
    return Status::error(Code::bad_call, name + ": compiled without --target cuda");
  try {
    Model on;
    on.backend_ = &model.code().cuda();
    on.memory_ = DeviceMemory(*on.backend_, allocator);
    on.device_ = device;
    on.model_ = &model;
    if (Status status = on.upload(); !status.ok()) {
      status.message = name + ": " + status.message;
      return status;
    }
    *made = std::move(on);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, name + ": not enough memory for the model");
  }
  return Status();
}

Status Model::renew() {
  if (empty())
    return Status::error(Code::bad_call, "a model that was never made cannot be renewed");
  Status status = upload();
  if (!status.ok())
    status.message = host().info().name + ": " + status.message;
  return status;
}

/// Copies all constants to the device, where they get memory the first time.
Status Model::upload() {
  ++renewals_;
  OwnStream stream(*backend_, device_); // copies may be under way where memory for the next one ends
  if (!stream.status().ok())
    return stream.status();
  bool room = true;
  size_t needed = 0;
  auto copy = [&](std::vector<Constant> &to, int32_t count, auto &&array) {
    to.resize(static_cast<size_t>(count));
    for (int32_t number = 0; number < count; ++number) {
      const Array<unsigned char> &from = array(number);
      if (from.empty())
        continue;
      needed += from.size();
      if (to[number].data == nullptr) {
        to[number] = {room ? memory_.allocate(from.size()) : nullptr, from.size()};
        room = to[number].data != nullptr;
        bytes_ += room ? from.size() : 0;
      }
      if (room)
        backend_->copy(to[number].data, from.data(), from.size(), stream.get());
    }
  };
  copy(
      buffers_,
      model_->buffers(), [&](int32_t number) -> const auto & { return model_->raw_buffer(number); });
  copy(
      matrices_,
      model_->matrices(), [&](int32_t number) -> const auto & { return model_->raw_matrix(number); });
  Status status = stream.wait();
  if (!room)
    return memory_.missing("the model", needed, 0);
  number_ = status.ok() ? model_->number() : 0; // else it is the model of no weights
  return status;
}

Range elements(const ColumnView &view, Range rows, int32_t levels) {
  if (!view.given)
    return {};
  for (int32_t level = 0; level < std::min(levels, kMaxListDepth); ++level) {
    const ColumnView::Lists &lists = view.lists[level];
    if (lists.end == nullptr)
      break;
    Range inner;
    for (int32_t row = rows.begin; row < rows.end; ++row) {
      // Rows of inputs that failed, and those that cannot have the field, may say anything.
      const int32_t begin = std::max(lists.begin[row], 0);
      const auto end = static_cast<int32_t>(std::min<int64_t>(lists.end[row], lists.elements));
      if ((level == 0 && !view.has(row)) || begin >= end)
        continue;
      inner.begin = inner.end == 0 ? begin : std::min(inner.begin, begin);
      inner.end = std::max(inner.end, end);
    }
    rows = inner;
  }
  return rows;
}

//===-- Context -----------------------------------------------------------------------------------------===//

/// The number of errors.
constexpr size_t kHeader = lines(sizeof(int32_t));

Context::~Context() {
  if (backend_ == nullptr)
    return;
  if (stream_ != nullptr) {
    backend_->use(model_.device());
    (void)backend_->wait(stream_);
  }
  blas_.reset();
  graphs_.clear(*backend_, memory_);
  guard(false);
  arena_.release(memory_);
  error_memory_.release(memory_);
  staging_.release(HostMemory{*backend_});
  if (stream_ != nullptr && stream_ != options_.stream)
    backend_->close(stream_);
}

/// The first failure stays, and names the model.
void Context::check(Status status) {
  if (status.ok() || !status_.ok())
    return;
  status_ = std::move(status);
  status_.message = model_.host().info().name + ": " + status_.message;
}

Status Context::serves(const Run &run) const {
  const std::string &name = run.model.info().name;
  if (!model_.empty() && &model_.host() != &run.model)
    return Status::error(Code::bad_call, name + ": the context is of another model");
  if (!model_.empty() && !model_.is_current())
    return Status::error(
        Code::bad_call,
        name + ": the model was made anew, and the context's is as it was before: dbc::cuda::Model::renew "
               "takes it over");
  const int32_t inputs = run.range.end - run.range.begin;
  if (keeps_results_ && inputs < run.batch.inputs())
    return Status::error(
        Code::bad_call,
        name + ": results stay on the device only of a batch that is one sub-batch, not of sub-batches of " +
            std::to_string(inputs) + " of " + std::to_string(run.batch.inputs()) + " inputs");
  return Status();
}

/// Has a stream on the device, and the device as the calling thread's current one; the first time it may
/// fail, which stays.
void Context::use_device() {
  if (backend_ != nullptr) {
    if (stream_ != nullptr)
      backend_->use(model_.device());
    return;
  }
  if (model_.empty()) {
    status_ = Status::error(Code::bad_call, "the context's model was never made");
    return;
  }
  backend_ = &model_.host().code().cuda();
  memory_ = DeviceMemory(*backend_, options_.allocator);
  check(backend_->open(model_.device(), options_.stream == nullptr ? &stream_ : nullptr));
  if (status_.ok() && options_.stream != nullptr)
    stream_ = options_.stream;
  co_resident_ = status_.ok() ? backend_->co_resident(model_.device()) : 0;
}

/// Where it had nothing to do, what is wrong with the device is not of this context's making.
Status Context::failed_before() const {
  const bool asks = stream_ != nullptr && !busy_ && status_.code != Code::internal;
  return asks && backend_->failed_before != nullptr ? backend_->failed_before(stream_) : Status();
}

void Context::open() {
  use_device();
  // What a device failed at it does not get over: the status stays (CUDA calls such errors sticky).
  if (Status before = failed_before(); !before.ok()) {
    status_ = Status();
    check(std::move(before));
  } else if (stream_ != nullptr) {
    if (status_.code == Code::limit || status_.code == Code::bad_call) { // another batch may do
      status_ = Status();
      busy_ = true;
    }
    if (busy_) // what is staged may still be read
      check(wait());
  }
  if (stream_ != nullptr)
    (void)backend_->begun(); // of what this context began all is reported
  busy_ = false;
  ++sub_batch_;
  found_.clear();
  staying_.clear();
  gradients_.clear();
  repeats_ = std::exchange(again_, false);
  launches_ = 0;
  error_launches_ = 0;
  taken_ = path_ == Path::Persistent && co_resident_ > 0 ? Path::Persistent : Path::Levels;
  collecting_ = false;
  nodes_.clear();
  max_block_groups_ = 0;
}

int32_t Context::block_groups(int32_t tiles) const {
  if (path_ != Path::Persistent || model_.empty())
    return 1;
  int32_t blocks =
      backend_ != nullptr ? co_resident_ : model_.host().code().cuda().co_resident(model_.device());
  if (most_blocks_ > 0)
    blocks = std::min(blocks, most_blocks_);
  return std::clamp(std::min(blocks, block_groups_ > 0 ? block_groups_ : blocks / tiles), 1, kMaxBlockGroups);
}

/// As many blocks for each group as the group with the most rows has work for.
PersistentLoop Context::persistent_loop(const StageOfLoop *loop, size_t stages, int32_t block_groups,
                                        int32_t first, int32_t time_steps) {
  int64_t blocks = 1;
  for (const StageOfLoop *stage = loop; stage != loop + stages; ++stage)
    for (int32_t n = first * block_groups; n < time_steps * block_groups; ++n)
      blocks = std::max(blocks, (int64_t(stage->bounds[n + 1]) - stage->bounds[n] + stage->rows - 1) /
                                    stage->rows * stage->tiles);
  max_block_groups_ = std::max(max_block_groups_, block_groups);
  blocks = std::min<int64_t>(blocks * block_groups, most_blocks_ > 0 ? most_blocks_ : 1 << 20);
  return {first, time_steps, static_cast<int32_t>(blocks), block_groups, waits_ == Waits::Elements};
}

static void set_address(const Region &region, const void *address) {
  std::memcpy(region.at, &address, sizeof address);
}

/// What an array takes: where a guard zone is to stand behind it, a byte more at least.
size_t Context::room(size_t bytes) const { return lines(bytes + (backend_->guard != nullptr ? 1 : 0)); }

/// Room for all, and the addresses of what a sub-batch has besides its arrays.
bool Context::reserve(std::initializer_list<Region> regions) {
  for (const Region &region : regions) {
    if (region.device >= 0 && region.device != model_.device()) {
      check(Status::error(Code::bad_call, "an array is in the memory of device " +
                                              std::to_string(region.device) + ", the model is on device " +
                                              std::to_string(model_.device())));
      return false;
    }
    if (region.device >= 0 &&
        reinterpret_cast<uintptr_t>(region.from) % static_cast<size_t>(region.align) != 0) {
      check(Status::error(Code::bad_call, "an array in the memory of the device begins at no multiple of " +
                                              std::to_string(region.align) +
                                              " bytes, which its rows are loaded by"));
      return false;
    }
  }
  constexpr size_t errors = kErrors * sizeof(ErrorRecord);
  size_t bytes[4] = {}; // of each kind
  needed_ = kHeader + lines(errors);
  decided_bytes_ = 0;
  for (const Region &region : regions) {
    bytes[region.kind] += room(region.bytes);
    needed_ += lines(region.bytes);
    if (region.kind == Region::Decided)
      decided_bytes_ = std::max(decided_bytes_, lines(region.bytes));
  }
  result_bytes_ = bytes[Region::Result];
  const size_t header = room(kHeader), in = header + bytes[Region::Input];
  const size_t all = result_bytes_ + in + room(errors) + bytes[Region::Rows] + bytes[Region::Decided];
  guard(false);
  guard_zones_.clear();
  if (!arena_.reserve(memory_, all, options_.limit_bytes)) {
    check(memory_.missing("the batch", all, options_.limit_bytes));
    return false;
  }
  const size_t more_errors = error_capacity_ > kErrors ? error_capacity_ * sizeof(ErrorRecord) : 0;
  if (!error_memory_.reserve(memory_, more_errors)) {
    check(memory_.missing("what is wrong with the batch", more_errors, 0));
    error_capacity_ = kErrors;
    return false;
  }
  const size_t staged = in + result_bytes_ + header + decided_bytes_;
  if (!staging_.reserve(HostMemory{*backend_}, staged)) {
    check(Status::error(Code::limit, "not enough memory of the host that the device can reach: " +
                                         std::to_string(staged) + " bytes are needed"));
    return false;
  }
  results_ = arena_.data();
  header_ = reinterpret_cast<int32_t *>(results_ + result_bytes_);
  records_ =
      reinterpret_cast<ErrorRecord *>(more_errors > 0 ? error_memory_.data() : results_ + result_bytes_ + in);
  host_results_ = staging_.data() + in;
  host_decided_ = host_results_ + result_bytes_ + header;
  return true;
}

int64_t Context::begin(std::initializer_list<Region> regions) {
  open();
  if (!status_.ok() || !reserve(regions)) {
    for (const Region &region : regions)
      set_address(region, nullptr);
    return sub_batch_;
  }
  if (backend_->poison != nullptr)
    backend_->poison(arena_.data(), arena_.bytes());
  const bool guarded = backend_->guard != nullptr;
  const size_t header = room(kHeader), in = static_cast<size_t>(host_results_ - staging_.data());
  constexpr size_t records = kErrors * sizeof(ErrorRecord);
  // Where the next array of each kind begins.
  size_t at[4] = {};
  at[Region::Input] = result_bytes_ + header;
  at[Region::Rows] = result_bytes_ + in + room(records);
  at[Region::Decided] = at[Region::Rows];
  size_t unset[2] = {}; // what holds kUnset, from a byte of the arena to another
  for (const Region &region : regions)
    if (region.kind == Region::Rows)
      at[Region::Decided] += room(region.bytes);
  if (guarded)
    guard_zones_ = {{result_bytes_ + kHeader, kHeader, "number of errors", 0},
                    {result_bytes_ + in + records, records, "errors", sizeof(ErrorRecord)}};
  std::memset(staging_.data(), 0, kHeader);
  for (const Region &region : regions) {
    size_t &begin = at[region.kind];
    const bool elsewhere =
        region.kind == Region::Input && region.bytes == 0 && (region.from == nullptr || region.device >= 0);
    set_address(region, elsewhere ? region.from : arena_.data() + begin);
    if (region.kind == Region::Input && region.bytes > 0) {
      unsigned char *staged = staging_.data() + (begin - result_bytes_);
      if (region.from != nullptr)
        std::memcpy(staged, region.from, region.bytes);
      else
        std::memset(staged, 0, region.bytes);
    }
    if (guarded)
      guard_zones_.push_back({begin + region.bytes, region.bytes, region.name, region.row});
    const size_t next = begin + room(region.bytes);
    if (region.synced && taken_ == Path::Persistent && waits_ == Waits::Elements) {
      if (unset[1] != begin) { // arrays behind each other are filled at once
        fill(unset[0], unset[1]);
        unset[0] = begin;
      }
      unset[1] = next;
    }
    begin = next;
  }
  fill(unset[0], unset[1]);
  backend_->copy(header_, staging_.data(), in, stream_);
  busy_ = true;
  deciding_ = false;
  guard(true);
  return sub_batch_;
}

/// Nobody has written there, and kernels see it.
void Context::fill(size_t begin, size_t end) {
  if (begin < end)
    backend_->fill(arena_.data() + begin, end - begin, stream_);
}

/// Kernels that touch what is behind an array are reported; copies go from one array to the next.
void Context::guard(bool up) {
  for (const GuardZone &zone : guard_zones_)
    backend_->guard(arena_.data() + zone.end, zone.bytes(), up);
}

void Context::check_guard_zones(const char *kernel) {
  if (backend_->untouched == nullptr || !status_.ok())
    return;
  for (const GuardZone &zone : guard_zones_) {
    const size_t untouched = backend_->untouched(arena_.data() + zone.end, zone.bytes());
    if (untouched == zone.bytes())
      continue;
    const std::string name = zone.name != nullptr ? std::string("array `") + zone.name + "`" : "an array";
    const std::string where = zone.row > 0
                                  ? "row " + std::to_string((zone.array + untouched) / zone.row) + " of " +
                                        name + ", which has " + std::to_string(zone.array / zone.row)
                                  : counted(untouched, "byte") + " behind " + name;
    return check(Status::error(Code::internal, std::string("kernel `") + kernel + "` has written " + where));
  }
}

Errors Context::errors() {
  if (!status_.ok())
    return {};
  return {records_, header_, error_capacity_, static_cast<int32_t>(error_launches_)};
}

Blas *Context::blas(void *workspace) {
  if (!status_.ok())
    return nullptr;
  if (blas_ == nullptr)
    blas_.reset(backend_->make_blas(stream_));
  if (blas_ == nullptr) {
    check(Status::error(Code::limit, "not enough memory for the library of products"));
    return nullptr;
  }
  blas_->work_in(workspace);
  check(blas_->status());
  return status_.ok() ? blas_.get() : nullptr;
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
  check(graphs_.run(*backend_, memory_, stream_, source, nodes_));
  launches_ += status_.ok();
  check_guard_zones("of a graph");
}

const uint8_t *Context::fetch(const uint8_t *from, size_t count) {
  if (!status_.ok())
    return nullptr;
  if (count > decided_bytes_) {
    check(Status::error(Code::internal, "more is fetched than was reserved"));
    return nullptr;
  }
  backend_->copy(host_decided_, from, count, stream_);
  check(wait());
  deciding_ = false;
  return host_decided_;
}

int32_t *Context::put(int32_t *to, const int32_t *from, size_t count) {
  if (!status_.ok())
    return nullptr;
  const size_t bytes = count * sizeof(int32_t);
  if (bytes > decided_bytes_) {
    check(Status::error(Code::internal, "more is put than was reserved"));
    return nullptr;
  }
  if (deciding_)
    check(wait());
  if (count > 0)
    std::memcpy(host_decided_, from, bytes);
  backend_->copy(to, host_decided_, bytes, stream_);
  deciding_ = true;
  return to;
}

void Context::copy_out() {
  if (status_.ok() && blas_ != nullptr)
    check(blas_->status());
  if (!status_.ok()) {
    if (stream_ != nullptr)
      (void)backend_->begun(); // so that no other context finds what this one failed at
    return;
  }
  guard(false);
  const size_t skipped = keeps_results_ ? result_bytes_ : 0;
  backend_->copy(host_results_ + skipped, results_ + skipped, result_bytes_ + kHeader - skipped, stream_);
  check(backend_->begun());
}

Status Context::finish(int64_t sub_batch) {
  if (sub_batch != sub_batch_)
    return Status::error(Code::bad_call,
                         model_.host().info().name + ": another run has begun on the context in between");
  if (stream_ != nullptr) {
    backend_->use(model_.device());
    check(wait());
  }
  busy_ = false;
  if (status_.ok())
    read_errors();
  return status_;
}

/// Threads write records down in any order, each of them its own in that of the program.
void Context::read_errors() {
  int32_t count = 0;
  std::memcpy(&count, host_results_ + result_bytes_, sizeof count);
  if (count == 0)
    return;
  if (count > error_capacity_) {
    error_capacity_ = count;
    again_ = true;
    return;
  }
  found_.resize(static_cast<size_t>(count));
  backend_->copy(found_.data(), records_, found_.size() * sizeof(ErrorRecord), stream_);
  check(wait());
  auto key = [](const ErrorRecord &r) {
    return std::tie(r.launch, r.position.row, r.position.loop, r.position.iteration);
  };
  std::stable_sort(found_.begin(), found_.end(),
                   [&](const ErrorRecord &a, const ErrorRecord &b) { return key(a) < key(b); });
}

/// For all that was begun.
Status Context::wait() {
  Status begun = backend_->begun(), done = backend_->wait(stream_);
  return begun.ok() ? done : begun;
}

Status Context::copy_to_host(void *to, const void *from, size_t bytes) {
  use_device();
  if (stream_ == nullptr || status_.code == Code::internal)
    return status_;
  if (Status before = failed_before(); !before.ok()) {
    before.message = model_.host().info().name + ": " + before.message;
    return before;
  }
  if (bytes > 0)
    backend_->copy(to, from, bytes, stream_);
  Status status = wait();
  if (!status.ok()) {
    status_ = Status(); // what is wrong with a batch counts for less
    check(std::move(status));
    return status_;
  }
  return Status();
}

int64_t Context::wait_ns() {
  check(wait());
  return now_ns();
}

} // namespace dbc::cuda
