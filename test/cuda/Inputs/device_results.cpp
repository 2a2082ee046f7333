// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs every entry of a compiled model on a device, on each path, with results copied to the host, and again
// with results that stay there: by bits the same, where each is said to be. One input of a
// batch cannot be read; others fail where the model says so: theirs are zeros. Prints what an entry gives.
#include "Lines.h"

#include <dbc/io/instance.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using dbc::gpu::expect;

/// A result: its elements, 4 bytes each, row by row, and where lists begin.
struct Result {
  std::vector<uint32_t> elements;
  std::vector<std::vector<int32_t>> offsets;
  bool operator==(const Result &other) const {
    return elements == other.elements && offsets == other.offsets;
  }
};

static std::vector<std::vector<int32_t>> offsets_of(const dbc::Outputs &outputs, int32_t component) {
  std::vector<std::vector<int32_t>> all;
  for (int32_t depth = 0; depth < outputs.component(component).info.depth; ++depth) {
    const int32_t *offsets = outputs.offsets(component, depth);
    all.emplace_back(offsets, offsets + outputs.lists(component, depth) + 1);
  }
  return all;
}

/// One that is on the host.
static Result copied(const dbc::Outputs &outputs, int32_t component) {
  const dbc::Outputs::Component &of = outputs.component(component);
  Result result{std::vector<uint32_t>(static_cast<size_t>(of.values * of.info.extent)),
                offsets_of(outputs, component)};
  if (!result.elements.empty())
    std::memcpy(result.elements.data(), outputs.data(component), result.elements.size() * sizeof(uint32_t));
  return result;
}

/// One that stays on the device, whose memory is the host's.
static Result staying(const dbc::cuda::DeviceResult &result_there,
                      std::vector<std::vector<int32_t>> offsets) {
  Result result{{}, std::move(offsets)};
  for (int64_t row = 0; row < result_there.rows(); ++row)
    for (int64_t n = 0; n < result_there.info().extent; ++n) {
      const auto *at = static_cast<const unsigned char *>(result_there.data()) +
                       (row * result_there.stride() + n) * result_there.number_bytes();
      uint32_t number = *at; // of a bool
      if (result_there.number_bytes() == sizeof number)
        std::memcpy(&number, at, sizeof number);
      result.elements.push_back(number);
    }
  return result;
}

/// Runs a batch with results that stay on the device, and gets them; what is begun on the context
/// afterwards, and its end, is not to be felt by them.
static std::vector<Result> all_staying(const dbc::cuda::Model &on, dbc::cuda::Path path, int32_t entry,
                                       dbc::Batch &batch, dbc::Session &session,
                                       std::vector<int64_t> &strides) {
  std::vector<dbc::cuda::DeviceResult> results;
  std::vector<std::vector<std::vector<int32_t>>> offsets;
  {
    dbc::cuda::Context context(on);
    context.choose_path(path);
    context.keep_results_on_device(true);
    session.compute_on(&context);
    expect(session.run(entry, batch));
    const dbc::Outputs &outputs = session.outputs(entry);
    results.resize(outputs.components());
    for (int32_t component = 0; component < outputs.components(); ++component) {
      expect(outputs.data(component) == nullptr, "elements of a result that stays are on the host too");
      expect(context.get_result(component, &results[component]));
      expect(results[component].rows() == outputs.component(component).values,
             "a result has other rows than it is said to have");
      offsets.push_back(offsets_of(outputs, component));
    }
    dbc::Session another(on.host());
    dbc::Batch none(on.host().info());
    another.compute_on(&context);
    none.begin_input(); // of which nothing is set
    expect(another.run(entry, none));
  }
  session.compute_on(nullptr);
  std::vector<Result> all;
  for (size_t component = 0; component < results.size(); ++component) {
    all.push_back(staying(results[component], std::move(offsets[component])));
    strides.push_back(results[component].stride());
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
    const std::vector<Result> results = all_staying(on, path, entry, batch, leaving, strides);
    const dbc::Outputs &outputs = session.outputs(entry);
    expect(session.failed() == leaving.failed(), where + "other inputs fail where results stay");
    for (int32_t component = 0; component < outputs.components(); ++component) {
      const std::string which = where + "result " + std::to_string(component);
      expect(results[component] == copied(outputs, component),
             which + " is another one where it stays on the device");
      for (int32_t input = 0; input < batch.inputs(); ++input) {
        if (leaving.status(input).ok())
          continue;
        int64_t first = input, last = input + 1;
        for (const std::vector<int32_t> &offsets : results[component].offsets)
          first = offsets[first], last = offsets[last];
        const int64_t extent = outputs.component(component).info.extent;
        expect(std::all_of(results[component].elements.begin() + first * extent,
                           results[component].elements.begin() + last * extent,
                           [](uint32_t number) { return number == 0; }),
               which + " of an input that failed is not zero");
      }
    }
    if (path != dbc::cuda::Path::Persistent)
      continue;
    std::printf("%s: %d inputs, %d failed;", name.c_str(), batch.inputs(), session.failed());
    for (int32_t component = 0; component < outputs.components(); ++component)
      std::printf("%s %lld x %lld of %lld", component > 0 ? "," : "",
                  static_cast<long long>(outputs.component(component).values),
                  static_cast<long long>(outputs.component(component).info.extent),
                  static_cast<long long>(strides[component]));
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
