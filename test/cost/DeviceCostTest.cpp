// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The cost model: its formula on round numbers, and what must hold of every device and kernel.

#include "cost/DeviceCost.h"
#include <algorithm>
#include <dbc/cuda/arrays.h>
#include <gtest/gtest.h>
#include <random>

using namespace dbc::cost;

namespace {

DeviceConstants roundNumbers() {
  DeviceConstants device;
  device.device = "round";
  device.processors = 4;
  device.clock_ghz = 1; // a clock is a nanosecond
  device.threads_per_processor = 256;
  device.shared_bytes_per_processor = 1000;
  device.start_us = 10;
  device.launch_us = 4;
  device.host_launch_us = 5;
  device.graph_node_us = 2;
  device.grid_barrier_us = 1;
  device.word_us = 0.75;
  device.l2_latency_us = 0.25;
  device.l2_bytes_per_second = 64e9; // 64 bytes a clock
  device.l2_bytes_per_clock = 32;
  device.shared_bytes_per_clock = 64;
  device.ffma_per_clock = 100;
  device.tf32_per_clock = 1000;
  device.tf32x3_per_clock = 250;
  device.tile_us = 0.5;
  device.product_step_clocks = 10;
  device.operation_clocks = 2;
  return device;
}

KernelShape product(const char *instruction) {
  KernelShape kernel;
  kernel.name = "product";
  kernel.rows = 8;
  kernel.tiles = 2;
  kernel.threads = 128;
  kernel.residentBlocks = 2;
  kernel.products.push_back(
      {/*outputs=*/100, /*inputs=*/200, instruction, /*rowsAtOnce=*/4, /*shared=*/true});
  return kernel;
}

double on(const Prediction &prediction, DevicePath path) { return prediction.us[size_t(path)]; }

// Resident weights are read from shared memory in a loop, and once from the second-level cache.
TEST(DeviceCost, ResidentWeightsAreReadOnce) {
  DeviceConstants device = roundNumbers();
  device.shared_bytes_per_processor = 81000;
  ProgramShape program;
  program.kernels.push_back(product("tf32"));
  KernelShape &kernel = program.kernels[0];
  kernel.loop = 0;
  kernel.persistent = {/*shared=*/1000, /*residentBytes=*/0, /*tiles=*/2};
  auto loops = [&](const std::vector<std::vector<int32_t>> &timeSteps) {
    return on(predict(device, program, timeSteps), DevicePath::Loops);
  };
  const double before = loops({{8, 8}});
  kernel.products[0].resident = true;
  kernel.persistent.residentBytes = 80000;
  // 80,000 bytes at 64 a clock in place of 32, twice; and 4 processors that read as much at 64 together.
  EXPECT_DOUBLE_EQ(loops({{8, 8}}), before - 2 * 1.25 + 5);
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 2.5 + 0.5);
  EXPECT_DOUBLE_EQ(loops({{}}), device.start_us); // no level, no launch that reads them
  // Where a processor, or a block group, has no room for them they stay where they are.
  device.shared_bytes_per_processor = 80999;
  EXPECT_DOUBLE_EQ(loops({{8, 8}}), before);
  device.shared_bytes_per_processor = 81000;
  kernel.persistent.tiles = 5;
  EXPECT_DOUBLE_EQ(loops({{8, 8}}), before);
  kernel.persistent.tiles = 2;
  // Two stages that multiply by one matrix read it once.
  const double one = loops({{8}});
  program.kernels.push_back(kernel);
  EXPECT_DOUBLE_EQ(loops({{8}, {8}}), 2 * one - device.start_us - device.launch_us - 5);
}

// Blocks with resident weights leave room for fewer others.
TEST(DeviceCost, ResidentWeightsTakeRoom) {
  DeviceConstants device = roundNumbers();
  device.shared_bytes_per_processor = 81000;
  KernelShape kernel = product("tf32");
  kernel.elements.push_back({/*elements=*/128, /*operations=*/5000}); // what a thread does decides
  kernel.loop = 0;
  kernel.persistent = {/*shared=*/1000, /*residentBytes=*/39000, /*tiles=*/2};
  kernel.rows = 1;
  const double before = workOf(device, kernel, 4, /*inLoop=*/true); // two on each processor
  kernel.persistent.residentBytes = 80000;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 4, /*inLoop=*/true), 2 * before);
}

// Many rows make blocks of many rows, and these read the weights less often.
TEST(DeviceCost, LargeMTilesReadWeightsLessOften) {
  const DeviceConstants device = roundNumbers();
  KernelShape kernel = product("tf32");
  const double narrow = workOf(device, kernel, 4096);
  kernel.largeM = 128;
  EXPECT_LT(workOf(device, kernel, 4096), narrow);
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 4096, /*inLoop=*/true), narrow);
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 64), workOf(device, product("tf32"), 64));
}

// Where large-M tiles have no room in shared memory a launch is in small ones.
TEST(DeviceCost, LargeMTilesNeedRoom) {
  const DeviceConstants device = roundNumbers();
  KernelShape kernel = product("tf32");
  const double narrow = workOf(device, kernel, 4096);
  kernel.largeM = 128;
  kernel.largeMShared = 1000;
  EXPECT_LT(workOf(device, kernel, 4096), narrow);
  kernel.largeMShared = 1001;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 4096), narrow);
}

// A matrix instruction: the slowest of multiply-adds, weights and rows decides.
TEST(DeviceCost, TheSlowestPartOfAUnitDecides) {
  DeviceConstants device = roundNumbers();
  KernelShape kernel = product("tf32");
  // 2 units: 80,000 bytes of weights at 32 a clock; 8 x 20,000 multiply-adds at 1,000 a clock are fewer
  // clocks.
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 2.5 + 0.5);
  device.l2_bytes_per_second = 8e9; // 4 a clock for each of 2 units
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 20 + 0.5);
  device = roundNumbers();
  device.tf32_per_clock = 10;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 16 + 0.5);
  device = roundNumbers();
  kernel.bytesRead = 40000;    // of a row, by each tile
  kernel.bytesWritten = 16000; // half by each
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 12 + 0.5);
}

// A plain product: a thread takes its inputs one behind the other.
TEST(DeviceCost, AChainOfAThreadTakesItsTime) {
  DeviceConstants device = roundNumbers();
  KernelShape kernel = product("ffma");
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 4), 2.5 + 0.5); // the weights
  device.product_step_clocks = 20;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 4), 4 + 0.5); // 200 inputs
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 5), 8 + 0.5); // two outputs a thread
  kernel.products.clear();
  kernel.elements.push_back({/*elements=*/50, /*operations=*/30});
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 2), 0.06 + 0.5); // 100 of them by 128 threads
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 3), 0.12 + 0.5);
}

// Processors share work items; blocks that are resident at once wait at the same time.
TEST(DeviceCost, ProcessorsShareUnits) {
  DeviceConstants device = roundNumbers();
  device.l2_bytes_per_second = 1e15;
  KernelShape kernel = product("tf32");
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 16), 2.5 + 0.5); // 4 units
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 17), 5 + 0.5);   // 6: two on one processor
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 33), 7.5 + 1);   // 10: three on one, of which 256 threads are two
  kernel.residentBlocks = 4;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 33), 7.5 + 1); // no more threads than there may be
  kernel.residentBlocks = 1;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 17), 5 + 1); // one, for its registers
  kernel.residentBlocks = 2;
  kernel.shared = 600;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 17), 5 + 1); // one, for what threads share
}

// Large-M tiles have registers and shared memory of their own.
TEST(DeviceCost, LargeMBlocksAreResidentInTheirOwnWay) {
  const DeviceConstants device = roundNumbers();
  KernelShape kernel = product("tf32");
  kernel.tiles = 64; // on 4 processors
  kernel.largeM = 128;
  kernel.shared = 1000;
  kernel.largeMResidentBlocks = 2;
  const double before = workOf(device, kernel, 128);
  kernel.largeMResidentBlocks = 1;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 128), before + 8 * device.tile_us);
  kernel.largeMResidentBlocks = 2;
  kernel.largeMShared = 600;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 128), before + 8 * device.tile_us);
}

// A chain is waited for by all that is resident at once, and again by what comes after.
TEST(DeviceCost, ChainsOfResidentBlocksPassTogether) {
  DeviceConstants device = roundNumbers();
  KernelShape kernel;
  kernel.threads = 128;
  kernel.residentBlocks = 2;
  kernel.elements.push_back({/*elements=*/1, /*operations=*/500});
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 8), 1 + 0.5); // two on each processor
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 9), 2 + 1);
}

/// Sums over rows in a tile for each processor: 4 clocks a row.
KernelShape sums() {
  KernelShape kernel;
  kernel.threads = 128;
  kernel.rows = 128;
  kernel.sums = true;
  kernel.tiles = 4;
  kernel.outerProducts.push_back({/*outputs=*/1000, /*inputs=*/1, /*instruction=*/"tf32x3"});
  return kernel;
}

// A block goes through all rows of its slice: twice as many take twice as long, the slowest part decides, and
// tiles beyond the processors come after the others.
TEST(DeviceCost, SumsOverRowsAreOneAfterTheOther) {
  const DeviceConstants device = roundNumbers();
  KernelShape kernel = sums();
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 4 + 0.5);
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 2000), 8 + 0.5);
  kernel.tiles = 5;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 2 * (4 + 0.5));
  kernel.tiles = 4;
  kernel.summedElements = {{/*elements=*/256, /*operations=*/3}}; // two a thread, 12 clocks a row
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 12 + 0.5);
  kernel.summedElements[0].elements = 257;
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 18 + 0.5);
  kernel.bytesOfTile = 320; // at 16 a clock for each of 4 processors
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 20 + 0.5);
  EXPECT_EQ(workOf(device, kernel, 0), 0);
}

// Slices are blocks of their own; two launches more clear what they give, and add it up.
TEST(DeviceCost, SlicesOfRowsAreAddedUpBehind) {
  const DeviceConstants device = roundNumbers();
  KernelShape kernel = sums();
  kernel.tiles = 2;
  kernel.slices = 2;
  kernel.summed = 8000; // numbers of each slice: 64,000 bytes, a microsecond
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 2 + 0.5 + 2 * (4 + 1));
  kernel.slices = 4; // 8 blocks on 4 processors, twice the bytes
  EXPECT_DOUBLE_EQ(workOf(device, kernel, 1000), 2 * (1 + 0.5) + 2 * (4 + 2));
  // Too few rows to be cut.
  EXPECT_DOUBLE_EQ(workOf(device, kernel, dbc::cuda::kSliceRows), 4e-3 * dbc::cuda::kSliceRows + 0.5);
}

// The wait of each path, and its launches.
TEST(DeviceCost, PathsWaitInTheirOwnWays) {
  DeviceConstants device = roundNumbers();
  KernelShape once, level;
  once.name = "once";
  level.name = "level";
  level.loop = 0;
  ProgramShape program{"entry", {once, level}, false, true};
  Prediction found = predict(device, program, {{3}, {1, 0, 1}});
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Levels), 10 + 5 + 2 * 5);
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Graph), 10 + 2.5 + 3 * 2 + 2 * 0.5);
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Loops), 10 + 5 + 4 + 3 * 1.5 + 2 * 0.5);
  EXPECT_EQ(found.launches, (std::array<int64_t, 3>{3, 1, 2}));
  EXPECT_EQ(found.kernels[1].timeSteps, 2);
  EXPECT_EQ(found.kernels[1].rows, 2);
  EXPECT_EQ(found.choice(), DevicePath::Graph);
  // Launches that cannot be a graph stay launches.
  program.graph = false;
  found = predict(device, program, {{3}, {1, 0, 1}});
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Graph), on(found, DevicePath::Levels));
  EXPECT_EQ(found.launches, (std::array<int64_t, 3>{3, 3, 2}));
  program.graph = true;
  // Many levels repay the one launch.
  device.grid_barrier_us = 0.1;
  device.l2_latency_us = 0.1;
  EXPECT_EQ(predict(device, program, {{3}, std::vector<int32_t>(20, 1)}).choice(), DevicePath::Loops);
  // A loop without a level is none.
  EXPECT_EQ(predict(device, program, {{3}, {}}).launches, (std::array<int64_t, 3>{1, 1, 1}));
}

// Two stages of one loop are one launch.
TEST(DeviceCost, StagesOfALoopAreOneLaunch) {
  KernelShape level;
  level.loop = 0;
  ProgramShape program{"entry", {level, level}, false, true};
  Prediction found = predict(roundNumbers(), program, {{1, 1}, {0, 1}});
  EXPECT_EQ(found.launches, (std::array<int64_t, 3>{3, 1, 1}));
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Loops), 10 + 4 + 4 * 1.5 + 3 * 0.5);
}

// What blocks wait for is filled before a batch: in loops alone.
TEST(DeviceCost, WhatBlocksWaitForIsFilled) {
  KernelShape level;
  level.loop = 0;
  level.syncsElements = true;
  ProgramShape program{"entry", {level}, false, true};
  const DeviceConstants device = roundNumbers();
  const Prediction without = predict(device, program, {{1, 2}});
  program.fills = 2;
  program.kernels[0].bytesSynced = 64000; // three rows of a microsecond
  const Prediction filled = predict(device, program, {{1, 2}});
  EXPECT_DOUBLE_EQ(on(filled, DevicePath::Loops), on(without, DevicePath::Loops) + 2 * 4 + 3 * 1);
  EXPECT_DOUBLE_EQ(on(filled, DevicePath::Graph), on(without, DevicePath::Graph));
  EXPECT_DOUBLE_EQ(on(filled, DevicePath::Levels), on(without, DevicePath::Levels));
}

TEST(DeviceCost, AMeanOfBatches) {
  KernelShape once;
  once.residentBlocks = 2;
  ProgramShape program{"entry", {once}, false, true};
  DeviceConstants device = roundNumbers();
  Prediction found = mean({predict(device, program, {{1}}), predict(device, program, {{3, 5}})});
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Graph), (12.5 + 15) / 2);
  EXPECT_EQ(found.batches, 2);
  EXPECT_EQ(found.kernels[0].rows, 5); // 4.5
}

// Time steps at the beginning of a loop that fill large-M tiles are launches of their own, whatever comes
// behind them.
TEST(DeviceCost, LargeTimeStepsOfALoopAreLaunches) {
  KernelShape level = product("tf32");
  level.tiles = 32;
  level.largeM = 128; // two of its blocks of rows are enough, if they are full
  level.loop = 0;
  ProgramShape program{"entry", {level}, false, true};
  const DeviceConstants device = roundNumbers();
  const Prediction largeM = predict(device, program, {{256, 300}}),
                   found = predict(device, program, {{256, 300, 5, 256}});
  EXPECT_EQ(largeM.launches, (std::array<int64_t, 3>{2, 1, 2}));
  EXPECT_DOUBLE_EQ(on(largeM, DevicePath::Loops), on(largeM, DevicePath::Levels));
  EXPECT_EQ(found.launches, (std::array<int64_t, 3>{4, 1, 3}));
  const Prediction rest = predict(device, program, {{5, 256}});
  EXPECT_EQ(rest.launches, (std::array<int64_t, 3>{2, 1, 1}));
  EXPECT_DOUBLE_EQ(on(found, DevicePath::Loops),
                   on(largeM, DevicePath::Loops) + on(rest, DevicePath::Loops) - device.start_us);
  // A tree's first level has its leaves alone, which may be another stage.
  const Prediction behind = predict(device, program, {{0, 256, 0, 300, 5, 256}});
  EXPECT_EQ(behind.launches, (std::array<int64_t, 3>{4, 1, 3}));
  EXPECT_EQ(predict(device, program, {{0, 5, 256}}).launches, (std::array<int64_t, 3>{2, 1, 1}));
  // Fewer rows of as many blocks do not fill them.
  EXPECT_EQ(predict(device, program, {{200, 300}}).launches, (std::array<int64_t, 3>{2, 1, 1}));
}

// More rows never take less in narrow tiles, whatever the device and the kernel.
TEST(DeviceCost, MoreRowsNeverTakeLess) {
  std::mt19937 random(1);
  auto draw = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  auto whole = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 300; ++round) {
    DeviceConstants device = roundNumbers();
    device.processors = double(whole(1, 150));
    for (double *constant : {&device.clock_ghz, &device.start_us, &device.launch_us, &device.host_launch_us,
                             &device.graph_node_us, &device.grid_barrier_us, &device.word_us, &device.tile_us,
                             &device.product_step_clocks})
      *constant *= draw(0.1, 3);
    device.l2_bytes_per_second *= draw(1, 100);
    KernelShape kernel = product(round % 3 == 0 ? "ffma" : round % 3 == 1 ? "tf32" : "tf32x3");
    kernel.rows = whole(1, 40);
    kernel.tiles = whole(1, 20);
    kernel.threads = 32 * whole(1, 16);
    kernel.shared = whole(0, 900);
    kernel.bytesRead = whole(0, 5000);
    kernel.products[0].shared = round % 2 == 0;
    kernel.elements.push_back({whole(1, 200), whole(1, 50)});
    kernel.loop = static_cast<int32_t>(whole(-1, 0));
    double before = 0;
    for (int32_t rows = 0; rows < 700; rows += static_cast<int32_t>(whole(1, 3))) {
      const double now = workOf(device, kernel, rows);
      EXPECT_GE(now, before) << rows << " rows, round " << round;
      before = now;
    }
    kernel.loop = 0;
    const int64_t groups = whole(1, 16);
    before = 0;
    for (int64_t rows = 0; rows < 64; ++rows) {
      const double now = workOf(device, kernel, rows, /*inLoop=*/true, groups);
      EXPECT_GE(now, before) << rows << " rows of " << groups << " block groups, round " << round;
      before = now;
    }
  }
}

// The constants of the devices that come along are whole, and say of each whether it was measured.
TEST(DeviceCost, KnownDevicesAreWhole) {
  for (const char *name : {"h100", "h200"}) {
    llvm::Expected<DeviceConstants> device = readDevice(DBC_DEVICES, name);
    ASSERT_TRUE(bool(device)) << llvm::toString(device.takeError());
    EXPECT_EQ(device->device, name);
    EXPECT_EQ(device->processors, 132);
    EXPECT_GE(device->count, device->measured);
    EXPECT_GT(device->rate("tf32"), device->rate("tf32x3"));
    EXPECT_GT(device->rate("tf32x3"), device->rate("ffma"));
    EXPECT_EQ(device->rate("wgmma"), 0);
  }
}

} // namespace
