// The kernels and calls of a training step.
#include <algorithm>
#include <cmath>

#include "cost/kernels/traffic.hpp"
#include "forecast/price.hpp"
#include "study/design/op_names.hpp"

namespace headway {
namespace {

// What takes time on the rank that sets the pace: a row whose time is `times` that of the op or
// call, and at least `least` each, which the host needs.
struct Taken {
  OpRow row = {};
  std::variant<Op, Call> what;
  double times = 1;
  Seconds least{};
};

// A part of the step beyond what its kernels and calls take.
std::string rest_of(Part part) {
  switch (part) {
    case Part::compute:
      return "slowed beside calls";
    case Part::bubble:
      return "waiting for other stages";
    case Part::optimizer:
      return "update on the host";
    case Part::other:
      return "hosts, stragglers, once a step";
    default:
      return "first and last of a step";
  }
}

class StepOps {
 public:
  StepOps(const Run& run, const Calibration& calibration)
      : run_(run),
        calibration_(calibration),
        step_(lower(run)),
        forecast_(forecast(run, calibration)),
        stage_(step_.stages[forecast_.pipeline.pace]) {
    for (std::size_t i = 0; i < step_.blocks.size(); ++i) {
      if (stage_.counts[i] > 0) take_block(step_.blocks[i], i);
    }
    take_update();
    for (const PricedCall& call : forecast_.calls) take_call(call);
  }

  OpTable table() const {
    std::vector<OpRow> rows;
    const std::vector<BoundTimes> times =
        bound_times(run_.cluster, [&](const Cluster& cluster) { return times_on(cluster); });
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      rows.push_back(taken_[i].row);
      rows.back().times = times[i];
    }
    add_rest(rows);
    std::vector<std::string> parts;
    for (const PartRow& part : kParts) parts.emplace_back(part.name);
    return merged_rows(std::move(rows), parts, run_.cluster);
  }

 private:
  Prices prices_on(const Cluster& cluster) const {
    return {run_.job, run_.layout, cluster, calibration_, step_.spans};
  }

  void take(const Op& op, const std::string& module, std::string_view phase, double count,
            Part part, Seconds least = Seconds(0)) {
    Taken out{.what = op, .times = count * calibration_.own, .least = least};
    out.row.part = headway::row_of(part).name;
    out.row.module = module;
    out.row.phase = phase;
    out.row.name = name_of(op);
    out.row.count = count;
    out.row.flops = count * work(op);
    out.row.bytes = count * traffic_of(op, run_.job.attention);
    taken_.push_back(std::move(out));
  }

  // Each op of the forward and the backward pass, and once more where it runs again.
  void take_block(const Block& block, std::size_t at) {
    const double times = static_cast<double>(step_.micro_batches) *
                         static_cast<double>(stage_.counts[at]) * stage_.share;
    std::vector<Op> ops;
    for (const Op& op : only<Op>(block.items)) ops.push_back(op);
    const std::vector<std::string> modules = modules_of(block.kind, ops);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (op.phase != Phase::recompute) {
        take(op, modules[i], to_name(op.phase), times, Part::compute);
      }
      if (op.recomputed) take(op, modules[i], "recompute", times * block.again, Part::compute);
    }
  }

  void take_update() {
    if (run_.layout.offload_optimizer) return;
    const Seconds launch = calibration_.of(run_.job.framework).host_launch;
    for (const Op& op : only<Op>(stage_.items)) {
      if (op.phase == Phase::gradient) continue;  // beside the calls of gradients
      take(op, "stage", to_name(op.phase), 1, Part::optimizer, op.kernels * launch);
    }
  }

  // What of it nothing hides, of which each rate is answerable for the same share as of the whole.
  void take_call(const PricedCall& priced) {
    const Prices prices = prices_on(run_.cluster);
    const Seconds each = call_time(priced.call, prices);
    if (!(each > Seconds(0))) return;
    Taken out{.what = priced.call, .times = priced.exposed / each};
    out.row.part = headway::row_of(headway::row_of(priced.call.group).part).name;
    const auto module = static_cast<std::size_t>(priced.call.module);
    out.row.module =
        module < kModuleNames.size() ? std::string(kModuleNames[module]) : std::string("stage");
    out.row.phase = to_name(priced.call.phase);
    out.row.name = name_of(priced.call, priced.ranks);
    out.row.network = run_.cluster.levels[static_cast<std::size_t>(priced.level)].network;
    out.row.count = priced.call.count;
    out.row.bytes = priced.call.count * priced.call.bytes;
    taken_.push_back(std::move(out));
  }

  std::vector<Seconds> times_on(const Cluster& cluster) const {
    const Prices prices = prices_on(cluster);
    std::vector<Seconds> out;
    for (const Taken& taken : taken_) {
      const auto* op = std::get_if<Op>(&taken.what);
      const Seconds each =
          op != nullptr ? op_time(*op, prices) : call_time(std::get<Call>(taken.what), prices);
      out.push_back(taken.times * std::max(each, taken.least));
    }
    return out;
  }

  // What of each part no row says, by what the part itself comes to on faster machines.
  void add_rest(std::vector<OpRow>& rows) const {
    const std::vector<BoundTimes> parts = bound_times(run_.cluster, [&](const Cluster& cluster) {
      Run other = run_;
      other.cluster = cluster;
      const Forecast found = forecast(other, calibration_);
      std::vector<Seconds> out;
      for (const PartRow& part : kParts) out.push_back(found.parts[part.part]);
      return out;
    });
    for (const PartRow& part : kParts) {
      BoundTimes said;
      for (const OpRow& row : rows) {
        if (row.part == part.name) said += row.times;
      }
      const Seconds rest = forecast_.parts[part.part] - said.total();
      if (std::abs(rest.value()) <= 1e-9 * forecast_.step_time.value()) continue;
      OpRow row;
      row.part = part.name;
      row.name = rest_of(part.part);
      row.count = 1;
      row.times = share_of(parts[static_cast<std::size_t>(part.part)], said, rest);
      rows.push_back(std::move(row));
    }
  }

  // `rest` of a part as what is not said of it; of communication, of which a faster machine hides
  // less, as what is said.
  static BoundTimes share_of(const BoundTimes& part, const BoundTimes& said, Seconds rest) {
    const Seconds least(-1e-6 * part.total().value());
    BoundTimes left = part;
    left.latency -= said.latency;
    bool all = left.latency >= least;
    for (std::size_t i = 0; i < left.rates.size(); ++i) {
      left.rates[i] -= said.rates[i];
      all = all && left.rates[i] >= least;
    }
    if (all) return left;
    BoundTimes out;
    if (!(said.total() > Seconds(0))) {
      out.latency = rest;
      return out;
    }
    for (std::size_t i = 0; i < out.rates.size(); ++i) {
      out.rates[i] = rest * (said.rates[i] / said.total());
    }
    out.latency = rest * (said.latency / said.total());
    return out;
  }

  const Run& run_;
  const Calibration& calibration_;
  const Step step_;
  const Forecast forecast_;
  const StageClass& stage_;
  std::vector<Taken> taken_;
};

}  // namespace

OpTable op_table(const Run& run, const Calibration& calibration) {
  return StepOps(run, calibration).table();
}

}  // namespace headway
