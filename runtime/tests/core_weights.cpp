// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Weights: drawing, giving, and making a model of them.
#include "core_models.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using dbc::Code;
using dbc::InitInfo;
using dbc::Model;
using dbc::Status;
using dbc::Weights;

dbc::ModelInfo with(std::vector<dbc::ParamInfo> params) {
  dbc::ModelInfo m;
  m.name = "drawn";
  m.params = std::move(params);
  return m;
}

dbc::ParamInfo param(const char *name, std::vector<int64_t> extents, InitInfo init, bool is_const = false) {
  dbc::ParamInfo p;
  p.name = name;
  p.extents = std::move(extents);
  p.init = init;
  p.is_const = is_const;
  return p;
}

TEST(Weights, DrawnByTheirInitialisers) {
  dbc::ModelInfo m = with({param("one", {100}, {InitInfo::Kind::Constant, 1.5, 0}),
                           param("uniform", {100, 100}, {InitInfo::Kind::Uniform, -2, 3}),
                           param("normal", {100, 100}, {InitInfo::Kind::Normal, 1, 0.5}),
                           param("glorot", {4, 30, 20}, {InitInfo::Kind::Glorot, 0, 0}),
                           param("loaded", {10000}, {InitInfo::Kind::Constant, 0, 0}, true)});
  Weights w(m);
  EXPECT_EQ(w.check().message, "drawn: not given: `one`, `uniform`, `normal`, `glorot`, `loaded`");
  w.draw(0);
  EXPECT_TRUE(w.check().ok());
  auto moments = [&](int32_t p) {
    double sum = 0, square = 0;
    for (size_t i = 0; i < w.size(p); ++i)
      sum += w.data(p)[i], square += double(w.data(p)[i]) * w.data(p)[i];
    double mean = sum / w.size(p);
    return std::make_pair(mean, std::sqrt(square / w.size(p) - mean * mean));
  };
  EXPECT_EQ(w.data("one")[99], 1.5f);
  EXPECT_NEAR(moments(1).first, 0.5, 0.05);
  EXPECT_NEAR(moments(1).second, 5 / std::sqrt(12.0), 0.05);
  EXPECT_NEAR(moments(2).first, 1, 0.02);
  EXPECT_NEAR(moments(2).second, 0.5, 0.02);
  double bound = std::sqrt(6.0 / 50);
  for (size_t i = 0; i < w.size(3); ++i)
    ASSERT_LE(std::fabs(w.data(3)[i]), bound);
  EXPECT_NEAR(moments(3).second, bound / std::sqrt(3.0), 0.01);
  EXPECT_NEAR(moments(4).first, 0, 0.05);
  EXPECT_NEAR(moments(4).second, 1, 0.05);
}

TEST(Weights, DependOnSeedAndOwnNameOnly) {
  InitInfo normal{InitInfo::Kind::Normal, 0, 1};
  dbc::ModelInfo a = with({param("p", {8}, normal), param("q", {8}, normal)});
  dbc::ModelInfo b = with({param("q", {8}, normal)});
  Weights wa(a), wb(b), wc(b);
  wa.draw(7);
  wb.draw(7);
  wc.draw(8);
  EXPECT_EQ(std::vector<float>(wa.data(1), wa.data(1) + 8), std::vector<float>(wb.data(0), wb.data(0) + 8));
  EXPECT_NE(std::vector<float>(wa.data(0), wa.data(0) + 8), std::vector<float>(wb.data(0), wb.data(0) + 8));
  EXPECT_NE(std::vector<float>(wc.data(0), wc.data(0) + 8), std::vector<float>(wb.data(0), wb.data(0) + 8));
  // The same on every machine: these numbers must never change.
  EXPECT_EQ(wb.data(0)[0], -0x1.098274p-2f);
  EXPECT_EQ(wb.data(0)[7], 0x1.84a954p-4f);
}

TEST(Weights, GivenByName) {
  Weights w(core_models::info());
  float values[2] = {3, 4};
  EXPECT_EQ(w.set("V", values, 2).message, "toy: there is no parameter `V`");
  EXPECT_EQ(w.set("W", values, 1).message, "toy: parameter `W` has 2 elements, 1 were given");
  EXPECT_TRUE(w.set("W", values, 2).ok());
  Status s = w.check();
  EXPECT_EQ(s.code, Code::bad_weights);
  EXPECT_EQ(s.message, "toy: not given: `b`");
  Model model;
  EXPECT_EQ(Model::make(core_models::code(), w, &model).code, Code::bad_weights);
  EXPECT_TRUE(model.empty());
  w.mark_given(1);
  ASSERT_TRUE(Model::make(core_models::code(), w, &model).ok());
  EXPECT_EQ(model.packed<float>(0).outputs(), 1);
  EXPECT_EQ(model.packed<float>(0).whole().bias[0], 0);
  EXPECT_EQ(w.data("nothing"), nullptr);
}

} // namespace
