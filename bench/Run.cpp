// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The cases of a workload and who takes part.
#include "bench/Run.h"

#include "bench/Compiled.h"
#include "bench/Peer.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace dbc::bench {

/// What a row is written for, in the order of the rows. Those by hand judge the others.
static const std::vector<std::string> &implementations(Mode mode) {
  static const std::vector<std::string> infer = {"gemv-node", "cblas",    "dbc",
                                                 "dbc-table", "dbc-bf16", "dbc-unbatched"},
                                        train = {"cblas", "dbc"};
  return mode == Mode::Train ? train : infer;
}

/// Seconds after which OpenBLAS's threads no longer wait for work awake.
static constexpr double kPause = 0.1;
/// The peers from outside: rows after these.
static constexpr const char *kPeers[] = {"dynet-agenda", "dynet-depth", "pytorch-node", "pytorch-level"};

/// A workload's model as dbc compiled it: the code of each row that is one of dbc's and not absent.
using CompiledModels = std::map<std::string, const ModelCode *>;

static CompiledModels load_models(const std::string &name, const Workload &workload) {
  std::string why;
  CompiledModels models;
  auto load = [&](const char *variant, std::initializer_list<const char *> impls) {
    if (const ModelCode *code = compiled_model(name, workload.hidden, variant, why))
      for (const char *impl : impls)
        models[impl] = code;
  };
  if (workload.mode() == Mode::Train) {
    load("-train", {"dbc"});
  } else {
    load("", {"dbc", "dbc-unbatched"});
    load("-table", {"dbc-table"});
    load("-bf16", {"dbc-bf16"});
  }
  if (!why.empty())
    std::fprintf(stderr, "%s: dbc is absent: %s\n", name.c_str(), why.c_str());
  return models;
}

Inputs for_reference(const Workload &workload, const Inputs &inputs) {
  constexpr double kMost = 4e8; // operations: about a second
  int32_t count = 1;
  while (count < inputs.count() && workload.flops(inputs.first(2 * count)) <= kMost)
    count *= 2;
  return inputs.first(count);
}

/// A peer with its weights and inputs; null where it is absent. `error` says what is wrong with one that is
/// there.
static Contestant peer(const std::string &impl, const std::string &name, const Workload &workload,
                       const Options &options, const std::vector<Inputs> &batches, size_t values,
                       std::string &error) {
  auto one = std::make_unique<Peer>(
      impl, peer_program(name, workload.learning_rate(), impl, options.threads, options.dynet), values);
  std::string absent;
  error = one->start(absent);
  if (error.empty() && absent.empty())
    error = one->load(workload.parameters, batches);
  if (!error.empty() || !absent.empty())
    return {impl, nullptr, absent};
  const std::string note = one->note();
  return {impl, std::move(one), note};
}

/// All that take part in a case but the peers; null where there is none.
static std::vector<Contestant> contestants(const Workload &workload, const CompiledModels &models,
                                           const std::vector<Inputs> &batches,
                                           const std::vector<Inputs> &single, int32_t threads) {
  std::vector<Contestant> by_hand = workload.by_hand(batches), all;
  for (const std::string &impl : implementations(workload.mode())) {
    all.push_back({impl, nullptr});
    for (Contestant &one : by_hand)
      if (one.impl == impl)
        all.back().implementation = std::move(one.implementation);
    if (auto code = models.find(impl); code != models.end())
      all.back().implementation =
          workload.mode() == Mode::Train
              ? compiled_training(*code->second, workload.entry(), workload.parameters, batches, threads,
                                  workload.learning_rate())
              : compiled(*code->second, workload.entry(), workload.parameters,
                         impl == "dbc-unbatched" ? single : batches, threads);
    // Its weights are off by 0.2 % each; whether it computes with those, exactly, is for other tests.
    if (impl == "dbc-bf16")
      all.back().tolerance = 0.05;
  }
  return all;
}

std::string data_folder() {
  const char *folder = std::getenv("DBC_DATA");
  return folder && *folder ? folder : "../shared/data";
}

std::string run(const std::string &name, const Workload &workload, const Options &options, Machine &machine,
                std::vector<Row> &all_rows) {
  std::string error;
  Data data = workload.load(data_folder(), error);
  if (!error.empty())
    return error;
  Inputs inputs = options.quick ? data.inputs.first(320) : std::move(data.inputs);
  const CompiledModels models = load_models(name, workload);
  const bool training = workload.mode() == Mode::Train;
  std::vector<double> reference;
  if (!training)
    reference = workload.reference(for_reference(workload, inputs));

  std::vector<int32_t> sizes = {1, 10, 64, 256};
  if (options.quick)
    sizes = {1, 64};
  if (options.batch)
    sizes = {options.batch};
  for (int32_t size : sizes) {
    Inputs some = inputs.whole_batches(size);
    std::vector<Inputs> batches = some.cut(size), single = some.cut(1);
    std::vector<Contestant> all = contestants(workload, models, batches, single, options.threads);

    Case shared;
    shared.workload = name;
    shared.mode = name_of(workload.mode());
    shared.data = data.name;
    shared.hidden = workload.hidden;
    shared.batch = size;
    shared.threads = options.threads;
    shared.inputs = some.count();
    shared.instances = workload.instances(some);
    shared.flops = workload.flops(some);

    size_t values = 0;
    for (const Inputs &batch : batches)
      values += workload.values(batch);
    if (training)
      reference = workload.reference(batches[0]);
    for (const char *impl : kPeers) {
      all.push_back(peer(impl, name, workload, options, batches, values, error));
      if (!error.empty())
        return error;
    }
    error = check(all, values, reference);
    if (error.empty() && training)
      error = check_trained(all, workload.parameters);
    if (!error.empty())
      return "hidden " + std::to_string(workload.hidden) + ", batch " + std::to_string(size) + ": " + error +
             "; nothing was timed";
    std::optional<ProductLimit> products;
    if (std::vector<LevelProduct> levels = workload.products(batches); !levels.empty())
      products.emplace(levels, options.threads);
    Measurement found = measure(
        all, values, options.seconds_each(),
        [&] {
          if (products)
            products->pass();
          return machine.sgemm();
        },
        options.threads > 1 ? kPause : 0);
    if (products) {
      found.products = products->seconds();
      found.products_by = products->libraries();
    }
    std::fputs(table(shared, all, found).c_str(), stderr);
    for (const Row &row : rows(shared, all, found))
      all_rows.push_back(row);
  }
  return "";
}

} // namespace dbc::bench
