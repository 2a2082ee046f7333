// Compiles models to C++ text, each in a process of its own, so that one that crashes or hangs is an outcome
// like others.
//
// usage: dbc-compile-each
//
// Each line of stdin is a model: its file, where to look for modules, `name=number` for each dim, with tabs
// between. For each a line is printed: what `dbc compile` would exit with, or minus the number of the signal
// that ended it, and the seconds that it took. What is said about a model goes into a file called like its
// own with `.said` behind. A model has kSeconds of processor time and, where no sanitizer wants more, kBytes
// of memory.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "driver/ModelUnit.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dbc::driver;

namespace {

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr rlim_t kSeconds = 60, kBytes = RLIM_INFINITY;
#else
constexpr rlim_t kSeconds = 5, kBytes = rlim_t(4) << 30;
#endif

void limit(int what, rlim_t most) {
  rlimit value{most, most};
  if (setrlimit(what, &value) != 0)
    std::perror("setrlimit");
}

ModelOptions parse(const std::string &line) {
  ModelOptions options;
  std::istringstream fields(line);
  std::string include, dim;
  std::getline(fields, options.file, '\t');
  std::getline(fields, include, '\t');
  options.includes.push_back(include);
  while (std::getline(fields, dim, '\t')) {
    size_t equals = dim.find('=');
    options.dims[dim.substr(0, equals)] = std::stoll(dim.substr(equals + 1));
  }
  return options;
}

/// What the child does; its exit code.
int compile(const ModelOptions &options) {
  int said = open((options.file + ".said").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666);
  if (said < 0 || dup2(said, STDERR_FILENO) < 0)
    return kUsage;
  limit(RLIMIT_CPU, kSeconds);
  limit(RLIMIT_AS, kBytes);
  limit(RLIMIT_CORE, 0);
  alarm(20 * kSeconds); // what waits takes no processor time
  try {
    GeneratedCode code;
    return ModelUnit(options).generate(code);
  } catch (const std::exception &error) {
    std::cerr << "dbc: internal error: " << error.what() << "\n";
    return kInternal;
  }
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    auto start = std::chrono::steady_clock::now();
    pid_t child = fork();
    if (child == 0)
      _exit(compile(parse(line)));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      std::perror("dbc-compile-each");
      return kInternal;
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) << " " << took.count()
              << std::endl;
  }
}
