// simulate RUN with its timeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "api/answer.hpp"

namespace headway {
namespace {

using Tree = nlohmann::json;

const Tree kPiped = {{"model", "llama-2-7b"},
                     {"cluster", "dgx-h100"},
                     {"gpus", 32},
                     {"seq", 4096},
                     {"global-batch", 64},
                     {"tp", 2},
                     {"pp", 4},
                     {"timeline", true}};

CommandOutput answered(const Tree& more) {
  Tree members = kPiped;
  members.update(more);
  return answer("simulate", members.dump());
}
Tree simulated(const Tree& more) {
  const CommandOutput said = answered(more);
  EXPECT_TRUE(said.problems.empty()) << problems_text(said.problems);
  return Tree::parse(said.text);
}

TEST(SimulateTimeline, HasEverySlotOfEverySchedule) {
  for (const std::string schedule :
       {"1f1b", "gpipe", "breadth-first", "zero-bubble", "zero-bubble-2", "zero-bubble-v",
        "dual-pipe", "dual-pipe-v", "chimera"}) {
    const Tree all = simulated({{"schedule", schedule}});
    const Tree& timeline = all["timeline"];
    const bool two = schedule == "dual-pipe" || schedule == "chimera";
    const int chunks = two || schedule == "zero-bubble-v" || schedule == "dual-pipe-v" ? 2 : 1;
    ASSERT_EQ(timeline["stages"].size(), 4U) << schedule;
    for (const Tree& stage : timeline["stages"]) {
      std::map<std::string, int> count;
      for (std::size_t i = 0; i < stage["name"].size(); ++i) {
        const std::string name = timeline["names"][stage["name"][i].get<std::size_t>()];
        const bool slot = stage["program"][i].get<int>() >= 0;
        if (slot) ++count[name];
        EXPECT_EQ(slot, stage["micro_batch"][i].get<int>() >= 0);
        for (const auto& [column, values] : stage.items()) {
          EXPECT_EQ(values.size(), stage["name"].size()) << column;
        }
      }
      // 16 micro-batches a data-parallel rank, half of them through each of two copies.
      const int each = 16 * chunks / (two ? 2 : 1);
      EXPECT_EQ(count["forward"], each) << schedule;
      EXPECT_EQ(count["backward"] + count["input-gradient"], each) << schedule;
      EXPECT_EQ(count["input-gradient"], count["weight-gradient"]) << schedule;
    }
  }
}

// The critical path has no hole: each of its spans begins when what it waited for has ended and was
// sent on, the first at the beginning, the last ends with the step; so do the tasks of each slot.
TEST(SimulateTimeline, MarksACriticalPathWithoutHoles) {
  for (const Tree& more : {Tree{{"pp", 4}}, Tree{{"vpp", 2}}, Tree{{"schedule", "zero-bubble"}},
                           Tree{{"pp", 1}, {"framework", "fsdp"}, {"zero", 3}}}) {
    const Tree all = simulated(more);
    const Tree& timeline = all["timeline"];
    const double length = timeline["time_s"];
    EXPECT_NEAR(length, all["placed_s"].get<double>(), 1e-9);
    double covered = 0, last = 0;
    int marked = 0;
    for (const Tree& stage : timeline["stages"]) {
      for (std::size_t i = 0; i < stage["name"].size(); ++i) {
        if (stage["critical"][i] != 1) continue;
        ++marked;
        const double begin = stage["begin_s"][i], end = stage["end_s"][i];
        covered += end - begin + stage["transfer_s"][i].get<double>();
        last = std::max(last, end);
        const int other = stage["waits_for_stage"][i], cause = stage["waits_for"][i];
        if (other < 0) {
          EXPECT_EQ(begin, 0);
          continue;
        }
        const Tree& before = timeline["stages"][static_cast<std::size_t>(other)];
        const auto at = static_cast<std::size_t>(cause);
        EXPECT_EQ(before["critical"][at], 1);
        EXPECT_NEAR(before["end_s"][at].get<double>() + stage["transfer_s"][i].get<double>(), begin,
                    2e-9);
      }
    }
    EXPECT_NEAR(last, length, 1e-9);
    EXPECT_NEAR(covered, length, 2e-9 * marked);
    for (const Tree& program : timeline["programs"]) {
      double tasks = 0;
      for (std::size_t i = 0; i < program["name"].size(); ++i) {
        if (program["critical"][i] == 1) {
          tasks += program["end_s"][i].get<double>() - program["begin_s"][i].get<double>();
        }
      }
      EXPECT_NEAR(tasks, program["time_s"].get<double>(),
                  1e-9 * static_cast<double>(program["name"].size()));
    }
  }
}

TEST(SimulateTimeline, IsRefusedWhereNothingWouldShowItAndWhereItIsTooLarge) {
  SimulateStepRequest request;
  for (const auto& [name, value] : kPiped.items()) {
    if (name == "timeline") continue;
    request.fields.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  request.timeline = true;
  const CommandOutput said = run_simulate_step(request);
  ASSERT_EQ(said.problems.size(), 1U);
  EXPECT_EQ(where_text(said.problems.front()), "--timeline");

  const CommandOutput large = answered({{"global-batch", 65'536}});
  ASSERT_EQ(large.problems.size(), 1U);
  EXPECT_EQ(where_text(large.problems.front()), "timeline");
  EXPECT_NE(large.problems.front().message.find("at most 200000"), std::string::npos);
  const CommandOutput without = answered({{"global-batch", 65'536}, {"timeline", false}});
  EXPECT_TRUE(without.problems.empty()) << problems_text(without.problems);
  EXPECT_EQ(without.text.find("\"timeline\""), std::string::npos);
}

}  // namespace
}  // namespace headway
