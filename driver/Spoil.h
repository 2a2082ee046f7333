// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include <cstdint>
#include <dbc/io/instance.h>

namespace dbc::driver {

/// Makes mistakes in an instance that are the model's to find: lists become empty or shorter, ints leave what
/// they stand for, fields are left out. Which ones `seed` and `number` say; mostly there are several.
void spoil(const ModelInfo &model, const EntryInfo &entry, Instance &instance, uint64_t seed,
           uint64_t number);

} // namespace dbc::driver
