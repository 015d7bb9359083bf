#include "trace/recording/operation.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Operations, EveryRowIsReadByItsOwnNameAndByNcclsSpelling) {
  for (const OperationRow& row : kOperations) {
    if (row.op == Operation::other) continue;  // what no name stands for
    std::string joined;                        // "all_to_all" -> "alltoall"
    for (const char c : row.name) {
      if (c != '_') joined += c;
    }
    EXPECT_EQ(operation_from(row.name), row.op) << row.name;
    EXPECT_EQ(operation_from(joined), row.op) << joined;
  }
}

TEST(Operations, EveryCollectiveOfAStepIsOneOfThemUnderTheSameName) {
  for (const CollectiveRow& row : kCollectives) {
    const Operation op = traced_as(row.op);
    EXPECT_EQ(to_name(op), row.name);
    EXPECT_EQ(to_collective(op), row.op);
    EXPECT_EQ(bus_factor(op, 8), wire_factor(row.op, 8)) << row.name;
  }
}

// nccl-tests, doc/PERFORMANCE.md: 2 (n-1)/n, (n-1)/n, 1.
TEST(Operations, BusBandwidthIsCountedAsNcclTestsCountsIt) {
  EXPECT_DOUBLE_EQ(bus_factor(Operation::all_reduce, 4), 1.5);
  for (const Operation op : {Operation::all_gather, Operation::reduce_scatter,
                             Operation::all_to_all, Operation::gather, Operation::scatter}) {
    EXPECT_DOUBLE_EQ(bus_factor(op, 4), 0.75) << to_name(op);
  }
  for (const Operation op : {Operation::broadcast, Operation::reduce, Operation::send,
                             Operation::receive, Operation::send_receive}) {
    EXPECT_DOUBLE_EQ(bus_factor(op, 4), 1) << to_name(op);
  }
  for (const OperationRow& row : kOperations) EXPECT_EQ(bus_factor(row.op, 1), 0) << row.name;
}

}  // namespace
}  // namespace headway
