// Sizes of NCCL's calls in an Nsight Systems database: payloads of NVTX ranges.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// Numbers as little-endian bytes in the hexadecimal of an SQL blob.
std::string hex(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i, value >>= 8) {
    constexpr char digits[] = "0123456789ABCDEF";
    out += digits[(value >> 4) & 15];
    out += digits[value & 15];
  }
  return out;
}

std::string payload(std::uint64_t schema, const std::string& fields) {
  return "x'" + hex(1, 8) + hex(schema, 8) + hex(fields.size() / 2, 8) + hex(32, 8) + fields + "'";
}

// The tables as nsys export makes them, as far as they are read. Two processes use the same numbers
// of launches.
std::string tables() {
  const std::string first = std::to_string(10 * 0x1000000), second = std::to_string(11 * 0x1000000);
  const auto thread = [](int process) { return std::to_string(process * 0x1000000 + 5); };
  const std::string all_reduce = payload(7, hex(0xABC, 8) + hex(4096, 8) + hex(0, 8));
  const std::string gather = payload(8, hex(0xABC, 8) + hex(1000, 8));
  const std::string init = payload(6, hex(0xABC, 8) + hex(4, 4) + hex(1, 4) + hex(0, 4));
  return "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
         "INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),"
         " (2, 'ncclDevKernel_AllGather_RING_LL'), (3, 'ncclDevKernel_SendRecv');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT,"
         " correlationId INT, globalPid INT, demangledName INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
         " (5000, 9000, 0, 7, 100, " +
         first + ", 1), (9000, 9500, 0, 7, 101, " + first +
         ", 2),"
         " (5000, 8000, 1, 7, 100, " +
         second + ", 3), (9000, 9500, 0, 7, 102, " + first +
         ", 1);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT,"
         " correlationId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2500, 2600, " +
         thread(10) +
         ", 100),"
         " (3500, 3600, " +
         thread(10) + ", 101), (2500, 2600, " + thread(11) +
         ", 100),"
         " (4500, 4600, " +
         thread(10) +
         ", 102);"
         "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INT, schemaId INT, idx INT, name TEXT,"
         " offset INT);"
         "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 6, 0, 'NCCL communicator ID', NULL),"
         " (1, 6, 1, 'No. of ranks', 8), (1, 7, 0, 'NCCL communicator ID', NULL),"
         " (1, 7, 1, 'Message size [bytes]', 8), (1, 8, 0, 'NCCL communicator ID', NULL),"
         " (1, 8, 1, 'Message size [bytes]', 8);"
         "CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, binaryData BLOB);"
         "INSERT INTO NVTX_EVENTS VALUES (1000, 1100, " +
         thread(10) + ", " + init +
         "),"
         " (2000, 3000, " +
         thread(10) + ", " + all_reduce +
         "),"
         " (3000, 4000, " +
         thread(10) + ", " + gather +
         "),"
         " (2000, 3000, " +
         thread(11) + ", " + all_reduce +
         "),"
         " (1, 2, 3, x'00'), (4400, 4700, " +
         thread(10) + ", NULL);";
}

Recording read_tables(const std::string& sql) {
  const std::string path = ::testing::TempDir() + "headway_nsight_" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const auto recording = read_trace(path);
  EXPECT_TRUE(recording.ok());
  std::filesystem::remove(path);
  return recording.ok() ? *recording : Recording();
}

TEST(NsightPayload, TheRangeAroundTheLaunchGivesSizeAndCommunicator) {
  const Recording recording = read_tables(tables());
  ASSERT_EQ(recording.calls.size(), 4u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(4096));
  EXPECT_EQ(group_size(recording, recording.calls[0]), 4);
  EXPECT_EQ(recording.calls[1].op, Operation::all_gather);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(4000));  // one rank's part, times four
}

TEST(NsightPayload, WhatIsNotInOneRangeHasNoSize) {
  const Recording recording = read_tables(tables());
  // Launched for a group of sends and receives: the size of one of them is not that of all.
  EXPECT_FALSE(recording.calls.at(2).bytes);
  EXPECT_FALSE(recording.calls.at(3).bytes);  // a range without a payload
  EXPECT_EQ(omitted(recording, "calls without a size"), 2);
}

TEST(NsightPayload, WithoutTheTablesKernelsAreReadAllTheSame) {
  const std::string all = tables();
  for (const char* from : {"CREATE TABLE NVTX_EVENTS", "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES",
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME"}) {
    const Recording recording = read_tables(all.substr(0, all.find(from)));
    EXPECT_EQ(recording.calls.size(), 4u);
    EXPECT_EQ(omitted(recording, "calls without a size"), 4);
  }
}

TEST(NsightPayload, AnExportWithoutProcessesIsReadByTheNumberOfTheLaunch) {
  std::string sql = tables();
  sql +=
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid;"
      "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid >= " +
      std::to_string(11 * 0x1000000) + ";";
  EXPECT_EQ(read_tables(sql).calls.at(0).bytes, Bytes(4096));
}

}  // namespace
}  // namespace headway
