// Steps replayed by NCCL against stand-ins of NCCL and CUDA that check what they are given; and
// which communicators calls have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../listed_for_test.hpp"
#include "plan.hpp"
#include "ranks.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using replay::nccl::place_of_environment;
using replay::nccl::plan_of;

class ReplayNccl : public ::testing::Test, protected ReplayFolder {
 protected:
  void SetUp() override { write_small(64); }

  // `where`: the libraries are found; `more`: variables of the environment.
  Ran run(const std::string& words, const std::string& where = HEADWAY_STUBS,
          const std::string& more = "") const {
    return run_program("replay --backend nccl " + words,
                       "timeout 100 env LD_LIBRARY_PATH='" + where + "' STUB_LOG=log " + more);
  }
};

// What each rank called on each communicator, in order: (name, elements, type, root). Messages in a
// group are one call: as many are received of each size as are sent.
using Called = std::vector<std::tuple<std::string, std::size_t, int, int>>;
std::map<std::string, std::map<int, Called>> calls_logged(const fs::path& folder, int ranks) {
  std::map<std::string, std::map<int, Called>> out;
  std::map<std::tuple<std::string, int, int, std::size_t>, int> open;  // from, to, elements
  for (int rank = 0; rank < ranks; ++rank) {
    std::ifstream file(folder / ("log." + std::to_string(rank)));
    std::string id, name;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      int own = 0, all = 0, type = 0, root = 0;
      std::size_t count = 0;
      if (!(words >> id >> name >> own >> all >> count >> type >> root)) continue;
      if (name == "grouped_send") {
        ++open[{id, own, root, count}];
      } else if (name == "grouped_receive") {
        --open[{id, root, own, count}];
      } else {
        out[id][own].emplace_back(name, count, type, root);
      }
    }
  }
  for (const auto& [message, more] : open) EXPECT_EQ(more, 0) << std::get<0>(message);
  return out;
}

// The ranks of a communicator call the same in the same order: a send where the other receives.
void expect_ranks_agree(const fs::path& folder, int ranks) {
  const auto all = calls_logged(folder, ranks);
  EXPECT_FALSE(all.empty());
  for (const auto& [id, by_rank] : all) {
    const Called& first = by_rank.begin()->second;
    for (const auto& [own, calls] : by_rank) {
      ASSERT_EQ(calls.size(), first.size()) << id;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        auto [name, count, type, root] = calls[i];
        const auto& [of_first, count_of_first, type_of_first, root_of_first] = first[i];
        if (own != by_rank.begin()->first && (name == "send" || name == "receive")) {
          name = name == "send" ? "receive" : "send";
          root = 1 - root;
        }
        EXPECT_EQ(std::tie(name, count, type, root),
                  std::tie(of_first, count_of_first, type_of_first, root_of_first))
            << id << " call " << i;
      }
    }
  }
}

TEST_F(ReplayNccl, RecordsCallForCallWhatTheListSaysAndRanksAgree) {
  const std::pair<int, const char*> runs[] = {{2, "--gpus 2 --dp 2 --zero 3 --framework fsdp"},
                                              {2, "--gpus 2 --tp 2"},
                                              {2, "--gpus 2 --pp 2"},
                                              {4, "--gpus 4 --tp 2 --pp 2"}};
  int number = 0;
  for (const auto& [ranks, more] : runs) {
    const std::string folder = "out" + std::to_string(number++);
    const Ran made = run(fields(more) + "--step --repeat 2 --warm 1 -o " + folder);
    ASSERT_EQ(made.code, 0) << more << "\n" << made.err;
    EXPECT_NE(made.out.find("NCCL 2.32.3"), std::string::npos) << made.out;
    EXPECT_EQ(made.out.find("note:"), std::string::npos) << made.out;
    expect_as_listed(folder_ / folder, text_of(folder_ / folder / "replay/list.jsonl"), 2);
    expect_ranks_agree(folder_, ranks);
    EXPECT_FALSE(fs::exists(folder_ / folder / "meeting"));
  }
}

// 20 us and 1 ns a byte, as the stand-in has it.
TEST_F(ReplayNccl, TimesAreThoseBetweenTheEventsOfACall) {
  for (const std::string how : {"--single --sizes", "--step"}) {
    const Ran made =
        run(fields("--gpus 2 --tp 2 " + how + " --repeat 1 --warm 0 -o 'one" + how + "'"));
    ASSERT_EQ(made.code, 0) << made.err;
    const Recording recording = read_run_traces({(folder_ / ("one" + how)).string()}).recording;
    ASSERT_GT(recording.calls.size(), how == "--step" ? 0u : 40u);
    for (const RecordedCall& call : recording.calls) {
      EXPECT_EQ(call.time, TimeKind::kernel);
      EXPECT_NEAR(call.duration->value(), 20e-6 + call.bytes->value() * 1e-9, 2e-8)
          << how << " " << call.bytes->value();
    }
    expect_ranks_agree(folder_, 2);
  }
}

// 256 B on one stream, and behind them 512 B on another.
TEST_F(ReplayNccl, ACallBeginsWhenThoseOnOtherStreamsThatItNeedsAreDone) {
  std::string list =
      R"({"headway_list": 1, "ranks": 2, "groups": [{"name": "tp", "ranks": [0, 1]}]})";
  for (const char* rank : {"0", "1"}) {
    list += std::string("\n{\"rank\": ") + rank + "}\n" +
            R"({"call": "all_reduce", "group": 0, "bytes": 256, "stream": 0})" + "\n" +
            R"({"call": "all_reduce", "group": 0, "bytes": 512, "stream": 1, "after": [0]})";
  }
  temporary_.write("two.jsonl", list + "\n");
  const Ran made = run("two.jsonl --step --repeat 1 --warm 0 -o two");
  ASSERT_EQ(made.code, 0) << made.err;
  const Recording recording = read_run_traces({(folder_ / "two").string()}).recording;
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto of = [&](double bytes) {
      return *std::find_if(recording.calls.begin(), recording.calls.end(),
                           [&](const RecordedCall& call) {
                             return call.rank == rank && call.bytes->value() == bytes;
                           });
    };
    const RecordedCall first = of(256), second = of(512);
    EXPECT_GE(*second.start_ns, *first.start_ns + std::llround(first.duration->value() * 1e9));
  }
}

// A batch script of Slurm and a pod of one: no launcher started what they start.
TEST_F(ReplayNccl, StartsTheRanksWhereTheEnvironmentHasOne) {
  const Ran made = run(fields("--gpus 2 --tp 2 --repeat 1 --warm 0"), HEADWAY_STUBS,
                       "SLURM_PROCID=0 SLURM_NTASKS=1 RANK=0 WORLD_SIZE=1");
  EXPECT_EQ(made.code, 0) << made.err;
}

TEST(NcclPlace, IsAsTheLauncherSaidIt) {
  using Variables = std::map<std::string, const char*>;
  const auto place = [](const Variables& said) {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
          "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "SLURM_PROCID",
          "SLURM_NTASKS", "SLURM_LOCALID"}) {
      ::unsetenv(name);
    }
    for (const auto& [name, value] : said) ::setenv(name.c_str(), value, 1);
    const auto found = place_of_environment();
    for (const auto& [name, value] : said) ::unsetenv(name.c_str());
    return found ? std::vector{found->rank, found->ranks, found->local} : std::vector<int>{};
  };
  EXPECT_EQ(place({}), (std::vector<int>{}));
  EXPECT_EQ(place({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}),
            (std::vector{5, 8, 1}));
  EXPECT_EQ(place({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), (std::vector{1, 2, 1}));
  EXPECT_EQ(place({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), (std::vector<int>{}));
  EXPECT_EQ(place({{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "1"}}),
            (std::vector{9, 16, 1}));
  // srun --mpi=pmi2
  EXPECT_EQ(place({{"PMI_RANK", "9"},
                   {"PMI_SIZE", "16"},
                   {"SLURM_PROCID", "9"},
                   {"SLURM_NTASKS", "16"},
                   {"SLURM_LOCALID", "1"}}),
            (std::vector{9, 16, 1}));
  // mpirun in a batch script
  EXPECT_EQ(place({{"PMI_RANK", "1"},
                   {"PMI_SIZE", "2"},
                   {"SLURM_PROCID", "0"},
                   {"SLURM_NTASKS", "1"},
                   {"SLURM_LOCALID", "0"}}),
            (std::vector{1, 2, 1}));
}

// Every operation, of sizes that three ranks do not divide.
TEST_F(ReplayNccl, WhatRanksDoNotDivideIsFilledUp) {
  std::ofstream list(folder_ / "three.jsonl");
  list << R"({"headway_list": 1, "ranks": 3, "groups": [{"name": "ep", "ranks": [0, 1, 2]}]})"
       << "\n";
  for (int rank = 0; rank < 3; ++rank) {
    list << "{\"rank\": " << rank << "}\n";
    for (const char* op : {"all_reduce", "all_to_all", "all_gather", "reduce_scatter", "broadcast",
                           "reduce", "gather", "scatter", "barrier"}) {
      list << "{\"call\": \"" << op << "\", \"bytes\": " << (std::string(op) == "barrier" ? 0 : 256)
           << R"(, "group": 0, "type": "bf16", "stream": 0, "peer": 1})"
           << "\n";
    }
    list << R"({"call": "send", "group": 0, "bytes": 64, "stream": "beside", "peer": )"
         << (rank + 1) % 3 << "}\n"
         << R"({"call": "receive", "group": 0, "bytes": 64, "stream": "beside", "peer": )"
         << (rank + 2) % 3 << "}\n{\"compute\": 0.0001, \"product\": [8, 4, 16, 2]}\n";
  }
  list.close();
  for (const char* how : {"--step", "--single", "--compute gemm"}) {
    const std::string folder = std::string("three") + how;
    const Ran made =
        run("three.jsonl --repeat 2 --warm 0 " + std::string(how) + " -o '" + folder + "'");
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.out.find("note:"), std::string::npos) << made.out;
    expect_ranks_agree(folder_, 3);
  }
  // Two of each repeat, and one before the first, which loads the kernel while nothing waits.
  const std::string log = text_of(folder_ / "log.0"), product = "product 8 4 16";
  int products = 0;
  for (std::size_t at = 0; (at = log.find(product, at)) != std::string::npos; ++at) ++products;
  EXPECT_EQ(products, 2 * 2 + 1);
}

TEST_F(ReplayNccl, SaysWhatIsMissing) {
  const std::string two = fields("--gpus 2 --tp 2 --repeat 1 --warm 0");
  const Ran none = run(two, "/nonexistent");
  EXPECT_EQ(none.code, 2);
  for (const char* said : {"libnccl.so.2", "nvidia-nccl-cu12", "libcudart.so", "LD_LIBRARY_PATH"}) {
    EXPECT_NE(none.err.find(said), std::string::npos) << said << "\n" << none.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "replay"));
  const Ran list = run(two + "--list l.jsonl", "/nonexistent");  // for another machine
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("headway-replay-nccl l.jsonl --record replay"), std::string::npos);
  const Ran torch = run(two + "--list t.jsonl --launcher 'python3 -u'");
  EXPECT_NE(torch.out.find("headway_replay_torch.py"), std::string::npos) << torch.out << torch.err;
  ::setenv("STUB_DEVICES", "1", 1);
  const Ran few = run(two);
  ::unsetenv("STUB_DEVICES");
  EXPECT_EQ(few.code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "replay"));
  EXPECT_NE(few.err.find("is of 2 ranks, and 1 GPUs are here"), std::string::npos) << few.err;
}

LiveList list_of(const std::string& first, const std::string& second) {
  const auto list =
      read_list(R"({"headway_list": 1, "ranks": 2, "groups": [{"name": "pp", "ranks": [0, 1]}]})"
                "\n{\"rank\": 0}\n" +
                    first + "{\"rank\": 1}\n" + second,
                "list");
  EXPECT_TRUE(list.ok()) << list.problems().front().message;
  return *list;
}
std::string message(const char* op, int peer, int tag) {
  return std::string("{\"call\": \"") + op + R"(", "group": 0, "bytes": 64, "stream": "beside", )" +
         "\"peer\": " + std::to_string(peer) + ", \"tag\": " + std::to_string(tag) + "}\n";
}

// [LIVE-6] Each sends and then receives: on one communicator both would wait for ever.
TEST(NcclPlan, MessagesThatMeetHeadOnHaveCommunicatorsAndStreamsOfTheirOwn) {
  const auto plan = plan_of(list_of(message("send", 1, 0) + message("receive", 1, 0),
                                    message("send", 0, 0) + message("receive", 0, 0)));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->lanes.size(), 2u);
  EXPECT_EQ(plan->lane_of[0][0], plan->lane_of[1][1]);
  EXPECT_EQ(plan->lane_of[0][1], plan->lane_of[1][0]);
  EXPECT_NE(plan->lane_of[0][0], plan->lane_of[0][1]);
  EXPECT_NE(plan->list.ranks[0][0].stream, plan->list.ranks[0][1].stream);
  EXPECT_GE(plan->list.ranks[0][0].stream, 0);
}

// MPI takes them by their tags.
TEST(NcclPlan, OfTagsInAnotherOrderIsRefused) {
  const std::string sends = message("send", 1, 5) + message("send", 1, 6);
  EXPECT_TRUE(plan_of(list_of(sends, message("receive", 0, 5) + message("receive", 0, 6))).ok());
  const auto crossed = plan_of(list_of(sends, message("receive", 0, 6) + message("receive", 0, 5)));
  ASSERT_FALSE(crossed.ok());
  EXPECT_NE(crossed.problems().front().message.find("NCCL knows no tags"), std::string::npos);
}

}  // namespace
}  // namespace headway
