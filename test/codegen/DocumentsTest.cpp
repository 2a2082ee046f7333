// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The files that are generated for Inputs/documents.mlir, compiled and run: scans over lists of any length, a
// matrix of a table for each element, nodes(t), lists of lists, results of several types. Built twice, with
// float and with double arithmetic.
#include "documents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace documents = dbc::models::documents;

namespace {

using documents::Doc;
using documents::Word;

class Documents : public testing::Test {
protected:
  void SetUp() override {
    weights.draw(5);
    ASSERT_TRUE(documents::Model::make(weights, &model).ok());
  }

  /// A document of `words` words, each with numbers made of `seed`; the last friend of the last document.
  Doc add(documents::Batch &batch, int words, int seed) {
    std::vector<Word> handles;
    for (int k = 0; k < words; ++k) {
      float vec[4];
      for (int j = 0; j < 4; ++j)
        vec[j] = static_cast<float>(std::sin(seed + 4 * k + j));
      handles.push_back(batch.Word().class_((seed + k) % 3).vec({vec[0], vec[1], vec[2], vec[3]}));
    }
    return batch.Doc().words(handles).flag(seed % 2 == 0).links({{seed, 1}, {}, {2}}).friends({});
  }

  /// Element k of the scan, in doubles.
  std::vector<std::vector<double>> scan(int words, int seed) {
    std::vector<std::vector<double>> states;
    std::vector<double> s(4);
    for (int j = 0; j < 4; ++j)
      s[j] = 2.0 * weights.fwd_b()[j];
    for (int k = 0; k < words; ++k) {
      std::vector<double> next(s);
      const float *a = weights.A() + (seed + k) % 3 * 16;
      for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 4; ++i)
          next[j] += static_cast<double>(a[j * 4 + i]) * static_cast<float>(std::sin(seed + 4 * k + i));
        next[j] = std::tanh(next[j]);
      }
      states.push_back(s = next);
    }
    return states;
  }

  documents::Weights weights;
  documents::Model model;
};

// Before the first run of an entry its results are empty, of lists and of several types too.
TEST_F(Documents, NothingWithoutARun) {
  documents::Session session(model);
  EXPECT_EQ(session.states_result().inputs(), 0);
  EXPECT_EQ(session.states_result().data(), nullptr);
  EXPECT_EQ(session.facts_result().element2.inputs(), 0);
}

// Documents of different lengths, an empty one among them, in one batch; each element of the result is a
// state.
TEST_F(Documents, ScansOfUnequalLength) {
  documents::Session session(model, 2);
  documents::Batch batch;
  const int lengths[] = {3, 0, 7, 1, 20};
  for (int i = 0; i < 5; ++i) {
    batch.begin_input();
    batch.states(add(batch, lengths[i], i));
  }
  dbc::Status ran = session.states(batch);
  ASSERT_TRUE(ran.ok()) << ran.message;
  auto result = session.states_result();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(session.status(i).ok()) << session.status(i).message;
    ASSERT_EQ(result.length(i), lengths[i]);
    auto expected = scan(lengths[i], i);
    for (int k = 0; k < lengths[i]; ++k)
      for (int j = 0; j < 4; ++j)
        EXPECT_NEAR(result.at(i, k)[j], expected[k][j], documents::code().f64 ? 1e-12 : 1e-5)
            << i << " " << k;
  }
}

// A cycle of friends: each sees all; a record, a list of lists and flags among the arguments and results.
TEST_F(Documents, FactsOfSeveralTypes) {
  documents::Session session(model);
  documents::Batch batch;
  batch.begin_input();
  Doc a = add(batch, 1, 0), b = add(batch, 2, 1), c = add(batch, 0, 2);
  batch.Doc(a).friends({b});
  batch.Doc(b).friends({c, a});
  batch.facts(a, {0.5f, -2.0f}, 3, {1, 2, 3});
  batch.begin_input();
  Doc alone = add(batch, 0, 7);
  batch.facts(alone, {1.0f, 1.0f}, 1, {});
  batch.begin_input();
  Doc empty = add(batch, 0, 8);
  batch.Doc(empty).links({});
  batch.facts(empty, {1.0f, 1.0f}, 1, {});
  dbc::Status ran = session.facts(batch);
  ASSERT_TRUE(ran.ok()) << ran.message;
  ASSERT_TRUE(session.status(0).ok()) << session.status(0).message;
  auto result = session.facts_result();
  EXPECT_EQ(result.element0[0], 3);
  EXPECT_EQ(result.element0[1], 1);
  EXPECT_EQ(result.element1[0], 1);
  EXPECT_EQ(result.element1[1], 0);
  float scale = weights.scale()[0];
  EXPECT_FLOAT_EQ(static_cast<float>(result.element2[0][0]), 0.5f * scale * 3);
  EXPECT_FLOAT_EQ(static_cast<float>(result.element2[0][1]), -2.0f * scale * 3);
  EXPECT_FLOAT_EQ(static_cast<float>(result.element2[1][0]), -scale);
  EXPECT_EQ(result.element3[0], 0 + 1 + 2 + 3);
  EXPECT_EQ(result.element3[1], 7 + 1 + 2);
  EXPECT_EQ(session.status(2).message, "documents: input 2: `max` of an empty list, at documents.dyn:9:3");
}

} // namespace
