#include "fit/corpus/run.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The built-in cluster of an accelerator: the vendor's reference system. The first row whose
// pattern the name contains (in lower case) and whose memory the accelerator has.
struct Host {
  std::string_view accelerator, cluster;
  double memory_gb = 0;  // 0: any
};
constexpr Host kHosts[] = {
    {"a100", "dgx-a100-40gb", 40},
    {"a100", "dgx-a100-80gb"},
    {"a800", "a800-8"},
    {"gb200", "gb200-nvl72"},
    {"gb300", "gb300-nvl72"},
    {"gh200", "alps"},
    {"h100", "dgx-h100"},
    {"h800", "h800-8"},
    {"h200", "dgx-h200"},
    {"b200", "dgx-b200"},
    {"b300", "dgx-b300"},
    {"v100", "dgx-v100"},
    {"mi250x", "frontier"},
    {"mi300x", "mi300x-8"},
    {"mi325x", "mi325x-8"},
    {"mi355x", "mi355x-8"},
    {"v5e", "tpu-v5e"},
    {"v5p", "tpu-v5p"},
    {"v6e", "tpu-v6e"},
    {"tpu v4", "tpu-v4"},
    {"tpu v3", "tpu-v3"},
    {"tpu7x", "tpu7x"},
    {"tpu v7", "tpu7x"},
    {"l40s", "l40s-8"},
    {"gaudi 2", "gaudi-2-8"},
    {"gaudi2", "gaudi-2-8"},
    {"gaudi 3", "gaudi-3-8"},
    {"gaudi3", "gaudi-3-8"},
    {"trainium2", "trn2"},
    {"trainium", "trn1"},
};

// Systems whose builder the rows name: they are not the reference system of the accelerator's
// vendor.
struct System {
  std::string_view system, cluster;
};
constexpr System kSystems[] = {
    {"hugging face h100", "p5"},  // AWS p5.48xlarge (The Smol Training Playbook)
};

Result<std::shared_ptr<const Machine>> machine_of(const CorpusRow& row, Shelf& shelf,
                                                  std::vector<std::string>& assumed) {
  const std::string name = lower(row.accelerator);
  std::string_view cluster;
  for (const System& known : kSystems) {
    if (cluster.empty() && contains(lower(row.system), known.system)) cluster = known.cluster;
  }
  for (const Host& host : kHosts) {
    if (!cluster.empty()) break;
    if (!contains(name, host.accelerator)) continue;
    if (host.memory_gb > 0 && row.accel_memory_gb.value_or(0) != host.memory_gb) continue;
    cluster = host.cluster;
  }
  if (!cluster.empty()) {
    auto machine =
        shelf.machine(std::string(cluster), row.inter_node_network_gbps_per_accel.value_or(0),
                      software_of(row).value_or(0));
    if (!machine) return machine;
    if (!row.accel_memory_gb) assumed.push_back("accel_memory_gb=" + std::string(cluster));
    if (!row.inter_node_network_gbps_per_accel &&
        *row.n_accel > (*machine)->cluster.levels.front().size) {
      assumed.push_back("inter_node_network_gbps_per_accel=" + std::string(cluster));
    }
    return machine;
  }
  return Problem{"unsupported: accelerator", row.accelerator, Trouble::unsupported};
}

// The recipe. Which fp8 is meant stands in the notes, in the words of each source.
Result<const Recipe*> recipe_of(const CorpusRow& row, const Accelerator& accelerator,
                                std::vector<std::string>& assumed) {
  const std::string precision = lower(row.precision);
  const std::string notes = lower(row.notes);
  if (precision == "fp8") {
    if (contains(notes, "cell \"mxfp8\"") || contains(notes, "fp8-mx")) return recipe_from("mxfp8");
    if (contains(notes, "cell \"fp8-cs\"") || contains(notes, "current scaling")) {
      return recipe_from("fp8-current");
    }
    const bool blackwell = accelerator.architecture == "blackwell";
    if (contains(notes, "mxfp8") && blackwell) return recipe_from("mxfp8");
    if (contains(notes, "block-wise") || contains(notes, "blockwise")) {
      return recipe_from("fp8-block");
    }
    return recipe_from("fp8");
  }
  if (precision == "nvfp4") return recipe_from("fp4");
  if (precision.empty()) {
    const bool old = !row.date.empty() && row.date < "2024" &&
                     (accelerator.architecture == "ampere" || accelerator.architecture == "volta");
    assumed.emplace_back(old ? "precision=fp16" : "precision=bf16");
    return recipe_from(old ? "fp16" : "bf16");
  }
  if (precision.starts_with("amp") || precision.starts_with("bf16/")) {
    assumed.emplace_back("precision=bf16");
    return recipe_from("bf16");
  }
  if (const Recipe* recipe = recipe_from(precision)) return recipe;
  return Problem{"unsupported: precision", row.precision, Trouble::unsupported};
}

AttentionKernel attention_of(const CorpusRow& row, Framework framework,
                             const Accelerator& accelerator, std::vector<std::string>& assumed) {
  if (row.flash_attention == 0) return AttentionKernel::unfused;
  const bool dated = !row.date.empty();
  AttentionKernel kernel = AttentionKernel::flash2;
  if (accelerator.architecture == "volta" ||
      (!row.flash_attention && dated && row.date < "2024" &&
       contains(lower(row.framework), "megatron-deepspeed") &&
       accelerator.architecture == "ampere")) {
    kernel = AttentionKernel::unfused;
  } else if (contains(lower(row.framework), "composer") && row.date < "2024-02") {
    kernel = row.date < "2023" ? AttentionKernel::flash1 : AttentionKernel::triton;
  } else if (dated && row.date < "2023-07" && row.date != "2023") {
    kernel = AttentionKernel::flash1;
  } else if (accelerator.architecture == "hopper" || accelerator.architecture == "blackwell") {
    kernel = habits(framework).hopper_attention;
  }
  if (!row.flash_attention) {
    assumed.push_back("flash_attention=" +
                      std::string(kAttentionKernelNames[static_cast<std::size_t>(kernel)]));
  }
  return kernel;
}

std::int64_t or_assume(const std::optional<std::int64_t>& cell, const char* name,
                       std::int64_t fallback, std::vector<std::string>& assumed) {
  if (cell) return *cell;
  assumed.push_back(std::string(name) + "=" + std::to_string(fallback));
  return fallback;
}

// Splitting, batch and ZeRO. The reason why not, if any, goes to `refused`.
std::optional<Problem> set_degrees(const CorpusRow& row, CorpusRun& run) {
  Layout& layout = run.layout;
  auto& assumed = run.assumed;
  layout.tp = or_assume(row.tp, "tp", 1, assumed);
  layout.cp = or_assume(row.cp, "cp", 1, assumed);
  layout.pp = or_assume(row.pp, "pp", 1, assumed);
  layout.vpp = layout.pp > 1 ? or_assume(row.vpp, "vpp", 1, assumed) : 1;
  layout.ep = row.n_experts ? or_assume(row.ep, "ep", 1, assumed) : row.ep.value_or(1);
  const double others = static_cast<double>(layout.tp) * static_cast<double>(layout.cp) *
                        static_cast<double>(layout.pp);
  const auto total = static_cast<double>(*row.n_accel);
  if (others > total || *row.n_accel % static_cast<std::int64_t>(others) != 0) {
    return Problem{"illegal layout: tp x cp x pp",
                   "does not divide n_accel = " + std::to_string(*row.n_accel)};
  }
  layout.dp = *row.n_accel / static_cast<std::int64_t>(others);

  if (row.micro_batch) {
    layout.micro_batch = *row.micro_batch;
  } else if (row.grad_accum && row.global_batch_sequences) {
    const double per_rank = static_cast<double>(*row.global_batch_sequences) /
                            static_cast<double>(*row.grad_accum) / static_cast<double>(layout.dp);
    layout.micro_batch = or_assume(
        {}, "micro_batch", std::max<std::int64_t>(1, static_cast<std::int64_t>(per_rank)), assumed);
  } else {
    layout.micro_batch = or_assume({}, "micro_batch", 1, assumed);
  }
  if (row.global_batch_sequences) {
    run.job.global_batch = *row.global_batch_sequences;
  } else {
    const std::int64_t unknown = layout.pp > 1 ? 8 * layout.pp : 1;
    const double batch = static_cast<double>(layout.micro_batch) *
                         static_cast<double>(row.grad_accum.value_or(unknown)) *
                         static_cast<double>(layout.dp);
    if (batch > 1e12) return Problem{"illegal layout: global batch", "more than 10^12 sequences"};
    run.job.global_batch =
        or_assume({}, "global_batch_sequences", static_cast<std::int64_t>(batch), assumed);
  }
  layout.zero = static_cast<int>(
      or_assume(row.zero_stage, "zero_stage", habits(run.job.framework).default_zero, assumed));
  if (contains(row.notes, "SHARD_GRAD_OP")) layout.reshard_after_forward = false;
  // Ranks that share one copy of sharded states, in the words of three sources.
  std::int64_t shard = number_after(row.notes, "sharding_degree=").value_or(0);
  if (contains(row.notes, "zero1=")) shard = number_after(row.notes, "zero1=").value_or(0);
  if (contains(row.notes, "HSDP")) shard = row.accel_per_node.value_or(8);
  if (layout.zero > 0 && shard > 1 && shard < layout.dp && layout.dp % shard == 0) {
    layout.shard = shard;
  }
  return std::nullopt;
}

// Whether the hosts checked every collective, which no source says but a job's own measurement of
// its network shows. All-reduce and all-gather of one size then take the same time, that of the
// check, which grows with the ranks [FORECAST-16]: the bus bandwidth of the all-gather falls as
// 1/ranks, and that of the all-reduce is twice it. On few ranks, where the check is the shorter,
// it shows in the all-reduce inside a node: 412-432 GB/s with, 439-462 GB/s without it.
bool checks_collectives(const CorpusRow& row) {
  const auto measured = number_after(row.notes, " AG=");
  const auto inside = number_after(row.notes, "intra AR=");
  if (!measured || !inside) return false;
  return *row.n_accel <= 16 ? *inside < 435 : *measured * *row.n_accel < 5000;  // GB/s x ranks
}

void set_habits(const CorpusRow& row, CorpusRun& run) {
  Layout& layout = run.layout;
  const std::string framework = lower(row.framework);
  if (run.job.framework == Framework::nanotron || contains(framework, "composer")) {
    run.job.fused = false;
    run.assumed.emplace_back("fused=0");
  }
  if (contains(framework, "fms-fsdp")) run.job.reduce_dtype = WireFormat::bf16;
  if (contains(framework, "composer")) {
    // Composer's fsdp_config.mixed_precision. PURE: all in 16 bit. DEFAULT: until 2023 weights in
    // fp32 under autocast and 16-bit gradients, then 16-bit weights and gradients in fp32.
    const bool old = row.date < "2023";
    const bool pure = contains(row.notes, "PURE");
    run.job.param_dtype = !pure && old ? WireFormat::fp32 : WireFormat::bf16;
    run.job.reduce_dtype = pure || old ? WireFormat::bf16 : WireFormat::fp32;
    run.job.padding_mask = old;
    run.job.fused_loss = old ? Choice::off : Choice::on;
    run.job.loss_metrics = 2;
    // Runs in PURE were first published in April 2023, whatever later table repeats them.
    if (pure && !old) run.job.software = std::min(run.job.software, 2023.3);
  }
  if (row.sp) {
    // 0: off; 1: on; more: a degree in sources that count sequence-parallel ranks.
    layout.sequence_parallel = *row.sp > 0;
  } else if (layout.tp > 1) {
    layout.sequence_parallel =
        (run.job.framework == Framework::megatron && !contains(framework, "deepspeed")) ||
        run.job.framework == Framework::jax;
    run.assumed.emplace_back(layout.sequence_parallel ? "sp=1" : "sp=0");
  }
  if (contains(row.notes, "tp_mode=ALL_REDUCE") || contains(row.notes, "tpmodeALL")) {
    layout.sequence_parallel = false;
  }
  run.job.blocking_transfers = contains(row.notes, "after_pp_fix=False");
  run.first_rank_reports = contains(row.notes, "Mem Res=");  // nanotron's log
  run.job.checked_collectives = checks_collectives(row);
  // nanotron kept gathered inputs until it learned to gather them again (tp_recompute_allgather),
  // in the version whose jobs also check every collective.
  layout.keep_gathered = run.job.framework == Framework::nanotron &&
                         contains(row.notes, "intra AR=") && !run.job.checked_collectives;
  if (contains(row.notes, "no gradient bucketing")) {
    layout.overlap_gradients = layout.overlap_parameters = Choice::off;
  }
  if (row.offload == "activations") {
    layout.offload_activations = true;
  } else if (!row.offload.empty() && row.offload != "none") {
    run.assumed.emplace_back("offload=none");
  }

  // "Selective" can mean some layers in full: a pass of four where three count says which.
  const double executed = static_cast<double>(number_after(row.notes, "HFU=").value_or(0));
  const bool in_full =
      row.recompute == "selective" && executed > 1.2 * row.mfu_reported.value_or(1e9);
  if (in_full) run.assumed.emplace_back("recompute=full");
  if (row.recompute == "full" || in_full) {
    layout.recompute = Recompute::full;
  } else if (row.recompute == "selective" || contains(row.recompute, "qkv_proj")) {
    layout.recompute = Recompute::selective;
    if (const auto pieces = pieces_of(row.notes); pieces && *pieces != 0) {
      layout.recompute_pieces = *pieces;
    }
  } else if (row.recompute != "none") {
    run.remedies = {{Recompute::none}};
    if (run.job.framework != Framework::nanotron) {
      run.remedies.push_back({Recompute::selective});
      if (run.job.framework != Framework::megatron) run.remedies.push_back({Recompute::full});
    }
  }
}

}  // namespace

const Result<Model>& Shelf::model(const std::string& name) {
  const auto found = models_.find(name);
  return found != models_.end() ? found->second
                                : models_.emplace(name, load_model(name)).first->second;
}

const Result<std::shared_ptr<const Machine>>& Shelf::machine(const std::string& name,
                                                             double network_gbps, double software) {
  const auto key = std::make_tuple(name, network_gbps, software);
  if (const auto found = machines_.find(key); found != machines_.end()) return found->second;
  const auto load = [&]() -> Result<std::shared_ptr<const Machine>> {
    // The same cluster with software of another date differs in that alone.
    const auto sibling = machines_.lower_bound(std::make_tuple(name, network_gbps, 0.0));
    if (sibling != machines_.end() && std::get<0>(sibling->first) == name &&
        std::get<1>(sibling->first) == network_gbps && sibling->second.ok()) {
      Machine other = **sibling->second;
      other.software = software;
      other.calibration = in_step(other.alone, **constants_, other.cluster, software);
      return std::make_shared<const Machine>(std::move(other));
    }
    auto cluster = load_cluster(name);
    if (!cluster) return cluster.problems();
    if (network_gbps > 0) {
      for (std::size_t i = 1; i < cluster->levels.size(); ++i) {
        Level& level = cluster->levels[i];
        level.bandwidth = level.port_bandwidth = BytesPerSecond(network_gbps * 1e9 / 8);
      }
    }
    const auto alone = benchmarked_for(*cluster);
    if (!alone) return alone.problems();
    if (!constants_) constants_ = step_constants();
    if (!*constants_) return constants_->problems();
    return std::make_shared<const Machine>(
        Machine{*cluster, software, *alone, in_step(*alone, **constants_, *cluster, software)});
  };
  return machines_.emplace(key, load()).first->second;
}

Framework framework_of(const CorpusRow& row) {
  const std::string name = lower(row.framework);
  const auto any = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return contains(name, part); });
  };
  if (any({"nanotron"})) return Framework::nanotron;
  if (any({"jax", "maxtext", "pax"})) return Framework::jax;
  if (any({"fsdp", "llm-foundry", "mosaicml", "composer", "fms", "torchtitan"})) {
    return Framework::fsdp;
  }
  if (any({"deepspeed"}) && !any({"megatron"})) return Framework::deepspeed;
  return Framework::megatron;
}

Result<CorpusRun> run_of(const CorpusRow& row, Shelf& shelf) {
  if (!row.bad_cell.empty())
    return Problem{"bad cell: " + row.bad_cell, row.bad_cell_detail, Trouble::malformed};
  if (!row.n_accel) return Problem{"cell missing: n_accel", "", Trouble::missing};
  if (!row.seq_len) return Problem{"cell missing: seq_len", "", Trouble::missing};

  CorpusRun run;
  auto machine = machine_of(row, shelf, run.assumed);
  if (!machine) return machine.problems();
  run.machine = *machine;
  auto model = model_of(row, shelf, run.assumed);
  if (!model) return model.problems();
  run.model = *std::move(model);

  const Accelerator& accelerator = run.machine->cluster.accelerator;
  run.job.sequence = *row.seq_len;
  run.job.software = run.machine->software;
  run.job.framework = framework_of(row);
  run.job.task = row.task == "lora"                            ? Task::lora
                 : row.task == "sft" || row.task == "finetune" ? Task::finetune
                                                               : Task::pretrain;
  const auto recipe = recipe_of(row, accelerator, run.assumed);
  if (!recipe) return recipe.problems();
  run.job.recipe = *recipe;
  run.job.attention = attention_of(row, run.job.framework, accelerator, run.assumed);
  if (const auto refused = set_degrees(row, run)) return *refused;
  set_habits(row, run);
  if (is_vendor_recipe(row)) set_vendor_recipe(row, run);
  if (run.layout.pp * run.layout.vpp > run.model.layers() && run.layout.pp > 1 &&
      run.layout.pp <= run.model.layers()) {
    run.layout.vpp = run.model.layers() / run.layout.pp;
    run.assumed.push_back("vpp=" + std::to_string(run.layout.vpp));
  }

  // Megatron-Bridge counts the causal half since 2025; all others say or use the full square.
  const std::string& convention = row.flops_convention;
  if (convention.starts_with("Megatron num_floating_point_operations") ||
      (contains(convention, "causal") && !contains(convention, "no causal") &&
       !contains(convention, "non-causal"))) {
    run.convention = AttentionFlops::causal;
  }

  const Problems illegal = check(run.model, run.job, run.layout, run.machine->cluster);
  if (!illegal.empty()) {
    return Problem{"illegal layout: " + where_text(illegal.front()), illegal.front().message};
  }
  return run;
}

}  // namespace headway
