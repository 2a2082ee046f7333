// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A program with models called like C's functions and headers.
#include "features.h"
#include "index.h"
#include "math.h"
#include "random.h"
#include "string.h"
#include "time.h"

#include <cstdlib>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int main() {
  dbc::models::random::Weights weights;
  dbc::models::index::Batch batch;
  return random() + static_cast<int>(sin(time(nullptr))) + (strlen("model") == 5) + weights.count() +
         batch.inputs();
}
