// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs every entry of a compiled model on a device, on each path, with results copied to the host, and again
// with results that stay there and are taken: by bits the same, where each is said to be. One input of a
// batch cannot be read; others fail where the model says so: theirs are zeros. Prints what an entry gives.
#include "Lines.h"

#include <dbc/io/instance.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using dbc::gpu::expect;

/// A result: its numbers, 4 bytes each, row by row, and where lists begin.
struct Result {
  std::vector<uint32_t> numbers;
  std::vector<std::vector<int32_t>> offsets;
  bool operator==(const Result &other) const { return numbers == other.numbers && offsets == other.offsets; }
};

static std::vector<std::vector<int32_t>> offsets_of(const dbc::Outputs &outputs, int32_t leaf) {
  std::vector<std::vector<int32_t>> all;
  for (int32_t depth = 0; depth < outputs.leaf(leaf).info.depth; ++depth) {
    const int32_t *offsets = outputs.offsets(leaf, depth);
    all.emplace_back(offsets, offsets + outputs.lists(leaf, depth) + 1);
  }
  return all;
}

/// One that is on the host.
static Result copied(const dbc::Outputs &outputs, int32_t leaf) {
  const dbc::Outputs::Leaf &of = outputs.leaf(leaf);
  Result result{std::vector<uint32_t>(static_cast<size_t>(of.values * of.info.extent)),
                offsets_of(outputs, leaf)};
  if (!result.numbers.empty())
    std::memcpy(result.numbers.data(), outputs.data(leaf), result.numbers.size() * sizeof(uint32_t));
  return result;
}

/// One that was taken; the device's memory is the host's.
static Result left(const dbc::cuda::Taken &taken, std::vector<std::vector<int32_t>> offsets) {
  Result result{{}, std::move(offsets)};
  for (int64_t row = 0; row < taken.rows(); ++row)
    for (int64_t n = 0; n < taken.info().extent; ++n) {
      const auto *at = static_cast<const unsigned char *>(taken.data()) +
                       (row * taken.stride() + n) * taken.number_bytes();
      uint32_t number = *at; // of a bool
      if (taken.number_bytes() == sizeof number)
        std::memcpy(&number, at, sizeof number);
      result.numbers.push_back(number);
    }
  return result;
}

/// Runs a batch with results that stay on the device, and takes them; what is begun on the context
/// afterwards, and its end, is not to be felt by them.
static std::vector<Result> taken(const dbc::cuda::Model &on, dbc::cuda::Path path, int32_t entry,
                                 dbc::Batch &batch, dbc::Session &session, std::vector<int64_t> &strides) {
  std::vector<dbc::cuda::Taken> results;
  std::vector<std::vector<std::vector<int32_t>>> offsets;
  {
    dbc::cuda::Context context(on);
    context.choose_path(path);
    context.leave_results(true);
    session.compute_on(&context);
    expect(session.run(entry, batch));
    const dbc::Outputs &outputs = session.outputs(entry);
    results.resize(outputs.leaves());
    for (int32_t leaf = 0; leaf < outputs.leaves(); ++leaf) {
      expect(outputs.data(leaf) == nullptr, "numbers of a result that stays are on the host too");
      expect(context.take(leaf, &results[leaf]));
      expect(results[leaf].rows() == outputs.leaf(leaf).values,
             "a result has other rows than it is said to have");
      offsets.push_back(offsets_of(outputs, leaf));
    }
    dbc::Session another(on.host());
    dbc::Batch none(on.host().info());
    another.compute_on(&context);
    none.begin_input(); // of which nothing is set
    expect(another.run(entry, none));
  }
  session.compute_on(nullptr);
  std::vector<Result> all;
  for (size_t leaf = 0; leaf < results.size(); ++leaf) {
    all.push_back(left(results[leaf], std::move(offsets[leaf])));
    strides.push_back(results[leaf].stride());
  }
  return all;
}

static void check(const dbc::cuda::Model &on, int32_t entry, dbc::Batch &batch) {
  const std::string &name = on.host().info().entries[entry].name;
  std::vector<int64_t> strides;
  for (const auto [path_name, path] : dbc::gpu::kPaths) {
    const std::string where = name + ", " + path_name + ": ";
    dbc::cuda::Context context(on);
    context.choose_path(path);
    dbc::Session session(on.host()), leaving(on.host());
    session.compute_on(&context);
    expect(session.run(entry, batch));
    strides.clear();
    const std::vector<Result> results = taken(on, path, entry, batch, leaving, strides);
    const dbc::Outputs &outputs = session.outputs(entry);
    expect(session.failed() == leaving.failed(), where + "other inputs fail where results stay");
    for (int32_t leaf = 0; leaf < outputs.leaves(); ++leaf) {
      const std::string which = where + "result " + std::to_string(leaf);
      expect(results[leaf] == copied(outputs, leaf), which + " is another one where it stays on the device");
      for (int32_t input = 0; input < batch.inputs(); ++input) {
        if (leaving.status(input).ok())
          continue;
        int64_t first = input, last = input + 1;
        for (const std::vector<int32_t> &offsets : results[leaf].offsets)
          first = offsets[first], last = offsets[last];
        const int64_t extent = outputs.leaf(leaf).info.extent;
        expect(std::all_of(results[leaf].numbers.begin() + first * extent,
                           results[leaf].numbers.begin() + last * extent,
                           [](uint32_t number) { return number == 0; }),
               which + " of an input that failed is not zero");
      }
    }
    if (path != dbc::cuda::Path::Persistent)
      continue;
    std::printf("%s: %d inputs, %d failed;", name.c_str(), batch.inputs(), session.failed());
    for (int32_t leaf = 0; leaf < outputs.leaves(); ++leaf)
      std::printf(
          "%s %lld x %lld of %lld", leaf > 0 ? "," : "", static_cast<long long>(outputs.leaf(leaf).values),
          static_cast<long long>(outputs.leaf(leaf).info.extent), static_cast<long long>(strides[leaf]));
    std::printf("\n");
  }
}

int main() {
  const dbc::ModelInfo &info = *DBC_GPU_CODE()->info;
  const dbc::gpu::Program program(info.entries[0].name, *DBC_GPU_CODE());
  dbc::cuda::Model on;
  expect(dbc::cuda::Model::make(program.model, /*device=*/0, &on));
  for (size_t number = 0; number < info.entries.size(); ++number) {
    const dbc::EntryInfo &entry = info.entries[number];
    dbc::Batch batch(info);
    dbc::InstanceReader reader(info, entry);
    for (uint64_t input = 0; input < 24; ++input) {
      dbc::Instance instance;
      expect(dbc::draw_instance(info, entry, /*seed=*/1, input, instance));
      const dbc::Status read =
          reader.append(input == 7 ? "no instance" : dbc::instance_json(info, entry, instance), batch);
      expect(read.ok() == (input != 7), read.message);
    }
    check(on, static_cast<int32_t>(number), batch);
  }
  return 0;
}
