// Which options of torchtitan are known.
#include <algorithm>
#include <array>

#include "api/launch_torchtitan_models.hpp"
#include "base/text.hpp"

namespace headway::launch {
namespace {

// Options that the reader understands; others of these tables are named in a note.
constexpr std::array<std::string_view, 27> kUnderstood = {
    "model.name",
    "model.flavor",
    "model.converters",
    "optimizer.name",
    "training.seq_len",
    "training.local_batch_size",
    "training.batch_size",
    "training.global_batch_size",
    "training.mixed_precision_param",
    "training.enable_cpu_offload",
    "training.compile",
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.fsdp_reshard_after_forward",
    "parallelism.tensor_parallel_degree",
    "parallelism.enable_async_tensor_parallel",
    "parallelism.context_parallel_degree",
    "parallelism.context_parallel_rotate_method",
    "parallelism.expert_parallel_degree",
    "parallelism.expert_tensor_parallel_degree",
    "parallelism.expert_parallel_comm_backend",
    "activation_checkpoint.mode",
    "activation_checkpoint.selective_ac_option",
    "activation_checkpoint.early_stop",
    "compile.enable",
    "compile.components",
    "parallelism.module_fqns_per_model_part"};
// And these, that leave a step alone.
constexpr std::array<std::string_view, 25> kAlone = {
    "model.hf_assets_path",
    "model.tokenizer_path",
    "model.print_after_conversion",
    "model.tokenizer_name",
    "optimizer.lr",
    "optimizer.beta1",
    "optimizer.beta2",
    "optimizer.eps",
    "optimizer.weight_decay",
    "optimizer.implementation",
    "training.dataset",
    "training.dataset_path",
    "training.max_norm",
    "training.steps",
    "training.seed",
    "training.deterministic",
    "training.gc_freq",
    "training.gc_debug",
    "training.dataloader",
    "training.mixed_precision_reduce",
    "parallelism.disable_loss_parallel",
    "parallelism.context_parallel_load_balancer",
    "activation_checkpoint.preserve_rng_state",
    "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
    "compile.backend"};

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> unknown_torchtitan_options(const Document& document) {
  std::vector<std::string> names;
  for (const char* table :
       {"model", "optimizer", "training", "parallelism", "activation_checkpoint", "compile"}) {
    const Node* node = document.root.find(table);
    if (node == nullptr || node->table() == nullptr) continue;
    for (const auto& [key, value] : *node->table()) {
      const std::string name = std::string(table) + "." + key;
      const bool known = one_of(kUnderstood, name) || one_of(kAlone, name) ||
                         name.starts_with("parallelism.pipeline_parallel_");
      if (!known && names.size() < 20) names.push_back(printable(name, 60));
    }
  }
  return names;
}

}  // namespace headway::launch
