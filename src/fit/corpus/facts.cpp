// The facts that rules may ask of a row: its columns, what its notes say, what was decided before.
#include <algorithm>
#include <array>
#include <numeric>

#include "fit/corpus/notes.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/run.hpp"

namespace headway {
namespace {

// Facts of the run as decided so far. Software without a date is later than all.
struct NumberOfRun {
  std::string_view name;
  double (*of)(const CorpusRun&);
};
double domain_of(const CorpusRun& run) {
  return static_cast<double>(run.cluster.levels.front().size);
}
constexpr NumberOfRun kNumbersOfRun[] = {
    {"tensor_ranks", [](const CorpusRun& run) { return static_cast<double>(run.layout.tp); }},
    {"tensor_in_domain",
     [](const CorpusRun& run) {
       const Cluster& cluster = run.cluster;
       return shares_memory(spans(run.layout, cluster).tp, cluster) ? 1.0 : 0.0;
     }},
    {"split_norms", [](const CorpusRun& run) { return run.layout.sequence_parallel ? 1.0 : 0.0; }},
    {"stages", [](const CorpusRun& run) { return static_cast<double>(run.layout.pp); }},
    {"virtual_stages", [](const CorpusRun& run) { return static_cast<double>(run.layout.vpp); }},
    {"layers_a_stage",
     [](const CorpusRun& run) {
       const std::int64_t each = run.model.layers() / run.layout.pp;
       return static_cast<double>(std::max<std::int64_t>(1, each));
     }},
    {"experts", [](const CorpusRun& run) { return has_experts(run.model) ? 1.0 : 0.0; }},
    {"experts_leave_domain",
     [](const CorpusRun& run) {
       return static_cast<double>(run.layout.ep) > domain_of(run) ? 1.0 : 0.0;
     }},
    {"most_expert_ranks",
     [](const CorpusRun& run) {
       const auto& experts = run.model.kinds.back().experts;
       const std::int64_t ranks = run.layout.ranks() / run.layout.pp;
       return static_cast<double>(std::gcd(experts ? experts->count : 1, ranks));
     }},
    {"domain", domain_of},
    {"checked_collectives",
     [](const CorpusRun& run) { return run.job.checked_collectives ? 1.0 : 0.0; }},
    {"software",
     [](const CorpusRun& run) { return run.job.software > 0 ? run.job.software : 1e4; }},
    {"parameters",
     [](const CorpusRun& run) { return static_cast<double>(parameters(run.model).total); }},
    {"host_bandwidth_gb",
     [](const CorpusRun& run) { return run.cluster.accelerator.host_bandwidth.value() / 1e9; }},
};

// Facts of a row and its run together.
struct NumberOfBoth {
  std::string_view name;
  std::optional<double> (*of)(const CorpusRow&, const CorpusRun&);
};
constexpr NumberOfBoth kNumbersOfBoth[] = {
    // The measured rate in parts of the peak of 16-bit products.
    {"sixteen_bit_share",
     [](const CorpusRow& row, const CorpusRun& run) -> std::optional<double> {
       const double peak = run.cluster.accelerator.peak_of(Precision::bf16).value();
       if (peak <= 0) return std::nullopt;
       if (row.model_tflops_per_accel) return *row.model_tflops_per_accel * 1e12 / peak;
       if (!row.tokens_per_s_per_accel) return std::nullopt;
       const double a_token =
           3 * forward_flops(run.model, run.job.sequence, AttentionFlops::causal).value() /
           static_cast<double>(run.job.sequence);
       return *row.tokens_per_s_per_accel * a_token / peak;
     }},
};

struct TextOfRun {
  std::string_view name;
  std::string_view (*of)(const CorpusRun&);
};
constexpr TextOfRun kTextsOfRun[] = {
    {"architecture",
     [](const CorpusRun& run) -> std::string_view { return run.cluster.accelerator.architecture; }},
    {"recipe", [](const CorpusRun& run) { return run.job.recipe->name; }},
    {"purpose",
     [](const CorpusRun& run) { return kTaskNames[static_cast<std::size_t>(run.job.task)]; }},
    {"graphs",
     [](const CorpusRun& run) { return kGraphNames[static_cast<std::size_t>(run.job.graphs)]; }},
};

// Facts that rules decide themselves.
constexpr std::array<std::string_view, 2> kDecided = {"family", "publisher"};

template <class Row>
const Row* fact_of(std::span<const Row> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

bool is_number_fact(std::string_view name) {
  return is_number_column(name) || fact_of<NumberOfRun>(kNumbersOfRun, name) != nullptr ||
         fact_of<NumberOfBoth>(kNumbersOfBoth, name) != nullptr;
}

bool is_text_fact(std::string_view name) {
  return is_text_column(name) || fact_of<TextOfRun>(kTextsOfRun, name) != nullptr ||
         std::find(kDecided.begin(), kDecided.end(), name) != kDecided.end();
}

std::optional<double> number_fact(std::string_view name, const RowFacts& facts) {
  if (is_number_column(name)) return number_cell(facts.row, name);
  if (const NumberOfRun* number = fact_of<NumberOfRun>(kNumbersOfRun, name)) {
    if (facts.run == nullptr) return std::nullopt;
    return number->of(*facts.run);
  }
  if (const NumberOfBoth* number = fact_of<NumberOfBoth>(kNumbersOfBoth, name)) {
    if (facts.run == nullptr) return std::nullopt;
    return number->of(facts.row, *facts.run);
  }
  return noted_number(facts.row, name);
}

std::string text_fact(std::string_view name, const RowFacts& facts) {
  if (is_text_column(name)) return text_cell(facts.row, name);
  if (const TextOfRun* text = fact_of<TextOfRun>(kTextsOfRun, name)) {
    return facts.run == nullptr ? std::string() : std::string(text->of(*facts.run));
  }
  const auto decided = decide(name, facts);
  return decided ? decided->value : std::string();
}

}  // namespace headway
