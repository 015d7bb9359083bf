// What the text and the JSON of nccl-tests have in common.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// One measurement of a row: out of place, or in place.
struct NcclTestsTime {
  double time_us = -1, algorithm_bandwidth = -1, bus_bandwidth = -1;  // us, GB/s; negative: none
  bool checked = false;                                               // a count of wrong values
};

struct NcclTestsRow {
  double size = 0;      // bytes of the whole, as nccl-tests counts
  double elements = 0;  // "count"
  std::optional<ElementType> type;
  bool reduces = false;  // a reduction stands in the row
  bool rooted = false;
  NcclTestsTime out_of_place, in_place;
};

struct NcclTestsTable {
  std::optional<Operation> op;    // where the test itself names it
  std::optional<Operation> hint;  // by a program that a line before it names; busbw may refute it
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> nodes;  // hosts, where the log lists its ranks
  /// Before version 2.13 an empty "redop" column set all-to-all apart.
  bool empty_reduction_column = false;
  bool elided = false;       // some of the lines that list its ranks were left out
  bool unconnected = false;  // several processes, each alone, print their rows among one another
  std::vector<NcclTestsRow> rows;
};

/// The operation of the one program of nccl-tests that a text names: "./build/all_reduce_perf -b
/// 8", "all_gather_perf_mpi"; `other` for one that Headway has no word for. Nothing where it names
/// none, or several of different operations.
std::optional<Operation> operation_of_program(std::string_view text);

/// Adds the table's measurements as calls of a group of all ranks. An operation that is not named
/// follows from the form of the rows, a number of ranks that is not, from busbw over algbw.
void add_table(const NcclTestsTable& table, Recording& recording);

}  // namespace headway
