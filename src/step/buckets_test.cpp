// Buckets of a stated size, in whole runs.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::testing {
namespace {

bool is_gradient(const Call& call) {
  return call.phase == Phase::gradient && call.group == Group::dp;
}

// One stage of a model whose gradients 8 ranks share.
struct Buckets {
  double calls, bytes, most;
};
Buckets buckets(const char* framework, int zero, Bytes size) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from(framework).value();
  c.job.global_batch = 8;
  c.job.bucket_size = size;
  c.layout.dp = 8;
  c.layout.zero = zero;
  expect_legal(c);
  const Step step = c.lowered();
  std::vector<Call> calls = calls_in(step.stages.front().items);
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {  // ZeRO-3: of each block its share
    for (Call call : calls_in(step.blocks[i].items)) {
      if (call.op != CollectiveOp::reduce_scatter) continue;
      call.phase = Phase::gradient;
      call.count *= static_cast<double>(step.stages.front().counts[i]);
      calls.push_back(call);
    }
  }
  Buckets out{count_of(calls, is_gradient), bytes_of(calls, is_gradient), 0};
  for (const Call& call : calls) {
    if (is_gradient(call)) out.most = std::max(out.most, call.bytes.value());
  }
  return out;
}

struct Reader {
  const char* framework;
  int zero;
  double element;  // bytes of a gradient as it is sent
};
constexpr Reader kReaders[] = {{"megatron", 0, 4}, {"megatron", 1, 4},  {"fsdp", 0, 4},
                               {"nanotron", 0, 4}, {"deepspeed", 1, 2}, {"deepspeed", 2, 2},
                               {"deepspeed", 3, 2}};

constexpr double kLargest =
    2 * 11008.0 * 4096;  // parameters: gate and up as one tensor; table 131 M
constexpr double kTable = 32000.0 * 4096;

// [STEP-18] However large buckets are, every gradient is sent once. n of them hold all bytes: those
// that close once `size` is reached, up to a tensor more, those that close before it, up to a
// tensor less, but for tensors that are larger and the last of the model.
TEST(StatedBuckets, AreAsManyAsTheBytesTakeAndTheirSumStays) {
  for (const Reader& reader : kReaders) {
    const Buckets usual = buckets(reader.framework, reader.zero, {});
    double before = 1e9;
    for (const double mebibytes : {64.0, 512.0, 4096.0, 65536.0}) {
      const double size = mebibytes * 1048576;
      const Buckets stated = buckets(reader.framework, reader.zero, Bytes(size));
      const std::string where = std::string(reader.framework) + " " + std::to_string(reader.zero) +
                                " " + std::to_string(mebibytes);
      EXPECT_NEAR(stated.bytes, usual.bytes, 1e-6 * usual.bytes) << where;
      const double largest = reader.element * std::max(kLargest, kTable);
      EXPECT_GE(stated.calls, std::ceil(stated.bytes / (size + largest))) << where;
      EXPECT_LE(stated.most, std::max(size, largest) + largest) << where;
      EXPECT_LE(stated.calls, before) << where;
      before = stated.calls;
    }
    EXPECT_NEAR(before, 1, 1e-9) << reader.framework;  // 64 GiB: all in one
  }
}

// [STEP-18] By the letter of both rules, one tensor at a time: ZeRO-0 of PyTorch's DDP closes once
// a bucket is full, DeepSpeed's ZeRO-1 before it would be too full.
TEST(StatedBuckets, CloseWithOrBeforeTheTensorThatFillsThem) {
  std::vector<double> tensors = {kTable, 4096};  // from the end: head, final norm
  for (int layer = 0; layer < 32; ++layer) {
    for (const double tensor :
         {11008.0 * 4096, 11008.0 * 4096, 11008.0 * 4096, 4096.0, 4096.0 * 4096, 4096.0 * 4096,
          4096.0 * 4096, 4096.0 * 4096, 4096.0}) {
      tensors.push_back(tensor);
    }
  }
  tensors.push_back(kTable);
  for (const double limit : {20e6, 50e6, 150e6, 1e9}) {
    double reached = 0, before = 0, open = 0;
    for (const double tensor : tensors) {
      open += tensor;
      if (open >= limit) ++reached, open = 0;
    }
    reached += open > 0 ? 1 : 0;
    open = 0;
    for (const double tensor : tensors) {
      if (open > 0 && open + tensor > limit) ++before, open = 0;
      open += tensor;
    }
    before += open > 0 ? 1 : 0;
    EXPECT_EQ(buckets("fsdp", 0, Bytes(limit * 4)).calls, reached) << limit;
    EXPECT_EQ(buckets("deepspeed", 1, Bytes(limit * 2)).calls, before) << limit;
  }
}

// [STEP-18] DDP's first bucket is smaller only where no size is stated: 1 MiB closes with the head,
// and so does a bucket of 25 MiB.
TEST(StatedBuckets, OfTheHabitsSizeAreThoseOfTheHabit) {
  for (const Reader& reader : kReaders) {
    Job job;
    job.framework = framework_from(reader.framework).value();
    const Bytes habit = habits(job).reduction.bucket * reduced_bytes(job);
    const Buckets usual = buckets(reader.framework, reader.zero, {});
    const Buckets stated = buckets(reader.framework, reader.zero, habit);
    EXPECT_EQ(stated.calls, usual.calls) << reader.framework;
    EXPECT_EQ(stated.bytes, usual.bytes) << reader.framework;
  }
}

// [STEP-18] Old DeepSpeed gathers weights in pieces of another setting's size.
TEST(StatedBuckets, LeaveTheGathersOfWeightsAlone) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.software = 2023.5;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 1;
  const auto gathers = [](const Call& call) { return call.op == CollectiveOp::all_gather; };
  const double usual = count_of(calls_in(c.lowered().stages.front().items), gathers);
  EXPECT_GT(usual, 1);
  c.job.bucket_size = Bytes(1e8);
  EXPECT_EQ(count_of(calls_in(c.lowered().stages.front().items), gathers), usual);
}

TEST(StatedBuckets, OfDdpAreHeldTwice) {  // [STEP-9]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("megatron").value();
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 0;
  const Bytes usual = c.lowered().held.memory.buffers;
  c.job.bucket_size = Bytes(1e9);
  EXPECT_DOUBLE_EQ(c.lowered().held.memory.buffers.value(), usual.value() + 2e9 - 2 * 40e6 * 4);
}

}  // namespace
}  // namespace headway::testing
