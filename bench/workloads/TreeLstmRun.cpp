// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `tree_lstm`: its data, its cases, its contestants.
#include "bench/models/TreeLstmPlugin.h"
#include "bench/workloads/CompiledModels.h"
#include "bench/workloads/TreeLstm.h"
#include "bench/workloads/Workloads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dbc::bench {
namespace {

/// SST's dev trees, or generated ones where it is absent; `name` takes which. Fails if the file is there but
/// broken.
TreeBatch load_trees(std::string &name, std::string &error) {
  const char *folder = std::getenv("DBC_DATA");
  std::string path = std::string(folder && *folder ? folder : "../shared/data") + "/sst/dev.txt";
  if (std::FILE *file = std::fopen(path.c_str(), "rb")) {
    std::fclose(file);
    name = "sst dev";
    TreeBatch trees = read_sst(path, TreeLstm::kVocab, error);
    if (!error.empty())
      error = path + ": " + error;
    return trees;
  }
  std::fprintf(stderr, "%s is absent: trees are generated with its shape statistics\n", path.c_str());
  name = "generated";
  return generate_trees(1101, TreeLstm::kVocab, 1);
}

/// As many whole batches as there are among `trees`; if they do not fill one, they are repeated until they
/// do.
TreeBatch whole_batches(const TreeBatch &trees, int32_t batch) {
  if (trees.trees() >= batch)
    return first(trees, trees.trees() / batch * batch);
  TreeBatch filled = trees;
  while (filled.trees() < batch)
    append(trees, std::min(trees.trees(), batch - filled.trees()), filled);
  return filled;
}

} // namespace

std::string run_tree_lstm(const Options &options, Machine &machine, std::vector<Row> &all_rows) {
  std::string data, error;
  TreeBatch trees = load_trees(data, error);
  if (!error.empty())
    return error;
  if (options.quick)
    trees = first(trees, 320);

  int32_t hidden = options.hidden ? options.hidden : 150;
  TreeLstm model(hidden);
  std::string why;
  auto make_compiled =
      reinterpret_cast<MakeTreeLstm *>(compiled_model("tree_lstm", hidden, kMakeTreeLstm, why));
  if (!make_compiled)
    std::fprintf(stderr, "tree_lstm: dbc is absent: %s\n", why.c_str());

  // The reference is slow: some trees are enough to see that the baselines mean the same; they judge the
  // others.
  std::vector<double> reference = tree_lstm_reference(model, first(trees, hidden <= 256 ? 24 : 8));

  std::vector<int32_t> sizes = {1, 10, 64, 256};
  if (options.quick)
    sizes = {1, 64};
  if (options.batch)
    sizes = {options.batch};
  for (int32_t size : sizes) {
    TreeBatch some = whole_batches(trees, size);
    std::vector<TreeBatch> batches = cut(some, size), single = cut(some, 1);
    std::vector<Contestant> contestants;
    auto add = [&](const char *impl, std::unique_ptr<Implementation> implementation) {
      contestants.push_back({impl, std::move(implementation)});
    };
    auto compiled = [&](const std::vector<TreeBatch> &inputs) -> std::unique_ptr<Implementation> {
      return std::unique_ptr<Implementation>(make_compiled ? make_compiled(model, inputs, options.threads)
                                                           : nullptr);
    };
    add("gemv-node", tree_lstm_gemv_node(model, batches));
    add("cblas", tree_lstm_cblas(model, batches));
    add("dbc", compiled(batches));
    add("dbc-unbatched", compiled(single));
    for (const char *peer : {"dynet-agenda", "dynet-depth", "pytorch-node", "pytorch-level"})
      add(peer, nullptr);

    Case shared;
    shared.workload = "tree_lstm";
    shared.mode = "infer";
    shared.data = data;
    shared.hidden = hidden;
    shared.batch = size;
    shared.threads = options.threads;
    shared.inputs = some.trees();
    shared.nodes = some.nodes();
    shared.flops = model.flops(some);

    size_t values = static_cast<size_t>(some.trees()) * TreeLstm::kClasses;
    error = check(contestants, values, reference);
    if (!error.empty())
      return "hidden " + std::to_string(hidden) + ", batch " + std::to_string(size) + ": " + error +
             "; nothing was timed";
    Measurement found =
        measure(contestants, values, options.seconds_each(), [&machine] { return machine.sgemm(); });
    std::fputs(table(shared, contestants, found).c_str(), stderr);
    for (const Row &row : rows(shared, contestants, found))
      all_rows.push_back(row);
  }
  return "";
}

} // namespace dbc::bench
