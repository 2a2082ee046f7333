// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Everything that can be wrong with a line, each with its whole message.
#include "io_models.h"

#include <dbc/io/instances.h>
#include <dbc/io/value.h>
#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::test;

namespace {

/// What the reader says of one line; the batch must hold an empty input afterwards.
Status refuse(const ModelInfo &model, const std::string &line, int entry = 0) {
  Batch batch(model);
  InstanceReader reader(model, model.entries[entry]);
  Status status = reader.append(line, batch);
  EXPECT_FALSE(status.ok()) << line;
  EXPECT_EQ(status.code, Code::bad_input);
  EXPECT_EQ(batch.inputs(), 1);
  for (size_t d = 0; d < model.datas.size(); ++d)
    EXPECT_EQ(batch.rows(static_cast<int32_t>(d)), 0);
  return status;
}
std::string tree_says(const std::string &line) { return refuse(tree_model(), line).message; }
/// The message about one node of the tree model, as first of two.
std::string node_says(const std::string &node) {
  return tree_says("{\"nodes\": [" + node + ", {\"Leaf\": {}}], \"args\": {\"t\": 0}}");
}
/// The message about one field of a node of the model with every kind of field.
std::string field_says(const std::string &constructor, const std::string &field) {
  return refuse(kinds_model(), "{\"nodes\": [{\"Plain\": {}}, {\"" + constructor + "\": {" + field +
                                   "}}, {\"Holder.Empty\": {}}], \"args\": {}}")
      .message;
}
std::string arg_says(const std::string &name, const std::string &value) {
  return refuse(kinds_model(), "{\"nodes\": [{\"Plain\": {}}, {\"Holder.Empty\": {}}], \"args\": {\"" + name +
                                   "\": " + value + "}}")
      .message;
}

TEST(InstanceErrors, NotJson) {
  EXPECT_EQ(tree_says(""), "tree_lstm: line 1: the line is empty");
  EXPECT_EQ(tree_says(" \t\r"), "tree_lstm: line 1: the line is empty");
  EXPECT_EQ(tree_says("{\"nodes\": ["),
            "tree_lstm: line 1: not valid JSON at byte 12: syntax error while parsing value "
            "- unexpected end of input; expected '[', '{', or a literal; an input is one whole line");
  EXPECT_EQ(tree_says("{"),
            "tree_lstm: line 1: not valid JSON at byte 2: syntax error while parsing object key - unexpected "
            "end of input; expected string literal; an input is one whole line");
  EXPECT_EQ(tree_says("["),
            "tree_lstm: line 1: not valid JSON at byte 2: syntax error while parsing value - unexpected end "
            "of input; expected '[', '{', or a literal; inputs are lines, one object each, not an array");
  EXPECT_EQ(tree_says("[{\"nodes\": [], \"args\": {}},"),
            "tree_lstm: line 1: not valid JSON at byte 28: syntax error while parsing value - unexpected end "
            "of input; expected '[', '{', or a literal; inputs are lines, one object each, not an array");
  EXPECT_EQ(
      tree_says("[{\"nodes\": [], \"args\": {}}]"),
      "tree_lstm: line 1: expected an object with \"nodes\" and \"args\", found an array of 1; inputs are "
      "lines, one object each, not an array");
  // A line in the middle of an object that is spread over lines, and one that breaks off in a string.
  EXPECT_EQ(tree_says("  \"nodes\": ["),
            "tree_lstm: line 1: not valid JSON at byte 10: syntax error while parsing value - "
            "unexpected ':'; expected end of input");
  EXPECT_EQ(tree_says("{\"no"),
            "tree_lstm: line 1: not valid JSON at byte 5: syntax error while parsing object key - invalid "
            "string: missing closing quote; last read: '\"no'; expected string literal");
  EXPECT_EQ(tree_says("{} {}"),
            "tree_lstm: line 1: not valid JSON at byte 4: syntax error while parsing value - "
            "unexpected '{'; expected end of input");
  EXPECT_EQ(tree_says(std::string("{}\0{}", 5)), "tree_lstm: line 1: not valid JSON at byte 3: a zero byte");
  EXPECT_EQ(tree_says("{\"nodes\": [], /* */ \"args\": {}}"),
            "tree_lstm: line 1: not valid JSON at byte 15: syntax error while parsing object key - invalid "
            "literal; last "
            "read: '\"nodes\": [], /'; expected string literal");
  EXPECT_EQ(tree_says("{\"args\": {\"t\": 1e999}}"),
            "tree_lstm: line 1: not valid JSON at byte 20: number overflow parsing '1e999'");
  EXPECT_EQ(tree_says("{\"\xFF\": 1}"),
            "tree_lstm: line 1: not valid JSON at byte 3: syntax error while parsing object "
            "key - invalid string: ill-formed UTF-8 byte; last read: '\"\xFF'; expected "
            "string literal");
}

TEST(InstanceErrors, TooDeep) {
  EXPECT_EQ(tree_says(std::string(1000000, '[')),
            "tree_lstm: line 1: nested deeper than 8 levels, more than any value of this model");
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(tree_says(objects),
            "tree_lstm: line 1: nested deeper than 8 levels, more than any value of this model");
}

TEST(InstanceErrors, TopLevel) {
  EXPECT_EQ(tree_says("3"), "tree_lstm: line 1: expected an object with \"nodes\" and \"args\", found 3");
  EXPECT_EQ(tree_says("{\"nodes\": {}}"), "tree_lstm: line 1: \"nodes\" must be an array, found an object");
  EXPECT_EQ(tree_says("{\"args\": [1, 2]}"),
            "tree_lstm: line 1: \"args\" must be an object, found an array of 2");
  EXPECT_EQ(
      tree_says("{\"arg\": {}}"),
      "tree_lstm: line 1: unknown key \"arg\"; a line has \"nodes\", \"args\", \"weight\" and \"target\"");
  EXPECT_EQ(tree_says("{\"nodes\": [], \"nodes\": []}"), "tree_lstm: line 1: \"nodes\" stands twice");
  EXPECT_EQ(tree_says("{\"args\": {}, \"args\": {}}"), "tree_lstm: line 1: \"args\" stands twice");
  EXPECT_EQ(tree_says("{\"weight\": 1, \"weight\": 1}"), "tree_lstm: line 1: \"weight\" stands twice");
  EXPECT_EQ(tree_says("{\"weight\": \"nan\"}"),
            "tree_lstm: line 1: \"weight\" must be a number, found the string \"nan\"");
  EXPECT_EQ(tree_says("{\"weight\": 1e60}"),
            "tree_lstm: line 1: \"weight\" must be a finite number, found 1e+60");
}

TEST(InstanceErrors, Nodes) {
  EXPECT_EQ(node_says("7"),
            "tree_lstm: line 1: node 0: expected an object with one key, the constructor, found 7");
  EXPECT_EQ(node_says("{}"),
            "tree_lstm: line 1: node 0: expected an object with one key, the constructor, found one of 0");
  EXPECT_EQ(node_says("{\"Leaf\": {}, \"Node\": {}}"),
            "tree_lstm: line 1: node 0: expected an object with one key, the constructor, found one of 2");
  EXPECT_EQ(node_says("{\"Leav\": {}}"),
            "tree_lstm: line 1: node 0: unknown constructor `Leav`; did you mean `Leaf`?");
  EXPECT_EQ(node_says("{\"Branch\": {}}"),
            "tree_lstm: line 1: node 0: unknown constructor `Branch`; the model has `Leaf`, `Node`");
  EXPECT_EQ(node_says("{\"word\": {}}"),
            "tree_lstm: line 1: node 0: unknown constructor `word`; the model has `Leaf`, `Node`");
  EXPECT_EQ(node_says("{\"Leaf\": 3}"),
            "tree_lstm: line 1: node 0 (Leaf): expected an object of fields, found 3");
  EXPECT_EQ(node_says("{\"Leaf\": {\"wrod\": 3}}"),
            "tree_lstm: line 1: node 0 (Leaf): unknown field `wrod`; did you mean `word`?");
  EXPECT_EQ(node_says("{\"Leaf\": {\"left\": 1}}"),
            "tree_lstm: line 1: node 0 (Leaf): unknown field `left`; the fields are `word`, `label`");
  EXPECT_EQ(node_says("{\"Leaf\": {\"word\": 3, \"word\": 3}}"),
            "tree_lstm: line 1: node 0 (Leaf): field `word` stands twice");
  EXPECT_EQ(field_says("Holder.Empty", "\"x\": 1"),
            "kinds: line 1: node 1 (Empty): unknown field `x`; the constructor has none");
}

TEST(InstanceErrors, AmbiguousConstructors) {
  Status status = refuse(kinds_model(), "{\"nodes\": [{\"Plain\": {}}, {\"Empty\": {}}]}");
  EXPECT_EQ(status.message,
            "kinds: line 1: node 1 (Empty): several data types have this constructor, and nothing that "
            "refers to the node decides; write `Thing.Empty` or `Holder.Empty`");
  EXPECT_EQ(status.node, 1);
}

TEST(InstanceErrors, Indices) {
  auto leaf = [](const std::string &word) { return node_says("{\"Leaf\": {\"word\": " + word + "}}"); };
  const std::string at = "tree_lstm: line 1: node 0 (Leaf): field `word`: ";
  EXPECT_EQ(leaf("10"), at + "10 is out of range for index[10]");
  EXPECT_EQ(leaf("-1"), at + "-1 is out of range for index[10]");
  EXPECT_EQ(leaf("0.5"), at + "0.5 is not an integer; an index[10] is written without point and exponent");
  EXPECT_EQ(leaf("2.0"), at + "2.0 is not an integer; an index[10] is written without point and exponent");
  EXPECT_EQ(leaf("1e1"), at + "10.0 is not an integer; an index[10] is written without point and exponent");
  EXPECT_EQ(leaf("4294967296"), at + "4294967296 is beyond 32 bits; an index[10] is expected");
  EXPECT_EQ(leaf("99999999999999999999999"), at + "1e+23 is beyond 32 bits; an index[10] is expected");
  EXPECT_EQ(leaf("\"3\""), at + "expected an index[10], found the string \"3\"");
  EXPECT_EQ(leaf("null"), at + "expected an index[10], found null");
  EXPECT_EQ(leaf("[3]"), at + "expected an index[10], found an array of 1");
  EXPECT_EQ(leaf("[[[[3]]]]"), at + "expected an index[10], found an array of 1");
  EXPECT_EQ(leaf("{\"a\": 3}"), at + "expected an index[10], found an object");
  EXPECT_EQ(leaf("true"), at + "expected an index[10], found true");
}

TEST(InstanceErrors, References) {
  auto node = [](const std::string &left) { return node_says("{\"Node\": {\"left\": " + left + "}}"); };
  const std::string at = "tree_lstm: line 1: node 0 (Node): field `left`: ";
  EXPECT_EQ(node("2"), at + "there is no node 2, the line has 2 nodes");
  EXPECT_EQ(node("-1"), at + "there is no node -1, the line has 2 nodes");
  EXPECT_EQ(node("1.5"), at + "1.5 is not an integer; the number of a Tree in \"nodes\" is written "
                              "without point and exponent");
  EXPECT_EQ(node("{\"Leaf\": {}}"), at + "expected the number of a Tree in \"nodes\", found an object");
  EXPECT_EQ(field_says("Lists", "\"holders\": [2, 2, 0]"),
            "kinds: line 1: node 1 (Lists): field `holders`[2]: node 0 is of type Thing (Plain), not Holder");
  EXPECT_EQ(field_says("Lists", "\"nest\": [[0], [0, 2]]"),
            "kinds: line 1: node 1 (Lists): field `nest`[1][1]: node 2 is of type Holder (Empty), not Thing");
}

TEST(InstanceErrors, OtherFields) {
  const std::string plain = "kinds: line 1: node 1 (Plain): field ",
                    lists = "kinds: line 1: node 1 (Lists): field ";
  EXPECT_EQ(field_says("Plain", "\"i\": 2147483648"),
            plain + "`i`: 2147483648 is beyond 32 bits; an int is expected");
  EXPECT_EQ(field_says("Plain", "\"i\": 18446744073709551615"),
            plain + "`i`: 18446744073709551616 is beyond 32 bits; an int is expected");
  EXPECT_EQ(field_says("Plain", "\"b\": 1"), plain + "`b`: expected true or false, found 1");
  EXPECT_EQ(field_says("Plain", "\"f\": \"NaN\""),
            plain + "`f`: expected a number, found the string \"NaN\"");
  EXPECT_EQ(field_says("Plain", "\"f\": 1e39"), plain + "`f`: 1e+39 is out of range for f32");
  EXPECT_EQ(field_says("Plain", "\"m\": [1, 2, 3, 4]"),
            plain + "`m`: expected an array of 2 for axis 0 of f32[2, 2], found an array of 4");
  EXPECT_EQ(field_says("Plain", "\"m\": [[1, 2], [3]]"),
            plain + "`m`[1]: expected an array of 2 for axis 1 of f32[2, 2], found an array of 1");
  EXPECT_EQ(field_says("Plain", "\"m\": [[1, 2], [3, [4]]]"),
            plain + "`m`[1][1]: expected a number, found an array of 1");
  EXPECT_EQ(field_says("Plain", "\"iv\": [0, 1, 4]"), plain + "`iv`[2]: 4 is out of range for index[4]");
  EXPECT_EQ(field_says("Lists", "\"ks\": 3"), lists + "`ks`: expected an array, a list [index[4]], found 3");
  EXPECT_EQ(field_says("Lists", "\"bs\": [true, 0]"), lists + "`bs`[1]: expected true or false, found 0");
  EXPECT_EQ(field_says("Lists", "\"vs\": [[1, 2], [3, \"x\"]]"),
            lists + "`vs`[1][1]: expected a number, found the string \"x\"");
}

TEST(InstanceErrors, Arguments) {
  EXPECT_EQ(tree_says("{}"), "tree_lstm: line 1: argument `t` of `sentiment` is missing");
  EXPECT_EQ(tree_says("{\"nodes\": [{\"Leaf\": {}}], \"args\": {\"t\": 0, \"u\": 1}}"),
            "tree_lstm: line 1: unknown argument `u` of `sentiment`; it has `t`");
  EXPECT_EQ(tree_says("{\"nodes\": [{\"Leaf\": {}}], \"args\": {\"t\": 0, \"t\": 0}}"),
            "tree_lstm: line 1: argument `t` stands twice");
  EXPECT_EQ(tree_says("{\"args\": {\"t\": 0}}"),
            "tree_lstm: line 1: argument `t`: there is no node 0, the line has 0 nodes");
  EXPECT_EQ(refuse(tree_model(), "{\"nodes\": [], \"args\": {}}", 1).message,
            "tree_lstm: line 1: arguments `t`, `target` of `kl` are missing");
  EXPECT_EQ(refuse(kinds_model(), "{\"args\": {\"xyz\": 1}}", 1).message,
            "kinds: line 1: unknown argument `xyz` of `none`; it has none");
  Status status = refuse(tree_model(), "{\"args\": {\"t\": true}}");
  EXPECT_EQ(status.field, "t");
  EXPECT_EQ(status.node, -1);
  EXPECT_EQ(error_json(status),
            "{\"error\": {\"code\": \"bad_input\", \"message\": \"tree_lstm: line 1: argument `t`: "
            "expected the number of a Tree in \\\"nodes\\\", found true\", \"node\": null, "
            "\"field\": \"t\"}}");
}

TEST(InstanceErrors, RecordsAndTuples) {
  const std::string s = "kinds: line 1: argument `s`", pairs = "kinds: line 1: argument `pairs`",
                    deep = "kinds: line 1: argument `deep`";
  EXPECT_EQ(arg_says("s", "[1]"), s + ": expected an object, a State, found an array of 1");
  EXPECT_EQ(arg_says("s", "{\"h\": [1, 2], \"n\": 1}"), s + ": field `at` of State is missing");
  EXPECT_EQ(arg_says("s", "{\"h\": [1, 2], \"m\": 1}"),
            s + ": State has no field `m`; its fields are `h`, `n`, `at`");
  EXPECT_EQ(arg_says("s", "{\"n\": 1, \"n\": 1}"), s + ": field `n` of State stands twice");
  EXPECT_EQ(arg_says("s", "{\"h\": [1, 2], \"n\": 1, \"at\": 1}"),
            s + ".at: node 1 is of type Holder (Empty), not Thing");
  EXPECT_EQ(arg_says("pairs", "[[true, 1], [true]]"),
            pairs + "[1]: expected an array of 2, a tuple (bool, Holder), found an array of 1");
  EXPECT_EQ(arg_says("pairs", "[[true, 1], [1, 1]]"), pairs + "[1][0]: expected true or false, found 1");
  EXPECT_EQ(arg_says("deep", "[[{\"x\": 1, \"y\": [0, 6]}]]"),
            deep + "[0][0].y[1]: 6 is out of range for index[6]");
}

// Names of any length and content come out short and printable.
TEST(InstanceErrors, HostileNamesAreCut) {
  std::string name(1000000, 'x');
  EXPECT_EQ(node_says("{\"" + name + "\": {}}"), "tree_lstm: line 1: node 0: unknown constructor `" +
                                                     name.substr(0, 60) +
                                                     "...`; the model has `Leaf`, `Node`");
  std::string accents;
  for (int i = 0; i < 100; ++i)
    accents += "\xC3\xA9";
  EXPECT_EQ(node_says("{\"a" + accents + "\": {}}"), "tree_lstm: line 1: node 0: unknown constructor `a" +
                                                         accents.substr(0, 58) +
                                                         "...`; the model has `Leaf`, `Node`");
  EXPECT_EQ(node_says("{\"a\\u0001b\\nc\": {}}"),
            "tree_lstm: line 1: node 0: unknown constructor `a?b?c`; the model has `Leaf`, `Node`");
}

} // namespace
