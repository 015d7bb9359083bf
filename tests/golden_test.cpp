// The forecasts of the fixed cases (data/cases.toml) against those in tests/golden, and what is
// made from the table of fields against it. A change that is meant is taken over by
// scripts/update-golden and shown in the commit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "api/commands.hpp"
#include "base/document/document.hpp"
#include "base/generated.hpp"
#include "base/source_dir_for_test.hpp"
#include "forecast/predict/predict.hpp"
#include "forecast/predict/signature.hpp"
#include "platform/files.hpp"
#include "report/fields.hpp"

namespace headway {
namespace {

const std::string kFolder = source_dir() + "/tests/golden/";

// "case field" -> number.
using Numbers = std::map<std::string, double>;

Numbers computed() {
  Numbers out;
  const auto cases = read_document(source_dir() + "/data/cases.toml");
  EXPECT_TRUE(cases.ok());
  for (const auto& [name, node] : *cases->root.table()) {
    const auto request = run_request_from(node, "cases.toml");
    const auto run = make_run(request.value());
    if (!run) {
      ADD_FAILURE() << name << ": " << problems_text(run.problems());
      continue;
    }
    const auto forecast = predict(*run);
    EXPECT_TRUE(forecast.ok()) << name;
    const Parts& p = forecast->parts;
    const Memory& m = forecast->memory;
    const std::pair<const char*, double> fields[] = {
        {"step_time_s", forecast->step_time.value()},
        {"compute_s", p.compute.value()},
        {"tp_s", p.tp.value()},
        {"cp_s", p.cp.value()},
        {"ep_s", p.ep.value()},
        {"pp_s", p.pp.value()},
        {"dp_s", p.dp.value()},
        {"bubble_s", p.bubble.value()},
        {"optimizer_s", p.optimizer.value()},
        {"other_s", p.other.value()},
        {"mfu", forecast->mfu},
        {"hfu", forecast->hfu},
        {"energy_j", forecast->energy.value()},
        {"parameters_bytes", m.parameters.value()},
        {"gradients_bytes", m.gradients.value()},
        {"optimizer_bytes", m.optimizer.value()},
        {"activations_bytes", m.activations.value()},
        {"buffers_bytes", m.buffers.value()},
        {"other_bytes", m.other.value()},
        {"calls", static_cast<double>(forecast->calls.size())}};
    for (const auto& [field, value] : fields) out[name + " " + field] = value;
  }
  return out;
}

Numbers kept() {
  Numbers out;
  std::ifstream file(kFolder + "forecasts.txt");
  for (std::string name, field; file >> name >> field;) file >> out[name + " " + field];
  return out;
}

TEST(Golden, ForecastsOfTheFixedCasesAreThoseKept) {
  const Numbers now = computed();
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(kFolder + "forecasts.txt");
    for (const auto& [name, value] : now) {
      char number[32];
      std::snprintf(number, sizeof number, "%.6e", value);
      file << name << ' ' << number << '\n';
    }
    GTEST_SKIP() << "renewed";
  }
  const Numbers golden = kept();
  ASSERT_GT(golden.size(), 0u);
  for (const auto& [name, value] : now) {
    const auto found = golden.find(name);
    if (found == golden.end()) {
      ADD_FAILURE() << name << " is new; scripts/update-golden takes it over";
    } else if (std::abs(value - found->second) > 2e-6 * std::abs(found->second)) {
      ADD_FAILURE() << name << " was " << found->second << " and is " << value << " ("
                    << 100 * (value / found->second - 1)
                    << " %); if that is meant, scripts/update-golden takes it over";
    }
  }
  EXPECT_EQ(now.size(), golden.size()) << "a case or field is gone; scripts/update-golden";
}

TEST(Golden, TheSignatureIsTheOneKept) {
  const auto digest = signature();
  ASSERT_TRUE(digest.ok());
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kFolder + "signature.txt") << *digest << '\n';
    GTEST_SKIP() << "renewed";
  }
  std::ifstream file(kFolder + "signature.txt");
  std::string golden;
  file >> golden;
  EXPECT_EQ(*digest, golden) << "forecasts changed; scripts/update-golden takes that over";
}

// A page or file that is made from the table of fields: renewed, or held equal to it.
void expect_made(const std::string& path, const std::string& made) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << made;
    GTEST_SKIP() << "renewed";
  }
  EXPECT_EQ(read_file(path).value(), made) << "scripts/update-golden renews " << path;
}

TEST(Golden, ThePageOfFieldsSaysWhatTheTableSays) {
  const std::string path = source_dir() + "/docs/fields.md";
  expect_made(
      path, with_generated(read_file(path).value(), path, {{"fields", fields_markdown()}}).value());
}

TEST(Golden, TheFieldsOfTheWebPageAreThoseOfTheTable) {
  expect_made(source_dir() + "/web/src/lib/fields.ts", fields_typescript());
}

TEST(Golden, ThePageOfServingHasTheOptionsOfTheTable) {
  const std::string path = source_dir() + "/docs/infer.md";
  expect_made(
      path, with_generated(read_file(path).value(), path, {{"options", serving_fields_markdown()}})
                .value());
}

TEST(Golden, TheFieldsOfServingOnTheWebPageAreThoseOfTheTable) {
  expect_made(source_dir() + "/web/src/lib/servingFields.ts", serving_fields_typescript());
}

TEST(Golden, AtLeastTwelveCasesAreLayoutsAsTheyAreRun) {
  const Numbers now = computed();
  std::size_t named = 0;  // those names end in the number of accelerators and their kind
  for (const auto& [name, value] : now) {
    if (!name.ends_with(" step_time_s")) continue;
    for (const char* kind : {"-h100 ", "-a100 ", "-b200 ", "-gb200 ", "-v5p "}) {
      if (name.find(kind) != std::string::npos) ++named;
    }
  }
  EXPECT_GE(named, 12u);
}

}  // namespace
}  // namespace headway
