#include "report/json/writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/json/document.hpp"

namespace headway {
namespace {

TEST(JsonWriter, WritesWhatTheTreeOfTheSameDocumentWouldBe) {
  const Json tree = {{"text", "plain"},
                     {"escaped", "a \"quote\", a \\, a\ttab, \x7f, \x01 and caf\xc3\xa9"},
                     {"broken", std::string("\xff\xfe half \xc3", 9)},
                     {"whole", -17},
                     {"large", std::numeric_limits<std::int64_t>::max()},
                     {"numbers", {0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, 123456789.125, 1e15, 1e-7}},
                     {"not finite", {std::nan(""), HUGE_VAL}},
                     {"truth", {true, false, nullptr}},
                     {"nothing", {{"list", Json::array()}, {"object", Json::object()}}},
                     {"deep", {{{"a", {{"b", {1, {2, {3}}}}}}}}}};
  JsonWriter writer;
  write(writer, tree);
  EXPECT_EQ(writer.take(), document_text(tree));
}

}  // namespace
}  // namespace headway
