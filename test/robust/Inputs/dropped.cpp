// A status that nobody looks at. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "rows.h"
void run(dbc::models::rows::Session &session, dbc::models::rows::Batch &batch) { session.total(batch); }
