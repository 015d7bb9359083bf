// Corpora of a few cells, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/document/csv.hpp"

namespace headway {

using CorpusCells = std::map<std::string, std::string>;

inline std::string corpus_header() {
  return "id,source_key,source,source_tier,date,system,accelerator,accel_memory_gb,n_accel,"
         "accel_per_node,intra_node_link,inter_node_network_gbps_per_accel,framework,precision,"
         "task,model_name,n_params,layers,d_model,n_heads,n_kv_heads,d_ff,gated_mlp,vocab,seq_len,"
         "n_experts,top_k,global_batch_sequences,micro_batch,grad_accum,dp,tp,sp,cp,pp,vpp,ep,"
         "zero_stage,recompute,offload,flash_attention,step_time_s,tokens_per_s_per_accel,"
         "model_tflops_per_accel,hw_tflops_per_accel,mfu_reported,memory_gb_reported,outcome,"
         "flops_convention,layout_completeness,notes";
}

/// A corpus with the given cells in each row, all others empty; outcome: ok where not given.
inline std::string corpus_table(const std::vector<CorpusCells>& rows) {
  const std::string header = corpus_header();
  std::string out = header + "\n";
  for (CorpusCells cells : rows) {
    cells.try_emplace("outcome", "ok");
    std::size_t begin = 0;
    while (begin <= header.size()) {
      const std::size_t end = std::min(header.find(',', begin), header.size());
      const auto found = cells.find(header.substr(begin, end - begin));
      if (found != cells.end()) out += csv_cell(found->second);
      out += end < header.size() ? ',' : '\n';
      begin = end + 1;
    }
  }
  return out;
}

/// Llama 3 8B on one node of 8 H100, everything stated.
inline CorpusCells complete_row() {
  return {{"id", "a-1"},
          {"source_key", "a"},
          {"date", "2025-01-01"},
          {"accelerator", "H100"},
          {"accel_memory_gb", "80"},
          {"n_accel", "8"},
          {"framework", "NeMo"},
          {"precision", "bf16"},
          {"task", "pretrain"},
          {"model_name", "LLAMA3-8B"},
          {"layers", "32"},
          {"d_model", "4096"},
          {"n_heads", "32"},
          {"n_kv_heads", "8"},
          {"d_ff", "14336"},
          {"gated_mlp", "1"},
          {"vocab", "128256"},
          {"seq_len", "8192"},
          {"global_batch_sequences", "128"},
          {"micro_batch", "1"},
          {"tp", "1"},
          {"cp", "2"},
          {"pp", "1"},
          {"zero_stage", "1"},
          {"recompute", "none"},
          {"flash_attention", "1"},
          {"step_time_s", "10"}};
}

/// The complete row with some cells changed; an empty text empties a cell.
inline CorpusCells row_with(const CorpusCells& changed) {
  CorpusCells out = complete_row();
  for (const auto& [name, text] : changed) out[name] = text;
  return out;
}

}  // namespace headway
