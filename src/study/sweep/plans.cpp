#include "study/sweep/plans.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "study/sweep/axes.hpp"

namespace headway {
namespace {

constexpr double kFactors[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};
constexpr std::int64_t kDomains[] = {8, 16, 32, 64, 128, 256, 512};
constexpr std::int64_t kDegrees[] = {2, 4, 8};
constexpr const char* kGenerations[] = {"dgx-v100", "dgx-a100-80gb", "dgx-h100",
                                        "dgx-h200", "dgx-b200",      "gb200-nvl72"};

std::string count_label(std::int64_t value) {
  return short_count_text(static_cast<double>(value));
}

std::string factor_label(double factor) {
  return formatted("x %.6g", factor);
}

SweepPlan over_accelerators(const SweepQuestion& question) {
  const RequestedRun& base = question.base;
  std::vector<std::int64_t> at = question.at;
  if (at.empty()) {
    constexpr int kDoublings = 7;
    const std::int64_t ranks = base.layout.ranks();
    // A strong scaling ends where a rank has less than a sequence.
    const std::int64_t most =
        question.axis == SweepAxis::weak
            ? base.cluster.accelerators
            : std::min(base.cluster.accelerators, ranks / base.layout.dp * base.job.global_batch);
    for (int i = 0; i < kDoublings && (ranks << i) <= most; ++i) at.push_back(ranks << i);
  }
  const BatchRule rule =
      question.axis == SweepAxis::weak ? BatchRule::of_a_rank : BatchRule::of_all;
  SweepPlan out;
  for (const std::int64_t n : at) {
    out.cases.push_back({count_label(n), static_cast<double>(n), with_accelerators(base, n, rule)});
  }
  return out;
}

SweepPlan over_context(const SweepQuestion& question) {
  const RequestedRun& base = question.base;
  std::vector<std::int64_t> at = question.at;
  if (at.empty()) {
    for (const std::int64_t divisor : {4, 2}) {
      if (base.job.sequence % divisor == 0) at.push_back(base.job.sequence / divisor);
    }
    const std::int64_t sequences = base.job.global_batch / base.layout.dp;  // of a rank
    for (int i = 0; i <= 5; ++i) {
      if (question.keep_tokens && (std::int64_t{1} << i) > sequences) break;
      at.push_back(base.job.sequence << i);
    }
  }
  SweepPlan out;
  for (const std::int64_t sequence : at) {
    out.cases.push_back({count_label(sequence), static_cast<double>(sequence),
                         with_sequence(base, sequence, question.keep_tokens)});
  }
  return out;
}

// The run with one field given anew: defaults that follow from it are settled again.
Result<RequestedRun> with_field(const RequestedRun& base, const char* name,
                                const std::string& value) {
  RunRequest fields = base.given;
  fields.push_back({name, value, FieldName("at")});
  return make_run(fields);
}

SweepPlan over_models(const SweepQuestion& question) {
  SweepPlan out;
  for (const std::string& name : question.names) {
    const double place = static_cast<double>(out.cases.size());
    out.cases.push_back({name, place, with_field(question.base, "model", name)});
  }
  return out;
}

std::vector<SweepPlan> over_hardware(const SweepQuestion& question) {
  std::vector<std::string> names = question.names;
  if (names.empty()) names.assign(std::begin(kGenerations), std::end(kGenerations));
  std::vector<SweepPlan> out = {{"own network", {}},
                                {"network of " + question.base.cluster.name, {}}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto own = with_field(question.base, "cluster", names[i]);
    const double at = static_cast<double>(i);
    out[0].cases.push_back({names[i], at, own});
    out[1].cases.push_back(
        {names[i], at, own ? with_network_of(*own, question.base.cluster) : own});
  }
  return out;
}

std::vector<SweepPlan> over_network(const SweepQuestion& question) {
  const RequestedRun& base = question.base;
  const bool all =
      question.bandwidth.empty() && question.latency.empty() && question.domain.empty();
  std::vector<double> bandwidth = question.bandwidth, latency = question.latency;
  std::vector<std::int64_t> domain = question.domain;
  if (all) {
    bandwidth.assign(std::begin(kFactors), std::end(kFactors));
    latency = bandwidth;
    domain.assign(std::begin(kDomains), std::end(kDomains));
  }
  std::vector<SweepPlan> out;
  if (!bandwidth.empty()) {
    out.push_back({"bandwidth", {}});
    for (const double f : bandwidth) {
      out.back().cases.push_back({factor_label(f), f, with_bandwidth(base, f)});
    }
  }
  if (!latency.empty()) {
    out.push_back({"latency", {}});
    for (const double f : latency) {
      out.back().cases.push_back({factor_label(f), f, with_latency(base, f)});
    }
  }
  if (!domain.empty()) {
    out.push_back({"domain", {}});
    for (const std::int64_t size : domain) {
      out.back().cases.push_back(
          {count_label(size), static_cast<double>(size), with_domain(base, size)});
    }
  }
  return out;
}

std::vector<std::int64_t> degrees_of(const SweepQuestion& question) {
  std::vector<std::int64_t> out = question.at;
  if (out.empty()) out.assign(std::begin(kDegrees), std::end(kDegrees));
  std::erase(out, 1);
  return out;
}

// Groups of hybrid sharding from the innermost domain outwards, each four times the one before.
std::vector<std::int64_t> shards_of(const SweepQuestion& question) {
  if (!question.shard.empty()) return question.shard;
  std::vector<std::int64_t> out;
  const RequestedRun& base = question.base;
  if (base.layout.zero == 0) return out;
  constexpr std::int64_t kTimes = 4;
  for (std::int64_t ranks = base.cluster.levels.front().size; ranks < base.layout.ranks();
       ranks *= kTimes) {
    if (ranks > 1 && base.layout.ranks() % ranks == 0) out.push_back(ranks);
  }
  return out;
}

std::vector<SweepPlan> over_layouts(const SweepQuestion& question) {
  const RequestedRun& base = question.base;
  const bool interleaves = question.free.virtual_stages == VirtualStages::any;
  SweepPlan data = {"data alone", {{"1", 1, with_degrees(base, {})}}};
  SweepPlan tensor = {"tensor", {}}, context = {"context", {}}, pipeline = {"pipeline", {}};
  SweepPlan interleaved = {"interleaved", {}, VirtualStages::several};
  SweepPlan grid = {std::string(kGridName), {}, question.free.virtual_stages};
  SweepPlan hybrid = {std::string(kHybridName), {}};
  const std::vector<std::int64_t> degrees = degrees_of(question);
  for (const std::int64_t degree : degrees) {
    const std::string label = count_label(degree);
    const double at = static_cast<double>(degree);
    tensor.cases.push_back({label, at, with_degrees(base, {.tp = degree})});
    context.cases.push_back({label, at, with_degrees(base, {.cp = degree})});
    pipeline.cases.push_back({label, at, with_degrees(base, {.pp = degree})});
    interleaved.cases.push_back({label, at, with_degrees(base, {.pp = degree})});
    for (const std::int64_t pp : degrees) {
      grid.cases.push_back({label + " x " + count_label(pp), static_cast<double>(degree * pp),
                            with_degrees(base, {.tp = degree, .pp = pp})});
    }
  }
  for (const std::int64_t ranks : shards_of(question)) {
    hybrid.cases.push_back(
        {count_label(ranks), static_cast<double>(ranks), with_shard(base, ranks)});
  }
  std::vector<SweepPlan> out = {data, tensor, context, pipeline};
  if (interleaves) out.push_back(interleaved);
  out.push_back(grid);
  if (!hybrid.cases.empty()) out.push_back(hybrid);
  return out;
}

}  // namespace

std::vector<Degrees> split_layouts(const SweepQuestion& question) {
  std::vector<Degrees> out;
  const std::vector<std::int64_t> degrees = degrees_of(question);
  for (const std::int64_t degree : degrees) {
    out.push_back({.tp = degree});
    out.push_back({.cp = degree});
    out.push_back({.pp = degree});
    for (const std::int64_t pp : degrees) out.push_back({.tp = degree, .pp = pp});
  }
  return out;
}

std::vector<SweepPlan> sweep_plans(const SweepQuestion& question) {
  switch (question.axis) {
    case SweepAxis::weak:
    case SweepAxis::strong:
      return {over_accelerators(question)};
    case SweepAxis::model:
      return {over_models(question)};
    case SweepAxis::context:
      return {over_context(question)};
    case SweepAxis::hardware:
      return over_hardware(question);
    case SweepAxis::network:
      return over_network(question);
    case SweepAxis::layout:
      return over_layouts(question);
  }
  return {};
}

}  // namespace headway
