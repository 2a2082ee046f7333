// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Computing on a CUDA device: a model's constants in its memory, and what a session needs there.
//
//   dbc::cuda::Model on_device;
//   dbc::Status status = dbc::cuda::Model::make(model, /*device=*/0, &on_device);
//   dbc::cuda::Context context(on_device);
//   session.compute_on(&context);
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/blas.h>
#include <dbc/cuda/block_groups.h>
#include <dbc/cuda/device_result.h>
#include <dbc/cuda/graphs.h>
#include <dbc/cuda/memory.h>
#include <dbc/model.h>
#include <dbc/session.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

namespace dbc::cuda {

class Context;
class Optimizer;

/// The constants of a model in a device's memory. Any number of contexts may share one. It is changed by
/// renew() alone, which is for training; else new weights are a new Model, and contexts of it.
class Model {
public:
  Model() = default;
  Model(Model &&other) noexcept { swap(other); }
  Model &operator=(Model &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Model();

  /// `model` is borrowed and must outlive this. Fails with Code::bad_call if it was compiled without --target
  /// cuda or there is no such device, Code::limit with the reason where there is no driver, no code for the
  /// device, no memory.
  /// Memory comes from `allocator`, if it has functions; what they need must outlive this.
  static Status make(const dbc::Model &model, int32_t device, Model *made, const Allocator &allocator = {});

  /// Takes over what dbc::Model::renew() has made of the model, into the memory that it has. Nothing may be
  /// computed with it meanwhile; contexts need not be told. Fails with bad_call where it was never made, and
  /// as make() does where the device fails; then it is to be renewed again before it is used.
  Status renew();

  bool empty() const { return model_ == nullptr; }
  /// Of one that was never made, or was moved from: a model that was never made.
  const dbc::Model &host() const;
  /// Whether that still has the weights that are on the device.
  bool is_current() const { return host().number() == number_; }
  int32_t device() const { return device_; }
  /// Memory held on the device, in bytes.
  size_t bytes() const { return bytes_; }

  /// For generated code: a buffer of the model, or a matrix for products, by its number.
  template <class T> const T *buffer(int32_t number) const {
    return static_cast<const T *>(buffers_[number].data);
  }
  template <class Real> const Real *matrix(int32_t number) const {
    return static_cast<const Real *>(matrices_[number].data);
  }

private:
  friend class Optimizer;
  void swap(Model &other) noexcept;
  Status upload();
  const dbc::Model *model_ = nullptr;
  uint64_t number_ = 0;   ///< of the model
  uint64_t renewals_ = 0; ///< how often all weights were replaced: by renew(), or as an Optimizer began
  const Backend *backend_ = nullptr;
  DeviceMemory memory_;
  int32_t device_ = 0;
  size_t bytes_ = 0;
  struct Constant {
    void *data = nullptr;
    size_t bytes = 0;
  };
  std::vector<Constant> buffers_, matrices_;
};

/// The elements of some rows of a list column behind `levels` lists in lists: inner lists, or values. What
/// other rows have may lie between them.
Range elements(const ColumnView &view, Range rows, int32_t levels = kMaxListDepth);

/// A stage of an entry on a device: a function that launches its kernel for rows begin .. end - 1.
template <class Arrays> struct DeviceStage {
  const char *name;
  /// In large-M tiles if its rows fill at least so many blocks of threads.
  void (*launch)(const Arrays &arrays, int32_t begin, int32_t end, int32_t large_m_from, void *stream);
  int64_t read, written, gathers,
      operations; ///< for one row: bytes, bytes, rows read through an index, of products
  /// Launches it for a graph, see GraphSource; null where the entry's launches cannot be one.
  void (*record)(const Arrays *arrays, const int32_t *rows, int32_t launch, int32_t expected,
                 int32_t large_m_from, void *stream) = nullptr;
};

/// A stage in a loop over levels or steps that is one launch.
struct StageOfLoop {
  int32_t stage;         ///< number in the table of stages
  const int32_t *begin;  ///< rows of time step t are begin[t] .. begin[t + 1] - 1
  const int32_t *bounds; ///< of each block group, see BlockGroups::bounds
  int32_t rows, tiles;   ///< of a block of threads; of the stage
  int32_t large_m_tiles; ///< of a launch of its own in large-M tiles; 0: it has none
};

/// How the stages of an entry run; results are the same, bit by bit.
///   Levels      each by itself, in loops over levels and steps once a level or step: each a launch
///   Graph       the same as one graph, where the report says that the entry's launches can be one; a graph
///               serves all batches with as many levels and steps, and a few are kept
///   Persistent  loops over levels and steps whole, each in one launch, where the report says that a loop
///               can; levels before it that fill large-M tiles are launches of their own
enum class Path { Levels, Graph, Persistent };

/// How blocks of threads wait for each other in persistent kernels; results are the same, bit by bit.
///   Barriers  behind each stage, for all that have the same inputs
///   Elements  until the very elements are there that they need, where the report says that a loop can; in
///             the others at barriers
enum class Waits { Barriers, Elements };

/// What the application lends to a context, and what it may have.
struct ContextOptions {
  /// A cudaStream_t of the model's device, borrowed: the context's work is put in order with what else is
  /// begun there. Null: the context has one of its own. The stream that CUDA itself calls null has the name
  /// cudaStreamLegacy.
  void *stream = nullptr;
  /// Memory of the device that may be held for batches, in bytes; one that needs more fails with Code::limit.
  /// 0: any. Graphs do not count (16 of them, each with a copy of the addresses of all arrays, 32,000 bytes
  /// at most, and 8 bytes for each launch), nor do records of what is wrong where a sub-batch has more than
  /// 256: other inputs must have their results.
  size_t limit_bytes = 0;
  /// Where it comes from.
  Allocator allocator;
};

/// A stream of a device, and the memory there of one session, which borrows it; not to be used by two threads
/// at once. Memory is one reservation on the device and one on the host: it grows between batches, never in
/// one, and is kept. A run leaves the context's device the calling thread's current one.
class Context {
public:
  /// `model` is borrowed and must outlive this. What cannot be had is said by the first run.
  explicit Context(const Model &model, const ContextOptions &options = {})
      : model_(model), options_(options) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const Model &model() const { return model_; }
  /// Persistent kernels by default.
  void choose_path(Path path) { path_ = path; }
  /// The path of the last sub-batch of a run: the one that was chosen; but Levels where the device cannot
  /// have blocks of threads wait for each other (Persistent), where the entry's launches cannot be a graph,
  /// or where stages are timed (Graph).
  Path path() const { return taken_; }
  /// By elements by default.
  void choose_waits(Waits waits) { waits_ = waits; }
  /// Launches of persistent kernels have at most so many blocks of threads; 0, the default: as many as the
  /// device has room for at once.
  void limit_blocks(int32_t blocks) { most_blocks_ = blocks; }
  /// In persistent kernels inputs are distributed to so many block groups, which do not wait for each other;
  /// at most kMaxBlockGroups, and no more than there are inputs and blocks. 0, the default: as many as have a
  /// block for each tile of a stage. One where nodes that are alike share an instance, or rows of a level are
  /// not in the order of inputs.
  void distribute_to(int32_t block_groups) { block_groups_ = block_groups; }
  /// Launches of stages have large-M tiles where their rows fill at least so many blocks of threads; 0:
  /// kLargeMBlocks.
  void use_large_m_from(int32_t blocks) { large_m_from_ = blocks > 0 ? blocks : kLargeMBlocks; }
  /// Whether results of runs from now on stay on the device, instead of being copied to the host: not by
  /// default. Outputs has the offsets of lists then, and null for values; memory that the caller handed in
  /// for values is not written. The batch must be one sub-batch: with limit_sub_batch below its inputs a run
  /// fails with bad_call.
  void keep_results_on_device(bool on) { keeps_results_ = on; }
  bool keeps_results_on_device() const { return keeps_results_; }
  /// Whether gradients of parameters that runs from now on give stay on the device, for a cuda::Optimizer,
  /// instead of being copied to the host: not by default. Outputs has none of them then.
  void keep_gradients_on_device(bool on) { keeps_gradients_ = on; }
  bool keeps_gradients_on_device() const { return keeps_gradients_; }
  /// Gives result number `component` (flatten order, as in Outputs) of the last run whose results stay on
  /// this context, until the next sub-batch begins on it: copies it on the device, in the order of the
  /// context's stream, into memory of its own from the context's allocator, and waits for that, so that any
  /// stream may use it. What it takes does not count for limit_bytes. May be called again. Inputs that failed
  /// have rows of zeros. Fails with bad_call if there is no such result, limit without memory. By the thread
  /// that uses the context.
  Status get_result(int32_t component, DeviceResult *result);
  /// Copies numbers of the device to the host, in the order of the context's stream, and waits: for all that
  /// was begun on it, a sub-batch too. `from` is in the memory of the model's device. Fails as a run does
  /// where the device cannot be reached, or fails. By the thread that uses the context.
  Status copy_to_host(void *to, const void *from, size_t bytes);
  /// Memory held on the device for this session, in bytes; the model's is its own, and so are DeviceResults.
  size_t bytes() const { return arena_.bytes() + error_memory_.bytes() + graphs_.bytes(); }
  /// The most block groups that the last sub-batch had in a persistent kernel; 0 where there was none.
  int32_t block_groups() const { return max_block_groups_; }
  /// What of that the last sub-batch of a run needed, by the formula in the manifest. On the CPU guard zones
  /// between arrays come on top.
  size_t needed_bytes() const { return needed_; }
  /// Memory of the host for copies that is held for this session, in bytes.
  size_t host_bytes() const { return staging_.bytes(); }
  /// Kernels and graphs launched for the last sub-batch of a run.
  int64_t launches() const { return launches_; }
  /// Those that were made and are kept.
  const Graphs &graphs() const { return graphs_; }

  // For generated code, in this order; after a failure all the others do nothing.

  /// Whether it is a context of the run's model, and can leave its results where they are to stay.
  Status serves(const Run &run) const;
  /// Begins to compute a sub-batch, when what was begun before is done: has memory for all of its arrays,
  /// contents undefined, and begins one copy of what the host has of them. After a failure all addresses are
  /// null. Returns the sub-batch's number, for finish().
  int64_t begin(std::initializer_list<Region> regions);
  /// Constants of the model; null after a failure.
  template <class T> const T *constant(int32_t number) const {
    return status_.ok() ? model_.buffer<T>(number) : nullptr;
  }
  template <class Real>
  cuda::Matrix<Real> matrix(int32_t number, int32_t inputs, int32_t outputs, int64_t tables = 1) const {
    if (!status_.ok())
      return {};
    const Real *weights = model_.matrix<Real>(number);
    return {weights, weights + bias_behind(tables * inputs * outputs), inputs, outputs};
  }
  /// A matrix for the tensor cores, of `tiles` tiles.
  Fragments fragments(int32_t number, int32_t k_tiles, int32_t n_tiles, int64_t tiles) const {
    if (!status_.ok())
      return {};
    const float *weights = model_.matrix<float>(number);
    return {weights, weights + tiles * k_tiles * n_tiles * kFragment, k_tiles, n_tiles, false};
  }
  /// The library of products, which works in these kBlasWorkspace bytes of the sub-batch; null after a
  /// failure.
  Blas *blas(void *workspace);
  /// Where kernels say what is wrong; the launch in hand.
  Errors errors();
  /// Launches a stage for rows begin .. end - 1.
  template <class Arrays>
  void launch(Run &run, Arrays &arrays, const DeviceStage<Arrays> *stages, int32_t number, int32_t begin,
              int32_t end) {
    const int32_t rows = end - begin;
    if (!status_.ok())
      return;
    if (run.log != nullptr && !repeats_)
      run.log->add(number, rows);
    if (collecting_)
      nodes_.push_back({number, begin, end});
    if (rows <= 0)
      return;
    const DeviceStage<Arrays> &stage = stages[number];
    if (!repeats_)
      count(run.stages[number], stage, rows);
    if (collecting_)
      return;
    arrays.errors = errors();
    const bool timed = run.timed && !repeats_;
    const int64_t start = timed ? wait_ns() : 0;
    ++error_launches_;
    stage.launch(arrays, begin, end, large_m_from_, stream_);
    ++launches_;
    check_guard_zones(stage.name);
    if (timed)
      add_time(run, number, start);
  }
  /// From here on launches are collected for a graph, if that was chosen. All arrays have their memory.
  void collect(const Run &run);
  /// Launches what was collected, if it was.
  template <class Arrays> void launch_graph(Arrays &arrays, const DeviceStage<Arrays> *stages) {
    static_assert(std::is_trivially_copyable_v<Arrays>);
    arrays.errors = errors();
    launch_nodes({stages, &arrays, sizeof(Arrays), large_m_from_,
                  [](const void *table, int32_t stage, const void *at, const int32_t *rows, int32_t launch,
                     int32_t expected, int32_t large_m_from, void *stream) {
                    static_cast<const DeviceStage<Arrays> *>(table)[stage].record(
                        static_cast<const Arrays *>(at), rows, launch, expected, large_m_from, stream);
                  }});
  }
  /// What a kernel, or the loop that begins with it, has written behind an array is a mistake in dbc.
  void check_guard_zones(const char *kernel);
  /// How many time steps of a loop are launched stage by stage, before the others in one launch: all, or
  /// those at its beginning that fill large-M tiles, see large_m_prefix().
  template <size_t kStages>
  int32_t launched_prefix(const StageOfLoop (&loop)[kStages], int32_t time_steps) const {
    if (taken_ != Path::Persistent)
      return time_steps;
    return large_m_prefix(time_steps, [&](int32_t time_step) { return rows_of(loop, kStages, time_step); });
  }
  /// To how many block groups the inputs of a sub-batch may be distributed whose loops have at most so many
  /// tiles. Before begin().
  int32_t block_groups(int32_t tiles) const;
  /// Launches levels or steps first .. time_steps - 1 of a loop at once; `reverse`: which goes from the last
  /// one to the first.
  template <class Arrays, size_t kStages>
  void launch_loop(Run &run, Arrays &arrays, const DeviceStage<Arrays> *stages,
                   const StageOfLoop (&loop)[kStages], const BlockGroups &block_groups, int32_t first,
                   int32_t time_steps,
                   void (*launch)(const Arrays &arrays, const PersistentLoop &loop, void *stream),
                   bool reverse = false) {
    if (time_steps <= first || !status_.ok())
      return;
    for (const StageOfLoop &each : loop) {
      if (repeats_)
        break;
      count(run.stages[each.stage], stages[each.stage], each.begin[time_steps] - each.begin[first]);
      for (int32_t n = 0; run.log != nullptr && n < time_steps - first; ++n) {
        const int32_t time_step = reverse ? time_steps - 1 - n : first + n;
        run.log->add(each.stage, each.begin[time_step + 1] - each.begin[time_step]);
      }
    }
    arrays.errors = errors();
    const bool timed = run.timed && !repeats_;
    const int64_t start = timed ? wait_ns() : 0;
    error_launches_ += static_cast<int64_t>(time_steps - first) * static_cast<int64_t>(kStages);
    launch(arrays, persistent_loop(loop, kStages, block_groups.count(), first, time_steps), stream_);
    ++launches_;
    check_guard_zones(stages[loop[0].stage].name);
    if (timed)
      add_time(run, loop[0].stage, start, size_t(time_steps - first) - 1); // of the loop as a whole
  }
  /// Waits, and gives a copy of an array of the device, valid until the next fetch or put: for what the host
  /// decides.
  const uint8_t *fetch(const uint8_t *from, size_t count);
  const int32_t *fetch(const int32_t *from, size_t count) {
    return reinterpret_cast<const int32_t *>(
        fetch(reinterpret_cast<const uint8_t *>(from), count * sizeof(int32_t)));
  }
  /// Puts numbers that the host decided in the course of a run into an array of that kind; its address.
  int32_t *put(int32_t *to, const int32_t *from, size_t count);
  /// In place of what would follow, after a failure: says what it was.
  Status stop() {
    copy_out();
    return status_;
  }
  /// Begins one copy of all results from the device; where they stay, only of what says what was wrong.
  void copy_out();
  /// Waits for all that was begun. Fails with bad_call if another sub-batch has begun on this context since
  /// sub-batch number `sub_batch`, which has lost its results then.
  Status finish(int64_t sub_batch);
  /// The copy of a result, by its address on the device: valid until the next sub-batch begins. Null after a
  /// failure.
  template <class T> const T *on_host(const T *result) const {
    return status_.ok() ? reinterpret_cast<const T *>(
                              host_results_ + (reinterpret_cast<const unsigned char *>(result) - results_))
                        : nullptr;
  }
  /// In place of copying `count` rows to the host, when all that was wrong is reported: they stay. Row r is
  /// that of input at[r], or the result's row r where `at` is null. Rows are `stride` elements apart; 0:
  /// `size`.
  template <class T>
  void keep_result(Run &run, int32_t component, const T *rows, const int32_t *at, int32_t count, int64_t size,
                   int64_t stride = 0) {
    staying_from_.assign(at != nullptr ? run.out.inputs() : count, -1);
    for (int32_t row = 0; row < count; ++row)
      staying_from_[at != nullptr ? at[row] : row] = row;
    keep_result(run, component, staying_result(rows, size, stride));
  }
  /// A gradient of the last run that stayed, until the next one begins.
  struct Gradient {
    int32_t param;
    const void *numbers; ///< on the device
    size_t count;
    GradientRows rows; ///< of a sparse one; the numbers of rows are the host's
  };
  /// In place of copying one to the host.
  template <class T>
  void keep_gradient(int32_t param, const T *numbers, size_t count, const GradientRows &rows = {}) {
    gradients_.push_back({param, numbers, count, rows});
  }
  const std::vector<Gradient> &gradients() const { return gradients_; }
  /// The stream that everything is begun on; null before the first run.
  void *stream() const { return stream_; }
  /// The same of the active rows of a list whose length is computed.
  template <class T>
  void keep_active_result(Run &run, int32_t component, const T *rows, const IndexSet &elements,
                          const int32_t *inputs, int64_t size, int64_t stride = 0) {
    const int32_t *order = elements.time_steps.order.data(), count = elements.time_steps.end(0);
    run.out.shorten(component, elements[0], order, count, inputs);
    staying_from_.assign(order, order + count);
    keep_result(run, component, staying_result(rows, size, stride));
  }
  /// What the kernels found wrong, in the order of launches, rows and checks.
  const std::vector<ErrorRecord> &found() const { return found_; }
  /// Whether more was wrong than there was room to say: there is now, so the sub-batch is to be computed
  /// again.
  bool again() const { return again_; }
  Status status() const { return status_; }

private:
  template <class Arrays>
  static void count(StageProfile &profile, const DeviceStage<Arrays> &stage, int32_t rows) {
    ++profile.launches;
    profile.rows += rows;
    profile.bytes_read += rows * stage.read;
    profile.bytes_written += rows * stage.written;
    profile.gathers += rows * stage.gathers;
    profile.operations += rows * stage.operations;
  }
  /// Waits for a launch of a stage that began at `start`, behind which so many were written down.
  void add_time(Run &run, int32_t stage, int64_t start, size_t behind = 0) {
    const int64_t end = wait_ns();
    run.stages[stage].ns += end - start;
    if (run.log != nullptr)
      run.log->add_time(stage, start, end, behind);
  }
  PersistentLoop persistent_loop(const StageOfLoop *loop, size_t stages, int32_t block_groups, int32_t first,
                                 int32_t time_steps);
  TimeStepRows rows_of(const StageOfLoop *loop, size_t stages, int32_t time_step) const {
    TimeStepRows most = TimeStepRows::None;
    for (size_t n = 0; n < stages; ++n) {
      const int32_t begin = loop[n].begin[time_step], end = loop[n].begin[time_step + 1];
      if (end <= begin)
        continue;
      const bool is_large_m = loop[n].large_m_tiles > 0 &&
                              filled_large_m_blocks(begin, end, loop[n].large_m_tiles) >= large_m_from_;
      most = std::max(most, is_large_m ? TimeStepRows::LargeM : TimeStepRows::Few);
    }
    return most;
  }
  template <class T> static StayingResult staying_result(const T *rows, int64_t size, int64_t stride) {
    StayingResult result;
    result.data = reinterpret_cast<const unsigned char *>(rows);
    result.stride = stride > 0 ? stride : size;
    result.number_bytes = sizeof(T);
    return result;
  }
  void keep_result(Run &run, int32_t component, StayingResult result);
  void check(Status status);
  void use_device();
  Status failed_before() const;
  void open();
  bool reserve(std::initializer_list<Region> regions);
  size_t room(size_t bytes) const;
  void fill(size_t begin, size_t end);
  void guard(bool up);
  void read_errors();
  void launch_nodes(const GraphSource &source);
  Status wait();
  int64_t wait_ns();

  const Model &model_;
  const ContextOptions options_;
  const Backend *backend_ = nullptr;
  DeviceMemory memory_;
  void *stream_ = nullptr;
  Status status_;
  // On the device: results, the header, inputs, records of errors, all other arrays. The header is the number
  // of errors. It goes there with the inputs, as zero, and comes back with the results.
  Reservation arena_;
  unsigned char *results_ = nullptr;
  int32_t *header_ = nullptr;
  ErrorRecord *records_ = nullptr;
  /// What stands behind an array, from its end to the beginning of the next.
  struct GuardZone {
    size_t end;       ///< of the array, in the arena
    size_t array;     ///< bytes of the array
    const char *name; ///< of the array; null: unknown
    size_t row;       ///< bytes of a row of it, or 0

    size_t bytes() const { return lines(end + 1) - end; }
  };
  std::vector<GuardZone> guard_zones_; ///< empty where none stand
  // On the host: what goes there, what comes back, what is fetched and put.
  Reservation staging_;
  unsigned char *host_results_ = nullptr, *host_decided_ = nullptr;
  size_t needed_ = 0, result_bytes_ = 0, decided_bytes_ = 0;
  int64_t sub_batch_ = 0; ///< number of the sub-batch in hand
  bool busy_ = false;     ///< something was begun and not waited for
  bool deciding_ = false; ///< a copy from where decisions are staged may be under way
  /// Records of errors that the arena has room for; where there were more, all of them have memory of their
  /// own, which is kept.
  static constexpr int32_t kErrors = 256;
  Reservation error_memory_;
  int32_t error_capacity_ = kErrors;
  std::vector<ErrorRecord> found_;
  int64_t launches_ = 0, error_launches_ = 0; ///< of kernels; of stages, for the order of what is wrong
  Path path_ = Path::Persistent, taken_ = Path::Levels;
  Waits waits_ = Waits::Elements;
  int32_t co_resident_ = 0;    ///< of the device, see Backend
  std::unique_ptr<Blas> blas_; ///< made when it is first asked for
  Graphs graphs_;
  bool collecting_ = false;
  std::vector<Node> nodes_; ///< what was collected
  int32_t most_blocks_ = 0, large_m_from_ = kLargeMBlocks;
  int32_t block_groups_ = 0, max_block_groups_ = 0; ///< wanted; of the sub-batch in hand
  bool again_ = false;
  bool repeats_ = false; ///< the sub-batch in hand, of which the profile has all that it does
  bool keeps_results_ = false, keeps_gradients_ = false;
  std::vector<Gradient> gradients_;    ///< that stayed
  std::vector<StayingResult> staying_; ///< by component; empty: none stay
  std::vector<int32_t> staying_from_;
};

} // namespace dbc::cuda
