#include "fit/corpus/run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "cluster/settings.hpp"
#include "fit/corpus/notes.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/stated.hpp"
#include "layout/ends.hpp"
#include "model/reading/load.hpp"
#include "step/frameworks/experts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Whether the row has a setting of its machine.
bool says(const CorpusRow& row, std::string_view setting) {
  for (std::size_t i = 0; i < row.settings.size(); ++i) {
    if (machine_settings()[i].name == setting) return !row.settings[i].empty();
  }
  return false;
}

Result<std::shared_ptr<const Machine>> machine_of(const CorpusRow& row, Shelf& shelf,
                                                  std::vector<std::string>& assumed) {
  if (const auto decided = decide("cluster", {row})) {
    const std::string& cluster = decided->value;
    auto machine = shelf.machine(cluster, row.inter_node_network_gbps_per_accel.value_or(0),
                                 software_of(row).value_or(0), row.settings);
    if (!machine) return machine;
    if (!row.accel_memory_gb) assumed.push_back("accel_memory_gb=" + cluster);
    if (!row.inter_node_network_gbps_per_accel && !says(row, "network-bandwidth") &&
        *row.n_accel > (*machine)->cluster.levels.front().size) {
      assumed.push_back("inter_node_network_gbps_per_accel=" + cluster);
    }
    return machine;
  }
  return Problem{"unsupported: accelerator", row.accelerator, Trouble::unsupported};
}

Result<const Recipe*> recipe_of(const CorpusRow& row, CorpusRun& run) {
  const auto decided = decide("precision", {row, &run});
  if (decided && decided->rule->assumed) run.assumed.push_back("precision=" + decided->value);
  // What can run in 16 bit alone leaves nothing to guess.
  const bool has_8_bit = run.cluster.accelerator.peak_of(Precision::fp8) > FlopsPerSecond{};
  if (!has_8_bit) run.derived.insert("precision");
  const Recipe* recipe = recipe_from(decided ? decided->value : lower(row.precision));
  if (recipe == nullptr)
    return Problem{"unsupported: precision", row.precision, Trouble::unsupported};
  return recipe;
}

AttentionKernel attention_of(const CorpusRow& row, CorpusRun& run) {
  if (row.states("attention")) return run.job.attention;
  AttentionKernel kernel = usual_attention(run.job, run.cluster.accelerator);
  if (const auto decided = decide("attention", {row, &run})) {
    const auto& names = kAttentionKernelNames;
    const auto found = std::find(names.begin(), names.end(), decided->value);
    if (found != names.end()) kernel = static_cast<AttentionKernel>(found - names.begin());
  }
  if (!row.flash_attention) {
    run.assumed.push_back("flash_attention=" +
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

// How many times `at_once` sequences make a step whose batch nobody states: as often as gradients
// are accumulated; as fill the step at its rate; between once and as often as in runs of its size,
// the geometric mean, which is as far from either.
double batches_at_once(const CorpusRow& row, CorpusRun& run, double at_once) {
  if (row.grad_accum) {
    run.derived.insert("global_batch_sequences");
    return static_cast<double>(*row.grad_accum);
  }
  const auto sequence = static_cast<double>(run.job.sequence);
  if (row.step_time_s && row.tokens_per_s_per_accel) {
    run.derived.insert("global_batch_sequences");
    return *row.step_time_s * *row.tokens_per_s_per_accel * static_cast<double>(*row.n_accel) /
           sequence / at_once;
  }
  const double in_flight = run.layout.pp > 1 ? 8 * static_cast<double>(run.layout.pp) : 1;
  if (const auto usual = decide("batch_tokens", {row, &run})) {
    double tokens = 0;
    std::from_chars(usual->value.data(), usual->value.data() + usual->value.size(), tokens);
    return std::max(in_flight, std::sqrt(tokens / sequence / at_once));
  }
  return in_flight;
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

  const std::int64_t at_a_time = layout.dp * row.grad_accum.value_or(1);
  const std::int64_t stated = row.global_batch_sequences.value_or(0);
  if (decide("whole_batch", {row, &run}) && stated > 0 && stated % at_a_time == 0) {
    layout.micro_batch = stated / at_a_time;
  } else if (row.micro_batch) {
    layout.micro_batch = *row.micro_batch;
  } else if (row.grad_accum && row.global_batch_sequences) {
    const double per_rank = static_cast<double>(*row.global_batch_sequences) /
                            static_cast<double>(*row.grad_accum) / static_cast<double>(layout.dp);
    layout.micro_batch = or_assume(
        {}, "micro_batch", std::max<std::int64_t>(1, static_cast<std::int64_t>(per_rank)), assumed);
    run.derived.insert("micro_batch");
  } else {
    layout.micro_batch = or_assume({}, "micro_batch", 1, assumed);
  }
  const double at_once = static_cast<double>(layout.micro_batch) * static_cast<double>(layout.dp);
  if (row.global_batch_sequences) {
    run.job.global_batch = *row.global_batch_sequences;
  } else {
    const double batch = std::max(1.0, std::round(batches_at_once(row, run, at_once))) * at_once;
    if (batch > 1e12) return Problem{"illegal layout: global batch", "more than 10^12 sequences"};
    run.job.global_batch =
        or_assume({}, "global_batch_sequences", static_cast<std::int64_t>(batch), assumed);
  }
  layout.zero = static_cast<int>(
      or_assume(row.zero_stage, "zero_stage", habits(run.job).sharding.zero, assumed));
  return std::nullopt;
}

// Experts as the framework splits them where nothing says how.
void split_experts(const CorpusRow& row, CorpusRun& run) {
  if (row.states("etp") || decide("etp", {row, &run})) return;
  run.layout.etp = usual_expert_tensor(run.model, run.job, run.layout);
  if (run.layout.etp > 1) run.assumed.push_back("etp=" + std::to_string(run.layout.etp));
}

// Layers as the framework spreads them where nothing says how; no more virtual stages than there
// are layers, or ends in their place, for.
void spread_layers(CorpusRun& run) {
  Layout& layout = run.layout;
  if (layout.pp == 1 || layout.pp > run.model.layers()) return;
  const bool stated = layout.embedding_slots + layout.head_slots > 0;
  if (!stated) apply(usual_ends(run.model, run.job, layout), layout);
  if (!fills_chunks(run.model, layout)) {
    layout.vpp = run.model.layers() / layout.pp;
    run.assumed.push_back("vpp=" + std::to_string(layout.vpp));
    apply(usual_ends(run.model, run.job, layout), layout);
  }
  if (layout.embedding_slots + layout.head_slots == 0) return;
  run.assumed.push_back("embedding_slots=" + std::to_string(layout.embedding_slots));
  run.assumed.push_back("head_slots=" + std::to_string(layout.head_slots));
}

}  // namespace

const Result<Model>& Shelf::model(const std::string& name) {
  const auto found = models_.find(name);
  return found != models_.end() ? found->second
                                : models_.emplace(name, load_model(name)).first->second;
}

const Result<std::shared_ptr<const Machine>>& Shelf::machine(const std::string& name,
                                                             double network_gbps, double software,
                                                             const Settings& settings) {
  const auto key = std::make_tuple(name, network_gbps, settings, software);
  if (const auto found = machines_.find(key); found != machines_.end()) return found->second;
  const auto load = [&]() -> Result<std::shared_ptr<const Machine>> {
    // The same cluster with software of another date differs in that alone.
    const auto sibling = machines_.lower_bound(std::make_tuple(name, network_gbps, settings, 0.0));
    if (sibling != machines_.end() && std::get<0>(sibling->first) == name &&
        std::get<1>(sibling->first) == network_gbps && std::get<2>(sibling->first) == settings &&
        sibling->second.ok()) {
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
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (settings[i].empty()) continue;
      const MachineSetting& setting = machine_settings()[i];
      if (const auto wrong = setting.set(settings[i], cluster.value())) {
        return Problem{"bad cell: " + std::string(setting.name), *wrong, Trouble::malformed};
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
  const auto decided = decide("family", {row});
  return decided ? framework_from(decided->value).value_or(Framework{}) : Framework{};
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
  run.cluster = run.machine->cluster;
  auto model = model_of(row, shelf, run.assumed);
  if (!model) return model.problems();
  run.model = *std::move(model);

  run.job.sequence = *row.seq_len;
  run.job.software = run.machine->software;
  run.job.framework = framework_of(row);
  if (!row.framework.empty() && text_fact("publisher", {row}) == "unknown") {
    run.assumed.push_back("framework=" + std::string(name_of(run.job.framework)));
  }
  if (const auto task = decide("task", {row})) {
    const auto found = std::find(kTaskNames.begin(), kTaskNames.end(), task->value);
    if (found != kTaskNames.end()) run.job.task = static_cast<Task>(found - kTaskNames.begin());
  }
  const auto recipe = recipe_of(row, run);
  if (!recipe) return recipe.problems();
  run.job.recipe = *recipe;
  set_stated(row, run);
  run.job.attention = attention_of(row, run);
  if (const auto refused = set_degrees(row, run)) return *refused;
  set_by_rules(row, run);
  split_experts(row, run);
  spread_layers(run);

  if (decide("convention", {row})) run.convention = AttentionFlops::causal;

  const Problems illegal = check(run);
  if (!illegal.empty()) {
    return Problem{"illegal layout: " + where_text(illegal.front()), illegal.front().message};
  }
  return run;
}

}  // namespace headway
