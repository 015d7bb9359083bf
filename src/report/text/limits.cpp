// headway limits: what stands on the terminal.
#include "report/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "limits/forms/low_communication.hpp"

namespace headway {

std::string power_text(double value) {
  if (!std::isfinite(value)) return "no limit";
  std::string out = formatted("%.2e", value);
  std::erase(out, '+');
  return out;
}

std::string limits_layout_text(const limits::Layout& layout) {
  std::string out = "dp " + std::to_string(layout.data.degree()) + " tp " +
                    std::to_string(layout.tensor_model.degree()) + "x" +
                    std::to_string(layout.tensor_ff.degree()) + " pp " +
                    std::to_string(layout.pipeline.degree());
  if (layout.interleave > 1) out += " v " + std::to_string(layout.interleave);
  if (layout.expert.degree() > 1) out += " ep " + std::to_string(layout.expert.degree());
  return out + " micro-batches " + std::to_string(layout.micro_batches) +
         (layout.zero_bubble ? " zero bubble" : "");
}

std::string limits_losses_text(const limits::Run& run) {
  const auto parts = limits::in_order(run.step.parts);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = parts[i] / run.step.total;
    if (share >= 0.0005) {
      out.push_back(std::string(limits::kPartNames[i]) + " " + percent_text(share));
    }
  }
  return join(out, ", ");
}

namespace {

using limits::CurveEnd;

std::string months_text(Seconds duration) {
  return formatted("%.3g months", duration.value() / limits::kSecondsOfAMonth);
}

std::string large_count_text(double count) {
  return count < 1e6 ? count_text(count) : power_text(count);
}

std::string optional_text(const std::optional<Flops>& flop, const char* otherwise) {
  return flop ? power_text(flop->value()) : otherwise;
}

std::string end_text(const LimitsCurve& of) {
  if (of.curve.end == CurveEnd::widest) return "no wider model was asked for";
  const std::string next = "the next model, d_model " +
                           std::to_string(of.curve.first_infeasible->d_model) + " with " +
                           power_text(of.curve.first_infeasible->training.value()) + " FLOP, ";
  if (of.curve.end == CurveEnd::low_utilization) {
    return next + "falls below " + percent_text(of.setting.least_utilization) + " utilisation";
  }
  if (!of.too_slow) return next + "fits on no cluster";
  return next + "takes " + months_text(of.too_slow->duration) + " at least, on " +
         large_count_text(static_cast<double>(of.too_slow->gpus)) + " GPUs (" +
         months_text(of.setting.duration) + " allowed)";
}

// The wall is the latency of one pass through all layers: what as many parameters in half of them
// come to.
std::string shallower_text(const LimitsCurve& of) {
  const std::int64_t width =
      width_in_half_the_layers(of.setting, of.curve.first_infeasible->d_model);
  const std::string model =
      "about as many parameters in half the layers, d_model " + std::to_string(width) + ", ";
  if (!of.shallower) return model + "end in time on no cluster either";
  return model + "end in " + months_text(of.shallower->duration) + " on " +
         large_count_text(static_cast<double>(of.shallower->gpus)) +
         " GPUs; what they lose in loss is not part of the model (--preset shallow)";
}

// What the machine of the last run costs and draws, and how much of it are links.
std::string bill_text(const LimitsCurve& of) {
  const Bill& bill = *of.bill;
  const MachineCost all = bill.total(), links = bill.inner + bill.outer;
  const double bits = 8 * of.setting.machine.levels.back().bandwidth.value() *
                      static_cast<double>(bill.accelerators);
  const auto picojoules = [&](double watts) { return formatted("%.0f", 1e12 * watts / bits); };
  return "$" + power_text(all.dollars.low) + " to $" + power_text(all.dollars.high) + ", " +
         to_text(Watts(all.watts.low)) + " to " + to_text(Watts(all.watts.high)) +
         " at the meter; links " + percent_text(links.dollars.middle() / all.dollars.middle()) +
         " of the money, " + percent_text(links.watts.middle() / all.watts.middle()) +
         " of the power; fabric " + picojoules(bill.outer.watts.low) + " to " +
         picojoules(bill.outer.watts.high) + " pJ for each bit that it could carry";
}

std::string form_text(const LimitsReport& report) {
  std::size_t changed = 0, models = 0;
  double largest = 0;
  bool all_published = true;
  for (const LimitsCurve& of : report.curves) {
    changed += of.models_changed;
    models += of.curve.runs.size();
    largest = std::max(largest, of.largest_change);
    all_published &= of.setting.as_published;
  }
  if (all_published) {
    return "as published: the latency of a zero-bubble pipeline never binds (a slip of the study's "
           "program)\n";
  }
  std::string out =
      "against the form the study published (--as-published): " + std::to_string(changed) + " of " +
      std::to_string(models) + " models differ";
  if (changed > 0) out += ", in utilisation by up to " + percent_text(largest);
  return out + "\n";
}

}  // namespace

Cells limits_rows(const LimitsReport& report) {
  std::vector<std::vector<std::string>> rows = {{"setting", "what binds there", "linear to",
                                                 "last above", "last feasible", "utilisation",
                                                 "GPUs"}};
  for (const LimitsCurve& of : report.curves) {
    const limits::Curve& curve = of.curve;
    if (curve.runs.empty()) {
      rows.push_back({printable(of.setting.name), "-", "-", "-", "none", "-", "-"});
      continue;
    }
    const limits::Run& last = curve.runs.back();
    rows.push_back(
        {printable(of.setting.name),
         std::string(limits::kPartNames[limits::largest_loss(last.step.parts)]),
         optional_text(curve.first_below, "not reached"), optional_text(curve.last_above, "never"),
         power_text(last.shape.training.value()) + (curve.end == CurveEnd::widest ? " *" : ""),
         percent_text(last.utilization), large_count_text(static_cast<double>(last.gpus))});
  }
  return rows;
}

namespace {

// The limits between the models of a curve, where they were asked for.
std::string smooth_text(const LimitsReport& report) {
  Cells rows = {{"setting, between its models", "linear to", "wall"}};
  for (const LimitsCurve& of : report.curves) {
    if (!of.smooth) return {};
    rows.push_back({printable(of.setting.name), optional_text(of.smooth->linear_scaling, "-"),
                    optional_text(of.smooth->wall, "-")});
  }
  return aligned(rows, 1) + "\n";
}

}  // namespace

std::string limits_text(const LimitsReport& report) {
  std::string out = printable(report.title, 200) + "\n\n" + aligned(limits_rows(report), 2) + "\n" +
                    smooth_text(report);
  const auto widest = [](const LimitsCurve& of) { return of.curve.end == CurveEnd::widest; };
  if (std::any_of(report.curves.begin(), report.curves.end(), widest)) {
    out += "* the widest model asked for, not a limit\n";
  }
  const double share = report.curves.front().setting.linear_share;
  out += "FLOP of training. linear to: the first model at or below " + percent_text(share) +
         " of the sustained peak; last above: the last one above it\n";
  for (const LimitsCurve& of : report.curves) {
    if (!of.curve.small_end) continue;
    out += printable(of.setting.name) + ": models up to " +
           power_text(of.curve.small_end->value()) + " FLOP are too small for it\n";
  }
  const auto waits = [](const LimitsCurve& of) { return of.latency_binds; };
  if (std::any_of(report.curves.begin(), report.curves.end(), waits)) {
    out += "where latency binds, wider and fewer layers move the end: --preset shallow\n";
  }
  out += form_text(report);
  return out + "an upper bound of an idealised machine; --explain says what is weak in it\n";
}

std::string limits_explanation(const LimitsReport& report) {
  std::string out;
  for (const LimitsCurve& of : report.curves) {
    out += "\n" + printable(of.setting.name) + "\n";
    if (!of.curve.runs.empty()) {
      const limits::Run& last = of.curve.runs.back();
      out += "  last run    d_model " + std::to_string(last.shape.d_model) + ", " +
             std::to_string(last.shape.layers) + " layers, " + months_text(last.duration) + ": " +
             limits_layout_text(last.layout) + "\n";
      out += "  its step    " + limits_losses_text(last) + "\n";
    }
    out += "  it ends as  " + end_text(of) + "\n";
    if (of.bill) out += "  its machine " + bill_text(of) + "\n";
    if (of.latency_binds) out += "  shallower   " + shallower_text(of) + "\n";
    for (const auto& forms : {of.published_alpha, of.implied_alpha}) {
      const std::string alpha = formatted("%.3f", forms.alpha);
      out += std::string("  formulas    alpha ") + alpha + ": linear scaling to " +
             power_text(forms.linear_scaling.value()) + " FLOP, latency limit " +
             power_text(forms.latency.value()) + " FLOP\n";
    }
  }
  out +=
      "\nalpha: how much faster than the layers the useful batch grows with compute, as "
      "exponents. 0 is the\nstudy's headline, the second what the laws of the setting imply.\n\n"
      "What is weak in the model:\n";
  for (const std::string_view point : limits_weak_points()) {
    out += "- " + std::string(point) + "\n";
  }
  return out;
}

std::string relaxations_text(const std::vector<limits::Setting>& settings) {
  std::string out;
  for (const limits::Setting& setting : settings) {
    if (setting.relaxation.method.empty()) continue;
    out += printable(setting.name) + ": " + printable(limits::statement_of(setting), 500) + "\n";
  }
  return out;
}

// The authors' own caveats, and what the formulas leave out.
std::span<const std::string_view> limits_weak_points() {
  static constexpr std::array<std::string_view, 11> kPoints = {
      "no attention, no embeddings: a stack of feed-forward blocks",
      "the latency of an all-reduce does not grow with the group",
      "the network is perfectly balanced: all links of a level carry any traffic",
      "nothing fails, nobody straggles",
      "weights stand in every replica (none is sharded)",
      "activations take no memory",
      "clusters are powers of two (times the experts): curves zig-zag, runs take half the time or "
      "all",
      "one expert is active for each token, routed at random",
      "data-parallel communication is never hidden (the field overlap.data hides it)",
      "the end of linear scaling is the first crossing of the threshold; the last lies 2 to 3 "
      "times "
      "further",
      "all depends on how the useful batch grows with compute: alpha from 0 to 0.2 moves the "
      "limits "
      "by a factor of 100 to 1000"};
  return kPoints;
}

}  // namespace headway
