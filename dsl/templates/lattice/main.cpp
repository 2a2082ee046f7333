// The tags of two characters that one word spans: predict [WEIGHTS.safetensors]
#include "my_model.h"
#include <cstdio>
#include <dbc/io/safetensors.h>

namespace net = dbc::models::my_model;

static int fail(const dbc::Status &status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  return 1;
}

// Two characters, and the word that they are.
static void fill(net::Batch &batch) {
  batch.begin_input();
  auto first = batch.Char().glyph(3).before({}).ending({});
  auto word = batch.Word().form(64).start(first);
  auto second = batch.Char().glyph(4).before({first}).ending({word});
  batch.predict({first, second});
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
    for (int j = 0; j < session.predict_result().length(i); ++j) {
      const float *scores = session.predict_result().at(i, j);
      std::printf("%.4f %.4f %.4f %.4f\n", scores[0], scores[1], scores[2], scores[3]);
    }
  }
}
