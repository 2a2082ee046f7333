// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What ranks send each other of gradients and weights.
#pragma once

#include <cstdint>
#include <dbc/buffer.h>
#include <dbc/train/communicator.h>
#include <vector>

namespace dbc::train {

/// A message a rank, each of numbers, and behind them numbers of rows; all in one memory, which is kept.
/// First the lengths are counted, then room is made, then it is written, or received and read, from front to
/// back.
class Messages {
public:
  /// Begins anew, with empty ones.
  void clear(int32_t ranks) { messages_.assign(static_cast<size_t>(ranks), {}); }
  /// Makes a message longer.
  void count(int32_t rank, size_t bytes, int64_t rows) {
    messages_[rank].bytes += bytes;
    messages_[rank].rows += static_cast<size_t>(rows);
  }
  /// Throws std::bad_alloc.
  void make_room() {
    size_t bytes = 0;
    for (Message &message : messages_) {
      message.begin = bytes;
      bytes += (message.size() + kAlignment - 1) / kAlignment * kAlignment;
    }
    memory_.reserve(1); // so that there is an address where all are empty
    memory_.resize(bytes);
    rewind();
  }
  /// Goes back to the front of each.
  void rewind() {
    for (Message &message : messages_) {
      message.next = message.begin;
      message.next_row = message.begin + message.bytes;
    }
  }
  /// The next bytes of a message, and the next of its rows.
  template <class Number> Number *numbers(int32_t rank, size_t count) {
    void *at = memory_.data() + messages_[rank].next;
    messages_[rank].next += count * sizeof(Number);
    return static_cast<Number *>(at);
  }
  int32_t *rows(int32_t rank, int64_t count) {
    void *at = memory_.data() + messages_[rank].next_row;
    messages_[rank].next_row += static_cast<size_t>(count) * sizeof(int32_t);
    return static_cast<int32_t *>(at);
  }
  /// Message r for rank r.
  std::vector<SentBytes> sent() const {
    std::vector<SentBytes> sent;
    for (const Message &message : messages_)
      sent.push_back({memory_.data() + message.begin, message.size()});
    return sent;
  }
  /// That of one rank, for all.
  std::vector<SentBytes> sent_to_all(int32_t rank) const {
    return std::vector<SentBytes>(messages_.size(),
                                  {memory_.data() + messages_[rank].begin, messages_[rank].size()});
  }
  /// Message r from rank r.
  std::vector<ReceivedBytes> received() {
    std::vector<ReceivedBytes> received;
    for (const Message &message : messages_)
      received.push_back({memory_.data() + message.begin, message.size()});
    return received;
  }

private:
  struct Message {
    size_t bytes = 0, rows = 0; ///< of numbers; of rows, how many
    size_t begin = 0, next = 0, next_row = 0;
    size_t size() const { return bytes + rows * sizeof(int32_t); }
  };
  std::vector<Message> messages_;
  Array<unsigned char> memory_;
};

} // namespace dbc::train
