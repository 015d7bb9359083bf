// Whether what was recorded of a replay is what its list says. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "simulate/live/file.hpp"
#include "trace/files.hpp"

namespace headway {

// (operation, ranks of the group, bytes moved) -> how many.
using Tally = std::map<std::tuple<Operation, std::vector<std::int64_t>, double>, int>;

// The list and the recording in DIR say the same of every rank, for each of the repeats.
inline void expect_as_listed(const std::filesystem::path& folder, const std::string& list_text,
                             int repeats) {
  const auto list = read_list(list_text, "list");
  ASSERT_TRUE(list.ok());
  const RunRecording run = read_run_traces({folder.string()});
  EXPECT_TRUE(run.unread.empty());
  ASSERT_EQ(run.recording.ranks.size(), list->ranks.size());
  EXPECT_EQ(run.recording.marked_steps, repeats);
  for (std::size_t rank = 0; rank < list->ranks.size(); ++rank) {
    Tally listed, recorded;
    for (const LiveItem& item : list->ranks[rank]) {
      if (item.kind != LiveItem::Kind::call) continue;
      listed[{item.op, list->groups[item.group].ranks, static_cast<double>(item.bytes)}] += repeats;
    }
    for (const RecordedCall& call : run.recording.calls) {
      if (run.recording.ranks[call.rank].number != static_cast<std::int64_t>(rank)) continue;
      ASSERT_TRUE(call.group);
      ++recorded[{call.op, run.recording.groups[*call.group].ranks,
                  call.bytes ? call.bytes->value() : 0}];
    }
    EXPECT_EQ(recorded, listed) << "rank " << rank;
  }
}

}  // namespace headway
