// A run as a configuration of torchtitan.
#include <algorithm>
#include <array>

#include "launch/torchtitan/models.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kTorchtitan = Launcher::torchtitan;

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  const std::string_view recipe = job.recipe->name;
  refusals.refuse(
      recipe != "bf16" && recipe != "fp32" && recipe != "fp8-current" && recipe != "mxfp8",
      "precision", std::string(recipe), "legal: bf16, fp32, fp8-current, mxfp8");
  refusals.refuse(job.attention != AttentionKernel::flash2, "attention",
                  "another kernel than that of scaled_dot_product_attention", "legal: flash2");
  refusals.refuse(job.optimizer != Optimizer::adam && job.optimizer != Optimizer::adamw,
                  "optimizer", std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adam, adamw");
  refusals.refuse((job.dropout >= 0 ? job.dropout : run.model.dropout) > 0, "dropout", "dropout",
                  "legal: 0");
  refusals.refuse(job.param_dtype == WireFormat::fp32 && recipe != "fp32", "param-dtype",
                  "autocast", "legal: bf16");
  refusals.refuse(job.reduce_dtype == WireFormat::bf16, "reduce-dtype",
                  "gradients reduced in 16 bit", "legal: fp32");
  refusals.refuse(job.bucket_size > Bytes(0), "bucket-size", "a size of buckets");
  refusals.refuse(job.small_gradients, "small-gradients", "gradients in 16 bit");
  refusals.refuse(job.graphs != Graphs::none, "graphs", "CUDA graphs");
  refusals.refuse(job.small_activation_inputs, "small-activation-inputs",
                  "activation inputs in 8 bit");
  refusals.refuse(job.fused_experts && has_experts(run.model), "fused-experts",
                  "activation and casts inside grouped products");
  refusals.refuse(job.checked_collectives, "checked-collectives",
                  "the variable TORCH_DISTRIBUTED_DEBUG of the environment");
}

void refuse_sharding(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  const bool others = l.tp * l.pp * l.cp > 1;
  refusals.refuse(l.zero == 1, "zero", "ZeRO 1", "legal: 0, 2, 3");
  refusals.refuse(l.zero == 0 && (l.dp == 1 || others), "zero",
                  "unsharded weights beside other parallelism than data", "legal: 2, 3");
  refusals.refuse(l.shard > 0 && l.shard % l.cp != 0, "shard",
                  "a group of ranks that is no multiple of cp");
  refusals.refuse(l.zero > 0 && l.shard == 1 && l.dp > 1, "shard", "sharding over one rank");
  refusals.refuse(l.offload_activations, "offload", "offloaded activations");
  refusals.refuse(l.offload_optimizer != l.offload_parameters, "offload",
                  "offload of only one of optimiser states and parameters",
                  "legal: optimizer,parameters");
  const bool off = l.overlap_gradients == Choice::off || l.overlap_parameters == Choice::off;
  refusals.refuse(off, {FieldName("overlap-gradients"), FieldName("overlap-parameters")},
                  "FSDP without overlap of its communication");
}

// The class of torch.distributed.pipelining that runs the layout's schedule; empty: none does.
std::string_view schedule_class(const Layout& l) {
  switch (l.schedule) {
    case Schedule::one_f_one_b:
      return l.vpp > 1 ? "Interleaved1F1B" : "1F1B";
    case Schedule::gpipe:
      return "GPipe";
    case Schedule::breadth_first:
      return l.vpp > 1 ? "LoopedBFS" : "";
    case Schedule::zero_bubble_v:
      return "ZBVZeroBubble";
    case Schedule::dual_pipe_v:
      return "DualPipeV";
    default:
      return "";
  }
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  refuse_sharding(run, refusals);
  refusals.refuse(l.tp > 1 && !l.sequence_parallel, "no-sp",
                  "tensor parallelism without sequence parallelism");
  refusals.refuse(l.tp > 1 && l.keep_gathered, "keep-gathered", "keeping gathered inputs");
  refusals.refuse(l.cp > 1 && l.context_exchange != ContextExchange::ring, "cp-exchange",
                  "exchange of heads against tokens", "legal: ring");
  refusals.refuse(l.recompute == Recompute::selective, "recompute",
                  "selective recomputation of pieces of a layer",
                  "legal: none, full, every-second-product");
  refusals.refuse(l.recompute == Recompute::full && l.recompute_every > 1, "recompute-every",
                  "one recomputation over several layers", "legal: 1");
  refusals.refuse(l.pp > 1 && schedule_class(l).empty(), "schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]) +
                      (takes_virtual_stages(l.schedule) ? " without virtual stages" : ""),
                  "legal: 1f1b, gpipe, breadth-first, zero-bubble-v, dual-pipe-v");
  refusals.refuse(has_experts(run.model) && l.etp != 1 && l.etp != l.tp, "etp",
                  "this tensor degree of experts", "legal: 1, " + std::to_string(l.tp));
  refusals.refuse(l.overlap_experts == Choice::on, "overlap-experts",
                  "exchange of tokens under other work");
  refusals.refuse(l.overlap_tensor == Choice::on && (l.tp == 1 || !run.job.fused), "overlap-tensor",
                  "overlap of tensor-parallel calls without compilation");
  refusals.refuse(!usual_order(l), "order", "this numbering of the ranks", "legal: tp-cp-dp-pp");
  const std::int64_t batches = micro_batches(run.job, l);
  const std::int64_t rounds = std::max<std::int64_t>(1, batches / l.pp);
  refusals.refuse(
      l.vpp > 1 && batches % rounds != 0, "vpp",
      std::to_string(batches) + " micro-batches, no multiple of pp, over virtual stages");
}

class Toml {
 public:
  void table(const std::string& name) { text_ += "\n[" + name + "]\n"; }
  void set(const std::string& key, const std::string& value) {
    text_ += key + " = \"" + value + "\"\n";
  }
  void set(const std::string& key, const char* value) { set(key, std::string(value)); }
  void set(const std::string& key, std::string_view value) { set(key, std::string(value)); }
  void set(const std::string& key, std::int64_t value) {
    text_ += key + " = " + std::to_string(value) + "\n";
  }
  void set(const std::string& key, bool value) {
    text_ += key + (value ? " = true\n" : " = false\n");
  }
  void raw(const std::string& line) { text_ += line + "\n"; }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

void write_batch(const Run& run, Toml& toml) {
  const Layout& l = run.layout;
  toml.table("training");
  toml.set("seq_len", run.job.sequence);
  // A pipeline takes all its micro-batches at once; without one, gradients are accumulated.
  const std::int64_t at_once = l.pp > 1 ? micro_batches(run.job, l) : 1;
  toml.set("local_batch_size", l.micro_batch * at_once);
  toml.set("global_batch_size", run.job.global_batch);
  const bool full = run.job.recipe->name == "fp32";
  toml.set("mixed_precision_param", full ? "float32" : "bfloat16");
  toml.set("mixed_precision_reduce", "float32");
  toml.set("enable_cpu_offload", l.offload_parameters);
  toml.set("steps", std::int64_t{20});
  toml.set("dataset", "c4_test");
}

// Stages as lists of modules, where degrees alone do not give them.
void write_stages(const std::vector<std::int64_t>& chunks, Toml& toml) {
  std::int64_t layer = 0;
  toml.raw("module_fqns_per_model_part = [");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    std::vector<std::string> modules;
    if (i == 0) modules.push_back("tok_embeddings");
    for (std::int64_t j = 0; j < chunks[i]; ++j, ++layer) {
      modules.push_back("layers." + std::to_string(layer));
    }
    if (i + 1 == chunks.size()) modules.insert(modules.end(), {"norm", "output"});
    std::string line = "  [";
    for (const std::string& module : modules) {
      line += (module == modules.front() ? "\"" : ", \"") + module + "\"";
    }
    line += "],";
    toml.raw(line);
  }
  toml.raw("]");
}

void write_pipeline(const Run& run, Toml& toml) {
  const Layout& l = run.layout;
  toml.set("pipeline_parallel_degree", l.pp);
  if (l.pp == 1) return;
  toml.set("pipeline_parallel_schedule", schedule_class(l));
  toml.set("pipeline_parallel_microbatch_size", l.micro_batch);
  const std::int64_t stages = chunks_of_model(l);
  const std::int64_t slots = run.model.layers() + l.embedding_slots + l.head_slots;
  const std::int64_t each = (slots + stages - 1) / stages;
  // An end counts as no more than the layers of the shortest stage.
  const bool counted = (l.vpp <= 2 || (slots + each - 1) / each == stages) &&
                       std::max(l.embedding_slots, l.head_slots) <= slots / stages;
  if (l.first_stage_layers > 0 || l.last_stage_layers > 0 || !counted) {
    return write_stages(layers_of_chunks(run.model, l), toml);
  }
  toml.set("pipeline_parallel_first_stage_less_layers", l.embedding_slots);
  toml.set("pipeline_parallel_last_stage_less_layers", l.head_slots);
  if (l.vpp > 2) toml.set("pipeline_parallel_layers_per_stage", each);
}

void write_parallelism(const Run& run, Toml& toml) {
  const Layout& l = run.layout;
  toml.table("parallelism");
  const std::int64_t replicas = l.dp * l.cp;
  const std::int64_t group = l.zero == 0                         ? l.cp
                             : l.shard > 0 && l.shard < replicas ? l.shard
                                                                 : replicas;
  toml.set("data_parallel_replicate_degree", replicas / group);
  toml.set("data_parallel_shard_degree", group / l.cp);
  if (l.zero > 0) {
    toml.set("fsdp_reshard_after_forward", gathers_again(run.job, l) ? "always" : "never");
  }
  toml.set("tensor_parallel_degree", l.tp);
  if (l.overlap_tensor == Choice::on) toml.set("enable_async_tensor_parallel", true);
  toml.set("context_parallel_degree", l.cp);
  if (l.cp > 1) toml.set("context_parallel_rotate_method", "alltoall");
  write_pipeline(run, toml);
  if (!has_experts(run.model)) return;
  toml.set("expert_parallel_degree", l.ep);
  toml.set("expert_tensor_parallel_degree", l.etp);
  toml.set("expert_parallel_comm_backend", l.dispatch == Dispatch::once ? "deepep" : "standard");
}

}  // namespace

Result<std::vector<LaunchFile>> write_torchtitan(const Run& run) {
  Problems problems;
  Refusals refusals(kTorchtitan, problems);
  refuse_common(refusals, run);
  refuse_job(run, refusals);
  refuse_layout(run, refusals);
  const Flavor* flavor = flavor_of(run.model);
  refusals.refuse(flavor == nullptr, "model", "a network of this shape",
                  "its flavors: " + flavors_text());
  if (!problems.empty()) return problems;

  Toml toml;
  toml.table("model");
  toml.set("name", flavor->name);
  toml.set("flavor", flavor->flavor);
  const std::string_view recipe = run.job.recipe->name;
  const bool float8 = recipe == "fp8-current", mx = recipe == "mxfp8";
  if (float8) toml.raw("converters = [\"quantize.linear.float8\"]");
  if (mx) toml.raw("converters = [\"quantize.linear.mx\"]");
  toml.table("optimizer");
  toml.set("name", run.job.optimizer == Optimizer::adam ? "Adam" : "AdamW");
  toml.raw("lr = 3e-4");
  write_batch(run, toml);
  write_parallelism(run, toml);
  const bool full = run.layout.recompute == Recompute::full;
  toml.table("activation_checkpoint");
  const std::int64_t one_in = run.layout.recompute_one_in;
  const bool by_operator = run.layout.recompute == Recompute::every_second;
  const bool selective = by_operator || (full && one_in > 1);
  toml.set("mode", selective ? "selective" : full ? "full" : "none");
  if (selective) toml.set("selective_ac_option", by_operator ? "op" : std::to_string(one_in));
  if (full || by_operator) toml.set("early_stop", stops_recompute_early(run.job, run.layout));
  toml.table("compile");
  const bool loss = run.job.fused_loss == Choice::on;
  toml.set("enable", run.job.fused || loss);
  toml.raw(!loss           ? "components = [\"model\"]"
           : run.job.fused ? "components = [\"model\", \"loss\"]"
                           : "components = [\"loss\"]");
  if (float8 || mx) {
    toml.table(float8 ? "quantize.linear.float8" : "quantize.linear.mx");
    if (float8) toml.set("recipe_name", "tensorwise");
    toml.raw("filter_fqns = [\"output\"" +
             std::string(has_experts(run.model) ? ", \"router.gate\"]" : "]"));
  }
  const Nodes nodes = nodes_of(run);
  const std::string without =
      run.model.prediction_layers > 0
          ? "# torchtitan builds this network without its module that predicts further tokens.\n"
          : "";
  const std::string start = "# torchrun --nnodes=" + std::to_string(nodes.count) +
                            " --nproc-per-node=" + std::to_string(nodes.ranks) +
                            " -m torchtitan.train --job.config_file train.toml\n" +
                            "# A trial on test data; put your own tokenizer, data, schedule and "
                            "checkpoints here.\n";
  return std::vector<LaunchFile>{
      {"train.toml", headline(run, kTorchtitan) + without + start + std::move(toml).take()}};
}

}  // namespace headway::launch
