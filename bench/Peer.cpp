// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// This end of the protocol of peers/serve.py.
#include "bench/Peer.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace dbc::bench {

namespace fs = std::filesystem;

PeerProgram peer_program(const std::string &workload, float rate, const std::string &impl, int32_t threads,
                         const std::string &dynet) {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string python = variable("DBC_PYTHON"), path = variable("PYTHONPATH");
  const std::string count = std::to_string(threads);
  PeerProgram program;
  program.command = {python.empty() ? "python3" : python, DBC_BENCH_PEERS "/serve.py", workload, impl, count};
  if (rate != 0)
    program.command.push_back(std::to_string(rate));
  // Libraries read these when they are loaded.
  for (const char *name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    program.environment.push_back(name + ("=" + count));
  if (!dynet.empty() && impl.rfind("dynet-", 0) == 0)
    program.environment.push_back("PYTHONPATH=" + dynet + (path.empty() ? "" : ":" + path));
  return program;
}

namespace {

/// A folder that is removed with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "dbc-bench-XXXXXX").string();
    if (!error && mkdtemp(name.data()))
      path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty())
      fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const fs::path &path() const { return path_; } ///< empty: it could not be made

private:
  fs::path path_;
};

/// Writes files of arrays: for each array the number of its elements as an int32, then these, four bytes
/// each. The end of a file's name is the elements' type.
class ArrayFiles {
public:
  explicit ArrayFiles(const fs::path &folder) : folder_(folder) {
    std::error_code error;
    fs::create_directories(folder, error);
  }
  void add(const std::string &name, const std::vector<int32_t> &values) { add(name, "i32", values); }
  void add(const std::string &name, const std::vector<float> &values) { add(name, "f32", values); }
  bool fine() const { return fine_; }

private:
  template <class T> void add(const std::string &name, const char *type, const std::vector<T> &values) {
    std::ofstream file(folder_ / (name + "." + type), std::ios::binary | std::ios::app);
    auto count = static_cast<int32_t>(values.size());
    file.write(reinterpret_cast<const char *>(&count), sizeof count);
    file.write(reinterpret_cast<const char *>(values.data()), 4 * static_cast<std::streamsize>(count));
    file.close();
    fine_ = fine_ && file;
  }

  fs::path folder_;
  bool fine_ = true;
};

/// Adds a batch to the files of all its columns.
void add_batch(const Inputs &inputs, ArrayFiles &files) {
  for (const Table &table : inputs.tables()) {
    const std::string name = (table.name.empty() ? "arguments" : table.name) + ".";
    files.add(name + "begin", table.begin);
    if (!table.kinds.empty())
      files.add(name + "kinds", std::vector<int32_t>(table.kinds.begin(), table.kinds.end()));
    for (const Column &column : table.columns) {
      if (column.is_list())
        files.add(name + column.name + ".offsets", column.offsets);
      if (column.extent > 0)
        files.add(name + column.name, column.floats);
      else
        files.add(name + column.name, column.ints);
    }
  }
}

/// What follows `word` and a space, or the line's end, in `line`; false if it begins with something else.
bool follows(const std::string &word, const std::string &line, std::string &rest) {
  if (line.compare(0, word.size(), word) != 0 || (line.size() > word.size() && line[word.size()] != ' '))
    return false;
  rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
  return true;
}

} // namespace

Peer::Peer(const std::string &name, const PeerProgram &program, size_t values)
    : name_(name), program_(program), process_(program.patience), values_(values) {}

std::string Peer::failure(const std::string &what) const { return name_ + ": its program " + what; }

std::string Peer::unexpected(const std::string &answer) const {
  return failure("answered `" + answer.substr(0, 80) + "`");
}

std::string Peer::start(std::string &absent) {
  if (std::string error = process_.start(program_.command, program_.environment); !error.empty()) {
    absent = error;
    return "";
  }
  std::string answer;
  if (std::string error = process_.receive(answer); !error.empty())
    return failure(error);
  std::string rest;
  if (follows("absent", answer, rest))
    absent = rest;
  else if (answer != "ready")
    return unexpected(answer);
  return "";
}

std::string Peer::load(const Parameters &parameters, const std::vector<Inputs> &batches) {
  TemporaryFolder folder;
  ArrayFiles weights(folder.path() / "weights"), inputs(folder.path() / "inputs");
  for (const Parameters::Parameter &parameter : parameters.all())
    weights.add(parameter.name, parameter.values);
  for (const Inputs &batch : batches)
    add_batch(batch, inputs);
  if (folder.path().empty() || !weights.fine() || !inputs.fine())
    return name_ + ": cannot write its inputs to a temporary folder";
  std::string answer, error = process_.send("load " + folder.path().string());
  if (error.empty())
    error = process_.receive(answer);
  if (!error.empty())
    return failure(error);
  return follows("loaded", answer, note_) ? "" : unexpected(answer);
}

std::string Peer::try_pass(float *out) {
  std::string answer, error = process_.send("pass");
  if (error.empty())
    error = process_.receive(answer);
  if (!error.empty())
    return failure(error);
  size_t count = 0;
  int end = 0;
  if (std::sscanf(answer.c_str(), "passed %lf %lf %zu%n", &pass_seconds_, &schedule_seconds_, &count, &end) !=
          3 ||
      static_cast<size_t>(end) != answer.size() || !std::isfinite(pass_seconds_) || pass_seconds_ < 0)
    return unexpected(answer);
  if (count != values_)
    return failure("gave " + std::to_string(count) + " values instead of " + std::to_string(values_));
  error = process_.receive(out, count * sizeof *out);
  return error.empty() ? "" : failure(error);
}

std::string Peer::try_parameter(const std::string &name, std::vector<float> &values) {
  std::string answer, count, error = process_.send("parameter " + name);
  if (error.empty())
    error = process_.receive(answer);
  if (!error.empty())
    return failure(error);
  if (!follows("parameter", answer, count) || count.empty() ||
      count.find_first_not_of("0123456789") != std::string::npos || count.size() > 9)
    return unexpected(answer);
  values.resize(std::stoul(count));
  error = process_.receive(values.data(), values.size() * sizeof(float));
  return error.empty() ? "" : failure(error);
}

/// Ends dbc-bench with an error, if it is one.
static void expect_none(const std::string &error) {
  if (error.empty())
    return;
  std::fprintf(stderr, "dbc-bench: %s\n", error.c_str());
  std::exit(1);
}

void Peer::pass(float *out) { expect_none(try_pass(out)); }

std::vector<float> Peer::parameter(const std::string &name) {
  std::vector<float> values;
  expect_none(try_parameter(name, values));
  return values;
}

} // namespace dbc::bench
