// A node of a Chakra graph, from protobuf or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t type = 0;             // 4 computation, 5 send, 6 receive, 7 collective
  std::vector<std::uint64_t> needs;  // ids of the nodes that it waits for
  std::optional<bool> is_cpu_op;
  std::optional<std::int64_t> collective;             // CollectiveCommType
  std::optional<double> bytes;                        // "comm_size"
  std::optional<double> start_us, duration_us, work;  // work: operations
  std::optional<std::int64_t> source, destination, tag, stream;
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
  void add_to_graph(const ChakraNode& node);
  void add_call(const ChakraNode& node, std::size_t in_graph);
  void join_graph();

  Recording& recording_;
  std::vector<std::pair<ChakraNode, std::size_t>> cpu_calls_;  // and their places in the graph
  std::vector<std::vector<std::uint64_t>> needs_;              // of each node of the graph
  std::unordered_map<std::uint64_t, std::size_t> place_of_;    // of an id
  bool gpu_calls_ = false;
};

}  // namespace headway
