// comms with a run: what it prints, writes and refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/commands.hpp"
#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/paths.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;

class CommsExpected : public ::testing::Test {
 protected:
  static std::string read(const std::string& path) { return read_file(path).value(); }
  std::string at(const std::string& name) const { return folder_.of(name); }

  // GPT-NeoX 1.3B in 4 pipeline stages of 4-way tensor parallelism, 4 copies, on 8 nodes.
  static CommsRequest request(std::vector<std::pair<std::string, std::string>> more = {}) {
    CommsRequest out;
    std::vector<std::pair<std::string, std::string>> fields = {{"model", "gpt-neox-1.3b"},
                                                               {"cluster", "frontier"},
                                                               {"gpus", "64"},
                                                               {"seq", "2048"},
                                                               {"global-batch", "64"},
                                                               {"micro-batch", "4"},
                                                               {"framework", "deepspeed"},
                                                               {"tp", "4"},
                                                               {"pp", "4"},
                                                               {"zero", "1"}};
    fields.insert(fields.end(), more.begin(), more.end());
    for (const auto& [name, value] : fields) out.fields.push_back({name, value, "--" + name});
    return out;
  }
  static bool says(const CommandOutput& output, const std::string& where, const std::string& what) {
    for (const Problem& problem : output.problems) {
      if (where_text(problem) == where && problem.message.find(what) != std::string::npos)
        return true;
    }
    return false;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(CommsExpected, TheTextFitsATerminalAndNamesWhatLayoutsSend) {
  for (const bool experts : {false, true}) {
    CommsRequest asked = request();
    if (experts) {
      asked = request({{"model", "deepseek-v3"},
                       {"gpus", "1024"},
                       {"global-batch", "1024"},
                       {"micro-batch", "1"},
                       {"vpp", "2"},
                       {"ep", "64"},
                       {"cp", "2"},
                       {"framework", "megatron"},
                       {"seq", "4096"}});
    }
    const CommandOutput output = run_comms(asked);
    ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
    EXPECT_EQ(output.exit_code, 0);
    for (const char* part : {"where the volume lies", "over which links", "sizes of the messages",
                             "small (more than half", "textbook beside framework", "\nstage 0 (",
                             "sets the pace", "4 cards for 8 ranks"}) {
      EXPECT_NE(output.text.find(part), std::string::npos) << part;
    }
    std::istringstream lines(output.text);
    std::string line;
    for (int number = 0; std::getline(lines, line); ++number) {
      if (number == 0 || line.starts_with("note: ")) continue;  // the layout, what was assumed
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST_F(CommsExpected, TheDocumentsTotalsAreTheSumsOfItsCalls) {
  CommsRequest asked = request();
  asked.json = true;
  const JsonTree document = JsonTree::parse(run_comms(asked).text);
  ASSERT_EQ(document["classes"].size(), 3u);  // first, two between, last
  double ranks = 0, wire_of_run = 0;
  for (const JsonTree& stage : document["classes"]) {
    double wire = 0;
    for (const JsonTree& call : stage["calls"]) {
      for (const char* field :
           {"group", "op", "bytes", "count", "dtype", "phase", "ranks", "level", "seconds_each",
            "exposed_s", "hidden_by", "algorithm_bytes", "wire_bytes", "latency_s", "small"}) {
        EXPECT_TRUE(call.contains(field)) << field;
      }
      EXPECT_DOUBLE_EQ(call["algorithm_bytes"].get<double>(),
                       call["bytes"].get<double>() * call["count"].get<double>());
      wire += call["wire_bytes"].get<double>();
    }
    const JsonTree& totals = stage["totals"];
    for (const char* by : {"by_group", "by_op", "by_phase", "by_module", "by_level", "by_size"}) {
      double sum = 0;
      for (const JsonTree& part : totals[by]) sum += part["wire_bytes"].get<double>();
      EXPECT_NEAR(sum, wire, 1e-9 * wire) << by;
    }
    ranks += stage["ranks"].get<double>();
    wire_of_run += wire * stage["ranks"].get<double>();
  }
  EXPECT_EQ(ranks, 64);
  EXPECT_NEAR(document["mean_rank"]["all"]["wire_bytes"].get<double>() * 64, wire_of_run,
              1e-9 * wire_of_run);
}

TEST_F(CommsExpected, CallsOfTheRankThatSetsThePaceAreThoseOfPredict) {
  CommsRequest asked = request();
  asked.json = true;
  PredictRequest same;
  same.fields = asked.fields;
  same.json = true;
  const JsonTree predicted = JsonTree::parse(run_predict(same).text);
  const JsonTree document = JsonTree::parse(run_comms(asked).text);
  EXPECT_EQ(document["step_time_s"], predicted["step_time_s"]);
  const auto bytes = [](const JsonTree& calls) {
    double out = 0;
    for (const JsonTree& call : calls) {
      if (call["ranks"] > 1) out += call["bytes"].get<double>() * call["count"].get<double>();
    }
    return out;
  };
  for (const JsonTree& stage : document["classes"]) {
    if (!stage["sets_pace"].get<bool>()) continue;
    EXPECT_NEAR(bytes(stage["calls"]), bytes(predicted["calls"]), 1e-6);
  }
}

// [COMM-10]
TEST_F(CommsExpected, WhatEachCallSendsIsPartedByKindOfLayerAndMessagesAreCountedASecond) {
  CommsRequest asked = request();
  asked.json = true;
  const JsonTree document = JsonTree::parse(run_comms(asked).text);
  for (const JsonTree& stage : document["classes"]) {
    for (const JsonTree& call : stage["calls"]) {
      double sum = 0;
      for (const JsonTree& part : call["wire_bytes_by_module"]) sum += part.get<double>();
      EXPECT_NEAR(sum, call["wire_bytes"].get<double>(), 1e-9 * sum);
    }
    const JsonTree& totals = stage["totals"];
    EXPECT_DOUBLE_EQ(totals["calls_per_s"].get<double>() * document["step_time_s"].get<double>(),
                     totals["all"]["calls"].get<double>());
  }
  asked.json = false;
  const std::string text = run_comms(asked).text;
  for (const char* kind : {"  attention ", "  feed_forward ", "  embedding ", "  head "}) {
    EXPECT_NE(text.find(kind), std::string::npos) << kind;
  }
  EXPECT_NE(text.find(" a second,\n"), std::string::npos);
}

// The interconnect matters: the same run over clusters as one command.
TEST_F(CommsExpected, TheSameRunOnSeveralClustersStandsBesideOneAnother) {
  CommsRequest asked = request();
  asked.clusters = {"frontier,dgx-h100", "dgx-a100-40gb"};
  const CommandOutput text = run_comms(asked);
  ASSERT_TRUE(text.problems.empty()) << problems_text(text.problems);
  std::size_t begin = 0;
  while (begin < text.text.size()) {
    const std::size_t end = text.text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.text.substr(begin, end - begin);
    begin = end + 1;
  }
  asked.json = true;
  const JsonTree document = JsonTree::parse(run_comms(asked).text);
  ASSERT_EQ(document["clusters"].size(), 3U);
  for (const JsonTree& there : document["clusters"]) {
    // As the run alone there.
    CommsRequest alone = request({{"cluster", there["cluster"].get<std::string>()}});
    alone.json = true;
    const JsonTree one = JsonTree::parse(run_comms(alone).text);
    EXPECT_EQ(there["step_time_s"], one["step_time_s"]);
    EXPECT_EQ(there["wire_bytes"], one["mean_rank"]["all"]["wire_bytes"]);
  }
  asked.clusters = {"frontier", "tpu-v5"};
  EXPECT_TRUE(says(run_comms(asked), "--clusters", "tpu-v5"));
  asked.clusters = {"frontier"};
  asked.csv = at("x.csv");
  EXPECT_TRUE(says(run_comms(asked), "--csv", "no meaning with --clusters"));
}

TEST_F(CommsExpected, ThePageNamesEveryFieldOfTheDocument) {
  CommsRequest asked = request();
  asked.json = true;
  const JsonTree document = JsonTree::parse(run_comms(asked).text);
  const std::string page = read(source_dir() + "/docs/communication.md");
  const auto named = [&](const JsonTree& object) {
    for (const auto& [name, value] : object.items()) {
      EXPECT_NE(page.find("`" + name), std::string::npos) << name;
    }
  };
  const JsonTree& stage = document["classes"][0];
  named(stage["calls"][0]);
  named(stage["totals"]["all"]);
  named(stage["totals"]["by_level"][0]);
  named(document["textbook"][0]);
  for (const char* field : {"by_size", "by_group", "by_module", "calls_per_s", "clusters",
                            "mean_rank", "small_means", "from_bytes"}) {
    EXPECT_NE(page.find(field), std::string::npos) << field;
  }
}

TEST_F(CommsExpected, TheTableHoldsEveryCallAndPlotsAreDrawn) {
  CommsRequest asked = request();
  asked.csv = at("calls.csv");
  asked.plot = at("plots");
  asked.json = true;
  const CommandOutput output = run_comms(asked);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  std::size_t calls = 0;
  const JsonTree document = JsonTree::parse(output.text);
  for (const JsonTree& stage : document["classes"]) calls += stage["calls"].size();
  const auto table = parse_csv(read(asked.csv), asked.csv);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows.size(), calls);
  for (const char* name : {"group", "op", "bytes", "wire_bytes", "hidden_by", "small"}) {
    EXPECT_TRUE(table->column(name).has_value()) << name;
  }
  EXPECT_TRUE(read(at("plots/volume.svg")).starts_with("<svg "));
  EXPECT_TRUE(read(at("plots/sizes.svg")).starts_with("<svg "));
}

TEST_F(CommsExpected, NothingIsWrittenWhereOneFileCannotBe) {
  CommsRequest asked = request();
  asked.csv = at("absent/calls.csv");
  asked.plot = at("plots");
  EXPECT_FALSE(run_comms(asked).problems.empty());
  EXPECT_FALSE(exists(at("plots/volume.svg")));
}

TEST_F(CommsExpected, ALayoutThatDoesNotFitIsAnsweredWithANote) {
  const CommandOutput output = run_comms(
      request({{"model", "gpt-neox-13b"}, {"tp", "1"}, {"pp", "1"}, {"global-batch", "256"}}));
  EXPECT_TRUE(output.problems.empty());
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.text.find("\nnote: does not fit: "), std::string::npos);
}

TEST_F(CommsExpected, OneRankAloneSendsNothing) {
  const CommandOutput output = run_comms(request(
      {{"model", "gpt-neox-19m"}, {"tp", "1"}, {"pp", "1"}, {"gpus", "1"}, {"global-batch", "4"}}));
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_NE(output.text.find("nothing is sent"), std::string::npos);
}

TEST_F(CommsExpected, EveryProblemIsReportedAtOnce) {
  CommsRequest asked = request({{"tp", "3"}});
  asked.save = at("run.sqlite");
  asked.small = "12";
  const CommandOutput output = run_comms(asked);
  EXPECT_TRUE(says(output, "--save", "what was measured"));
  EXPECT_TRUE(says(output, "--small", "has no unit"));
  EXPECT_TRUE(says(output, "--tp", "3 does not divide"));
  EXPECT_EQ(output.text, "");
  asked.small = "0 B";
  EXPECT_TRUE(says(run_comms(asked), "--small", "more than nothing"));
  EXPECT_TRUE(says(run_comms({}), "comms", "needs a run"));
}

TEST_F(CommsExpected, ASizeDrawsTheLineOfWhatIsSmall) {
  CommsRequest asked = request();
  asked.json = true;
  asked.small = "1 TiB";
  const JsonTree all = JsonTree::parse(run_comms(asked).text)["mean_rank"];
  EXPECT_EQ(all["small"]["wire_bytes"], all["all"]["wire_bytes"]);
  asked.small = "1 B";
  EXPECT_EQ(JsonTree::parse(run_comms(asked).text)["mean_rank"]["small"]["calls"], 0);
}

TEST_F(CommsExpected, TheStudyStandsAloneAndRenewsItsPageInOnePiece) {
  CommsRequest study;
  study.study = true;
  const CommandOutput output = run_comms(study);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_NE(output.text.find("13100.7 M"), std::string::npos);
  CommsRequest both = request();
  both.study = true;
  EXPECT_TRUE(says(run_comms(both), "--study", "leave the run"));
  study.csv = at("x.csv");
  study.plot = at("x");
  EXPECT_TRUE(says(run_comms(study), "--csv", "no meaning"));
  EXPECT_TRUE(says(run_comms(study), "--plot", "no meaning"));

  CommsRequest report;
  report.report = folder_.path().string();
  EXPECT_FALSE(run_comms(report).problems.empty());  // there is no page
  const std::string page = read(source_dir() + "/docs/communication.md");
  folder_.write("communication.md", "# nothing to renew\n");
  EXPECT_TRUE(says(run_comms(report), at("communication.md"), "study-data"));
  EXPECT_FALSE(exists(at("communication")));
  folder_.write("communication.md", page);
  EXPECT_TRUE(run_comms(report).problems.empty());
  // The page in the repository is as the command writes it.
  EXPECT_EQ(read(at("communication.md")), page);
  for (const char* plot : {"volume.svg", "sizes.svg", "sequence.svg"}) {
    EXPECT_EQ(read(at("communication" + ("/" + std::string(plot)))),
              read(source_dir() + "/docs/communication/" + std::string(plot)))
        << plot;
  }
  report.json = true;
  const JsonTree document = JsonTree::parse(run_comms(report).text);
  EXPECT_EQ(document["models"].size(), 4u);
  EXPECT_GT(document["runs"].size(), 60u);
}

}  // namespace
}  // namespace headway
