// Lines of the Inspector.
#include <gtest/gtest.h>

#include <string>

#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

TEST(NcclInspector, BytesAreOfOneRankAndTheTimingSourceSaysWhatTheTimeIs) {
  const auto line = [](const char* op, const char* source) {
    return std::string(R"({"header":{"id":"0x9","comm_name":"tp","rank":2,"n_ranks":8,"nnodes":1},
"metadata":{"hostname":"node","pid":7},"coll_perf":{"coll":")") +
           op + R"(","coll_sn":3,"coll_msg_size_bytes":1000,"coll_exec_time_us":50,
"coll_timing_source":")" +
           source + "\"}}\n";
  };
  const Recording recording =
      read_text(line("ReduceScatter", "kernel_gpu") + line("AllReduce", "collective_cpu"));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(8000));
  EXPECT_EQ(recording.calls[0].time, TimeKind::kernel);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(1000));
  EXPECT_EQ(recording.calls[1].time, TimeKind::enqueue);
  EXPECT_EQ(recording.groups.at(0).description, "tp");
}

}  // namespace
}  // namespace headway
