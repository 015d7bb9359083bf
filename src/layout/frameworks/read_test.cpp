#include "layout/frameworks/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

constexpr std::string_view kOwn = R"(
title = "Own"
order = 2.5

[memory]
weights = 4

[[since]]
date = "2024-03"
version = "1.1"
source = "its notes"
memory.weights = 2
pipeline.interleaved = "rounds"

[sources.own]
fields = ["memory"]
source = "its manual"
)";

std::vector<Document> embedded_documents() {
  std::vector<Document> out;
  for (const std::string& path : embedded_files("frameworks")) {
    out.push_back(parse_toml(*embedded_file(path), path).value());
  }
  return out;
}

Problems problems_of(const std::string& text) {
  const auto read = read_framework(parse_toml(text, "own.toml").value(), "own");
  return read ? Problems{} : read.problems();
}

TEST(Frameworks, AreTheFilesOfTheirFolder) {
  std::set<std::string> files, names;
  for (const std::string& path : embedded_files("frameworks")) {
    files.insert(path.substr(path.rfind('/') + 1));
  }
  for (const std::string_view name : framework_names()) names.insert(std::string(name) + ".toml");
  EXPECT_EQ(names, files);
  for (const std::string_view name : framework_names()) {
    EXPECT_EQ(name_of(framework_from(name).value()), name);
  }
  EXPECT_FALSE(framework_from("").has_value());
}

TEST(Frameworks, AFurtherFileStandsInTheListWithItsHabits) {
  std::vector<Document> documents = embedded_documents();
  documents.push_back(parse_toml(kOwn, "data/frameworks/own.toml").value());
  const auto all = read_frameworks(documents);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), framework_names().size() + 1);
  std::vector<std::string> names, built_in(framework_names().begin(), framework_names().end());
  for (const FrameworkFile& each : *all) names.push_back(each.name);
  built_in.insert(built_in.begin() + 2, "own");  // by its order, 2.5
  EXPECT_EQ(names, built_in);
  EXPECT_EQ((*all)[2].title, "Own");
  EXPECT_EQ((*all)[2].habits.front().habits.memory.weights, 4);
}

TEST(Frameworks, LaterSoftwareDoesWhatItsTableSaysAndElseWhatItDid) {
  const auto own = read_framework(parse_toml(kOwn, "own.toml").value(), "own");
  ASSERT_TRUE(own.ok());
  ASSERT_EQ(own->habits.size(), 2U);
  const auto& [since, later] = own->habits[1];
  EXPECT_DOUBLE_EQ(since, years_of("2024-03").value());
  EXPECT_EQ(own->habits[0].habits.memory.weights, 4);
  EXPECT_EQ(later.memory.weights, 2);
  EXPECT_EQ(own->habits[0].habits.pipeline.interleaved, Interleaving::any);
  EXPECT_EQ(later.pipeline.interleaved, Interleaving::rounds);
  EXPECT_EQ(later.memory.gradients, MemoryHabits().gradients);
}

// One built-in framework learned each of these on a known date; a date of 0 is today's.
TEST(Frameworks, SoftwareOfADateHasTheHabitsOfThatDate) {
  const Framework torch = framework_from("fsdp").value();
  const auto stops_early = [&](const char* date) {
    return habits(torch, years_of(date).value()).kernels.recompute_stops_early;
  };
  EXPECT_FALSE(stops_early("2022"));
  EXPECT_FALSE(stops_early("2023-09"));
  EXPECT_TRUE(stops_early("2023-10"));
  EXPECT_TRUE(habits(torch).kernels.recompute_stops_early);
  // Megatron-LM, issue 391: in June 2023 gradients could not be reduced under the backward pass;
  // issue 456: since 19 September they can.
  const Framework megatron = *framework_from("megatron");
  EXPECT_FALSE(habits(megatron, years_of("2021-04").value()).overlap.gradients);
  EXPECT_FALSE(habits(megatron, years_of("2023-06").value()).overlap.gradients);
  EXPECT_TRUE(habits(megatron, years_of("2023-10").value()).overlap.gradients);
  EXPECT_FALSE(habits(megatron, years_of("2023-10").value()).overlap.parameters);
  EXPECT_TRUE(habits(megatron).overlap.gradients && habits(megatron).overlap.parameters);
  EXPECT_TRUE(habits(torch, years_of("2023-12").value()).memory.gaps_cost_time);
  EXPECT_FALSE(habits(torch, years_of("2024-01").value()).memory.gaps_cost_time);
  const Framework deepspeed = framework_from("deepspeed").value();
  EXPECT_EQ(habits(deepspeed, years_of("2023").value()).sharding.gathers, WeightGathers::pieces);
  EXPECT_EQ(habits(deepspeed).sharding.gathers, WeightGathers::whole);
}

// A framework with a base is that but for what its file states, whatever the date.
TEST(Frameworks, WithABaseAreItButForWhatTheyState) {
  std::vector<Document> documents = {
      parse_toml("title = \"Child\"\nbase = \"own\"\ntold = \"little\"\n[kernels]\neager = true\n"
                 "[sources.child]\nfields = [\"kernels\", \"told\"]\nsource = \"its manual\"\n",
                 "data/frameworks/child.toml")
          .value(),
      parse_toml(kOwn, "data/frameworks/own.toml").value()};
  const auto all = read_frameworks(documents);
  ASSERT_TRUE(all.ok()) << all.problems().front().message;
  const FrameworkFile &own = (*all)[0], &child = (*all)[1];
  EXPECT_EQ(child.name, "child");
  EXPECT_EQ(child.told, "little");
  ASSERT_EQ(child.habits.size(), own.habits.size());
  for (std::size_t i = 0; i < own.habits.size(); ++i) {
    EXPECT_EQ(child.habits[i].since, own.habits[i].since);
    EXPECT_EQ(child.habits[i].habits.memory.weights, own.habits[i].habits.memory.weights);
    EXPECT_TRUE(child.habits[i].habits.kernels.eager);
    EXPECT_FALSE(own.habits[i].habits.kernels.eager);
  }
  documents.pop_back();
  EXPECT_FALSE(read_frameworks(documents).ok());  // of which own is none
}

TEST(Frameworks, OfAnotherAreCalibratedAsThat) {
  const Framework megatron = *framework_from("megatron"), other = *framework_from("other");
  EXPECT_EQ(base_of(other), megatron);
  EXPECT_EQ(base_of(megatron), megatron);
  EXPECT_EQ(base_of(*framework_from("megatron-deepspeed")), *framework_from("deepspeed"));
  for (const char* date : {"2021-01", "2025-06"}) {
    const Habits& h = habits(other, years_of(date).value());
    EXPECT_FALSE(h.overlap.gradients || h.overlap.parameters || h.overlap.tensor) << date;
    EXPECT_TRUE(h.kernels.eager);
    EXPECT_FALSE(
        habits(*framework_from("megatron-deepspeed"), years_of(date).value()).overlap.gradients);
  }
}

TEST(Frameworks, EveryValueNeedsASourceAndAKnownWord) {
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return problems_of(text.replace(text.find(from), from.size(), to));
  };
  const std::string own(kOwn);
  EXPECT_TRUE(problems_of(own).empty());
  EXPECT_EQ(with(own, "[[since]]", "[overlap]\ngradients = true\n[[since]]").size(), 1U);
  EXPECT_EQ(with(own, "\"rounds\"", "\"circles\"").size(), 1U);
  EXPECT_EQ(with(own, "memory.weights = 2", "memory.wheights = 2").size(), 1U);
  EXPECT_EQ(with(own, "2024-03", "March").size(), 1U);
  EXPECT_EQ(with(own, "weights = 4", "weights = -4").size(), 1U);
}

}  // namespace
}  // namespace headway
