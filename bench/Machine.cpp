// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reading the processor's name and measuring its sgemm.
#include "bench/Machine.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace dbc::bench {

/// The value of the first line `name : value` of /proc/cpuinfo.
static std::string cpuinfo(const std::string &name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (line.rfind(name, 0) == 0 && colon != std::string::npos && colon + 2 <= line.size())
      return line.substr(colon + 2) + " ";
  }
  return "";
}

Machine::Machine(int32_t threads)
    : cpu_(cpuinfo("model name")), flags_(" " + cpuinfo("flags")), core_(openblas_get_corename()),
      config_(openblas_get_config()), threads_(threads) {
  openblas_set_num_threads(threads);
  if (cpu_.empty())
    cpu_ = "unknown processor ";
}

std::string Machine::describe() const {
  const char *vectors = flags_.find(" avx512f ") != std::string::npos ? "AVX-512"
                        : flags_.find(" avx2 ") != std::string::npos  ? "AVX2"
                                                                      : "no AVX2";
  double load[1] = {0};
  if (getloadavg(load, 1) != 1)
    load[0] = 0;
  char text[256];
  std::snprintf(text, sizeof text, "%s(%s), %u cores, load average %.1f before the run\n", cpu_.c_str(),
                vectors, std::thread::hardware_concurrency(), load[0]);
  return text + config_.substr(0, config_.find(' ', config_.find(' ') + 1)) + " with its " + core_ +
         " kernels, " + std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
}

std::string Machine::wrong_kernels() const {
  bool avx512 =
      flags_.find(" avx512f ") != std::string::npos && flags_.find(" avx512dq ") != std::string::npos;
  bool avx2 = flags_.find(" avx2 ") != std::string::npos;
  auto one_of = [&](std::initializer_list<const char *> names) {
    return std::any_of(names.begin(), names.end(), [&](const char *name) { return core_ == name; });
  };
  bool fine =
      avx512 ? one_of({"SkylakeX", "Cooperlake", "SapphireRapids"}) : !avx2 || one_of({"Haswell", "Zen"});
  if (fine)
    return "";
  return "OpenBLAS runs its " + core_ +
         " kernels, which are not the right ones for this processor: start through " +
         "scripts/bench, or set OPENBLAS_CORETYPE=" + (avx512 ? "SkylakeX" : "Haswell");
}

double Machine::sgemm() {
  using Clock = std::chrono::steady_clock;
  auto multiply = [&](int32_t size) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a_.data(), size, b_.data(),
                size, 0, c_.data(), size);
  };
  auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (size_ == 0) {
    a_.assign(1024 * 1024, 0.5f);
    b_.assign(a_.size(), 0.25f);
    c_.assign(a_.size(), 0.0f);
    double best = 0;
    for (int32_t size : {512, 768, 1024}) {
      for (int sample = 0; sample < 4; ++sample) {
        Clock::time_point start = Clock::now();
        multiply(size);
        double speed = 1.0 * size * size * size / seconds_since(start);
        if (speed > best) {
          best = speed;
          size_ = size;
        }
      }
    }
  }
  Clock::time_point start = Clock::now();
  int products = 0;
  double seconds = 0;
  while (seconds < 0.02) {
    multiply(size_);
    ++products;
    seconds = seconds_since(start);
  }
  return 2e-9 * products * size_ * size_ * size_ / seconds;
}

} // namespace dbc::bench
