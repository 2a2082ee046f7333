// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Training over the processes that mpirun, or another launcher of MPI, has started: library dbc::mpi, which
// is there where dbc was built with MPI.
#pragma once

#include <dbc/model.h>
#include <dbc/train/communicator.h>
#include <dbc/train/options.h>

namespace dbc::mpi {

/// The processes of MPI_COMM_WORLD. Calls MPI_Init and MPI_Finalize unless the program has done so; one at a
/// time. What goes wrong within MPI ends all processes with MPI's own message.
class World final : public Communicator {
public:
  World();
  ~World() override;

  int32_t rank() const override { return rank_; }
  int32_t size() const override { return size_; }
  Status exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received) override;
  [[noreturn]] void abort(int code) override;

private:
  int rank_ = 0, size_ = 1;
  bool is_own_ = false; ///< MPI_Init was called here
};

/// A whole `main`, as dbc::train_main, of each of the processes: they train together. Alone it is
/// dbc::train_main.
int train_main(const TrainOptions &options, const ModelCode &code);
/// The same with the options as the program's one argument, as JSON; 2 if it is none.
int train_main(int argc, char **argv, const ModelCode &code);

} // namespace dbc::mpi
