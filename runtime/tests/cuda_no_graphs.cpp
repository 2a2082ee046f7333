// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Launches of an entry that cannot be a graph.
#include "cuda_models.h"

namespace {

using dbc::cuda::Path;

using CudaWithoutGraphs = CudaContext;

// An entry whose launches cannot be a graph has them one by one: it collects none.
TEST_F(CudaWithoutGraphs, LaunchesOneByOne) {
  dbc::Session session(model_);
  Context context(on_);
  context.choose_path(Path::Graph);
  session.compute_on(&context);
  fill(20);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
  EXPECT_EQ(context.path(), Path::Levels);
  EXPECT_EQ(context.launches(), 1);
  EXPECT_EQ(context.graphs().made(), 0);
}

} // namespace
