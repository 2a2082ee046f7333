// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Values: writing them as JSON and measuring how far two are apart.
#include "JsonText.h"
#include "io_models.h"

#include <dbc/io/value.h>
#include <gtest/gtest.h>
#include <limits>

using namespace dbc;
using namespace dbc::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_ = std::numeric_limits<double>::quiet_NaN();

Value num(double v) { return Value::scalar(Value::Kind::Number, v); }
Value whole(double v) { return Value::scalar(Value::Kind::Int, v); }
Value vec(std::vector<double> v) { return Value::tensor({static_cast<int64_t>(v.size())}, v); }
Value listed(std::vector<Value> v) { return Value::group(Value::Kind::List, std::move(v)); }
Value tupled(std::vector<Value> v) { return Value::group(Value::Kind::Tuple, std::move(v)); }

TEST(Value, FloatsAreTheShortestThatReadBack) {
  EXPECT_EQ(to_json(num(static_cast<float>(0.1)), f32()), "0.1");
  EXPECT_EQ(to_json(num(0.1), f32(), Real::F64), "0.1");
  EXPECT_EQ(to_json(num(1.0 / 3), f32()), "0.33333334");
  EXPECT_EQ(to_json(num(1.0 / 3), f32(), Real::F64), "0.3333333333333333");
  EXPECT_EQ(to_json(num(1), f32()), "1");
  EXPECT_EQ(to_json(num(1e30), f32()), "1e+30");
  EXPECT_EQ(to_json(num(-0.0), f32()), "-0.0");
  EXPECT_EQ(to_json(vec({nan_, inf, -inf}), f32({3})), "[\"nan\", \"inf\", \"-inf\"]");
}

TEST(Value, EveryFormHasItsJson) {
  TypeInfo type = tuple({value(Elem::Int), value(Elem::Bool), f32({2, 2}), list(node(0)),
                         record("State", {{"h", f32()}, {"k", index(3, {2})}})});
  Value v =
      tupled({whole(-7), Value::scalar(Value::Kind::Bool, 1), Value::tensor({2, 2}, {1, 2, 3, 4}),
              listed({Value::scalar(Value::Kind::Node, 5)}),
              Value::group(Value::Kind::Record, {num(0.5), Value::tensor({2}, {0, 2}, Value::Kind::Int)})});
  EXPECT_EQ(to_json(v, type), "[-7, true, [[1, 2], [3, 4]], [5], {\"h\": 0.5, \"k\": [0, 2]}]");
  EXPECT_EQ(to_json(listed({}), list(f32())), "[]");
}

TEST(Value, ErrorsNameNodeAndFieldOrNull) {
  Status s = Status::error(Code::bad_input, "m: \"quoted\"\n\x01 \xFF\xC3\xA9");
  EXPECT_EQ(error_json(s), "{\"error\": {\"code\": \"bad_input\", \"message\": \"m: \\\"quoted\\\"\\n\\u0001 "
                           "\xEF\xBF\xBD\xC3\xA9\", \"node\": null, \"field\": null}}");
  s = Status::error(Code::limit, "no");
  s.node = 3;
  s.field = "left";
  EXPECT_EQ(error_json(s),
            "{\"error\": {\"code\": \"limit\", \"message\": \"no\", \"node\": 3, \"field\": \"left\"}}");
}

TEST(Value, StringsThatAreNotUtf8AreMended) {
  std::string text;
  // A form longer than needed, half of a UTF-16 pair, above U+10FFFF, a character cut short.
  io::append_string(text, "\xC0\x80|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82");
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(text, "\"" + r + r + "|" + r + r + r + "|" + r + r + r + r + "|" + r + r + "\"");
}

// The measure is relative to the largest number of an output from 1 on, absolute below.
TEST(Value, ErrorIsRelativeToTheLargestOfAComponent) {
  EXPECT_DOUBLE_EQ(max_error(num(1.5), num(1.25)), 0.25 / 1.25);
  EXPECT_DOUBLE_EQ(max_error(num(0.5), num(0.25)), 0.25);
  EXPECT_DOUBLE_EQ(max_error(vec({1, 100}), vec({2, 100})), 0.01);
  // Compiled code has an infinity where the interpreter's double is too large for a float.
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(max_error(num(inf), num(1e39)), 0);
  EXPECT_EQ(max_error(num(inf), num(-1e39)), inf);
  EXPECT_EQ(max_error(num(inf), num(1e38)), inf);
  EXPECT_DOUBLE_EQ(max_error(vec({inf, 1}), vec({1e39, 2})), 0.5);
  // All elements of a list are one component; the elements of a tuple are several.
  EXPECT_DOUBLE_EQ(max_error(listed({num(1), num(100)}), listed({num(2), num(100)})), 0.01);
  EXPECT_DOUBLE_EQ(max_error(tupled({num(1), num(100)}), tupled({num(2), num(100)})), 0.5);
  EXPECT_DOUBLE_EQ(max_error(listed({tupled({num(1), num(9)}), tupled({num(100), num(9)})}),
                             listed({tupled({num(2), num(9)}), tupled({num(100), num(9)})})),
                   0.01);
}

TEST(Value, WhatIsExactMustBeEqual) {
  EXPECT_EQ(max_error(whole(3), whole(3)), 0);
  EXPECT_EQ(max_error(whole(100000), whole(100001)), inf);
  EXPECT_EQ(max_error(Value::tensor({1}, {100000}, Value::Kind::Int),
                      Value::tensor({1}, {100001}, Value::Kind::Int)),
            inf);
  EXPECT_EQ(max_error(whole(3), num(3)), inf);
  EXPECT_EQ(max_error(listed({num(1)}), listed({})), inf);
  EXPECT_EQ(max_error(vec({1, 2}), Value::tensor({2, 1}, {1, 2})), inf);
}

TEST(Value, NonFiniteNumbersEqualOnlyThemselves) {
  EXPECT_EQ(max_error(vec({nan_, inf, -inf}), vec({nan_, inf, -inf})), 0);
  EXPECT_EQ(max_error(num(nan_), num(1)), inf);
  EXPECT_EQ(max_error(num(1), num(nan_)), inf);
  EXPECT_EQ(max_error(num(inf), num(-inf)), inf);
  EXPECT_EQ(max_error(num(1), num(inf)), inf);
}

// Two inputs of (f32[2], [[Node]]): input 0 has lists of 2 and 0 nodes, input 1 has no list.
TEST(Value, OutputsAreTakenApartByInput) {
  EntryInfo e = entry("e", {}, tuple({f32({2}), list(list(node(0)))}));
  Outputs out;
  out.prepare(e, false);
  out.begin(2);
  out.begin_sub_batch({0, 2});
  const int32_t inputs[] = {0, 1}, outer[] = {0, 0}, inner[] = {0, 0};
  out.list(1, 0, outer, 2, inputs, 2);
  out.list(1, 1, inner, 2, inputs, 2);
  ASSERT_TRUE(out.commit().ok());
  for (int i = 0; i < 4; ++i)
    out.values<float>(0)[i] = static_cast<float>(i) / 2;
  out.values<int32_t>(1)[0] = 7;
  out.values<int32_t>(1)[1] = 4;
  EXPECT_EQ(to_json(output_value(out, e, 0), e.result), "[[0, 0.5], [[7, 4], []]]");
  EXPECT_EQ(to_json(output_value(out, e, 1), e.result), "[[1, 1.5], []]");
}

} // namespace
