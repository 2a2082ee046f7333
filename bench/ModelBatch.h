// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What running and training a compiled model have in common: its names, its weights, its inputs. Nothing that
// is measured may fail: whatever does ends the program with a message.
#pragma once

#include "bench/Inputs.h"
#include "bench/Parameters.h"

#include <dbc/runtime.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

void expect(const Status &status);
/// That a session's last run has computed all of so many inputs.
void expect_all(const Session &session, int32_t inputs);

/// Number of the entry or loss of that name.
int32_t find_entry(const ModelInfo &info, const std::string &name);

/// All of the parameters as a model's weights.
Weights make_weights(const ModelInfo &info, const Parameters &parameters);

Model make_model(const ModelCode &code, const Weights &weights);

/// A batch of a model that borrows inputs. Fields and arguments are found by name.
class ModelBatch {
public:
  /// For inputs that have the tables of `some`.
  ModelBatch(const ModelInfo &info, int32_t entry, const Inputs &some);

  /// These inputs as the model's batch, which they must outlive; until the next call.
  Batch &borrow(const Inputs &inputs);

private:
  /// Where the columns of a table stand in the model's batch.
  struct BatchTable {
    int32_t table;
    std::vector<int32_t> columns;
  };

  Batch batch_;
  std::vector<BatchTable> tables_; ///< of the tables of Inputs
};

} // namespace dbc::bench
