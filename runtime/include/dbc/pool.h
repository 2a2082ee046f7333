// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A session's own threads.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace dbc {

/// `threads` workers, the caller being one of them. Work is cut into chunks that are handed out statically:
/// chunk c goes to worker c % threads. No result may depend on which worker computes it, so the number of
/// threads has no effect on bits. Waiting workers spin for some microseconds, then sleep.
class Pool {
public:
  /// threads < 1 is taken as 1. Where threads cannot be started, or there is no memory for them, the pool has
  /// fewer; the caller is always one.
  explicit Pool(int32_t threads = 1) noexcept;
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  int32_t threads() const;

  /// Calls fn(chunk, worker) once for every chunk 0 .. chunks - 1 and returns when all are done; worker is
  /// 0 .. threads() - 1. fn must not throw. One chunk, or a pool of one, runs on the caller alone. Not
  /// reentrant.
  template <class Fn> void run(int32_t chunks, Fn &&fn) {
    if (chunks <= 1 || threads() == 1) {
      for (int32_t c = 0; c < chunks; ++c)
        fn(c, 0);
      return;
    }
    using F = typename std::remove_reference<Fn>::type;
    dispatch(
        chunks, [](void *f, int32_t chunk, int32_t worker) { (*static_cast<F *>(f))(chunk, worker); },
        const_cast<void *>(static_cast<const void *>(&fn)));
  }

private:
  using Job = void (*)(void *, int32_t, int32_t);
  void dispatch(int32_t chunks, Job job, void *context);
  struct State;
  std::unique_ptr<State> state_; ///< null if the caller is alone
};

} // namespace dbc
