// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Counts what a renewal allocates of a model that computes something once for itself.
#include "own_stages.h"
#include "allocations.h"
#include "small_stages.h"
#include <cstdio>
#include <dbc/optimizer.h>

namespace model = dbc::models::own_stages;

static void require(const dbc::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}

int main() {
  model::Weights weights;
  weights.draw(1);
  model::Model made;
  require(model::Model::make(weights, &made));
  model::Session session(made);
  dbc::Optimizer optimizer(dbc::OptimizerOptions{});
  model::Batch one, other;
  one.begin_input();
  one.one({1, -2, 3, -4});
  other.begin_input();
  other.other({1, -2, 3, -4});
  long before = 0;
  float losses = 0;
  for (int step = 0; step < 20; ++step) {
    if (step == 2)
      before = allocations;
    require(session.one(one));
    losses = session.one_result()[0];
    require(optimizer.step(weights, session.one_gradients().raw()));
    require(made.renew(weights));
    require(session.other(other));
    losses += session.other_result()[0];
    require(optimizer.step(weights, session.other_gradients().raw()));
    require(made.renew(weights, optimizer));
  }
  const long counted = allocations - before;
  // A model that is made of the same weights gives the same losses as the one that was renewed.
  require(session.one(one));
  require(session.other(other));
  const float renewed = session.one_result()[0] + session.other_result()[0];
  model::Model fresh;
  require(model::Model::make(weights, &fresh));
  model::Session again(fresh);
  require(again.one(one));
  require(again.other(other));
  const bool same = renewed == again.one_result()[0] + again.other_result()[0] && renewed != losses;
  // An object that was another model, which computes something else, is this one from then on.
  dbc::models::small_stages::Weights ofSmall;
  ofSmall.draw(3);
  dbc::Model object;
  require(dbc::Model::make(dbc::models::small_stages::code(), ofSmall, &object));
  require(object.renew(ofSmall));
  require(dbc::Model::make(model::code(), weights, &object));
  require(object.renew(weights));
  dbc::Session anew(object);
  require(anew.run(0, one.raw()));
  const bool alike = anew.outputs(0).number(0, 0) == again.one_result()[0];
  std::printf("%ld allocations, %s losses, %s of an object made anew\n", counted, same ? "the same" : "other",
              alike ? "the same" : "others");
  return 0;
}
