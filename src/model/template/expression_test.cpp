// Arithmetic of templates.
#include "model/template/expression.hpp"

#include <gtest/gtest.h>

#include "model/template/expand.hpp"

namespace headway::templates {
namespace {

Document config() {
  return parse_json(R"({"hidden": 768, "heads": 12, "ratio": 2.5, "on": true, "off": false,
                        "kind": "relu", "depths": [2, 2, 6], "text": {"width": 512}, "no": null})",
                    "config.json")
      .value();
}

double number(std::string_view expression) {
  const Document document = config();
  const auto said = evaluate(expression, Scope(document.root));
  if (const auto* fault = std::get_if<Fault>(&said)) {
    ADD_FAILURE() << expression << ": " << fault->name << " " << fault->why;
    return 0;
  }
  return std::get<double>(std::get<Value>(said));
}

Fault fault(std::string_view expression) {
  const Document document = config();
  const auto said = evaluate(expression, Scope(document.root));
  const auto* found = std::get_if<Fault>(&said);
  EXPECT_NE(found, nullptr) << expression;
  return found != nullptr ? *found : Fault();
}

TEST(Expressions, ComputeAsArithmeticDoes) {
  EXPECT_EQ(number("1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(number("(1 + 2) * 3"), 9);
  EXPECT_EQ(number("2 * 3 ^ 2"), 18);
  EXPECT_EQ(number("7 / 2 * 2"), 6);  // rounded down
  EXPECT_EQ(number("up(7, 2)"), 4);
  EXPECT_EQ(number("hidden % 100"), 68);
  EXPECT_EQ(number("hidden * ratio"), 1920);
  EXPECT_EQ(number("min(heads, 3) + max(heads, 3)"), 15);
  EXPECT_EQ(number("text.width"), 512);
  EXPECT_EQ(number("depths[2] + size(depths) + sum(depths)"), 19);
}

TEST(Expressions, CompareAndJoin) {
  EXPECT_EQ(number("kind == 'relu' and on"), 1);
  EXPECT_EQ(number("kind != 'relu' or off"), 0);
  EXPECT_EQ(number("not off and heads >= 12"), 1);
  EXPECT_EQ(number("has(heads) + has(no) + has(text.width) + has(text.depth)"), 2);
  // What need not be asked for is not missing.
  EXPECT_EQ(number("has(absent) and absent > 3"), 0);
  EXPECT_EQ(number("on or absent"), 1);
}

TEST(Expressions, TellWhatCannotBeComputed) {
  EXPECT_TRUE(fault("hidden / absent").missing);
  EXPECT_EQ(fault("hidden / absent").name, "absent");
  EXPECT_EQ(fault("kind + 1").why, "must be a number");
  EXPECT_EQ(fault("heads / (heads - heads)").why, "must not be 0");
  EXPECT_EQ(fault("depths[3]").why, "has too few numbers");
  EXPECT_EQ(fault("heads[0]").why, "must be a list of numbers");
  for (const char* wrong : {"", "1 +", "(1", "1 1", "'a", "f(1, 2)", "min(1)", "1 + )", "$"}) {
    EXPECT_EQ(fault(wrong).why, "is no expression") << wrong;
  }
}

// A list whose tables stand as often as they say, with and without a condition.
TEST(Templates, ExpandToDocuments) {
  const Document form = parse_toml(R"toml(
    list = [
      { for = "size(depths)", width = "= heads * 2 ^ i", when = "depths[i] > 2 or i == 0" },
      { name = "of {heads} heads", bias = "= on", gated = "= off" },
    ])toml",
                                   "form.toml")
                            .value();
  const Document document = config();
  Scope scope(document.root);
  std::vector<Fault> faults;
  const Node made = expand(form.root, scope, faults);
  ASSERT_TRUE(faults.empty());
  const Node::Array& list = *made.find("list")->array();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(list[0].find("width")->value), 12);
  EXPECT_EQ(std::get<std::int64_t>(list[1].find("width")->value), 48);
  EXPECT_EQ(std::get<std::string>(list[2].find("name")->value), "of 12 heads");
  EXPECT_EQ(std::get<bool>(list[2].find("bias")->value), true);
  EXPECT_EQ(std::get<bool>(list[2].find("gated")->value), false);
}

TEST(Templates, WithoutEndAreRefused) {
  const Document form =
      parse_toml(R"toml(list = [{ for = "10 ^ 9", width = 1 }, { width = "= 10 ^ 40" }])toml", "f")
          .value();
  const Document document = config();
  Scope scope(document.root);
  std::vector<Fault> faults;
  expand(form.root, scope, faults);
  EXPECT_EQ(faults.size(), 2U);
}

}  // namespace
}  // namespace headway::templates
