// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Everything that generated code and applications need of the runtime's core.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/math.h>
#include <dbc/model.h>
#include <dbc/model_info.h>
#include <dbc/outputs.h>
#include <dbc/pool.h>
#include <dbc/product.h>
#include <dbc/run.h>
#include <dbc/schedule.h>
#include <dbc/session.h>
#include <dbc/status.h>
#include <dbc/version.h>
#include <dbc/weights.h>
