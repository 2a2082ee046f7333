// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The hash by which a training knows its files again: BLAKE3 of a text that is there as a whole, without keys
// and of one block of output. The names are those of its specification.
#include "WholeFiles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace dbc::train {

namespace {

using Words = std::array<uint32_t, 8>;

constexpr size_t kBlock = 64, kChunk = 1024; ///< bytes
enum Flag : uint32_t { kChunkStart = 1, kChunkEnd = 2, kParent = 4, kRoot = 8 };

constexpr Words kIv = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                       0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
/// Which words of the block each round takes, in its order: those of the round before, permuted.
constexpr std::array<std::array<int, 16>, 7> schedule() {
  constexpr int permutation[] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  std::array<std::array<int, 16>, 7> all{};
  for (int i = 0; i < 16; ++i)
    all[0][i] = i;
  for (int round = 1; round < 7; ++round)
    for (int i = 0; i < 16; ++i)
      all[round][i] = all[round - 1][permutation[i]];
  return all;
}
constexpr auto kSchedule = schedule();

uint32_t turned(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

/// Mixes two words of the block into a column or diagonal of the state.
void mix(uint32_t *v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
  v[a] += v[b] + x;
  v[d] = turned(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = turned(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = turned(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = turned(v[b] ^ v[c], 7);
}

/// The chaining value behind a block of `length` bytes; of the root the first half of the output.
Words compress(const Words &chaining, const std::array<uint32_t, 16> &block, uint64_t counter,
               uint32_t length, uint32_t flags) {
  uint32_t v[16];
  std::copy(chaining.begin(), chaining.end(), v);
  std::copy_n(kIv.begin(), 4, v + 8);
  v[12] = static_cast<uint32_t>(counter);
  v[13] = static_cast<uint32_t>(counter >> 32);
  v[14] = length;
  v[15] = flags;
  for (int round = 0; round < 7; ++round) {
    const auto &at = kSchedule[round];
    for (int i = 0; i < 4; ++i)
      mix(v, i, i + 4, i + 8, i + 12, block[at[2 * i]], block[at[2 * i + 1]]);
    for (int i = 0; i < 4; ++i)
      mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, block[at[8 + 2 * i]],
          block[at[9 + 2 * i]]);
  }
  Words out;
  for (int i = 0; i < 8; ++i)
    out[i] = v[i] ^ v[i + 8];
  return out;
}

/// The value of one chunk, the `number`th; `root`: of a text that has no other.
Words chunk_value(std::string_view bytes, uint64_t number, uint32_t root) {
  Words value = kIv;
  uint32_t flags = kChunkStart;
  do {
    const std::string_view part = bytes.substr(0, kBlock);
    bytes.remove_prefix(part.size());
    std::array<uint32_t, 16> block = {};
    std::memcpy(block.data(), part.data(), part.size()); // little-endian, as the specification has it
    if (bytes.empty())
      flags |= kChunkEnd | root;
    value = compress(value, block, number, static_cast<uint32_t>(part.size()), flags);
    flags = 0;
  } while (!bytes.empty());
  return value;
}

/// The value of a subtree whose first chunk is the `number`th. The left one of two has the greatest power of
/// two of whole chunks that leaves something for the right one.
Words tree_value(std::string_view bytes, uint64_t number, uint32_t root) {
  if (bytes.size() <= kChunk)
    return chunk_value(bytes, number, root);
  size_t left = kChunk;
  while (left * 2 < bytes.size())
    left *= 2;
  std::array<uint32_t, 16> block;
  const Words a = tree_value(bytes.substr(0, left), number, 0),
              b = tree_value(bytes.substr(left), number + left / kChunk, 0);
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), block.begin()));
  return compress(kIv, block, 0, kBlock, kParent | root);
}

} // namespace

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks are copied as they stand in memory");

std::string hash_of(std::string text) {
  text.insert(0, std::to_string(text.size()) + ":");
  const Words root = tree_value(text, 0, kRoot);
  std::string digits;
  for (size_t byte = 0; byte < 16; ++byte) {
    const uint32_t value = root[byte / 4] >> 8 * (byte % 4) & 255;
    digits += "0123456789abcdef"[value >> 4];
    digits += "0123456789abcdef"[value & 15];
  }
  return digits;
}

} // namespace dbc::train
