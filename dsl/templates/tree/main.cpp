// The classes of two trees: predict [WEIGHTS.safetensors]
#include "my_model.h"
#include <cstdio>
#include <dbc/io/safetensors.h>

namespace net = dbc::models::my_model;

static int fail(const dbc::Status &status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  return 1;
}

// ((3 7) 2) and a leaf alone.
static void fill(net::Batch &batch) {
  batch.begin_input();
  auto inner = batch.Node().left(batch.Leaf().word(3)).right(batch.Leaf().word(7));
  batch.predict(batch.Node().left(inner).right(batch.Leaf().word(2)));
  batch.begin_input();
  batch.predict(batch.Leaf().word(5));
}

int main(int argc, char **argv) {
  net::Weights weights;
  weights.draw(/*seed=*/0);
  if (argc > 1)
    if (dbc::Status read = dbc::load_weights(argv[1], weights); !read.ok())
      return fail(read);
  net::Model model;
  if (dbc::Status made = net::Model::make(weights, &model); !made.ok())
    return fail(made);

  net::Session session(model);
  net::Batch batch;
  fill(batch);
  if (dbc::Status ran = session.predict(batch); !ran.ok())
    return fail(ran);
  for (int i = 0; i < batch.inputs(); ++i) {
    if (dbc::Status status = session.status(i); !status.ok())
      return fail(status);
    const float *scores = session.predict_result()[i];
    std::printf("%.4f %.4f %.4f\n", scores[0], scores[1], scores[2]);
  }
}
