// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The command line of dbc-bench.
#pragma once

#include "bench/Mode.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

struct Options {
  bool quick = false;
  Mode mode = Mode::Infer;
  std::string workload; ///< empty: all that have the mode
  int32_t hidden = 0;   ///< 0: the workload's default
  int32_t batch = 0;    ///< 0: the workload's default list
  int32_t threads = 1;
  double seconds = 0; ///< for each implementation of a case; 0: by `quick`
  std::string dynet;  ///< where a native build of DyNet's Python module lies; empty: what is installed
  bool json = false;
  std::string json_file; ///< empty: stdout
  std::string plot;      ///< a file for the bars, see plot(); empty: none
  std::string dump;      ///< a folder for the inputs, as dump() writes them; then nothing is measured
  bool help = false;

  double seconds_each() const { return seconds > 0 ? seconds : quick ? 1.0 : 4.0; }
};

/// The text of --help.
const char *usage();

/// Returns an empty string, or what is wrong with the arguments.
std::string parse(const std::vector<std::string> &arguments, Options &options);

} // namespace dbc::bench
