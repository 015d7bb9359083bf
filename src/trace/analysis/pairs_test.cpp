#include "trace/analysis/pairs.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

RecordedCall message_of(bool sends, std::uint32_t group, std::int64_t start) {
  RecordedCall out;
  out.op = sends ? Operation::send : Operation::receive;
  out.rank = sends ? 0 : 1;
  out.peer = sends ? 1 : 0;
  out.group = group;
  out.tag = 7;
  out.start_ns = start;
  return out;
}

// Sent first on the second communicator and received first on the first: each takes its own. And by
// when they began, whatever the order of the file, into which a call comes when it is done.
TEST(Pairs, OfTwoCommunicatorsDoNotTakeEachOthersMessages) {
  Recording recording;
  recording.ranks.resize(2);
  recording.ranks[0].number = 0;
  recording.ranks[1].number = 1;
  recording.groups.resize(2);
  recording.calls = {message_of(true, 1, 10),  message_of(true, 0, 30),  message_of(true, 0, 20),
                     message_of(false, 0, 11), message_of(false, 0, 21), message_of(false, 1, 31)};
  const auto pairs = pair_calls(recording);
  ASSERT_EQ(pairs.size(), 2u);
  const PairCalls &first = pairs.at({0, 0, 1, 7}), &second = pairs.at({1, 0, 1, 7});
  EXPECT_EQ(first.sends, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(first.receives, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(second.sends, std::vector<std::size_t>{0});
  EXPECT_EQ(second.receives, std::vector<std::size_t>{5});
}

}  // namespace
}  // namespace headway
