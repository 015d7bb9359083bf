// A node of a Chakra graph, from protobuf or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

struct ChakraNode {
  std::string name;
  std::int64_t type = 0;  // 4 computation, 5 send, 6 receive, 7 collective
  std::optional<bool> is_cpu_op;
  std::optional<std::int64_t> collective;  // CollectiveCommType
  std::optional<double> bytes;             // "comm_size"
  std::optional<double> start_us, duration_us;
  std::optional<std::int64_t> source, destination, stream;
  std::string group;
};

/// Makes calls and computation of nodes. The CPU's part of a call whose GPU kernel is a node too is
/// not a second call.
class ChakraCalls {
 public:
  explicit ChakraCalls(Recording& recording);
  void add(const ChakraNode& node);
  void finish();

 private:
  void add_call(const ChakraNode& node);

  Recording& recording_;
  std::vector<ChakraNode> cpu_calls_;
  bool gpu_calls_ = false;
};

}  // namespace headway
