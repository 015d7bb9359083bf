#include "trace/recording/kernel_names.hpp"

#include <gtest/gtest.h>

#include <set>

#include "platform/files.hpp"

namespace headway {
namespace {

KernelKind does(Operation op) {
  return {op, false};
}
const KernelKind kComputes = {};
const KernelKind kLooksAlike = {std::nullopt, true};

// Names as profilers print them: of NCCL 2.19, 2.27, 2.28 and RCCL.
TEST(KernelNames, NcclSaysTheOperationInTheNameOrNothing) {
  EXPECT_EQ(kind_of_kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            does(Operation::all_gather));
  EXPECT_EQ(kind_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
            does(Operation::all_reduce));
  EXPECT_EQ(kind_of_kernel("ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)"),
            does(Operation::all_reduce));
  EXPECT_EQ(kind_of_kernel("ncclSymkDevKernel_ReduceScatter_LDMC_sum_f16"),
            does(Operation::reduce_scatter));
  EXPECT_EQ(kind_of_kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"),
            does(Operation::other));
  EXPECT_EQ(kind_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"),
            does(Operation::send_receive));
}

// From DeepSeek's public profile of training: dispatch and combine move tokens, the others counts
// and flags; the layout of what will be sent is computed on the device alone.
TEST(KernelNames, DeepEpMovesTokensCountsAndFlags) {
  EXPECT_EQ(kind_of_kernel("void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*)"),
            does(Operation::all_to_all));
  EXPECT_EQ(kind_of_kernel("void dpsk::ep::internode::combine<false, 4>(int4*)"),
            does(Operation::all_to_all));
  EXPECT_EQ(kind_of_kernel("void dpsk::ep::internode::notify_dispatch<false, 4>(int const*)"),
            does(Operation::all_to_all));
  EXPECT_EQ(kind_of_kernel("void dpsk::ep::internode::cached_notify<false>(int)"),
            does(Operation::barrier));
  EXPECT_EQ(kind_of_kernel("void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*)"),
            does(Operation::all_to_all));
  EXPECT_EQ(kind_of_kernel("void primus_turbo::deep_ep::intranode::combine<8>(int4*)"),
            does(Operation::all_to_all));
  EXPECT_EQ(kind_of_kernel("void dpsk::ep::cuda::get_dispatch_layout<256, 32>(long const*)"),
            kComputes);
  // A scan of CUB's in a namespace whose name ends in DeepEP's.
  EXPECT_EQ(kind_of_kernel("void cdpsk::ep::CUB_200302_800_900_NS::DeviceScanKernel<int>(int)"),
            kComputes);
}

TEST(KernelNames, ExchangesThroughPeersMemoryAreCommunication) {
  const std::pair<const char*, Operation> named[] = {
      {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>(int)",
       Operation::all_reduce},
      {"void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)", Operation::all_gather},
      {"void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)", Operation::all_reduce},
      {"void aiter::reduce_scatter_cross_device_store<bf16, 8>(int)", Operation::reduce_scatter},
      {"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half>, __half>(int)",
       Operation::all_reduce},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
       "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16>(int)",
       Operation::all_reduce},
      {"void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<(unsigned char)4>(int)",
       Operation::all_reduce},
      {"void userbuffers_fp16_sum_inplace_gpu_rw_ag<2>(int)", Operation::all_gather},
      {"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_fp8<2, __nv_fp8_e4m3>(int)",
       Operation::reduce_scatter},
      {"void userbuffers_fp16_sum_inplace_gpu_rw<8>(int)", Operation::all_reduce},
      {"kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", Operation::send},
      {"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)", Operation::barrier},
      {"void mscclpp::collective::allreduceFullmesh<(mscclpp::ReduceOp)0, __half>(__half*)",
       Operation::all_reduce},
      {"moeA2ADispatchKernel", Operation::all_to_all},
      {"a2a_combine_recv_kernel<1>", Operation::all_to_all},
      {"mori::moe::EpDispatchIntraNodeKernel_bf16", Operation::all_to_all},
      {"hcom_allReduce__428_0_1", Operation::all_reduce},
  };
  for (const auto& [name, op] : named) EXPECT_EQ(kind_of_kernel(name), does(op)) << name;
}

TEST(KernelNames, AMangledNameIsReadAsItsSourceWritesIt) {
  EXPECT_EQ(own_name("_ZN4dpsk2ep9internode8dispatchILb0ELi8EEEvPii"),
            "dpsk::ep::internode::dispatch");
  EXPECT_EQ(own_name("_Z38userbuffers_fp16_sum_inplace_gpu_rw_agILi2EEvii"),
            "userbuffers_fp16_sum_inplace_gpu_rw_ag");
  EXPECT_EQ(own_name("_ZN99x"), "");  // shorter than it says
  EXPECT_EQ(kind_of_kernel("_ZN5aiter33reduce_scatter_cross_device_storeIDF16bLi8EEEvi"),
            does(Operation::reduce_scatter));
}

TEST(KernelNames, OnlyTheOwnNameCounts) {
  EXPECT_EQ(kind_of_kernel("void cutlass::device_kernel<flux::AllGatherGemm>(int)"), kComputes);
  EXPECT_EQ(kind_of_kernel("ampere_bf16_s16816gemm"), kComputes);
  EXPECT_EQ(kind_of_kernel("void at::native::reduce_kernel<512, 1>()"), kComputes);
  EXPECT_EQ(kind_of_kernel("triton_poi_fused_add_all_reduce_4"), kComputes);
}

TEST(KernelNames, WhatLooksAlikeAndStandsInNoRowIsNamedAndCounted) {
  EXPECT_EQ(kind_of_kernel("void mine::ring_allreduce_kernel<float>(float*)"), kLooksAlike);
  SeenKernels seen;
  for (int i = 0; i < 3; ++i) seen.op_of("void mine::ring_allreduce_kernel<float>(float*)");
  seen.op_of("gemm");
  Recording recording;
  seen.note(recording);
  ASSERT_EQ(recording.omissions.size(), 1u);
  EXPECT_EQ(recording.omissions[0].count, 3);
  EXPECT_NE(recording.omissions[0].what.find("'mine::ring_allreduce_kernel'"), std::string::npos);
  EXPECT_FALSE(recording.omissions[0].lost);
}

TEST(KernelNames, TheTableIsReadAndNoRowIsHiddenByOneBeforeIt) {
  const auto names = read_kernel_names(embedded_document("traces/kernels.toml").value());
  ASSERT_TRUE(names.ok());
  EXPECT_GE(names->rows.size(), 51u);
  for (auto row = names->rows.begin(); row != names->rows.end(); ++row) {
    const auto first = std::find_if(names->rows.begin(), names->rows.end(), [&](const auto& other) {
      return row->part.starts_with(other.part);
    });
    EXPECT_EQ(first, row) << row->part << " is never reached behind " << first->part;
  }
}

TEST(KernelNames, AWrongRowIsAProblemWithItsPlace) {
  const auto document = parse_toml(R"([[library]]
name = "mine"
source = "here"
date = "2026-11-23"
[library.kernels]
"x" = "all_reduces"
)",
                                   "mine.toml");
  const auto names = read_kernel_names(document.value());
  ASSERT_FALSE(names.ok());
  EXPECT_EQ(names.problems().size(), 1u);
}

}  // namespace
}  // namespace headway
