// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Profiles as text: every count stands in both forms, times only where there are any.
#include <dbc/io/profile.h>

#include <gtest/gtest.h>

namespace {

dbc::RunProfile profile(bool timed) {
  dbc::RunProfile p;
  p.nodes = 7;
  p.rounds = 1;
  p.schedule_ns = 1000;
  p.compute_ns = 9000;
  dbc::StageProfile products{"stage.encode", 2, 5, 400, 80, 10, 16000, timed ? 8000 : 0};
  dbc::StageProfile copies{"copy", 1, 5, 20, 20, 0, 0, timed ? 500 : 0};
  p.stages = {products, copies};
  return p;
}

TEST(Profile, TableWithoutTimes) {
  EXPECT_EQ(dbc::profile_table(profile(false)),
            "  stage             launches          rows    bytes read bytes written       gathers\n"
            "  stage.encode             2             5           400            80            10\n"
            "  copy                     1             5            20            20             0\n");
}

TEST(Profile, TableWithTimes) {
  EXPECT_EQ(
      dbc::profile_table(profile(true)),
      "  stage             launches          rows    bytes read bytes written       gathers            ms"
      "         share       GFLOP/s\n"
      "  stage.encode             2             5           400            80            10         0.008"
      "        80.0 %           2.0\n"
      "  copy                     1             5            20            20             0         0.001"
      "         5.0 %             -\n"
      "  scheduling                                                                                 0.001"
      "        10.0 %\n"
      "  between                                                                                    0.001"
      "         5.0 %\n");
}

// A stage without a time of its own, as its loop is one launch, has nothing to be compared with, and no rate.
dbc::RunProfile on_a_device() {
  dbc::RunProfile p = profile(true);
  p.stages.insert(p.stages.begin() + 1, {"stage.mix", 2, 5, 400, 80, 10, 16000, 0});
  return p;
}
const dbc::PredictedProfile predicted{"h100", 19, 7, "loops", "gpu", 2, 20, {8.25, 0, 5.5}};

TEST(Profile, TableWithPredictions) {
  const dbc::RunProfile p = on_a_device();
  EXPECT_EQ(
      dbc::profile_table(p, &predicted),
      "  stage             launches          rows    bytes read bytes written       gathers            us"
      "  predicted us         share       GFLOP/s\n"
      "  stage.encode             2             5           400            80            10           8.0"
      "           8.2        80.0 %           2.0\n"
      "  stage.mix                2             5           400            80            10           0.0"
      "             -         0.0 %             -\n"
      "  copy                     1             5            20            20             0           0.5"
      "           5.5         5.0 %             -\n"
      "  scheduling                                                                                   1.0"
      "             -        10.0 %\n"
      "  between                                                                                      0.5"
      "           6.2         5.0 %\n");
}

TEST(Profile, JsonWithPredictions) {
  EXPECT_EQ(
      dbc::profile_json(on_a_device(), &predicted),
      "{\"nodes\":7,\"rounds\":1,\"buffer_bytes\":0,\"schedule_ns\":1000,\"compute_ns\":9000,\"stages\":["
      "{\"name\":\"stage.encode\",\"launches\":2,\"rows\":5,\"bytes_read\":400,\"bytes_written\":80,"
      "\"gathers\":10,\"operations\":16000,\"ns\":8000,\"gflops\":2.0,\"predicted_us\":8.25},"
      "{\"name\":\"stage.mix\",\"launches\":2,\"rows\":5,\"bytes_read\":400,\"bytes_written\":80,"
      "\"gathers\":10,\"operations\":16000,\"ns\":0,\"gflops\":null,\"predicted_us\":null},"
      "{\"name\":\"copy\",\"launches\":1,\"rows\":5,\"bytes_read\":20,\"bytes_written\":20,"
      "\"gathers\":0,\"operations\":0,\"ns\":500,\"gflops\":null,\"predicted_us\":5.5}],"
      "\"predicted\":{\"device\":\"h100\",\"constants\":19,\"measured_constants\":7,\"path\":\"loops\","
      "\"measured_on\":\"gpu\",\"batches\":2,\"us\":20.0}}");
}

TEST(Profile, Json) {
  EXPECT_EQ(
      dbc::profile_json(profile(true)),
      "{\"nodes\":7,\"rounds\":1,\"buffer_bytes\":0,\"schedule_ns\":1000,\"compute_ns\":9000,\"stages\":["
      "{\"name\":\"stage.encode\",\"launches\":2,\"rows\":5,\"bytes_read\":400,\"bytes_written\":80,"
      "\"gathers\":10,\"operations\":16000,\"ns\":8000,\"gflops\":2.0},"
      "{\"name\":\"copy\",\"launches\":1,\"rows\":5,\"bytes_read\":20,\"bytes_written\":20,"
      "\"gathers\":0,\"operations\":0,\"ns\":500,\"gflops\":null}]}");
}

TEST(Profile, RunsAddUp) {
  dbc::RunProfile all;
  all.add(profile(true));
  all.add(profile(true));
  EXPECT_EQ(all.nodes, 14);
  EXPECT_EQ(all.rounds, 2);
  EXPECT_EQ(all.schedule_ns, 2000);
  EXPECT_EQ(all.compute_ns, 18000);
  ASSERT_EQ(all.stages.size(), 2u);
  const dbc::StageProfile &stage = all.stages[0];
  EXPECT_STREQ(stage.name, "stage.encode");
  EXPECT_EQ(stage.launches, 4);
  EXPECT_EQ(stage.rows, 10);
  EXPECT_EQ(stage.bytes_read, 800);
  EXPECT_EQ(stage.bytes_written, 160);
  EXPECT_EQ(stage.gathers, 20);
  EXPECT_EQ(stage.operations, 32000);
  EXPECT_EQ(stage.ns, 16000);
}

} // namespace
