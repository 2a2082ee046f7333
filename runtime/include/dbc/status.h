// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How the runtime reports failure: by value, never by an exception or an abort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dbc {

/// What kind of failure a Status tells of.
enum class Code : uint8_t {
  ok,
  bad_input,   ///< the application's structure or arguments are wrong; concerns one input of a batch
  bad_weights, ///< a parameter is missing, or has the wrong shape or type
  bad_call,    ///< the interface was used wrongly (a batch of another model, an output that is too small)
  limit,       ///< no memory, or more than 2^31 - 1 rows
  io,          ///< a file could not be read or written
  internal,    ///< a mistake in dbc
  // Of a Batcher alone (dbc/batcher.h):
  unavailable, ///< takes no request now: too many wait, or it was closed
  cancelled,   ///< nobody wants the answer any more
  deadline     ///< it was not run in time
};

/// The code's name as it stands in JSON, e.g. "bad_input".
const char *code_name(Code code);

// nvcc takes what an assignment gives for a result that is dropped.
#ifdef __CUDACC__
#define DBC_NODISCARD
#else
#define DBC_NODISCARD [[nodiscard]]
#endif

/// Success, or one failure in words. A message is lower case, without a full stop, and names the model, then,
/// as far as they are known, input, node and field:
///   tree_lstm: input 3: Tree node 7 (Node): field `left` is missing
/// A status that a call returns is to be looked at: one that is dropped is a warning of the compiler.
struct DBC_NODISCARD Status {
  Code code = Code::ok;
  std::string message;
  int32_t input = -1; ///< the input's number in the batch, or -1
  int32_t node = -1;  ///< the node's number in its input, as in the message (Batch::node_name), or -1
  int32_t data = -1;  ///< the node's data type, its number in ModelInfo::datas, or -1
  std::string field;  ///< the field or argument, or empty

  bool ok() const { return code == Code::ok; }

  static Status error(Code code, std::string message) {
    Status s;
    s.code = code;
    s.message = std::move(message);
    return s;
  }
};

/// How many answers about what is not there a thread has at once.
constexpr size_t kWordsOfThread = 16;

/// What is said of an input that is not there: bad_call. `what` goes before it, a model's name or nothing;
/// `of` behind: "input 7 is outside 0..3 of the batch". It belongs to the calling thread, until it has
/// asked kWordsOfThread times more. Never throws: without memory there are no words.
const Status &no_such_input(const std::string &model, int32_t input, int32_t inputs, const char *of) noexcept;
/// The same in other words.
const Status &not_there(const std::string &model, const char *why) noexcept;

/// One status an input of a batch. Keeps its memory. Moved from, it has none.
class InputStatuses {
public:
  InputStatuses() = default;
  InputStatuses(InputStatuses &&other) noexcept { *this = std::move(other); }
  InputStatuses &operator=(InputStatuses &&other) noexcept {
    of_ = std::exchange(other.of_, {});
    inputs_ = std::exchange(other.inputs_, 0);
    failed_ = std::exchange(other.failed_, 0);
    return *this;
  }
  /// `inputs` of them, all ok. May throw std::bad_alloc.
  void begin(int32_t inputs);
  /// More inputs, all ok. May throw std::bad_alloc.
  void extend(int32_t inputs);
  /// The first failure of an input stays.
  void fail(int32_t input, Status status);
  /// Another failure of an input that has one.
  void replace(int32_t input, Status status);
  const Status &operator[](int32_t input) const { return of_[input]; }
  int32_t inputs() const { return inputs_; }
  int32_t failed() const { return failed_; }

private:
  std::vector<Status> of_; ///< entries from inputs_ on are ok
  int32_t inputs_ = 0, failed_ = 0;
};

} // namespace dbc
