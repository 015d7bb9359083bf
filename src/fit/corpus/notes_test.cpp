#include "fit/corpus/notes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "fit/corpus/run_for_test.hpp"

namespace headway {
namespace {

TEST(CorpusNotes, TheRecipeOfFp8StandsInTheNotes) {
  const auto recipe = [](const CorpusCells& cells) { return run_with(cells)->job.recipe->name; };
  EXPECT_EQ(recipe({{"precision", "fp8"}}), "fp8");
  EXPECT_EQ(recipe({{"precision", "fp8"}, {"notes", "precision cell \"FP8-CS\""}}), "fp8-current");
  EXPECT_EQ(recipe({{"precision", "fp8"},
                    {"accelerator", "B200"},
                    {"accel_memory_gb", ""},
                    {"notes", "precision cell \"MXFP8\""}}),
            "mxfp8");
  EXPECT_EQ(recipe({{"precision", ""}, {"accelerator", "A100"}, {"date", "2023"}}), "fp16");
}

TEST(CorpusNotes, ComposersSettingsAreReadFromItsNotesAndDate) {
  const auto composer = [](const char* date, const char* notes) {
    return run_with({{"framework", "llm-foundry/Composer (PyTorch FSDP)"},
                     {"date", date},
                     {"notes", notes},
                     {"tp", "1"},
                     {"cp", "1"}});
  };
  const auto first = composer("2022-12-21", "MP=DEFAULT");
  EXPECT_EQ(first->job.param_dtype, WireFormat::fp32);
  EXPECT_EQ(first->job.reduce_dtype, WireFormat::bf16);
  EXPECT_EQ(first->job.fused_loss, Choice::off);
  EXPECT_EQ(first->job.attention, AttentionKernel::flash1);
  EXPECT_TRUE(first->job.padding_mask);
  const auto pure = composer("2024-01-06", "FSDP mixed_precision=PURE");
  EXPECT_EQ(pure->job.param_dtype, WireFormat::bf16);
  EXPECT_EQ(pure->job.reduce_dtype, WireFormat::bf16);
  EXPECT_EQ(pure->job.fused_loss, Choice::on);
  EXPECT_EQ(pure->job.attention, AttentionKernel::triton);
  EXPECT_EQ(pure->job.loss_metrics, 2);
  EXPECT_FALSE(pure->job.padding_mask);
  EXPECT_FALSE(pure->job.fused);
  EXPECT_LT(pure->job.software, 2023.5);
  const auto now = composer("2024-01-06", "FSDP mixed_precision=DEFAULT");
  EXPECT_EQ(now->job.param_dtype, WireFormat::bf16);
  EXPECT_EQ(now->job.reduce_dtype, WireFormat::fp32);
  EXPECT_GT(now->job.software, 2024);
  const auto fms = run_with({{"framework", "fms-fsdp (PyTorch FSDP1 + compile)"}});
  EXPECT_EQ(fms->job.reduce_dtype, WireFormat::bf16);
  EXPECT_TRUE(fms->job.fused);
}

TEST(CorpusNotes, SoftwareIsAsOldAsItsReleaseWhereTheNotesNameOne) {
  CorpusRow row;
  row.date = "2026-03-30";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2026-03").value());
  row.notes = "NeMo container 25.09; section";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2025-09").value());
  row.notes = "NeMo 24.07 container; first table";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2024-07").value());
  row.notes = "dgxc-benchmarking v24.11.1; table";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2024-11").value());
  row.notes = "NeMo perf page";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2026-03").value());
  // NVIDIA's containers of PyTorch are named for their month, too (23.09: September 2023).
  for (const char* container : {"container NVIDIA PyTorch 23.09", "NGC PyTorch 23.09",
                                "nvcr.io/nvidia/pytorch:23.09-py3"}) {
    row.notes = container;
    EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2023-09").value()) << container;
  }
  row.notes.clear();
  row.framework = "NGC PyTorch 23.09";
  EXPECT_DOUBLE_EQ(software_of(row).value(), years_of("2023-09").value());
}

TEST(CorpusNotes, RecomputedPiecesAreReadFromTheNotes) {
  EXPECT_EQ(pieces_of("dispatcher A2A; recompute modules norm, act;"),
            bit(Piece::norm) | bit(Piece::activation));
  EXPECT_EQ(pieces_of("recompute modules mlp + core_attn"),
            bit(Piece::feed_forward) | bit(Piece::core));
  EXPECT_EQ(pieces_of("recompute modules layernorm,moe_act; tiny"),
            bit(Piece::norm) | bit(Piece::activation));
  EXPECT_EQ(pieces_of("recompute modules ;"), 0);
  EXPECT_EQ(pieces_of("remat policy save_dot_except_mlp[wi] per configure.sh"),
            bit(Piece::core) | bit(Piece::norm) | bit(Piece::feed_forward));
  EXPECT_EQ(pieces_of("selective core_attn baseline"), std::nullopt);
  const auto run = run_with({{"recompute", "selective"}, {"notes", "recompute modules mlp"}});
  EXPECT_EQ(run->layout.recompute, Recompute::selective);
  EXPECT_EQ(run->layout.recompute_pieces, bit(Piece::feed_forward));
}

TEST(CorpusNotes, NumbersAreFoundBehindWords) {
  EXPECT_EQ(number_after("a zero1=-1 b zero1=8", "zero1="), 8);
  EXPECT_EQ(number_after("head_dim 128; x", "head_dim "), 128);
  EXPECT_EQ(number_after("head_dim", "head_dim "), std::nullopt);
}

// The notes of hf_playbook: a job's own measurement of its network, and the state of its software.
TEST(CorpusNotes, TheNotesOfASweepAreReadAsFields) {
  const auto noted = [](const std::string& network, const std::string& gpus = "64") {
    return run_with({{"framework", "nanotron"},
                     {"system", "Hugging Face H100 cluster (ultra-scale playbook sweep)"},
                     {"n_accel", gpus},
                     {"tp", "8"},
                     {"cp", "1"},
                     {"notes", "Mem Alloc=2GB Mem Res=3GB; measured bus BW GB/s: " + network +
                                   "; tp_mode=REDUCE_SCATTER after_pp_fix=False"}});
  };
  // All-gather and all-reduce take as long: 2^30 B · 63/64 / 53 GB/s = 20 ms = 64 · 0.31 ms.
  const auto checked = noted("AR=96.8 AG=53.5 RS=52.9 intra AR=426.2 AG=243.0 RS=242.4");
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->cluster.name, "p5");
  EXPECT_TRUE(checked->job.checked_collectives);
  EXPECT_TRUE(checked->job.blocking_transfers);
  EXPECT_FALSE(checked->layout.keep_gathered);
  EXPECT_TRUE(checked->first_rank_reports);
  const auto free = noted("AR=187.2 AG=176.3 RS=176.6 intra AR=458.9 AG=263.0 RS=260.5");
  EXPECT_FALSE(free->job.checked_collectives);
  EXPECT_TRUE(free->layout.keep_gathered);
  // On few ranks the check hides behind the transfer but in the all-reduce of one node.
  EXPECT_TRUE(
      noted("AR=340 AG=168 RS=163 intra AR=426 AG=243 RS=242", "16")->job.checked_collectives);
  EXPECT_FALSE(
      noted("AR=428 AG=222 RS=220 intra AR=459 AG=263 RS=263", "16")->job.checked_collectives);
  const auto silent = run_with({{"framework", "nanotron"}});
  EXPECT_FALSE(silent->job.checked_collectives || silent->job.blocking_transfers ||
               silent->layout.keep_gathered || silent->first_rank_reports);
}

}  // namespace
}  // namespace headway
