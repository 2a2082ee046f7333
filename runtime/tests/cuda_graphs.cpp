// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Launches as graphs, and which path a run takes.
#include "cuda_models.h"

#include <algorithm>

namespace {

using dbc::cuda::Graphs;
using dbc::cuda::Path;
using dbc::cuda::PersistentLoop;
using dbc::cuda::Waits;

//===-- A model with levels -----------------------------------------------------------------------------===//

/// total(t) of trees that are one leaf, by way of levels of which a test says how many rows each has. A row
/// of the first level is an input's value, of the others 2 x + 1 of one of the level before, and the result
/// one of the last. Rows below 0 are wrong.
struct ClimbArrays {
  const int32_t *from = nullptr, *time_steps = nullptr;
  dbc::cuda::Column<float> value;
  float *sums = nullptr, *result = nullptr;
  int32_t *counters = nullptr;
  dbc::cuda::Errors errors;
};

template <class Of>
__device__ void each_row(int32_t begin, int32_t end, const Of &of,
                         const dbc::cuda::Blocks &blocks = dbc::cuda::Grid()) {
  for (int32_t first = begin + blocks.number * 8; first < end; first += blocks.count * 8)
    for (int32_t row = first + threadIdx.x; row < std::min(first + 8, end); row += blockDim.x)
      of(row);
}
__device__ void take(const ClimbArrays &arrays, int32_t begin, int32_t end, int32_t) {
  each_row(begin, end, [&](int32_t row) { arrays.sums[row] = arrays.value[arrays.from[row]]; });
}
template <class BlockGroup>
__device__ void climb_by(const ClimbArrays &arrays, const BlockGroup &block_group, int32_t begin, int32_t end,
                         int32_t launch) {
  each_row(
      begin, end,
      [&](int32_t row) {
        const float sum = 2 * block_group.read(arrays.sums[arrays.from[row]]) + 1;
        block_group.write(arrays.sums[row], sum);
        if (sum < 0)
          dbc::cuda::record_error(arrays.errors, launch, 7, {row, 0, 0});
      },
      block_group);
}
__device__ void climb(const ClimbArrays &arrays, int32_t begin, int32_t end, int32_t launch) {
  climb_by(arrays, dbc::cuda::Grid(), begin, end, launch);
}
__device__ void give(const ClimbArrays &arrays, int32_t begin, int32_t end, int32_t) {
  each_row(begin, end, [&](int32_t row) { arrays.result[row - begin] = arrays.sums[arrays.from[row]]; });
}

using StageFunction = void (*)(const ClimbArrays &, int32_t, int32_t, int32_t);
template <StageFunction kStage>
__global__ void by_itself(const ClimbArrays arrays, int32_t begin, int32_t end) {
  kStage(arrays, begin, end, arrays.errors.launch);
}
template <StageFunction kStage>
__global__ void in_a_graph(const ClimbArrays *arrays, const int32_t *rows, int32_t launch) {
  kStage(*arrays, rows[0], rows[1], launch);
}
template <class BlockGroup> __global__ void persistent(const ClimbArrays arrays, const PersistentLoop loop) {
  BlockGroup block_group(loop, arrays.counters, 0);
  for (int32_t time_step = loop.first; time_step < loop.time_steps; ++time_step) {
    const int32_t at = block_group.at(time_step);
    climb_by(arrays, block_group, arrays.time_steps[at], arrays.time_steps[at + 1],
             arrays.errors.launch + time_step - loop.first);
    block_group.wait();
  }
}
std::vector<PersistentLoop> loops; ///< that were launched
void launch_persistent(const ClimbArrays &arrays, const PersistentLoop &loop, void *stream) {
  loops.push_back(loop);
  if (loop.by_element)
    return dbc::cuda::launch_cooperative(persistent<dbc::cuda::ElementSyncGroup>, loop, 0, stream, arrays,
                                         loop);
  dbc::cuda::launch_cooperative(persistent<dbc::cuda::BarrierGroup>, loop, 0, stream, arrays, loop);
}
std::vector<int32_t> blocks_in_graphs; ///< of each launch that a graph was made of
int32_t large_m_in_graphs = 0;         ///< what the last one was given

template <StageFunction kStage> dbc::cuda::DeviceStage<ClimbArrays> stage_of(const char *name) {
  return {name,
          [](const ClimbArrays &arrays, int32_t begin, int32_t end, int32_t, void *stream) {
            dbc::cuda::launch(by_itself<kStage>, dbc::cuda::blocks_of(begin, end, 8, 1), 0, stream, arrays,
                              begin, end);
          },
          8,
          4,
          1,
          2,
          [](const ClimbArrays *arrays, const int32_t *rows, int32_t launch, int32_t expected,
             int32_t large_m_from, void *stream) {
            large_m_in_graphs = large_m_from;
            blocks_in_graphs.push_back(dbc::cuda::blocks_of(0, expected, 8, 1));
            dbc::cuda::launch(in_a_graph<kStage>, blocks_in_graphs.back(), 0, stream, arrays, rows, launch);
          }};
}
const dbc::cuda::DeviceStage<ClimbArrays> climb_stages[] = {stage_of<take>("take"), stage_of<climb>("climb"),
                                                            stage_of<give>("give")};

class ClimbPlan : public dbc::EntryPlan {
public:
  static std::vector<int32_t> widths; ///< rows of each level; for a batch of inputs one of them at least
  static int32_t large_m_tiles;       ///< of climbing, see StageOfLoop

  void schedule(dbc::Run &run) override {
    time_steps_ = {0};
    for (int32_t width : widths)
      time_steps_.push_back(time_steps_.back() + (run.input_count > 0 ? width : 0));
    inner_.count = static_cast<int32_t>(widths.size()) - 1;
    inner_.begin.assign(time_steps_.size() - 1, 0);
    std::copy(time_steps_.begin() + 1, time_steps_.end(), inner_.begin.data());
    from_.clear();
    for (size_t level = 0; level < widths.size(); ++level)
      for (int32_t n = 0; n < time_steps_[level + 1] - time_steps_[level]; ++n)
        from_.push_back(level == 0 ? run.arg(0).i32[run.inputs[n % run.input_count]]
                                   : time_steps_[level - 1] + n % widths[level - 1]);
    for (int32_t i = 0; i < run.input_count; ++i)
      from_.push_back(time_steps_[widths.size() - 1] + i % widths.back());
  }
  void compute(dbc::Run &) override {}
  Status begin_on(dbc::Run &run, Context &device) override {
    const int32_t levels = static_cast<int32_t>(widths.size()), rows = time_steps_.back();
    arrays_ = {};
    block_groups_.begin(run, device.block_groups(1));
    block_groups_.distribute(inner_, run.batch.args(), [&](int32_t row) { return owner(run, row); });
    sub_batch_ = device.begin({
        dbc::cuda::result(&arrays_.result, size_t(run.input_count)),
        dbc::cuda::input(&arrays_.from, from_.data(), from_.size()),
        dbc::cuda::input(&arrays_.time_steps, block_groups_.bounds(0), block_groups_.size(0)),
        dbc::cuda::input(&arrays_.value, run.batch.column(Tree, value).f32, run.batch.rows(Tree, run.range),
                         1),
        dbc::cuda::zeros(&arrays_.counters, dbc::cuda::kCounters),
        dbc::cuda::synced(dbc::cuda::rows(&arrays_.sums, size_t(rows))),
    });
    device.collect(run);
    device.launch(run, arrays_, climb_stages, 0, 0, time_steps_[1]);
    const dbc::cuda::StageOfLoop loop[] = {
        {1, time_steps_.data() + 1, block_groups_.bounds(0), 8, 1, large_m_tiles}};
    const int32_t prefix = device.launched_prefix(loop, levels - 1);
    for (int32_t level = 1; level <= prefix; ++level)
      device.launch(run, arrays_, climb_stages, 1, time_steps_[level], time_steps_[level + 1]);
    device.launch_loop(run, arrays_, climb_stages, loop, block_groups_, prefix, levels - 1,
                       launch_persistent);
    device.launch(run, arrays_, climb_stages, 2, rows, rows + run.input_count);
    device.launch_graph(arrays_, climb_stages);
    device.copy_out();
    return device.status();
  }
  Status finish_on(dbc::Run &run, Context &device) override {
    Status status = device.finish(sub_batch_);
    while (status.ok() && device.again()) {
      status = begin_on(run, device);
      if (status.ok())
        status = device.finish(sub_batch_);
    }
    if (!status.ok())
      return status;
    for (int32_t i = 0; i < run.input_count; ++i)
      run.out.values<float>(0)[run.inputs[i]] = device.on_host(arrays_.result)[i];
    return Status();
  }

  /// The input that row n of `width` rows of a level is of, among those that take part.
  static int32_t (*owner_of)(int32_t n, int32_t width);
  static int32_t first_input(int32_t, int32_t) { return 0; }
  static int32_t in_order(int32_t n, int32_t) { return n; }
  static int32_t backwards(int32_t n, int32_t width) { return width - 1 - n; }

private:
  int32_t owner(const dbc::Run &run, int32_t row) const {
    const auto level = std::upper_bound(time_steps_.begin(), time_steps_.end(), row) - 1;
    return run.inputs[owner_of(row - *level, level[1] - *level)];
  }
  std::vector<int32_t> time_steps_, from_;
  dbc::TimeSteps inner_; ///< of the loop
  dbc::cuda::BlockGroups block_groups_;
  ClimbArrays arrays_;
  int64_t sub_batch_ = 0;
};
std::vector<int32_t> ClimbPlan::widths;
int32_t ClimbPlan::large_m_tiles = 0;
int32_t (*ClimbPlan::owner_of)(int32_t, int32_t) = ClimbPlan::first_input;

const dbc::ModelCode &climbing_code() {
  static const dbc::ModelCode code = [] {
    dbc::ModelCode made = device_code();
    made.entries[0].stages = {"take", "climb", "give"};
    made.entries[0].make_plan = dbc::make_plan<ClimbPlan>;
    return made;
  }();
  return code;
}

class CudaGraphs : public CudaContext {
protected:
  void SetUp() override {
    gpu = FakeGpu();
    blocks_in_graphs.clear();
    loops.clear();
    ClimbPlan::owner_of = ClimbPlan::first_input;
    ClimbPlan::large_m_tiles = 0;
    ASSERT_TRUE(dbc::cuda::Model::make(climbing_, 0, &on_).ok());
    context_ = std::make_unique<Context>(on_);
    session_.compute_on(context_.get());
    context_->choose_path(Path::Graph);
  }
  /// Runs a batch of `inputs` inputs through levels of these widths; whether all results are right.
  bool climbs(int32_t inputs, const std::vector<int32_t> &widths) {
    ClimbPlan::widths = widths;
    fill(inputs);
    const Status status = session_.run(0, batch_);
    EXPECT_TRUE(status.ok()) << status.message;
    if (!status.ok())
      return false;
    for (int32_t i = 0; i < inputs; ++i) {
      int32_t row = i % widths.back();
      for (size_t level = widths.size() - 1; level > 0; --level)
        row %= widths[level - 1];
      float expected = static_cast<float>(row % inputs) / 4;
      for (size_t level = 1; level < widths.size(); ++level)
        expected = 2 * expected + 1;
      if (session_.outputs(0).f32(0)[i] != expected)
        return false;
    }
    return true;
  }
  const dbc::Model climbing_ = device_model(climbing_code());
  dbc::Session session_{climbing_};
  std::unique_ptr<Context> context_;
};

//===-- Graphs ------------------------------------------------------------------------------------------===//

// Whatever rows a batch has, it is one launch of one graph, and the results are those of the other paths. The
// profile counts kernels.
TEST_F(CudaGraphs, OneLaunchABatch) {
  for (int32_t inputs : {5, 4, 5, 1, 2}) {
    EXPECT_TRUE(climbs(inputs, {inputs, 2 * inputs, 1, 3}));
    EXPECT_EQ(context_->path(), Path::Graph);
    EXPECT_EQ(context_->launches(), 1);
    EXPECT_EQ(session_.profile(0).stages[0].launches, 1);
    EXPECT_EQ(session_.profile(0).stages[1].launches, 3);
    EXPECT_EQ(session_.profile(0).stages[1].rows, 2 * inputs + 4);
  }
  EXPECT_EQ(context_->graphs().made(), 1);
  EXPECT_EQ(gpu.graphs, 1);
  for (Path path : {Path::Levels, Path::Persistent, Path::Graph}) {
    context_->choose_path(path);
    EXPECT_TRUE(climbs(5, {5, 10, 1, 3}));
    EXPECT_EQ(context_->path(), path);
    EXPECT_EQ(context_->launches(), path == Path::Levels ? 5 : path == Path::Persistent ? 3 : 1);
  }
  EXPECT_EQ(context_->graphs().made(), 1);
}

// Another number of levels is another graph; both are kept.
TEST_F(CudaGraphs, OneForEachNumberOfLevels) {
  for (int32_t round = 0; round < 2; ++round)
    for (size_t levels : {2, 5}) {
      EXPECT_TRUE(climbs(4, std::vector<int32_t>(levels, 4)));
      EXPECT_EQ(context_->launches(), 1);
    }
  EXPECT_EQ(context_->graphs().made(), 2);
  EXPECT_EQ(context_->graphs().count(), 2u);
  EXPECT_EQ(gpu.graphs, 2);
}

// So many are kept; the one that was not used for longest makes room. Its memory goes back.
TEST_F(CudaGraphs, OnlyTheLastOnesAreKept) {
  const auto of_levels = [&](size_t levels) { return climbs(2, std::vector<int32_t>(levels, 2)); };
  for (size_t levels = 1; levels <= Graphs::kMost; ++levels)
    EXPECT_TRUE(of_levels(levels));
  EXPECT_EQ(context_->graphs().count(), Graphs::kMost);
  EXPECT_TRUE(of_levels(1)); // 2 is now the one that was not used for longest
  EXPECT_EQ(context_->graphs().made(), int64_t(Graphs::kMost));
  EXPECT_TRUE(of_levels(Graphs::kMost + 1));
  EXPECT_EQ(context_->graphs().made(), int64_t(Graphs::kMost) + 1);
  EXPECT_TRUE(of_levels(1));
  EXPECT_EQ(context_->graphs().made(), int64_t(Graphs::kMost) + 1);
  EXPECT_TRUE(of_levels(2));
  EXPECT_EQ(context_->graphs().made(), int64_t(Graphs::kMost) + 2);
  EXPECT_EQ(context_->graphs().count(), Graphs::kMost);
  EXPECT_EQ(gpu.graphs, int32_t(Graphs::kMost));
  EXPECT_EQ(context_->bytes() + on_.bytes(), gpu.bytes);
  context_.reset();
  EXPECT_EQ(gpu.graphs, 0);
  EXPECT_EQ(gpu.bytes, on_.bytes());
  EXPECT_TRUE(gpu.host.empty());
}

// Memory may move as batches grow: a graph finds it. It is made anew where it has too few blocks of threads,
// with as many as a power of two of rows wants; not for a little more or for less.
TEST_F(CudaGraphs, BatchesGrow) {
  EXPECT_TRUE(climbs(3, {3, 100}));
  EXPECT_EQ(blocks_in_graphs, std::vector<int32_t>({1, 16, 1})); // 4, 128 and 4 rows
  EXPECT_TRUE(climbs(8, {1, 256}));
  EXPECT_EQ(context_->graphs().made(), 1);
  EXPECT_TRUE(climbs(8, {1, 258}));
  EXPECT_EQ(context_->graphs().made(), 2);
  EXPECT_EQ(std::vector<int32_t>(blocks_in_graphs.begin() + 3, blocks_in_graphs.end()),
            std::vector<int32_t>({1, 64, 1})); // 4, 512 and 8
  EXPECT_TRUE(climbs(2000, {2000, 1000}));
  EXPECT_EQ(context_->graphs().made(), 3);
  EXPECT_TRUE(climbs(3, {3, 100}));
  EXPECT_TRUE(climbs(2000, {2048, 1000}));
  EXPECT_EQ(context_->graphs().made(), 3);
  EXPECT_EQ(context_->graphs().count(), 1u);
  EXPECT_EQ(gpu.graphs, 1);
  EXPECT_EQ(context_->bytes() + on_.bytes(), gpu.bytes);
}

// A graph is of tiles as large as the context says; where that changes it is made anew.
TEST_F(CudaGraphs, LargeMTiles) {
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_EQ(large_m_in_graphs, dbc::cuda::kLargeMBlocks);
  context_->use_large_m_from(7);
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_TRUE(climbs(2, {2, 2}));
  EXPECT_EQ(large_m_in_graphs, 7);
  EXPECT_EQ(context_->graphs().made(), 2);
  EXPECT_EQ(context_->graphs().count(), 1u);
}

// Levels that fill large-M tiles are launches of their own before the persistent kernel has the others.
TEST_F(CudaGraphs, WideLevelsAreLaunchedByThemselves) {
  ClimbPlan::large_m_tiles = 1;
  context_->choose_path(Path::Persistent);
  context_->use_large_m_from(2);
  EXPECT_TRUE(climbs(5, {300, 200, 150, 3, 130, 2}));
  EXPECT_EQ(context_->launches(), 5); // take, two levels, all others, give
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].first, 2);
  EXPECT_EQ(loops[0].time_steps, 5);
  EXPECT_TRUE(climbs(5, {300, 200, 150}));
  EXPECT_EQ(context_->launches(), 4);
  context_->use_large_m_from(3);
  EXPECT_TRUE(climbs(5, {300, 200, 150}));
  EXPECT_EQ(context_->launches(), 3);
}

// A stream that is lent may be one of which no graph can be made: launches are written down on another one,
// which goes back at once.
TEST_F(CudaGraphs, OfALentStream) {
  char stream = 0;
  dbc::cuda::ContextOptions options;
  options.stream = gpu.lent = &stream;
  Context context(on_, options);
  context.choose_path(Path::Graph);
  session_.compute_on(&context);
  const int32_t streams = gpu.streams, opened = gpu.opened;
  for (int32_t inputs : {3, 2})
    EXPECT_TRUE(climbs(inputs, {inputs, 2}));
  EXPECT_EQ(context.graphs().made(), 1);
  EXPECT_EQ(gpu.streams, streams);
  EXPECT_EQ(gpu.opened, opened + 1);
  session_.compute_on(nullptr);
}

// In steady state a graph asks for no memory.
TEST_F(CudaGraphs, NothingIsAllocatedInSteadyState) {
  EXPECT_TRUE(climbs(20, {20, 30, 10}));
  const int32_t before = gpu.allocations;
  for (int32_t inputs : {20, 3, 19})
    EXPECT_TRUE(climbs(inputs, {inputs, 30, 10}));
  EXPECT_EQ(gpu.allocations, before);
}

// A level without rows has its node in the graph; where nothing has rows nothing is launched.
TEST_F(CudaGraphs, StagesWithoutRows) {
  EXPECT_TRUE(climbs(0, {1, 1}));
  EXPECT_EQ(context_->launches(), 0);
  EXPECT_EQ(context_->graphs().made(), 0);
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_TRUE(climbs(0, {1, 1}));
  EXPECT_EQ(context_->launches(), 0);
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_EQ(context_->graphs().made(), 1);
}

// What kernels find wrong is of the same launches as without a graph, all of it, also in a graph that ran
// before.
TEST_F(CudaGraphs, FindsWhatIsWrong) {
  const auto run = [&](Path path, int32_t inputs) {
    context_->choose_path(path);
    ClimbPlan::widths = {inputs, inputs, inputs};
    fill(inputs, [](int32_t i) { return i % 2 == 0 ? -5.f : 1.f; });
    EXPECT_TRUE(session_.run(0, batch_).ok());
    std::vector<std::pair<int32_t, int32_t>> errors;
    for (const ErrorRecord &record : context_->found())
      errors.emplace_back(record.launch, record.position.row);
    return errors;
  };
  for (int32_t inputs : {10, 6, 1000, 10}) { // of 1000 inputs there are more than there was room for
    const auto expected = run(Path::Levels, inputs);
    EXPECT_EQ(expected.size(), static_cast<size_t>(inputs));
    EXPECT_EQ(run(Path::Graph, inputs), expected) << inputs;
    EXPECT_EQ(run(Path::Persistent, inputs), expected) << inputs;
  }
}

// Where stages are timed each is launched by itself, and path() says so.
TEST_F(CudaGraphs, NotWhereStagesAreTimed) {
  session_.time_stages(true);
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_EQ(context_->path(), Path::Levels);
  EXPECT_EQ(context_->launches(), 3);
  session_.time_stages(false);
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_EQ(context_->path(), Path::Graph);
}

// On every path a log has the rows of each level, of the last run alone.
TEST_F(CudaGraphs, LaunchesAreWrittenDown) {
  dbc::LaunchLog log;
  session_.log_launches(&log);
  for (Path path : {Path::Levels, Path::Graph, Path::Persistent})
    for (int32_t inputs : {5, 2}) {
      context_->choose_path(path);
      EXPECT_TRUE(climbs(inputs, {inputs, 10, 1, 3}));
      EXPECT_EQ(context_->path(), path);
      EXPECT_EQ(log.rows, (std::vector<std::vector<int32_t>>{{inputs}, {10, 1, 3}, {inputs}}));
    }
  // Timed, each launch has its time, and a loop that is one launch has it at its first level.
  session_.time_stages(true);
  for (Path path : {Path::Levels, Path::Persistent}) {
    context_->choose_path(path);
    EXPECT_TRUE(climbs(5, {5, 10, 1, 3}));
    ASSERT_EQ(log.spans.size(), 3u);
    for (size_t stage = 0; stage < 3; ++stage) {
      ASSERT_EQ(log.spans[stage].size(), log.rows[stage].size());
      int64_t ns = 0;
      for (const dbc::TimeSpan &span : log.spans[stage]) {
        EXPECT_EQ(span.begin > 0, &span == log.spans[stage].data() || path == Path::Levels);
        ns += span.length;
      }
      EXPECT_EQ(ns, session_.profile(0).stages[stage].ns);
    }
  }
  session_.time_stages(false);
  session_.log_launches(nullptr);
  EXPECT_TRUE(climbs(5, {5, 7}));
  EXPECT_EQ(log.rows[1].size(), 3u);
}

// No memory for a graph is a limit that passes, whichever of its memories is refused; nothing is left behind.
TEST_F(CudaGraphs, RefusedMemoryIsALimit) {
  context_->choose_path(Path::Levels);
  EXPECT_TRUE(climbs(3, {3, 2}));
  context_->choose_path(Path::Graph);
  for (int32_t granted : {0, 1}) {
    gpu.refusing = granted;
    const Status status = session_.run(0, batch_);
    EXPECT_EQ(gpu.refusing, -1);
    EXPECT_EQ(status.code, Code::limit);
    EXPECT_EQ(status.message, "toy: not enough memory for a graph of launches");
    EXPECT_EQ(context_->graphs().count(), 0u);
    EXPECT_EQ(context_->bytes() + on_.bytes(), gpu.bytes);
  }
  EXPECT_TRUE(climbs(3, {3, 2}));
  EXPECT_EQ(context_->graphs().count(), 1u);
}

// Where the device makes no graph a run says why, in its words; the memory of that graph goes back.
TEST_F(CudaGraphs, NoGraphIsMade) {
  EXPECT_TRUE(climbs(3, {3, 2}));
  gpu.graph_failure = Status::error(Code::limit, "no room for graphs");
  for (int32_t level : {1, 2}) { // where it is there to be made anew, where it is not
    ClimbPlan::widths = level == 1 ? std::vector<int32_t>{3, 100} : std::vector<int32_t>{3, 2, 2};
    const Status status = session_.run(0, batch_);
    EXPECT_EQ(status.code, Code::limit);
    EXPECT_EQ(status.message, "toy: no room for graphs");
    EXPECT_EQ(context_->graphs().count(), 0u);
    EXPECT_EQ(gpu.graphs, 0);
    EXPECT_EQ(context_->bytes() + on_.bytes(), gpu.bytes);
  }
  gpu.graph_failure = Status();
  EXPECT_TRUE(climbs(3, {3, 100}));
  EXPECT_EQ(gpu.graphs, 1);
}

__global__ void write_rows(const int32_t *const *to, const int32_t *rows, int32_t launch) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    const_cast<int32_t *>(*to)[launch] = rows[0] * 100 + rows[1];
}

// Two entries may have stages of the same numbers: each has a graph of its own.
TEST_F(CudaGraphs, EntriesAreSeparate) {
  Graphs graphs;
  const Backend &backend = counting();
  const dbc::cuda::DeviceMemory memory(backend, {});
  std::vector<int32_t> written(2);
  const int32_t *at = written.data();
  const int32_t tables[2] = {};
  for (int32_t entry : {0, 1, 0}) {
    const dbc::cuda::GraphSource source = {
        &tables[entry], &at, sizeof at, 0,
        [](const void *, int32_t stage, const void *arrays, const int32_t *rows, int32_t launch,
           int32_t expected, int32_t, void *stream) {
          EXPECT_EQ(stage, 4);
          EXPECT_EQ(expected, 4);
          dbc::cuda::launch(write_rows, 1, 0, stream, static_cast<const int32_t *const *>(arrays), rows,
                            launch);
        }};
    EXPECT_TRUE(graphs.run(backend, memory, gpu.stream, source, {{4, 1, 4}, {4, 5, 9}}).ok());
    EXPECT_TRUE(backend.wait(gpu.stream).ok());
    EXPECT_EQ(written, std::vector<int32_t>({104, 509}));
  }
  EXPECT_EQ(graphs.made(), 2);
  EXPECT_EQ(graphs.count(), 2u);
  graphs.clear(backend, memory);
  EXPECT_EQ(graphs.count(), 0u);
  EXPECT_EQ(graphs.bytes(), 0u);
  EXPECT_EQ(gpu.bytes, on_.bytes());
}

//===-- Which path --------------------------------------------------------------------------------------===//

// A device where blocks of threads cannot wait for each other runs loops level by level, and path() says so;
// a graph needs no such thing.
TEST_F(CudaGraphs, DevicesWithoutCooperativeLaunches) {
  gpu.co_resident = 0;
  context_->choose_path(Path::Persistent);
  EXPECT_TRUE(climbs(3, {3, 2, 2, 1}));
  EXPECT_EQ(context_->path(), Path::Levels);
  EXPECT_EQ(context_->launches(), 5);
  context_->choose_path(Path::Graph);
  EXPECT_TRUE(climbs(3, {3, 2, 2, 1}));
  EXPECT_EQ(context_->path(), Path::Graph);
  gpu.co_resident = 4; // asked once, when a context first runs
  context_->choose_path(Path::Persistent);
  EXPECT_TRUE(climbs(3, {3, 2, 2, 1}));
  EXPECT_EQ(context_->path(), Path::Levels);
  Context other(on_);
  session_.compute_on(&other);
  EXPECT_TRUE(climbs(3, {3, 2, 2, 1}));
  EXPECT_EQ(other.path(), Path::Persistent);
  EXPECT_EQ(other.launches(), 3);
  session_.compute_on(nullptr);
}

// Inputs are distributed to as many block groups as have a block for each tile, or as a session wants it: no
// more than there are inputs, blocks and counters. Results do not depend on it, nor on how blocks wait.
TEST_F(CudaGraphs, InputsAreDistributedToBlockGroups) {
  context_->choose_path(Path::Persistent);
  ClimbPlan::owner_of = ClimbPlan::in_order;
  const struct {
    int32_t wanted, blocks, inputs, block_groups, most;
  } cases[] = {{0, 0, 9, 4, 4}, {2, 0, 9, 2, 4}, {3, 0, 9, 3, 4}, {7, 0, 9, 4, 4},
               {0, 0, 3, 3, 4}, {0, 2, 9, 2, 2}, {1, 0, 9, 1, 4}, {0, 0, 1, 1, 4}};
  for (const auto &each : cases)
    for (const Waits waits : {Waits::Barriers, Waits::Elements}) {
      context_->distribute_to(each.wanted);
      context_->limit_blocks(each.blocks);
      context_->choose_waits(waits);
      loops.clear();
      EXPECT_TRUE(climbs(each.inputs, {each.inputs, each.inputs, each.inputs, each.inputs}));
      EXPECT_EQ(context_->block_groups(), each.block_groups);
      ASSERT_EQ(loops.size(), 1u);
      EXPECT_EQ(loops[0].block_groups, each.block_groups);
      EXPECT_LE(loops[0].blocks, each.most);
      EXPECT_EQ(loops[0].by_element, waits == Waits::Elements);
    }
  gpu.co_resident = 1000; // block groups have counters
  Context many(on_);
  many.limit_blocks(3);
  session_.compute_on(&many);
  EXPECT_TRUE(climbs(40, {40, 40, 40}));
  EXPECT_EQ(many.block_groups(), 3);
  many.limit_blocks(0);
  EXPECT_EQ(many.block_groups(/*tiles=*/1), dbc::cuda::kMaxBlockGroups);
  EXPECT_EQ(many.block_groups(/*tiles=*/300), 3);
  EXPECT_EQ(many.block_groups(/*tiles=*/3000), 1);
  session_.compute_on(nullptr);
}

// Where rows of a level are not in the order of inputs nobody could say where a group's rows begin and end:
// there is one.
TEST_F(CudaGraphs, OneBlockGroupWhereRowsAreOutOfOrder) {
  context_->choose_path(Path::Persistent);
  for (const auto &[owner_of, block_groups] :
       {std::pair<int32_t (*)(int32_t, int32_t), int32_t>{ClimbPlan::first_input, 4},
        {ClimbPlan::in_order, 4},
        {ClimbPlan::backwards, 1}}) {
    ClimbPlan::owner_of = owner_of;
    EXPECT_TRUE(climbs(6, {6, 6, 6, 6, 6}));
    EXPECT_EQ(context_->block_groups(), block_groups);
  }
}

// Memory whose elements blocks wait for holds none before, batch after batch; with barriers nothing is
// filled.
TEST_F(CudaGraphs, ElementsAreSyncedOnlyWhereAsked) {
  context_->choose_path(Path::Persistent);
  for (const auto &[path, waits, fills] : {std::tuple{Path::Persistent, Waits::Elements, 1},
                                           {Path::Persistent, Waits::Barriers, 0},
                                           {Path::Levels, Waits::Elements, 0},
                                           {Path::Graph, Waits::Elements, 0}}) {
    context_->choose_path(path);
    context_->choose_waits(waits);
    for (int32_t batch = 0; batch < 2; ++batch) {
      gpu.fills = 0;
      EXPECT_TRUE(climbs(5, {5, 5, 5}));
      EXPECT_EQ(gpu.fills, fills);
    }
  }
}

} // namespace
