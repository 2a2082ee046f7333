// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Peers from outside: other libraries' models, each in a Python program that runs beside this one.
#pragma once

#include "bench/ChildProcess.h"
#include "bench/Implementation.h"
#include "bench/Inputs.h"
#include "bench/Parameters.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

/// How a peer is started.
struct PeerProgram {
  std::vector<std::string> command;
  std::vector<std::string> environment; ///< "NAME=value", see ChildProcess
  double patience = 600;                ///< seconds that an answer may take
};

/// That of `impl` ("pytorch-level") for a workload, or for its training if `rate` is not 0. $DBC_PYTHON is
/// the interpreter, else `python3`. `dynet` is a folder with a native build of DyNet's Python module, or
/// empty.
PeerProgram peer_program(const std::string &workload, float rate, const std::string &impl, int32_t threads,
                         const std::string &dynet);

/// A peer that answers as peers/serve.py does. Start it, load it, then let it pass.
class Peer final : public Implementation {
public:
  /// `values`: how many elements a pass gives. `name` stands in front of errors.
  Peer(const std::string &name, const PeerProgram &program, size_t values);

  /// Starts the program. Returns an empty string, or what went wrong; `absent` says why it has nothing to
  /// take part with, and is empty if it has.
  std::string start(std::string &absent);
  /// Hands over everything, in a temporary folder that is gone afterwards, and waits until the peer is ready
  /// to pass.
  std::string load(const Parameters &parameters, const std::vector<Inputs> &batches);
  /// What the peer says about itself: versions, and what it chose by timing. Known when it is loaded.
  const std::string &note() const { return note_; }

  /// `pass` that returns an empty string, or what went wrong.
  std::string try_pass(float *out);
  /// `parameter` that says the same.
  std::string try_parameter(const std::string &name, std::vector<float> &values);
  /// Ends dbc-bench if anything goes wrong.
  void pass(float *out) override;
  /// Ends dbc-bench too if anything goes wrong.
  std::vector<float> parameter(const std::string &name) override;
  double schedule_seconds() const override { return schedule_seconds_; }
  double pass_seconds() const override { return pass_seconds_; }

private:
  std::string failure(const std::string &what) const;
  std::string unexpected(const std::string &answer) const;

  std::string name_;
  PeerProgram program_;
  ChildProcess process_;
  size_t values_;
  std::string note_;
  double pass_seconds_ = 0, schedule_seconds_ = -1;
};

} // namespace dbc::bench
