// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which nodes of a batch are alike: the one place where a run hashes, and only where a session is set to
// share.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/status.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dbc {

/// For each node of a batch the first one met that is like it: of the same constructor, with bit by bit the
/// same numbers in the same fields, whose references lead to nodes that are alike. Of nodes that lead around
/// to themselves at least one on each way around is like no other. Only the fields asked for count. Keeps its
/// memory from batch to batch; of one thread.
class SharedNodes {
public:
  /// Looks at the nodes of all inputs whose status is ok, whose columns `fields` must be validated: O(their
  /// size), expected; a batch made for the purpose can take its square. Throws std::bad_alloc.
  void find(const Batch &batch, const std::vector<ColumnRef> &fields, const InputStatuses &statuses);
  /// Of each node of a data type the one that stands for those like it, valid until the next find(). Nodes
  /// that it did not look at are like no others.
  const int32_t *of(int32_t data) const { return tables_[data].same.data(); }

private:
  struct Field {
    const ColumnInfo *info;
    const ColumnView *view;
  };
  struct Table {
    std::vector<std::vector<Field>> fields; ///< of each constructor, those asked for
    const uint8_t *kinds = nullptr;         ///< null: one constructor
    IndexArray same;                        ///< kNew, kOpen, or the first node like this one
    Array<uint32_t> hashes;                 ///< of those that are like none before them
    IndexArray buckets;                     ///< these, by their hashes, by open addressing; or -1

    const std::vector<Field> &fields_of(int32_t node) const { return fields[kinds ? kinds[node] : 0]; }
  };
  struct Visit {
    int32_t data, node;
  };
  static constexpr int32_t kNew = -1;  ///< not met yet
  static constexpr int32_t kOpen = -2; ///< met before what it refers to

  void prepare(const Batch &batch, const std::vector<ColumnRef> &fields);
  void visit(int32_t data, int32_t node);
  template <class Each> void each_target(int32_t data, int32_t node, Each &&each) const;
  int32_t first_like(int32_t data, int32_t node);
  uint32_t hash(const Table &table, int32_t node) const;
  bool alike(const Table &table, int32_t a, int32_t b) const;
  bool alike(const Field &field, int32_t level, int32_t a, int32_t b, int32_t count) const;

  std::vector<Table> tables_;
  Array<Visit> stack_;
};

} // namespace dbc
