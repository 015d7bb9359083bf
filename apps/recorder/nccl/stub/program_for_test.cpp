// What the tests of the recorder of NCCL run, on one process a rank (RANK, WORLD_SIZE): it calls
// NCCL in the mode that is its argument and prints what it got. Its expected calls stand in
// ../*_test.cpp.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "declared_for_test.hpp"
#include "headway/record.h"

using namespace headway::recorder::nccl;

namespace {

int rank = 0, world = 1, wrong = 0;

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

void expect(const char* what, Result got, Result expected = kSuccess) {
  std::printf("%s: %d\n", what, got);
  if (got != expected) ++wrong;
}

UniqueId next_id() {
  UniqueId id;
  expect("ncclGetUniqueId", ncclGetUniqueId(&id));
  return id;
}

Comm world_comm() {
  stub_use_device(0);
  Comm comm = nullptr;
  expect("ncclCommInitRank", ncclCommInitRank(&comm, world, next_id(), rank));
  return comm;
}

constexpr DataType kFp32 = 7, kBf16 = 9, kInt64 = 4;

// Parts of 1,000 floats; buffers that no one reads.
void collectives(Comm comm, Stream* s) {
  expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 1000, kFp32, 0, comm, s));
  expect("all_gather", ncclAllGather(at(0x1000), at(0x2000), 1000, kFp32, comm, s));
  expect("reduce_scatter", ncclReduceScatter(at(0x1000), at(0x2000), 1000, kBf16, 0, comm, s));
  expect("broadcast", ncclBroadcast(at(0x1000), at(0x2000), 1000, kFp32, 2, comm, s));
  expect("bcast", ncclBcast(at(0x1000), 500, kFp32, 1, comm, s));
  expect("reduce", ncclReduce(at(0x1000), at(0x2000), 1000, kInt64, 0, 3, comm, s));
  expect("all_to_all", ncclAlltoAll(at(0x1000), at(0x2000), 1000, kFp32, comm, s));
  expect("gather", ncclGather(at(0x1000), at(0x2000), 1000, kFp32, 0, comm, s));
  expect("scatter", ncclScatter(at(0x1000), at(0x2000), 1000, kFp32, 1, comm, s));
  expect("configured",
         ncclAllReduceConfig(at(0x1000), at(0x2000), 250, kFp32, 0, comm, s, nullptr));
  expect("configured",
         ncclAllGatherConfig(at(0x1000), at(0x2000), 250, kFp32, comm, s, at(0x5000)));
  const std::size_t counts[] = {1, 2, 3, 4}, places[] = {0, 1, 3, 6};
  expect("all_to_all of rccl", ncclAllToAll(at(0x1000), at(0x2000), 10, kFp32, comm, s));
  expect("all_to_all_v",
         ncclAllToAllv(at(0x1000), counts, places, at(0x2000), counts, places, kFp32, comm, s));
  expect("put",
         ncclPutSignal(at(0x1000), 100, kFp32, (rank + 1) % world, nullptr, 0, 0, 0, 0, comm, s));
  expect("signal", ncclSignal((rank + 1) % world, 0, 0, 0, comm, s));
  SignalDescription from{1, (rank + 3) % world, 0, 0};
  expect("wait", ncclWaitSignal(1, &from, comm, s));
  Reduction reduction = 0;
  expect("premul", ncclRedOpCreatePreMulSum(&reduction, at(0x3000), kFp32, 1, comm));
  expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, reduction, comm, s));
  stub_wait(s);
}

// A step of two pairs of pipeline stages, two data-parallel groups and one of all.
void trainer(Comm comm, Stream* s) {
  Stream* other = stub_stream(0);
  stub_color_of = [](int of) { return of % 2; };
  Comm data = nullptr, again = nullptr, alone = nullptr, fewer = nullptr;
  expect("split", ncclCommSplit(comm, rank % 2, rank, &data, nullptr));
  expect("split", ncclCommSplit(comm, rank % 2, rank, &again, nullptr));
  expect("split of none", ncclCommSplit(comm, -1, rank, &alone, nullptr));
  if (alone != nullptr) ++wrong;
  int excluded[] = {3};
  if (rank != 3) expect("shrink", ncclCommShrink(comm, excluded, 1, &fewer, nullptr, 0));
  const int next = (rank + 1) % world, before = (rank + world - 1) % world;
  for (int step = 0; step < 4; ++step) {
    headway_step();
    expect("start", ncclGroupStart());
    expect("start", ncclGroupStart());
    expect("send", ncclSend(at(0x1000), 3000, kFp32, next, comm, s));
    expect("receive", ncclRecv(at(0x2000), 3000, kFp32, before, comm, s));
    expect("end", ncclGroupEnd());
    expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 500, kBf16, 0, data, other));
    expect("end", ncclGroupEnd());
    expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 100, kFp32, 0, again, s));
    stub_wait(s);
    stub_wait(other);
  }
  if (fewer != nullptr) {
    expect("broadcast", ncclBroadcast(at(0x1000), at(0x1000), 25, kFp32, 0, fewer, s));
    stub_wait(s);
    expect("abort", ncclCommAbort(fewer));
  }
  // What is only simulated, and what fails, is not done.
  expect("start", ncclGroupStart());
  expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 7777, kFp32, 0, comm, s));
  expect("simulate", ncclGroupSimulateEnd(at(0x4000)));
  expect("start", ncclGroupStart());
  expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 7777, kFp32, 0, comm, s));
  expect("of no type", ncclAllReduce(at(0x1000), at(0x2000), 1, 99, 0, comm, s), 4);
  expect("end", ncclGroupEnd(), 4);
  expect("of none", ncclAllReduce(at(0x1000), at(0x2000), 1, kFp32, 0, nullptr, s), 4);
  expect("destroy", ncclCommDestroy(data));
  expect("destroy", ncclCommDestroy(again));
}

// As torch does, which makes a communicator when it is first needed.
void lazy() {
  Comm comm = nullptr;
  Stream* s = stub_stream(0);
  for (int step = 0; step < 3; ++step) {
    headway_step();
    if (comm == nullptr) comm = world_comm();
    expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comm, s));
  }
  stub_wait(s);
}

// A host that is done with its steps before the device begins with the first.
void ahead(Comm comm, Stream* s) {
  for (std::size_t step = 0; step < 5; ++step) {
    if (step > 0) headway_step();
    stub_work(s, 2'000'000);
    expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 10 * (step + 1), kFp32, 0, comm, s));
    expect("all_gather", ncclAllGather(at(0x1000), at(0x2000), 10, kFp32, comm, s));
  }
  stub_wait(s);
}

void captured(Comm comm, Stream* s) {
  Stream* free = stub_stream(0);
  expect("before", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comm, s));
  stub_wait(s);
  stub_capture(s, true);
  expect("captured", ncclAllReduce(at(0x1000), at(0x2000), 1000, kFp32, 0, comm, s));
  expect("start", ncclGroupStart());
  expect("captured", ncclAllGather(at(0x1000), at(0x2000), 1000, kFp32, comm, s));
  expect("beside", ncclBroadcast(at(0x1000), at(0x2000), 1000, kFp32, 0, comm, free));
  expect("end", ncclGroupEnd());
  ::usleep(100'000);  // the recorder's thread looks for events meanwhile
  stub_capture(s, false);
  stub_wait(free);
}

// Of a stream that does not say whether it is captured.
void unanswered(Comm comm, Stream* s) {
  stub_hush_stream(s);
  expect("alone", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comm, s));
  expect("start", ncclGroupStart());
  expect("in a group", ncclAllGather(at(0x1000), at(0x2000), 1000, kFp32, comm, s));
  expect("end", ncclGroupEnd());
  stub_wait(s);
}

// On a communicator that does not say how many ranks it has, one call that is done and one that is
// not.
void unready(Comm comm, Stream* s) {
  stub_color_of = [](int) { return 0; };
  Comm hushed = nullptr;
  expect("split", ncclCommSplit(comm, 0, rank, &hushed, nullptr));
  stub_hush_comm(hushed);
  expect("all_reduce", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comm, s));
  expect("not known", ncclAllReduce(at(0x1000), at(0x2000), 20, kFp32, 0, hushed, s));
  expect("of no type", ncclAllReduce(at(0x1000), at(0x2000), 30, 99, 0, hushed, s), 4);
  stub_wait(s);
}

// One process with four devices.
void several() {
  constexpr int kDevices = 4;
  Comm comms[kDevices];
  Stream* streams[kDevices];
  expect("ncclCommInitAll", ncclCommInitAll(comms, kDevices, nullptr));
  for (int i = 0; i < kDevices; ++i) streams[i] = stub_stream(i);
  for (int round = 0; round < 3; ++round) {
    expect("start", ncclGroupStart());
    for (int i = 0; i < kDevices; ++i) {
      stub_use_device(i);
      expect("all_gather", ncclAllGather(at(0x1000), at(0x2000), 100, kFp32, comms[i], streams[i]));
    }
    expect("end", ncclGroupEnd());
  }
  stub_use_device(1);
  expect("send", ncclSend(at(0x1000), 77, kFp32, 2, comms[1], streams[1]));
  for (int i = 0; i < kDevices; ++i) stub_wait(streams[i]);
  for (Comm comm : comms) expect("destroy", ncclCommDestroy(comm));
}

// Communicators come and go: with that of the world 100,001 before the last ones.
void crowded(Comm first, Stream* s) {
  constexpr int kTogether = 100;
  Comm comms[kTogether];
  for (int i = 0; i < 1000; ++i) {
    ncclCommInitAll(comms, kTogether, nullptr);
    for (Comm comm : comms) ncclCommDestroy(comm);
  }
  ncclCommInitAll(comms, kTogether, nullptr);
  expect("of the first", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, first, s));
  expect("of the last", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comms[0], s));
  expect("of the last", ncclAllReduce(at(0x1000), at(0x2000), 10, kFp32, 0, comms[1], s));
  stub_wait(s);
}

void reduce_often(Comm comm, Stream* s, int times) {
  for (int i = 0; i < times; ++i) ncclAllReduce(at(0x1000), at(0x2000), 2, kFp32, 0, comm, s);
}

int run_mode(const std::string& mode) {
  if (mode == "several") return several(), 0;
  if (mode == "lazy") return lazy(), 0;
  Comm comm = world_comm();
  Stream* s = stub_stream(0);
  if (mode == "collectives") collectives(comm, s);
  if (mode == "trainer") trainer(comm, s);
  if (mode == "ahead") ahead(comm, s);
  if (mode == "captured") captured(comm, s);
  if (mode == "crowded") crowded(comm, s);
  if (mode == "unanswered") unanswered(comm, s);
  if (mode == "unready") unready(comm, s);
  if (mode == "killed") {
    reduce_often(comm, s, 50);
    stub_wait(s);
    ::usleep(1'500'000);  // the writer comes every 20 ms, on a machine that is not busy
    ::kill(::getpid(), SIGKILL);
  }
  if (mode == "forked") {
    reduce_often(comm, s, 10);
    const pid_t child = ::fork();
    if (child == 0) {
      reduce_often(comm, s, 1000);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    expect("child", status);
    reduce_often(comm, s, 10);
    stub_wait(s);
  }
  if (mode == "limited") {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit half_a_megabyte{512 * 1024, 512 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &half_a_megabyte);
    reduce_often(comm, s, 60'000);
  }
  if (mode == "left") {  // while the device is busy
    reduce_often(comm, s, 10);
    ncclAllReduce(at(0x1000), at(0x2000), 1'000'000'000, kFp32, 0, comm, s);
    std::exit(6);
  }
  expect("finalize", ncclCommFinalize(comm));
  expect("destroy", ncclCommDestroy(comm));
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int run_program(int argc, char** argv) {
  if (argc < 2) return 2;
  if (const char* said = std::getenv("RANK")) rank = std::atoi(said);
  if (const char* said = std::getenv("WORLD_SIZE")) world = std::atoi(said);
  const int code = run_mode(argv[1]);
  std::printf("wrong: %d, waits: %d, violations: %d\n", wrong, stub_waits(), stub_violations());
  std::fflush(stdout);
  return code != 0 ? code : wrong + stub_waits() + stub_violations() > 0 ? 9 : 3;
}
