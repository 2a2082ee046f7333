// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Steps of plain SGD by a compiled model, for comparison with PyTorch's; CODE is the function by which the
// model says what it offers. Batches are runs of lines, over and over. Nothing is dropped.
//
// usage: train_steps LOSS LINES BATCH RATE STEPS OUT; prints the mean loss of each step's batch, and writes
// OUT/weights.safetensors, which are drawn, OUT/gradient.safetensors, that of the first step, and
// OUT/trained.safetensors.
#include <cstdio>
#include <cstdlib>
#include <dbc/io/instances.h>
#include <dbc/io/safetensors.h>
#include <dbc/optimizer.h>
#include <dbc/runtime.h>
#include <fstream>
#include <string>
#include <vector>

extern "C" const dbc::ModelCode *CODE();

static void require(const dbc::Status &status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message.c_str());
    std::exit(1);
  }
}

static void save_gradient(const std::string &path, const dbc::Outputs &outputs, const dbc::ModelInfo &info) {
  dbc::Weights gradient(info);
  for (int32_t p = 0; p < gradient.count(); ++p)
    if (outputs.has_gradient(p)) {
      require(outputs.add_gradient_to(p, gradient.data(p), gradient.size(p)));
      gradient.mark_given(p);
    }
  require(dbc::save_weights(path, gradient));
}

int main(int, char **argv) {
  const dbc::ModelCode &code = *CODE();
  const dbc::ModelInfo &info = *code.info;
  int32_t loss = 0;
  while (info.entries[loss].name != argv[1])
    ++loss;
  std::vector<std::string> lines;
  std::ifstream in(argv[2]);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  const size_t size = std::strtoul(argv[3], nullptr, 10), steps = std::strtoul(argv[5], nullptr, 10);
  const std::string out = argv[6];

  dbc::Weights weights(info);
  weights.draw(3);
  require(dbc::save_weights(out + "/weights.safetensors", weights));
  dbc::Model model;
  require(dbc::Model::make(code, weights, &model));
  dbc::Session session(model, 2);
  session.drop_elements(false);
  dbc::OptimizerOptions options;
  options.lr = std::strtof(argv[4], nullptr);
  dbc::Optimizer optimizer(options);
  dbc::InstanceReader reader(info, info.entries[loss]);
  dbc::Batch batch(info);
  for (size_t step = 0, at = 0; step < steps; ++step, at = (at + size) % lines.size()) {
    reader.clear(batch);
    for (size_t i = at; i < at + size; ++i)
      require(reader.append(lines[i], batch));
    require(session.run(loss, batch));
    const dbc::Outputs &outputs = session.outputs(loss);
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
      require(session.status(static_cast<int32_t>(i)));
      sum += outputs.number(0, i);
    }
    std::printf("%.9g\n", sum / static_cast<double>(size));
    if (step == 0)
      save_gradient(out + "/gradient.safetensors", outputs, info);
    require(optimizer.step(weights, outputs));
    require(model.renew(weights));
  }
  require(dbc::save_weights(out + "/trained.safetensors", weights));
  return 0;
}
