// What the files of a workload hold, read back by other means than they are written, and by the
// reader of traces.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "forecast/random_run_for_test.hpp"
#include "simulate/recorded/recording.hpp"
#include "simulate/timeline/events.hpp"
#include "simulate/timeline/protobuf_for_test.hpp"
#include "simulate/workload/files.hpp"
#include "step/program/group_ranks.hpp"
#include "trace/open.hpp"

namespace headway {
namespace {

using namespace testing::protobuf;

testing::Case case_with(std::int64_t dp, std::int64_t tp, std::int64_t pp, std::int64_t vpp,
                        std::int64_t zero) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = dp * 8;
  c.layout.dp = dp;
  c.layout.tp = tp;
  c.layout.pp = pp;
  c.layout.vpp = vpp;
  c.layout.zero = static_cast<int>(zero);
  EXPECT_TRUE(c.legal());
  return c;
}

struct ReadNode {
  std::uint64_t id = 0, type = 0, start = 0, duration = 0;
  std::vector<std::uint64_t> needs;
  std::map<std::string, std::uint64_t> numbers;
  std::string group;
};

std::vector<std::string_view> messages_of(std::string_view bytes) {
  std::vector<std::string_view> out;
  while (!bytes.empty()) {
    const std::uint64_t size = varint(bytes);
    out.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return out;
}

ReadNode node_of(std::string_view message) {
  ReadNode out;
  for (const Field& field : fields_of(message)) {
    if (field.number == 1) out.id = field.value;
    if (field.number == 3) out.type = field.value;
    if (field.number == 6) out.start = field.value;
    if (field.number == 7) out.duration = field.value;
    if (field.number == 4 || field.number == 5) {
      for (std::string_view packed = field.bytes; !packed.empty();) {
        out.needs.push_back(varint(packed));
      }
    }
    if (field.number != 10) continue;
    const std::vector<Field> attribute = fields_of(field.bytes);
    const std::string name(find(attribute, 1)->bytes);
    if (const Field* text = find(attribute, 29)) out.group = std::string(text->bytes);
    for (const std::uint64_t number : {7, 9, 27}) {
      if (const Field* value = find(attribute, number)) out.numbers[name] = value->value;
    }
  }
  return out;
}

struct ReadWorkload {
  std::map<std::int64_t, std::vector<ReadNode>> ranks;
  nlohmann::json groups;
};
ReadWorkload written(const testing::Case& c) {
  ReadWorkload out;
  const SimulatedStep step = simulate_step(c, c.calibration);
  for (const WorkloadFile& file : workload_files(workload_of(step), c)) {
    if (file.name == "groups.json") {
      out.groups = nlohmann::json::parse(file.bytes);
      continue;
    }
    const std::int64_t rank = std::stoll(file.name.substr(5));
    EXPECT_EQ(file.name, "step." + std::to_string(rank) + ".et");
    bool metadata = true;
    for (const std::string_view message : messages_of(file.bytes)) {
      if (!metadata) out.ranks[rank].push_back(node_of(message));
      if (metadata) {
        EXPECT_EQ(find(fields_of(message), 1)->bytes, "0.0.4");
      }
      metadata = false;
    }
  }
  return out;
}

std::vector<testing::Case> cases() {
  return {case_with(2, 2, 4, 1, 1), case_with(2, 2, 4, 2, 1), case_with(8, 1, 1, 1, 3)};
}

// [SIM-40] Every need stands before who needs it: there is no circle. Every send has one receive
// with the same ends, tag and size, and no two have the same.
TEST(Workload, HasNoCirclesAndEverySendHasItsReceive) {
  for (const testing::Case& c : cases()) {
    const ReadWorkload read = written(c);
    ASSERT_EQ(static_cast<std::int64_t>(read.ranks.size()), c.layout.ranks());
    std::map<std::array<std::uint64_t, 4>, std::array<int, 2>> pairs;
    for (const auto& [rank, nodes] : read.ranks) {
      ASSERT_FALSE(nodes.empty());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ReadNode& node = nodes[i];
        ASSERT_EQ(node.id, i + 1);
        for (const std::uint64_t need : node.needs) {
          ASSERT_GE(need, 1U);
          ASSERT_LT(need, node.id);
        }
        ASSERT_EQ(node.needs.size(),
                  std::set<std::uint64_t>(node.needs.begin(), node.needs.end()).size());
        EXPECT_TRUE(node.type >= 4 && node.type <= 7);
        if (node.type == 5 || node.type == 6) {
          const auto& n = node.numbers;
          ++pairs[{n.at("comm_src"), n.at("comm_dst"), n.at("comm_tag"), n.at("comm_size")}]
                 [node.type - 5];
          EXPECT_EQ(static_cast<std::int64_t>(n.at(node.type == 5 ? "comm_src" : "comm_dst")),
                    rank);
          EXPECT_NE(n.at("comm_src"), n.at("comm_dst"));
        }
        if (node.type >= 5) {
          EXPECT_EQ(node.numbers.at("is_cpu_op"), 0U);
        }
      }
    }
    for (const auto& [ends, both] : pairs) {
      EXPECT_EQ(both, (std::array<int, 2>{1, 1})) << ends[0] << " to " << ends[1];
    }
    // A micro-batch crosses each border between chunks both ways, on each of dp·tp pipelines.
    const std::int64_t borders = c.layout.pp > 1 ? c.layout.pp * c.layout.vpp - 1 : 0;
    EXPECT_EQ(static_cast<std::int64_t>(pairs.size()), 2 * 8 * borders * c.layout.dp * c.layout.tp);
  }
}

// [SIM-41] The bytes of all collectives of a rank, by operation, as the lowered step counts them:
// those of blocks for every micro-batch, those of the stage once.
TEST(Workload, CallsWhatTheStepCalls) {
  for (const testing::Case& c : cases()) {
    const ReadWorkload read = written(c);
    const Step step = lower(c);
    for (const auto& [rank, nodes] : read.ranks) {
      std::map<std::pair<std::uint64_t, std::set<std::int64_t>>, double> expected, found;
      const std::map<CollectiveOp, std::uint64_t> types = {{CollectiveOp::all_reduce, 0},
                                                           {CollectiveOp::all_gather, 2},
                                                           {CollectiveOp::broadcast, 5},
                                                           {CollectiveOp::all_to_all, 6},
                                                           {CollectiveOp::reduce_scatter, 7}};
      const auto expect = [&](const Call& call, double times) {
        const auto ranks = group_ranks(c.layout, call.group, rank);
        const bool sends = call.op == CollectiveOp::send_receive;
        const double bytes = call.bytes.value() * call.count * times;
        if (ranks.size() < 2 || sends || bytes == 0) return;
        expected[{types.at(call.op), {ranks.begin(), ranks.end()}}] += bytes;
      };
      const std::int64_t at = stage_of(c.layout, rank);
      const StageClass* stage = &step.stages.front();
      for (const StageClass& each : step.stages) {
        if (each.first <= at) stage = &each;
      }
      for (std::size_t i = 0; i < step.blocks.size(); ++i) {
        for (const Call& call : only<Call>(step.blocks[i].items)) {
          expect(call, static_cast<double>(step.micro_batches * stage->counts[i]));
        }
      }
      for (const Call& call : only<Call>(stage->items)) expect(call, 1);
      for (const ReadNode& node : nodes) {
        if (node.type != 7) continue;
        const std::set<std::int64_t> ranks =
            read.groups.at(node.group).get<std::set<std::int64_t>>();
        EXPECT_TRUE(ranks.contains(rank));
        const std::uint64_t type = node.numbers.at("comm_type");
        const double parts = type == 2 ? static_cast<double>(ranks.size()) : 1;
        found[{type, ranks}] += parts * static_cast<double>(node.numbers.at("comm_size"));
      }
      for (const auto& [key, bytes] : expected) {
        ASSERT_TRUE(found.contains(key)) << "operation " << key.first << " of " << key.second.size()
                                         << " ranks on rank " << rank << ": " << bytes << " B";
        // Slots of ZeRO-3 gather for the one behind them, and reduce for the one before: once more
        // than there are.
        EXPECT_NEAR(found[key] / bytes, 1, c.layout.zero == 3 ? 0.005 : 1e-5)
            << "operation " << key.first;
      }
      ASSERT_EQ(found.size(), expected.size());
    }
  }
}

// Read by the reader of traces and run again as it was: the step's time.
TEST(Workload, ReadBackTakesAsLongAsTheStep) {
  for (const testing::Case& c : cases()) {
    const SimulatedStep step = simulate_step(c, c.calibration);
    const Workload workload = workload_of(step);
    Recording recording;
    std::int64_t nodes = 0;
    for (const WorkloadFile& file : workload_files(workload, c)) {
      if (!file.name.ends_with(".et")) continue;
      const auto read = read_trace_bytes(file.bytes, file.name);
      ASSERT_TRUE(read.ok());
      nodes += read->records_read;
      append(recording, *read);
    }
    EXPECT_EQ(nodes, count_nodes(workload, c.layout));
    EXPECT_EQ(static_cast<std::int64_t>(recording.ranks.size()), c.layout.ranks());
    const auto again = simulate_recording(recording, std::nullopt);
    ASSERT_TRUE(again.ok()) << again.problems().front().message;
    EXPECT_EQ(again->alone, 0);
    EXPECT_NEAR(*again->own / step.step_time, 1, 0.002) << testing::flags_of(c);
    EXPECT_NEAR(*again->measured / step.step_time, 1, 0.002) << testing::flags_of(c);
  }
}

TEST(Workload, OfRandomRunsRunsToItsEnd) {
  rc::check("random runs", [] {
    const testing::Case c = testing::random_case(
        [](testing::Case& made) { made.layout.dp = std::min<std::int64_t>(made.layout.dp, 4); });
    if (!simulation_problems(c).empty()) return;
    const SimulatedStep step = simulate_step(c, c.calibration);
    if (count_events(step) * (c.layout.ranks() / c.layout.pp) > 30'000) return;
    Recording recording;
    for (const WorkloadFile& file : workload_files(workload_of(step), c)) {
      if (!file.name.ends_with(".et")) continue;
      const auto read = read_trace_bytes(file.bytes, file.name);
      RC_ASSERT(read.ok());
      append(recording, *read);
    }
    if (recording.calls.empty()) return;
    const auto again = simulate_recording(recording, std::nullopt);
    if (!again) RC_LOG() << again.problems().front().message << "\n";
    RC_ASSERT(again.ok());
    RC_LOG() << *again->own / step.step_time << "\n";
    RC_ASSERT(*again->own / step.step_time < 1.05);
    RC_ASSERT(*again->own / step.step_time > 0.90);
  });
}

// ASTRA-sim reads bandwidths as GiB/s; a dimension for each level that ranks lie on.
TEST(Workload, DescribesTheLevelsAsDimensions) {
  const testing::Case c = case_with(4, 4, 2, 1, 1);
  const auto files = machine_files(c);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->front().name, "network.yml");
  EXPECT_NE(files->front().bytes.find("npus_count: [8, 4]\n"), std::string::npos)
      << files->front().bytes;
  EXPECT_NE(files->front().bytes.find("topology: [Switch, Switch]\n"), std::string::npos);
  const auto system = nlohmann::json::parse((*files)[1].bytes);
  EXPECT_EQ(system["all-reduce-implementation"].size(), 2U);
  testing::Case torus = testing::case_of("llama-2-7b", "tpu-v5p");
  torus.layout.dp = 64;
  EXPECT_FALSE(machine_files(torus).ok());
}

}  // namespace
}  // namespace headway
