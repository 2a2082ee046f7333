// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Computing on a CUDA device: a model's constants in its memory, and what a session needs there.
//
//   dbc::cuda::Model on_card;
//   dbc::Status status = dbc::cuda::Model::make(model, /*device=*/0, &on_card);
//   dbc::cuda::Context context(on_card);
//   session.compute_on(&context);
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/blas.h>
#include <dbc/cuda/graphs.h>
#include <dbc/cuda/memory.h>
#include <dbc/cuda/taken.h>
#include <dbc/cuda/teams.h>
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

/// The constants of a model in a device's memory. Immutable; any number of contexts may share one. New
/// weights are a new Model, and contexts of it.
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

  bool empty() const { return model_ == nullptr; }
  /// Of one that was never made, or was moved from: a model that was never made.
  const dbc::Model &host() const;
  /// Whether that still has the weights that are on the device.
  bool is_current() const { return host().number() == number_; }
  int32_t device() const { return device_; }
  /// Memory held on the device, in bytes.
  size_t bytes() const { return bytes_; }

  /// For generated code: a buffer of the model, or a matrix for products, by its number.
  template <class T> const T *buffer(int32_t slot) const {
    return static_cast<const T *>(buffers_[slot].data);
  }
  template <class Real> const Real *matrix(int32_t slot) const {
    return static_cast<const Real *>(matrices_[slot].data);
  }

private:
  void swap(Model &other) noexcept;
  const dbc::Model *model_ = nullptr;
  uint64_t number_ = 0; ///< of the model
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
template <class Arrays> struct Stage {
  const char *name;
  /// In wide tiles if that makes at least so many blocks of threads.
  void (*launch)(const Arrays &arrays, int32_t begin, int32_t end, int32_t wide, void *stream);
  int64_t read, written, gathers,
      operations; ///< for one row: bytes, bytes, rows read through an index, of products
  /// Launches it for a graph, see GraphSource; null where the entry's launches cannot be one.
  void (*record)(const Arrays *arrays, const int32_t *rows, int32_t launch, int32_t expected, int32_t wide,
                 void *stream) = nullptr;
};

/// A stage in a loop over levels or steps that is one launch.
struct StageOfLoop {
  int32_t stage;         ///< number in the table of stages
  const int32_t *begin;  ///< rows of tick t are begin[t] .. begin[t + 1] - 1
  const int32_t *bounds; ///< of each team, see Teams::bounds
  int32_t rows, tiles;   ///< of a block of threads; of the stage
  bool widens;           ///< a launch of its own may have wide tiles
};

/// How the stages of an entry run; results are the same, bit by bit.
///   Levels      each by itself, in loops over levels and steps once a level or step: each a launch
///   Graph       the same as one graph, where the report says that the entry's launches can be one; a graph
///               serves all batches with as many levels and steps, and a few are kept
///   Persistent  loops over levels and steps whole, each in one launch, where the report says that a loop
///               can; levels before it that are wide are launches of their own
enum class Path { Levels, Graph, Persistent };

/// How blocks of threads wait for each other in whole loops; results are the same, bit by bit.
///   Counters  behind each stage, until all that have the same inputs have come
///   Values    until the very numbers are there that they need, where the report says that a loop can; in the
///             others by counters
enum class Waits { Counters, Values };

/// What the application lends to a context, and what it may have.
struct ContextOptions {
  /// A cudaStream_t of the model's device, borrowed: the context's work is put in order with what else is
  /// begun there. Null: the context has one of its own. The stream that CUDA itself calls null has the name
  /// cudaStreamLegacy.
  void *stream = nullptr;
  /// Memory of the device that may be held for batches, in bytes; one that needs more fails with Code::limit.
  /// 0: any. The few kilobytes of graphs do not count, nor do records of what is wrong where a part has
  /// more than 256: other inputs must have their results.
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
  /// Unless told: whole loops.
  void choose_path(Path path) { path_ = path; }
  /// The path of the last part of a run: the one that was chosen; but Levels where the device cannot have
  /// blocks of threads wait for each other (Persistent), where the entry's launches cannot be a graph, or
  /// where stages are timed (Graph).
  Path path() const { return taken_; }
  /// Unless told: by values.
  void choose_waits(Waits waits) { waits_ = waits; }
  /// Launches of whole loops have at most so many blocks of threads; 0, unless told: as many as the device
  /// has room for at once.
  void limit_blocks(int32_t blocks) { most_blocks_ = blocks; }
  /// In whole loops inputs are dealt to so many teams of blocks, which do not wait for each other; at most
  /// kMostTeams, and no more than there are inputs and blocks. 0, unless told: as many as have a block for
  /// each tile of a stage. One where nodes that are alike share an instance, or rows of a level are not in
  /// the order of inputs.
  void deal_to(int32_t teams) { teams_ = teams; }
  /// Launches of stages have wide tiles where these make at least so many blocks of threads; 0: kWideBlocks.
  void widen_from(int32_t blocks) { wide_blocks_ = blocks > 0 ? blocks : kWideBlocks; }
  /// Whether results of runs from now on stay on the device, instead of being copied to the host: not, unless
  /// told. Outputs has the offsets of lists then, and null for values; memory that the caller handed in for
  /// values is not written. The batch must be one part: with limit_part below its inputs a run fails with
  /// bad_call.
  void leave_results(bool on) { leaves_ = on; }
  bool leaves_results() const { return leaves_; }
  /// Takes result number `leaf` (flatten order, as in Outputs) of the last run that left its results on this
  /// context, until the next part begins on it: copies it on the device, in the order of the context's
  /// stream, into memory of its own from the context's allocator, and waits for that, so that any stream may
  /// use it. What is taken does not count for limit_bytes. May be called again. Inputs that failed have rows
  /// of zeros. Fails with bad_call if there is no such result, limit without memory. By the thread that uses
  /// the context.
  Status take(int32_t leaf, Taken *result);
  /// Copies numbers of the device to the host, in the order of the context's stream, and waits: for all that
  /// was begun on it, a part of a batch too. `from` is in the memory of the model's device. Fails as a run
  /// does where the device cannot be reached, or fails. By the thread that uses the context.
  Status copy_to_host(void *to, const void *from, size_t bytes);
  /// Memory held on the device for this session, in bytes; the model's is its own, and so is what was taken.
  size_t bytes() const { return arena_.bytes() + fault_memory_.bytes() + graphs_.bytes(); }
  /// The most teams that the last part had in a whole loop; 0 where no loop was one launch.
  int32_t teams() const { return most_teams_; }
  /// What of that the last part of a run needed, by the formula in the manifest. On the CPU fences between
  /// arrays come on top.
  size_t needed_bytes() const { return needed_; }
  /// Memory of the host for copies that is held for this session, in bytes.
  size_t host_bytes() const { return staging_.bytes(); }
  /// Kernels and graphs launched for the last part of a run.
  int64_t launches() const { return launches_; }
  /// Those that were made and are kept.
  const Graphs &graphs() const { return graphs_; }

  // For generated code, in this order; after a failure all the others do nothing.

  /// Whether it is a context of the run's model, and can leave its results where they are to stay.
  Status serves(const Run &run) const;
  /// Begins to compute a part of a batch, when what was begun before is done: has memory for all of its
  /// arrays, contents undefined, and begins one copy of what the host has of them. After a failure all
  /// addresses are null. Returns the part's number, for finish().
  int64_t begin(std::initializer_list<Region> regions);
  /// Constants of the model; null after a failure.
  template <class T> const T *constant(int32_t slot) const {
    return status_.ok() ? model_.buffer<T>(slot) : nullptr;
  }
  template <class Real>
  cuda::Matrix<Real> matrix(int32_t slot, int32_t inputs, int32_t outputs, int64_t tables = 1) const {
    if (!status_.ok())
      return {};
    const Real *weights = model_.matrix<Real>(slot);
    return {weights, weights + bias_behind(tables * inputs * outputs), inputs, outputs};
  }
  /// A matrix for the matrix units, of `tiles` tiles.
  Fragments fragments(int32_t slot, int32_t blocks, int32_t strips, int64_t tiles) const {
    if (!status_.ok())
      return {};
    const float *weights = model_.matrix<float>(slot);
    return {weights, weights + tiles * blocks * strips * kFragment, blocks, strips, false};
  }
  /// The library of products, which works in these kBlasWorkspace bytes of the part; null after a failure.
  Blas *blas(void *workspace);
  /// Where kernels say what is wrong; the launch in hand.
  Faults faults();
  /// Launches a stage for rows begin .. end - 1.
  template <class Arrays>
  void launch(Run &run, Arrays &arrays, const Stage<Arrays> *stages, int32_t number, int32_t begin,
              int32_t end) {
    const int32_t rows = end - begin;
    if (!status_.ok())
      return;
    if (run.log != nullptr)
      run.log->add(number, rows);
    if (collecting_)
      nodes_.push_back({number, begin, end});
    if (rows <= 0)
      return;
    const Stage<Arrays> &stage = stages[number];
    count(run.stages[number], stage, rows);
    if (collecting_)
      return;
    arrays.faults = faults();
    const int64_t start = run.timed ? wait_ns() : 0;
    ++fault_launches_;
    stage.launch(arrays, begin, end, wide_blocks_, stream_);
    ++launches_;
    look_at_fences(stage.name);
    if (run.timed)
      run.stages[number].ns += wait_ns() - start;
  }
  /// From here on launches are collected for a graph, if that was chosen. All arrays have their memory.
  void collect(const Run &run);
  /// Launches what was collected, if it was.
  template <class Arrays> void launch_graph(Arrays &arrays, const Stage<Arrays> *stages) {
    static_assert(std::is_trivially_copyable_v<Arrays>);
    arrays.faults = faults();
    launch_nodes({stages, &arrays, sizeof(Arrays), wide_blocks_,
                  [](const void *table, int32_t stage, const void *at, const int32_t *rows, int32_t launch,
                     int32_t expected, int32_t wide, void *stream) {
                    static_cast<const Stage<Arrays> *>(table)[stage].record(
                        static_cast<const Arrays *>(at), rows, launch, expected, wide, stream);
                  }});
  }
  /// What a kernel, or the loop that begins with it, has written behind an array is a mistake in dbc.
  void look_at_fences(const char *kernel);
  /// How many ticks of a loop are launched stage by stage, before the others in one launch: all, or those at
  /// its beginning that are wide.
  template <size_t kStages> int32_t apart(const StageOfLoop (&loop)[kStages], int32_t ticks) const {
    int32_t tick = 0;
    while (tick < ticks && (taken_ != Path::Persistent || is_wide(loop, kStages, tick)))
      ++tick;
    return tick;
  }
  /// To how many teams the inputs of a part may be dealt whose loops have at most so many tiles. Before
  /// begin().
  int32_t teams(int32_t tiles) const;
  /// Launches levels or steps first .. ticks - 1 of a loop at once.
  template <class Arrays, size_t kStages>
  void launch_loop(Run &run, Arrays &arrays, const Stage<Arrays> *stages, const StageOfLoop (&loop)[kStages],
                   const Teams &teams, int32_t first, int32_t ticks,
                   void (*launch)(const Arrays &arrays, const WholeLoop &loop, void *stream)) {
    if (ticks <= first || !status_.ok())
      return;
    for (const StageOfLoop &part : loop) {
      count(run.stages[part.stage], stages[part.stage], part.begin[ticks] - part.begin[first]);
      for (int32_t tick = first; run.log != nullptr && tick < ticks; ++tick)
        run.log->add(part.stage, part.begin[tick + 1] - part.begin[tick]);
    }
    arrays.faults = faults();
    const int64_t start = run.timed ? wait_ns() : 0;
    fault_launches_ += static_cast<int64_t>(ticks - first) * static_cast<int64_t>(kStages);
    launch(arrays, whole_loop(loop, kStages, teams.count(), first, ticks), stream_);
    ++launches_;
    look_at_fences(stages[loop[0].stage].name);
    if (run.timed)
      run.stages[loop[0].stage].ns += wait_ns() - start; // of the loop as a whole
  }
  /// Waits, and gives a copy of an array of the device, valid until the next fetch or put: for what the host
  /// decides.
  const uint8_t *fetch(const uint8_t *from, size_t count);
  /// Puts numbers that the host decided in the course of a run into an array of that kind; its address.
  int32_t *put(int32_t *to, const int32_t *from, size_t count);
  /// Begins one copy of all results from the device; where they stay, only of what says what was wrong.
  void copy_out();
  /// Waits for all that was begun. Fails with bad_call if another part has begun on this context since part
  /// number `part`, which has lost its results then.
  Status finish(int64_t part);
  /// The copy of a result, by its address on the device: valid until the next part begins. Null after a
  /// failure.
  template <class T> const T *on_host(const T *result) const {
    return status_.ok() ? reinterpret_cast<const T *>(
                              host_results_ + (reinterpret_cast<const unsigned char *>(result) - results_))
                        : nullptr;
  }
  /// In place of copying `count` rows to the host, when all that was wrong is told: they stay. Row r is that
  /// of input at[r], or the result's row r where `at` is null. Rows are `stride` numbers apart; 0: `size`.
  template <class T>
  void leave(Run &run, int32_t leaf, const T *rows, const int32_t *at, int32_t count, int64_t size,
             int64_t stride = 0) {
    left_from_.assign(at != nullptr ? run.out.inputs() : count, -1);
    for (int32_t row = 0; row < count; ++row)
      left_from_[at != nullptr ? at[row] : row] = row;
    leave(run, leaf, left_result(rows, size, stride));
  }
  /// The same of the rows that were kept of a list whose length is computed.
  template <class T>
  void leave_kept(Run &run, int32_t leaf, const T *rows, const Space &elements, const int32_t *inputs,
                  int64_t size, int64_t stride = 0) {
    const int32_t *order = elements.ticks.order.data(), count = elements.ticks.end(0);
    run.out.shorten(leaf, elements[0], order, count, inputs);
    left_from_.assign(order, order + count);
    leave(run, leaf, left_result(rows, size, stride));
  }
  /// What the kernels found wrong, in the order of launches, rows and checks.
  const std::vector<FaultRecord> &found() const { return found_; }
  /// Whether more was wrong than there was room to say: there is now, so the part is to be computed again.
  bool again() const { return again_; }
  Status status() const { return status_; }

private:
  template <class Arrays> static void count(StageProfile &profile, const Stage<Arrays> &stage, int32_t rows) {
    ++profile.launches;
    profile.rows += rows;
    profile.bytes_read += rows * stage.read;
    profile.bytes_written += rows * stage.written;
    profile.gathers += rows * stage.gathers;
    profile.operations += rows * stage.operations;
  }
  WholeLoop whole_loop(const StageOfLoop *loop, size_t stages, int32_t teams, int32_t first, int32_t ticks);
  bool is_wide(const StageOfLoop *loop, size_t stages, int32_t tick) const {
    return std::any_of(loop, loop + stages, [&](const StageOfLoop &stage) {
      return stage.widens &&
             blocks_of(stage.begin[tick], stage.begin[tick + 1], kWideRows, stage.tiles) >= wide_blocks_;
    });
  }
  template <class T> static LeftResult left_result(const T *rows, int64_t size, int64_t stride) {
    LeftResult result;
    result.data = reinterpret_cast<const unsigned char *>(rows);
    result.stride = stride > 0 ? stride : size;
    result.number_bytes = sizeof(T);
    return result;
  }
  void leave(Run &run, int32_t leaf, LeftResult result);
  void check(Status status);
  void reach();
  Status failed_before() const;
  void open();
  bool reserve(std::initializer_list<Region> regions);
  size_t room(size_t bytes) const;
  void fill(size_t begin, size_t end);
  void fence(bool up);
  void read_faults();
  void launch_nodes(const GraphSource &source);
  Status wait();
  int64_t wait_ns();

  const Model &model_;
  const ContextOptions options_;
  const Backend *backend_ = nullptr;
  DeviceMemory memory_;
  void *stream_ = nullptr;
  Status status_;
  // On the device: results, the header, inputs, records of faults, all other arrays. The header is the number
  // of faults. It goes there with the inputs, as zero, and comes back with the results.
  Reservation arena_;
  unsigned char *results_ = nullptr;
  int32_t *header_ = nullptr;
  FaultRecord *records_ = nullptr;
  /// What stands behind an array, from its end to the beginning of the next.
  struct Fence {
    size_t end;       ///< of the array, in the arena
    size_t array;     ///< bytes of the array
    const char *name; ///< of the array; null: unknown
    size_t row;       ///< bytes of a row of it, or 0

    size_t bytes() const { return lines(end + 1) - end; }
  };
  std::vector<Fence> fences_; ///< empty where none stand
  // On the host: what goes there, what comes back, what is fetched and put.
  Reservation staging_;
  unsigned char *host_results_ = nullptr, *host_decided_ = nullptr;
  size_t needed_ = 0, result_bytes_ = 0, decided_bytes_ = 0;
  int64_t part_ = 0;      ///< number of the part in hand
  bool busy_ = false;     ///< something was begun and not waited for
  bool deciding_ = false; ///< a copy from where decisions are staged may be under way
  /// Records of faults that the arena has room for; where there were more, all of them have memory of their
  /// own, which is kept.
  static constexpr int32_t kFaults = 256;
  Reservation fault_memory_;
  int32_t fault_capacity_ = kFaults;
  std::vector<FaultRecord> found_;
  int64_t launches_ = 0, fault_launches_ = 0; ///< of kernels; of stages, for the order of what is wrong
  Path path_ = Path::Persistent, taken_ = Path::Levels;
  Waits waits_ = Waits::Values;
  int32_t together_ = 0;       ///< of the device, see Backend
  std::unique_ptr<Blas> blas_; ///< made when it is first asked for
  Graphs graphs_;
  bool collecting_ = false;
  std::vector<Node> nodes_; ///< what was collected
  int32_t most_blocks_ = 0, wide_blocks_ = kWideBlocks;
  int32_t teams_ = 0, most_teams_ = 0; ///< wanted; of the part in hand
  bool again_ = false;
  bool leaves_ = false;
  std::vector<LeftResult> left_; ///< by leaf; empty: none stay
  std::vector<int32_t> left_from_;
};

} // namespace dbc::cuda
