// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "Crash.h"

#include <csignal>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

namespace dbc::train {

namespace {

constexpr int kInternal = 70;

/// The command line as it was typed. Static: it is read in a signal handler.
char typed[4096];

/// Adds to it as much as there is room for.
void keep(const char *text) { std::strncat(typed, text, sizeof(typed) - std::strlen(typed) - 1); }

void say(const char *text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
    _exit(kInternal);
}

extern "C" void on_crash(int number) {
  report_internal_error(number == SIGABRT   ? "aborted"
                        : number == SIGSEGV ? "segmentation fault"
                                            : "illegal operation");
  _exit(kInternal);
}

} // namespace

/// Calls nothing that a signal handler may not.
void report_internal_error(const char *what) {
  say("dbc: internal error: ");
  say(what);
  say("\nThis is a mistake in dbc, not in your model. Please report it with the model and this command:\n ");
  say(typed);
  say("\n");
}

void report_crashes(int argc, char **argv) {
  for (int i = 0; i < argc; ++i) {
    keep(" ");
    keep(argv[i]);
  }
#ifndef __SANITIZE_ADDRESS__  // its own report says more
  static char stack[1 << 16]; // a stack that overflowed cannot be used
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    sigaction(number, &action, nullptr);
#endif
}

} // namespace dbc::train
