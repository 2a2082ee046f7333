// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A child process on a pair of sockets. Unlike a pipe, a socket can be written to without a signal when
// nobody reads it any more.
#include "bench/ChildProcess.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

extern char **environ;

namespace dbc::bench {

/// Longest line that is taken for an answer.
static constexpr size_t kLongestLine = 4096;
/// How long a program may take to end when it has closed its output.
static constexpr std::chrono::seconds kEnd{2};

static std::string error_text(const std::string &what, int error) {
  return what + ": " + std::strerror(error);
}

/// Pointers to the texts and the null that ends them, as exec takes them.
static std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> all;
  for (const std::string &text : texts)
    all.push_back(const_cast<char *>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// This program's environment with `changes` in place of what has the same names.
static std::vector<std::string> environment_with(const std::vector<std::string> &changes) {
  std::vector<std::string> all = changes;
  for (char **old = environ; *old; ++old) {
    const std::string text = *old, name = text.substr(0, text.find('=') + 1);
    auto same = [&](const std::string &change) { return change.compare(0, name.size(), name) == 0; };
    if (std::none_of(changes.begin(), changes.end(), same))
      all.push_back(text);
  }
  return all;
}

ChildProcess::~ChildProcess() {
  if (socket_ >= 0)
    close(socket_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::string ChildProcess::start(const std::vector<std::string> &command,
                                const std::vector<std::string> &environment) {
  int ends[2];
  // Closed in every other program that is started, or the end of one would not be seen.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return error_text("cannot connect to `" + command[0] + "`", errno);
  socket_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> variables = environment_with(environment);
  int error = posix_spawnp(&pid_, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                           pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0)
    return "";
  pid_ = -1;
  return error_text("cannot start `" + command[0] + "`", error);
}

ChildProcess::Clock::time_point ChildProcess::deadline() const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience_));
}

/// Says how the program ended; it has closed its output.
std::string ChildProcess::ended() {
  if (pid_ < 0)
    return "has ended";
  int status = 0;
  for (Clock::time_point until = Clock::now() + kEnd; waitpid(pid_, &status, WNOHANG) == 0;) {
    if (Clock::now() > until)
      return "closed its output";
    usleep(1000);
  }
  pid_ = -1;
  if (WIFSIGNALED(status))
    return std::string("was ended by a signal: ") + strsignal(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

std::string ChildProcess::send(const std::string &line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return ended();
    at += sent > 0 ? static_cast<size_t>(sent) : 0;
  }
  return "";
}

/// Waits for more and appends it to what is unread.
std::string ChildProcess::fill(Clock::time_point until) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{socket_, POLLIN, 0};
    int ready = poll(&waiting, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready == 0) {
      char text[64];
      std::snprintf(text, sizeof text, "was silent for %g s", patience_);
      return text;
    }
    char bytes[1 << 16];
    ssize_t got = ready < 0 ? -1 : recv(socket_, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return ended();
    unread_.append(bytes, static_cast<size_t>(got));
    return "";
  }
}

std::string ChildProcess::receive(std::string &line) {
  const Clock::time_point until = deadline();
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos && unread_.size() <= kLongestLine)
    if (std::string error = fill(until); !error.empty())
      return error;
  if (end > kLongestLine)
    return "answered with a line of more than " + std::to_string(kLongestLine) + " characters";
  line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return "";
}

std::string ChildProcess::receive(void *bytes, size_t size) {
  const Clock::time_point until = deadline();
  while (unread_.size() < size)
    if (std::string error = fill(until); !error.empty())
      return error;
  unread_.copy(static_cast<char *>(bytes), size);
  unread_.erase(0, size);
  return "";
}

} // namespace dbc::bench
