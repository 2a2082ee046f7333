// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// LLVM's header for a libMLIR without assertions, whose counters of passes have no fields and are not printed. The
// compiler keeps its own assertions (-UNDEBUG), and would lay out fields here that nobody initialises.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define NDEBUG
#include_next "llvm/ADT/Statistic.h"
#pragma pop_macro("NDEBUG")
