// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reading the command line.
#include "bench/Options.h"

#include <dbc/session.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace dbc::bench {

const char *usage() {
  return "usage: scripts/bench [options]\n"
         "Compares compiled models with implementations by hand and with other libraries; method and\n"
         "meaning of the figures: bench/README.md.\n"
         "\n"
         "  --quick           fewer inputs, batches 1 and 64, a second an implementation\n"
         "  --mode MODE       infer (default), or train: steps of SGD, by those that have a loss for it:\n"
         "                    tree_lstm and tagger\n"
         "  --workload NAME   only this one: tree_lstm, child_sum, tagger, lattice, treefc, mv_rnn or\n"
         "                    ggnn\n"
         "  --hidden N        hidden size (default 150)\n"
         "  --batch N         inputs a batch (default 1, 10, 64 and 256)\n"
         "  --threads N       threads of each implementation (default 1)\n"
         "  --seconds S       how long each implementation runs in a case (default 4; 1 with --quick)\n"
         "  --dynet DIR       a native build of DyNet's Python module, for its rows (default: what is "
         "installed)\n"
         "  --gpu             on a GPU, or predictions for one; has options of its own: --gpu --help\n"
         "  --dump DIR        measure nothing: write the inputs of each workload to DIR/NAME.json\n"
         "  --json [FILE]     write the rows as a JSON array to FILE, or to stdout\n"
         "  --plot FILE       draw the rows as bars, an SVG\n"
         "\n"
         "$DBC_DATA says where the data sets lie (default ../shared/data), $DBC_PYTHON which Python runs\n"
         "the peers (default python3). The table goes to stderr.\n";
}

/// An integer from 1 to `most`.
static bool read_number(const std::string &text, int32_t most, int32_t &value) {
  char *end = nullptr;
  long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || number < 1 || number > most)
    return false;
  value = static_cast<int32_t>(number);
  return true;
}

std::string parse(const std::vector<std::string> &arguments, Options &options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i], value;
    size_t equals = name.find('=');
    bool joined = name.rfind("--", 0) == 0 && equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (name == "--quick" || name == "--help" || name == "-h") {
      if (joined)
        return "`" + name + "` takes no value";
      (name == "--quick" ? options.quick : options.help) = true;
      continue;
    }
    bool has_value = joined;
    if (!joined && i + 1 < arguments.size() && arguments[i + 1].rfind("--", 0) != 0) {
      value = arguments[i + 1];
      has_value = true;
    }
    bool fine = true;
    if (name == "--json") { // the file may be left out
      options.json = true;
      options.json_file = value == "-" ? "" : value;
    } else if (name == "--workload") {
      options.workload = value;
    } else if (name == "--mode") {
      fine = value == name_of(Mode::Infer) || value == name_of(Mode::Train);
      options.mode = value == name_of(Mode::Train) ? Mode::Train : Mode::Infer;
    } else if (name == "--dynet") {
      options.dynet = value;
    } else if (name == "--plot") {
      options.plot = value;
    } else if (name == "--dump") {
      options.dump = value;
    } else if (name == "--hidden") {
      fine = read_number(value, 1 << 14, options.hidden);
    } else if (name == "--batch") {
      fine = read_number(value, 1 << 16, options.batch);
    } else if (name == "--threads") {
      fine = read_number(value, dbc::Session::kMostThreads, options.threads);
    } else if (name == "--seconds") {
      char *end = nullptr;
      options.seconds = std::strtod(value.c_str(), &end);
      fine = *end == 0 && std::isfinite(options.seconds) && options.seconds > 0;
    } else {
      return "unknown option `" + arguments[i] + "`";
    }
    if (name != "--json" && (!has_value || value.empty()))
      return "`" + name + "` needs a value";
    if (!fine)
      return "`" + value + "` does not fit `" + name + "`";
    // An installed one would be measured in its place.
    if (name == "--dynet" && !std::ifstream(value + "/dynet.py"))
      return "`" + value + "` has no dynet.py";
    if (has_value && !joined)
      ++i;
  }
  return "";
}

} // namespace dbc::bench
