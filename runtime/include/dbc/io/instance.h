// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One input as a plain structure that can be drawn at random, cut down and written: what `dbc sample` and
// `dbc verify` work with. Large data goes straight from lines into a Batch instead (instances.h).
#pragma once

#include <cstdint>
#include <dbc/batch.h>
#include <dbc/io/value.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dbc {

/// One input of an entry. In its values a node is its index in `nodes`.
struct Instance {
  struct Node {
    int32_t data = 0, kind = 0; ///< data type and constructor
    std::vector<Value> fields;  ///< in the order of the constructor
    std::vector<bool> given;    ///< by field; one that is not given is not written
  };
  std::vector<Node> nodes;
  std::vector<Value> args; ///< in the order of the entry
  float weight = 1;
};

/// The instance as a JSON line without '\n'.
std::string instance_json(const ModelInfo &model, const EntryInfo &entry, const Instance &instance);

/// One input of a batch, all its nodes, data type by data type. Fails with bad_call if there is no such input
/// or an argument of the entry was not set, with bad_input if a reference leaves the input. Finishes the
/// batch.
Status get_instance(const EntryInfo &entry, Batch &batch, int32_t input, Instance &instance);

/// Both ends are included.
struct DrawRange {
  int64_t least = 0, most = 0;
};

/// How draw_instance draws.
struct DrawOptions {
  int32_t most_nodes = 40;   ///< what nearly all structures stay under, give or take a list; at most 1000
  int32_t big_nodes = 200;   ///< one in 25 may be this large; at most 1000
  int32_t most_elements = 6; ///< in lists of a field
  int32_t most_arg_elements = 12; ///< in lists of an argument
  int32_t long_elements = 0; ///< one input in ten has outermost lists of numbers, and of arguments, this long
  bool cycles = false;       ///< some references between nodes lead anywhere, so that most inputs have cycles

  // What is set here holds for every input, in place of the numbers above; at most 1,000,000 each.
  std::optional<DrawRange> nodes;  ///< how many nodes
  std::optional<DrawRange> length; ///< of lists of an argument, and of a field's lists without nodes
  std::optional<DrawRange> depth;  ///< nodes on the longest way down from an argument
};

/// Draws a valid, finite input, acyclic unless `cycles` is asked for: number `number` of the sequence that
/// `seed` names, the same on every machine.
///
/// Structures vary in size (where data types are recursive the median is above 20 nodes) and form (chains,
/// bushes, uneven), half of them share nodes, some have nodes that nothing refers to or references forward.
/// Within one input lists tend to be all equally long, never empty where that can be, or free. Indices are
/// uniform, ints small and mostly not negative, floats near normal with three decimals. All fields are given.
///
/// Fails with bad_input if an argument needs a node of a type without finite values, naming the type; or if
/// none of a hundred drawn has the sizes that are asked for, with the nearest size that was drawn.
Status draw_instance(const ModelInfo &model, const EntryInfo &entry, uint64_t seed, uint64_t number,
                     Instance &instance, const DrawOptions &options = {});

/// Cuts an instance down while `fails` holds: shorter lists, fewer nodes, simpler numbers. `fails(instance)`
/// must be true at the start; the result is the smallest found within `tries` calls. Unreferenced nodes go
/// first.
Instance shrink_instance(const ModelInfo &model, const EntryInfo &entry, Instance instance,
                         const std::function<bool(const Instance &)> &fails, int tries = 2000);

} // namespace dbc
