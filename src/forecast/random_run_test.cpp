// What properties are tried on: no field of a run is left out.
#include <gtest/gtest.h>

#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

TEST(RandomRuns, HaveEveryFieldOfTheTableAwayFromItsDefaultInLegalOnes) {
  constexpr int kDrawn = 1000;
  std::map<std::string_view, int> changed;
  int legal = 0;
  const auto draw = rc::gen::exec([] { return any_case(); });
  for (int i = 0; i < kDrawn; ++i) {
    const Case c = draw(rc::Random(static_cast<std::uint64_t>(i)), 100).value();
    if (!c.legal()) continue;
    ++legal;
    for (const FieldRow& row : field_rows()) {
      if (number_of(c, row) != number_of(Case(), row)) ++changed[row.field.name];
    }
  }
  EXPECT_GT(legal, kDrawn * 8 / 10);
  for (const FieldRow& row : field_rows()) {
    // Readers set the pace whatever else there is: they have a test of their own.
    if (!can_be_set(row) || is_of_networks(row.field.name) || row.field.name == "input-rate")
      continue;
    // Some are read by one framework of ten alone.
    EXPECT_GT(changed[row.field.name], kDrawn / 100) << row.field.name;
  }
}

}  // namespace
}  // namespace headway::testing
