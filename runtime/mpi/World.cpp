// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// MPI as the trainer sees it.
#include <dbc/mpi.h>
#include <dbc/train/trainer.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mpi.h>
#include <unistd.h>

namespace dbc::mpi {

namespace {

constexpr int kUserError = 1, kInternal = 70;
/// A message of MPI counts its bytes in an int.
constexpr size_t kMostBytes = size_t(1) << 30;

/// Gives the launcher time to read what a rank has said: less than the second that Open MPI's gives ranks
/// that are to end. May be called by a handler of signals.
void wait_for_launcher() {
  const timespec time = {0, 500'000'000};
  nanosleep(&time, nullptr);
}

/// A launcher ends the processes that are left by this signal, as Open MPI's does where one has died. Rank 0
/// says so.
extern "C" void on_termination(int) {
  static const char text[] =
      "dbc: error: the training was ended from outside, or another of its processes has "
      "ended; what was saved stays, and --resume goes on with it\n";
  const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(written < 0 ? kInternal : kUserError);
}

/// On the other ranks: the launcher kills all that are left as soon as one has ended by the signal, and would
/// mostly, but not always, let rank 0 say its sentence.
extern "C" void on_termination_of_others(int) {
  wait_for_launcher();
  _exit(kUserError);
}

/// Calls `post` with the address and length of each message that some bytes are sent in.
template <class Byte, class Post> void for_each_message(Byte *bytes, size_t size, Post post) {
  for (size_t at = 0; at < size; at += kMostBytes)
    post(bytes + at, static_cast<int>(std::min(kMostBytes, size - at)));
}

} // namespace

World::World() {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (is_initialised == 0) {
    is_own_ = true;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided); // a session's threads do not call MPI
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

World::~World() {
  if (is_own_)
    MPI_Finalize();
}

Status World::exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received) {
  std::vector<MPI_Request> requests;
  // From the next rank on, so that not all send to the first one first.
  for (int i = 1; i < size_; ++i) {
    const int from = (rank_ + size_ - i) % size_;
    for_each_message(static_cast<char *>(received[from].data), received[from].size, [&](char *at, int count) {
      MPI_Irecv(at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests.emplace_back());
    });
  }
  for (int i = 1; i < size_; ++i) {
    const int to = (rank_ + i) % size_;
    for_each_message(static_cast<const char *>(sent[to].data), sent[to].size, [&](const char *at, int count) {
      MPI_Isend(at, count, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return Status(); // MPI_ERRORS_ARE_FATAL
}

void World::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

/// Whether the launcher and this library are of one MPI; else it says that they are not.
static bool is_whole(const World &world) {
  const int launched = launched_processes();
  if (world.size() > 1 || launched == 1)
    return true;
  std::fprintf(
      stderr,
      "dbc: error: this is one of %d processes, of which MPI sees this one alone: the launcher is not "
      "of the MPI that dbc was built with\n",
      launched);
  return false;
}

/// Calls `main` with the world.
template <class Main> static int in_world(Main main) {
  World world;
  if (!is_whole(world))
    return kUserError;
  if (world.size() > 1)
    std::signal(SIGTERM, world.rank() == 0 ? on_termination : on_termination_of_others);
  const int code = main(&world);
  // All has been said. As all ranks finalise together, none that ends with an error ends before this.
  if (world.size() > 1)
    std::signal(SIGTERM, SIG_IGN);
  if (world.size() > 1 && code != 0) // a launcher that ends a job may drop what it has not read yet
    wait_for_launcher();
  return code;
}

int train_main(const TrainOptions &options, const ModelCode &code) {
  return in_world([&](World *world) { return dbc::train_main(options, code, world); });
}

int train_main(int argc, char **argv, const ModelCode &code) {
  return in_world([&](World *world) { return dbc::train_main(argc, argv, code, world); });
}

} // namespace dbc::mpi
