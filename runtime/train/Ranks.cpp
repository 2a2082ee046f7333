// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "Ranks.h"
#include <dbc/profile.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>

namespace dbc::train {

Status Ranks::exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received) {
  if (is_alone())
    return Status();
  const int64_t begin = now_ns();
  Status status = communicator_->exchange(sent, received);
  exchange_ns_ += now_ns() - begin;
  return status;
}

/// By Bruck's algorithm: each time a rank receives as much as it has from one that is as far behind it, so
/// that for R ranks there are log R messages one after the other, not R - 1 of each.
Status Ranks::gather(const void *own, size_t bytes, void *all) {
  const int32_t ranks = size(), self = rank();
  gathered_.resize(bytes * static_cast<size_t>(ranks)); // of this rank, of the next one, and so on
  if (bytes > 0)
    std::memcpy(gathered_.data(), own, bytes);
  for (int32_t have = 1; have < ranks; have *= 2) {
    const size_t more = static_cast<size_t>(std::min(have, ranks - have)) * bytes;
    std::vector<SentBytes> sent(ranks);
    std::vector<ReceivedBytes> received(ranks);
    sent[(self + ranks - have) % ranks] = {gathered_.data(), more};
    received[(self + have) % ranks] = {gathered_.data() + static_cast<size_t>(have) * bytes, more};
    if (Status status = exchange(sent, received); !status.ok())
      return status;
  }
  for (int32_t r = 0; bytes > 0 && r < ranks; ++r)
    std::memcpy(static_cast<char *>(all) + static_cast<size_t>((self + r) % ranks) * bytes,
                gathered_.data() + static_cast<size_t>(r) * bytes, bytes);
  return Status();
}

Status Ranks::gather_texts(const std::string &own, std::vector<std::string> &all) {
  const uint64_t length = own.size();
  std::vector<uint64_t> lengths(size());
  if (Status status = gather(&length, sizeof length, lengths.data()); !status.ok())
    return status;
  all.assign(size(), own);
  const std::vector<SentBytes> sent(size(), {own.data(), own.size()});
  std::vector<ReceivedBytes> received;
  for (size_t r = 0; r < all.size(); ++r) {
    all[r].resize(lengths[r]);
    received.push_back({all[r].data(), all[r].size()});
  }
  return exchange(sent, received);
}

/// In two steps, so that no rank sends more than twice the bytes: each gets a part, and gives it to the
/// others.
Status Ranks::broadcast(void *data, size_t bytes) {
  auto *at = static_cast<unsigned char *>(data);
  const auto ranks = static_cast<size_t>(size()), own = static_cast<size_t>(rank());
  const auto begin = [&](size_t r) { return bytes / ranks * r + std::min(bytes % ranks, r); };
  const auto length = [&](size_t r) { return begin(r + 1) - begin(r); };
  std::vector<SentBytes> sent(ranks);
  std::vector<ReceivedBytes> received(ranks);
  if (own == 0)
    for (size_t r = 0; r < ranks; ++r)
      sent[r] = {at + begin(r), length(r)};
  else
    received[0] = {at + begin(own), length(own)};
  if (Status status = exchange(sent, received); !status.ok())
    return status;
  for (size_t r = 0; r < ranks; ++r) {
    sent[r] = r == 0 ? SentBytes() : SentBytes{at + begin(own), length(own)}; // the first one has them all
    received[r] = own == 0 ? ReceivedBytes() : ReceivedBytes{at + begin(r), length(r)};
  }
  return exchange(sent, received);
}

Status Ranks::agree(const Status &own) {
  if (is_alone())
    return own;
  std::vector<std::string> messages;
  const std::string text = own.ok() ? std::string() : static_cast<char>(own.code) + own.message;
  if (Status status = gather_texts(text, messages); !status.ok())
    return status;
  for (const std::string &each : messages)
    if (!each.empty())
      return agreed(Status::error(static_cast<Code>(each[0]), each.substr(1)));
  return Status();
}

std::vector<std::vector<size_t>> distribute(const std::vector<int64_t> &sizes, int32_t ranks) {
  constexpr size_t kByLoad = 4; // so many of the smallest inputs of a rank even out what the others have left
  std::vector<std::pair<int64_t, size_t>> order; // the largest first, of equal ones in their order
  order.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    order.emplace_back(-sizes[i], i);
  std::sort(order.begin(), order.end());
  const auto all = static_cast<size_t>(ranks);
  std::vector<std::vector<size_t>> inputs(all);
  using Load = std::pair<int64_t, size_t>; // the size so far, and the rank: of equal ones the first
  std::vector<Load> loads(all);
  for (size_t r = 0; r < all; ++r)
    loads[r].second = r;
  const auto give = [&](Load &load, size_t at) {
    inputs[load.second].push_back(order[at].second);
    load.first -= order[at].first;
  };
  const size_t rounds = order.size() / all;
  size_t at = 0;
  for (size_t round = kByLoad; round < rounds; ++round) // forth and back
    for (size_t i = 0; i < all; ++i, ++at)
      give(loads[round % 2 == 0 ? i : all - 1 - i], at);
  for (std::priority_queue<Load, std::vector<Load>, std::greater<>> least(std::greater<>(), std::move(loads));
       at < order.size(); ++at) {
    Load load = least.top();
    least.pop();
    give(load, at);
    least.push(load);
  }
  for (std::vector<size_t> &each : inputs)
    std::sort(each.begin(), each.end());
  return inputs;
}

} // namespace dbc::train
