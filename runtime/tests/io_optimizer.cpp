// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The state of an optimizer in files: what is saved loads, a training that goes on from files has the bits of
// one that was not interrupted, and what does not fit or cannot be written changes nothing.
#include "io_models.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <dbc/io/optimizer.h>
#include <dbc/io/safetensors.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

using namespace dbc;
using namespace dbc::test;
using Kind = OptimizerOptions::Kind;

namespace {

/// `E` is a table, `b` and `s` have dense gradients, `late` gets its first one after five steps, `none`
/// never.
ModelInfo training_model() {
  ModelInfo m;
  m.name = "toy";
  const auto add = [&](const char *name, std::vector<int64_t> extents) {
    ParamInfo p;
    p.name = name;
    p.extents = std::move(extents);
    p.init = {InitInfo::Kind::Normal, 0, 1};
    m.params.push_back(p);
  };
  add("E", {10, 3});
  add("b", {4});
  add("s", {});
  add("late", {2, 2});
  add("none", {5});
  m.entries.resize(1);
  m.entries[0].name = "loss";
  m.entries[0].result.elem = Elem::F32;
  m.entries[0].gradients = {0, 1, 2, 3};
  return m;
}

OptimizerOptions options(Kind kind, float momentum = 0) {
  OptimizerOptions o;
  o.kind = kind;
  o.lr = 0.1F;
  o.momentum = momentum;
  o.weight_decay = 0.01F;
  o.clip_norm = 1;
  return o;
}
std::vector<OptimizerOptions> kinds() {
  return {options(Kind::Sgd), options(Kind::Sgd, 0.9F), options(Kind::Adagrad), options(Kind::Adam),
          options(Kind::AdamW)};
}

/// A training whose gradients follow from the number of the step.
struct Training {
  const ModelInfo &model;
  Weights weights{model};
  Outputs outputs;
  Optimizer optimizer;

  Training(const ModelInfo &model, const OptimizerOptions &o) : model(model), optimizer(o) {
    weights.draw(1);
    outputs.prepare(model.entries[0], /*f64=*/false);
  }
  void step() {
    std::mt19937 random(static_cast<unsigned>(optimizer.steps()));
    outputs.begin(1);
    const auto fill = [&](float *numbers, size_t count) {
      for (size_t i = 0; i < count; ++i)
        numbers[i] = std::normal_distribution<float>()(random);
    };
    std::vector<int32_t> rows;
    for (int32_t row = 0; row < 10; ++row)
      if (random() % 3 == 0)
        rows.push_back(row);
    fill(outputs.sparse_gradient<float>(0, rows.data(), static_cast<int32_t>(rows.size()), 3),
         3 * rows.size());
    fill(outputs.gradient<float>(1, 4), 4);
    fill(outputs.gradient<float>(2, 1), 1);
    if (optimizer.steps() >= 5)
      fill(outputs.gradient<float>(3, 4), 4);
    const Status status = optimizer.step(weights, outputs);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i)
      step();
  }
};

void expect_same(const float *a, const float *b, size_t count, const std::string &what) {
  EXPECT_TRUE(count == 0 || std::memcmp(a, b, sizeof(float) * count) == 0) << what;
}
void expect_same(const Training &a, const Training &b) {
  EXPECT_EQ(a.optimizer.steps(), b.optimizer.steps());
  for (int32_t p = 0; p < a.weights.count(); ++p) {
    const std::string &name = a.model.params[p].name;
    expect_same(a.weights.data(p), b.weights.data(p), a.weights.size(p), name);
    const OptimizerState &x = a.optimizer.state(p), &y = b.optimizer.state(p);
    EXPECT_EQ(x.steps, y.steps) << name;
    ASSERT_EQ(x.first.size(), y.first.size()) << name;
    ASSERT_EQ(x.second.size(), y.second.size()) << name;
    expect_same(x.first.data(), y.first.data(), x.first.size(), name + ".first");
    expect_same(x.second.data(), y.second.data(), x.second.size(), name + ".second");
  }
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class OptimizerFiles : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "dbc_optimizer_" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    path = folder + "/o.safetensors";
    weights_path = folder + "/w.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void put(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  long files() const {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }
  /// The message of a load that must fail, behind the words that all of them begin with; nothing may have
  /// changed by it.
  std::string load_says(Training &training) {
    Training before(training.model, training.optimizer.options());
    before.steps(static_cast<int>(training.optimizer.steps()));
    const Status status = load_optimizer(path, training.weights, training.optimizer);
    EXPECT_EQ(status.code, Code::bad_weights);
    expect_same(training, before);
    const std::string begin = "toy: the state of the optimizer in `" + path + "` ";
    EXPECT_EQ(status.message.substr(0, begin.size()), begin);
    return status.message.substr(std::min(begin.size(), status.message.size()));
  }
  std::string folder, path, weights_path;
  ModelInfo model = training_model();
};

/// All numbers have the same bits, before any step, after one that not all parameters took part in, and
/// later.
TEST_F(OptimizerFiles, WhatIsSavedLoads) {
  for (const OptimizerOptions &o : kinds())
    for (int steps : {0, 1, 7}) {
      Training saved(model, o);
      saved.steps(steps);
      ASSERT_TRUE(save_optimizer(path, saved.weights, saved.optimizer).ok());
      EXPECT_EQ(files(), 1);
      Optimizer loaded(o);
      const Status status = load_optimizer(path, saved.weights, loaded);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(loaded.steps(), steps);
      for (int32_t p = 0; p < saved.weights.count(); ++p) {
        const OptimizerState &x = saved.optimizer.state(p), &y = loaded.state(p);
        EXPECT_EQ(x.steps, y.steps);
        ASSERT_EQ(x.first.size(), y.first.size());
        ASSERT_EQ(x.second.size(), y.second.size());
        expect_same(x.first.data(), y.first.data(), x.first.size(), "first");
        expect_same(x.second.data(), y.second.data(), x.second.size(), "second");
      }
    }
}

/// A training that is interrupted after any number of steps, and goes on with another Optimizer, has all bits
/// of one that is not. So it is with lazy rows.
TEST_F(OptimizerFiles, ATrainingGoesOn) {
  for (OptimizerOptions o : kinds())
    for (bool lazy : {false, true})
      for (int first : {1, 4, 6}) {
        o.lazy_rows = lazy;
        Training through(model, o), begun(model, o), resumed(model, o);
        through.steps(12);
        begun.steps(first);
        ASSERT_TRUE(save_training(weights_path, path, begun.weights, begun.optimizer).ok());
        EXPECT_EQ(files(), 2);
        ASSERT_TRUE(load_weights(weights_path, resumed.weights).ok());
        const Status status = load_optimizer(path, resumed.weights, resumed.optimizer);
        ASSERT_TRUE(status.ok()) << status.message;
        expect_same(resumed, begun);
        resumed.steps(12 - first);
        expect_same(resumed, through);
      }
}

/// The file is a plain one of tensors, with names that say what they are.
TEST_F(OptimizerFiles, TensorsHaveNames) {
  Training training(model, options(Kind::Adam));
  training.steps(2);
  ASSERT_TRUE(save_optimizer(path, training.weights, training.optimizer).ok());
  SafetensorsHeader header;
  ASSERT_TRUE(read_safetensors_header(path, header).ok());
  std::vector<std::string> names;
  for (const SafetensorsEntry &t : header.tensors)
    names.push_back(t.name + " " + t.dtype);
  EXPECT_EQ(names, (std::vector<std::string>{"E.steps I64", "b.steps I64", "s.steps I64", "late.steps I64",
                                             "none.steps I64", "E.first F32", "E.second F32", "b.first F32",
                                             "b.second F32", "s.first F32", "s.second F32"}));
  EXPECT_EQ(header.tensors[5].extents, (std::vector<int64_t>{10, 3}));
  ASSERT_EQ(header.metadata.size(), 3U);
  EXPECT_EQ(header.metadata[0], std::make_pair(std::string("optimizer"), std::string("adam")));
  EXPECT_EQ(header.metadata[1], std::make_pair(std::string("steps"), std::string("2")));
}

/// What a kind does not keep is not saved, what it has not begun yet is saved as zeros: after a change of
/// kind too a training goes on with the same bits.
TEST_F(OptimizerFiles, AfterAChangeOfKind) {
  Training through(model, options(Kind::Sgd, 0.9F)), resumed(model, options(Kind::Adam));
  through.steps(6);
  through.optimizer.options().kind = Kind::Adam;
  through.optimizer.freeze(1);
  through.step();
  ASSERT_TRUE(save_training(weights_path, path, through.weights, through.optimizer).ok());
  ASSERT_TRUE(load_weights(weights_path, resumed.weights).ok());
  const Status status = load_optimizer(path, resumed.weights, resumed.optimizer);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(resumed.optimizer.state(1).second.size(), 4U);
  through.optimizer.freeze(1, false);
  through.steps(3);
  resumed.steps(3);
  expect_same(resumed, through);
}

/// Another kind, another momentum, another model, other extents, other weights.
TEST_F(OptimizerFiles, WhatDoesNotFitIsRefused) {
  Training adam(model, options(Kind::Adam));
  adam.steps(2);
  ASSERT_TRUE(save_optimizer(path, adam.weights, adam.optimizer).ok());
  Training adamw(model, options(Kind::AdamW));
  adamw.steps(2);
  EXPECT_EQ(load_says(adamw), "is of `adam`, not of `adamw`");

  Training later(model, options(Kind::Adam));
  later.steps(3);
  EXPECT_EQ(load_says(later), "belongs to other weights: they were saved at another step");

  ModelInfo wider = model;
  wider.params[0].extents = {10, 4};
  Training of_wider(wider, options(Kind::Adam));
  EXPECT_EQ(load_says(of_wider), "does not fit the model\n"
                                 "  mis-shaped: `E.first` is f32[10, 3], the model has f32[10, 4]\n"
                                 "  mis-shaped: `E.second` is f32[10, 3], the model has f32[10, 4]");
  ModelInfo other = model;
  other.params[2].name = "scale";
  Training of_other(other, options(Kind::Adam));
  EXPECT_EQ(load_says(of_other), "does not fit the model\n"
                                 "  missing: `scale.steps` i64 (nearest in the file: `s.steps`)\n"
                                 "  missing: `scale.first` f32 (nearest in the file: `s.first`)\n"
                                 "  missing: `scale.second` f32 (nearest in the file: `s.second`)\n"
                                 "  unexpected: `s.steps` (nearest in the model: `scale.steps`)\n"
                                 "  unexpected: `s.first` (nearest in the model: `scale.first`)\n"
                                 "  unexpected: `s.second` (nearest in the model: `scale.second`)");

  Training plain(model, options(Kind::Sgd)), momentum(model, options(Kind::Sgd, 0.9F));
  plain.steps(1);
  ASSERT_TRUE(save_optimizer(path, plain.weights, plain.optimizer).ok());
  EXPECT_EQ(load_says(momentum), "does not fit the model\n  missing: `E.first` f32[10, 3]\n"
                                 "  missing: `b.first` f32[4]\n  missing: `s.first` f32");
  momentum.steps(1);
  ASSERT_TRUE(save_optimizer(path, momentum.weights, momentum.optimizer).ok());
  EXPECT_EQ(load_says(plain).find("does not fit the model\n  unexpected: `E.first`"), 0U);

  // A file of weights has no state, and one of no tensors is no file.
  ASSERT_TRUE(save_weights(path, plain.weights).ok());
  EXPECT_EQ(load_says(plain), "is none: its metadata must have `optimizer`, `steps` and `weights`");
  std::filesystem::remove(path);
  EXPECT_EQ(load_optimizer(path, plain.weights, plain.optimizer).message,
            "toy: cannot read `" + path + "`: No such file or directory");
}

/// A file that ends too early is refused, wherever it ends; and so is one with numbers that no optimizer has.
TEST_F(OptimizerFiles, DamagedFilesAreRefused) {
  Training training(model, options(Kind::AdamW));
  training.steps(6);
  ASSERT_TRUE(save_optimizer(path, training.weights, training.optimizer).ok());
  const std::string good = contents(path);
  Training other(model, options(Kind::AdamW));
  for (size_t length = good.size(); length-- > 0;) {
    std::filesystem::resize_file(path, length);
    const Status status = load_optimizer(path, training.weights, other.optimizer);
    ASSERT_EQ(status.code, Code::bad_weights) << length;
    ASSERT_NE(status.message.find("`" + path + "`"), std::string::npos) << status.message;
    ASSERT_EQ(other.optimizer.steps(), 0);
    ASSERT_EQ(other.optimizer.state(0).steps, 0);
  }

  SafetensorsHeader header;
  put(good);
  ASSERT_TRUE(read_safetensors_header(path, header).ok());
  const auto changed = [&](const std::string &tensor, auto value) {
    std::string bytes = good;
    for (const SafetensorsEntry &t : header.tensors)
      if (t.name == tensor)
        std::memcpy(&bytes[header.data_begin + t.begin], &value, sizeof value);
    EXPECT_NE(bytes, good);
    put(bytes);
    return load_says(training);
  };
  EXPECT_EQ(changed("b.first", std::nanf("")), "has a NaN in `b.first`");
  EXPECT_EQ(changed("E.second", -1.0F), "has a sum of squares below 0 in `E.second`");
  EXPECT_EQ(changed("E.steps", int64_t(7)), "has 7 in `E.steps`, of 6 steps in all");
  EXPECT_EQ(changed("E.steps", int64_t(-1)), "has -1 in `E.steps`, of 6 steps in all");
  EXPECT_EQ(changed("late.steps", int64_t(0)).find("does not fit the model\n  unexpected: `late.first`"), 0U);
  EXPECT_EQ(changed("none.steps", int64_t(1)), "does not fit the model\n"
                                               "  missing: `none.first` f32[5]\n"
                                               "  missing: `none.second` f32[5]");
  std::string bytes = good;
  bytes.replace(bytes.find("\"steps\":\"6\""), 11, "\"steps\":\"x\"");
  put(bytes);
  EXPECT_EQ(load_says(training), "has `x` where the number of steps must stand");
}

/// No file of this process may be longer than some bytes: as on a full disk, a write fails on the way.
class ShortFiles {
public:
  explicit ShortFiles(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower = {bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~ShortFiles() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit limit_;
  void (*handler_)(int);
};

/// Where there is no room, in the header or behind it, the message says so, what was there stays, and nothing
/// is left beside it. Of the two files of a training neither is replaced where one has no room.
TEST_F(OptimizerFiles, WithoutRoomFilesStay) {
  Training training(model, options(Kind::Adam));
  training.steps(1);
  ASSERT_TRUE(save_training(weights_path, path, training.weights, training.optimizer).ok());
  const std::string old = contents(path), old_weights = contents(weights_path);
  training.steps(6);
  ASSERT_LT(old_weights.size(), old.size());
  const auto check = [&](const Status &status, const std::string &written) {
    EXPECT_EQ(status.code, Code::io);
    EXPECT_EQ(status.message, "toy: cannot write `" + written + "`: File too large");
    EXPECT_EQ(contents(path), old);
    EXPECT_EQ(contents(weights_path), old_weights);
    EXPECT_EQ(files(), 2);
  };
  for (size_t room : {size_t(0), size_t(4), size_t(100), old_weights.size() - 1, old_weights.size()}) {
    Status weights, optimizer, both;
    {
      const ShortFiles shorter(room);
      weights = room < old_weights.size() ? save_weights(weights_path, training.weights) : Status();
      optimizer = save_optimizer(path, training.weights, training.optimizer);
      both = save_training(weights_path, path, training.weights, training.optimizer);
    }
    if (room < old_weights.size())
      check(weights, weights_path);
    check(optimizer, path);
    check(both, room < old_weights.size() ? weights_path : path);
  }
  // And there is room again.
  EXPECT_TRUE(save_training(weights_path, path, training.weights, training.optimizer).ok());
  EXPECT_TRUE(load_weights(weights_path, training.weights).ok());
  EXPECT_TRUE(load_optimizer(path, training.weights, training.optimizer).ok());
  EXPECT_EQ(training.optimizer.steps(), 7);
  EXPECT_EQ(files(), 2);
  // No such folder.
  EXPECT_EQ(save_optimizer(folder + "/no/o", training.weights, training.optimizer).message,
            "toy: cannot write `" + folder + "/no/o`: No such file or directory");
}

} // namespace
