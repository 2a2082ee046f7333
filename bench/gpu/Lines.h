// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A compiled model and batches of JSON lines, as the programs of this folder run them. Each program is linked
// with one model, whose code function the macro DBC_GPU_CODE names.
#pragma once

#include <dbc/cuda/context.h>
#include <dbc/io/instances.h>
#include <dbc/weights.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

extern "C" const dbc::ModelCode *DBC_GPU_CODE();

namespace dbc::gpu {

/// Ends the program with a message where something is wrong: nothing that is checked or measured here may
/// fail.
void expect(bool fine, const std::string &message);
void expect(const Status &status);

/// Microseconds by a clock that is never set.
double now_us();

/// The lines of a file; of more than `most` the first.
std::vector<std::string> read_lines(const std::string &file, size_t most = SIZE_MAX);

/// One batch and what its lines' nodes are called.
struct LineBatch {
  LineBatch(const ModelInfo &info, const EntryInfo &entry, const std::vector<std::string> &lines,
            size_t begin, size_t end);
  InstanceReader reader;
  Batch batch;
};

/// Whole batches of `size` lines, lines being repeated where there are fewer; at most `most` of them.
std::deque<LineBatch> batches_of(const ModelInfo &info, const EntryInfo &entry,
                                 const std::vector<std::string> &lines, size_t size, size_t most);

/// The model with weights drawn from seed 0, as `dbc interpret` draws them.
struct Program {
  explicit Program(const std::string &entry_name, const ModelCode &code);
  const ModelCode &code;
  Weights weights;
  dbc::Model model;
  int32_t entry = -1;
  const EntryInfo &info() const { return code.info->entries[entry]; }
};

/// Results of the last run as JSON, a line an input: equal texts are equal bits.
std::vector<std::string> results_of(const Session &session, int32_t entry, const EntryInfo &info,
                                    const LineBatch &batch);

/// How loops run, and its name in rows.
struct NamedPath {
  const char *name;
  cuda::Path path;
};
constexpr NamedPath kPaths[] = {
    {"levels", cuda::Path::Levels}, {"graph", cuda::Path::Graph}, {"loops", cuda::Path::Persistent}};

} // namespace dbc::gpu
