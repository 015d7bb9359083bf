// headway limits --real: what stands on the terminal.
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/limits.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string months_of(Seconds duration) {
  return formatted("%.2f", duration.value() / limits::kSecondsOfAMonth);
}

std::string layout_text(const Layout& layout) {
  std::string out = "dp " + std::to_string(layout.dp) + " tp " + std::to_string(layout.tp);
  if (layout.cp > 1) out += " cp " + std::to_string(layout.cp);
  out += " pp " + std::to_string(layout.pp);
  if (layout.vpp > 1) out += " vpp " + std::to_string(layout.vpp);
  if (layout.schedule != Schedule::one_f_one_b) {
    out += " " + std::string(kScheduleNames[static_cast<std::size_t>(layout.schedule)]);
  }
  if (layout.micro_batch > 1) out += " micro-batch " + std::to_string(layout.micro_batch);
  if (layout.zero == 3) out += " zero 3";
  if (layout.overlap_tensor == Choice::on) out += " overlap-tensor";
  if (layout.recompute == Recompute::full) out += " recompute";
  return out;
}

// The largest part of the step that is no computation.
std::string loss_text(const Forecast& of) {
  const PartRow* most = &row_of(Part::tp);
  for (const PartRow& row : kParts) {
    const bool larger = of.parts[row.part] > of.parts[most->part];
    if (row.part != Part::compute && larger) most = &row;
  }
  return std::string(most->name) + " " + percent_text(of.parts[most->part] / of.step_time);
}

}  // namespace

std::string real_ends_text(const RealCurve& of) {
  const limits::Curve& ideal = of.ideal.curve;
  const auto flop = [](const std::optional<Flops>& value) {
    return value ? power_text(value->value()) : std::string("beyond the curve");
  };
  std::string out = "idealised:    no model ends in time\n";
  if (!ideal.runs.empty()) {
    out = "idealised:    linear scaling to " + flop(ideal.first_below) + ", last feasible " +
          power_text(ideal.runs.back().shape.training.value()) + " FLOP\n";
  }
  const RealModel* last = of.last();
  if (last == nullptr) return out + "transformers: none of those that were tried ends in time\n";
  const RealModel* below = of.first_below();
  return out + "transformers: linear scaling to " +
         (below != nullptr ? power_text(below->transformer->training.value())
                           : std::string(of.ends() ? "the last one" : "beyond the curve")) +
         ", last feasible " + power_text(last->transformer->training.value()) + " FLOP" +
         (of.ends() ? "" : " (the widest model asked for, not a limit)") + "\n";
}

Cells real_rows(const RealCurve& of) {
  std::vector<std::vector<std::string>> rows = {{"d_model", "FLOP", "utilisation", "GPUs", "months",
                                                 "transformer FLOP", "MFU", "GPUs", "months",
                                                 "largest loss", "layout"}};
  for (const RealModel& model : of.models) {
    std::vector<std::string> row = {std::to_string(model.shape.d_model),
                                    power_text(model.shape.training.value())};
    if (model.ideal) {
      row.insert(row.end(), {formatted("%.2f", model.ideal->utilization),
                             count_text(static_cast<double>(model.ideal->gpus)),
                             months_of(model.ideal->duration)});
    } else {
      row.insert(row.end(), {"-", "-", "-"});
    }
    if (model.transformer) {
      const TransformerRun& run = *model.transformer;
      row.insert(row.end(),
                 {power_text(run.training.value()), formatted("%.2f", run.forecast.mfu),
                  count_text(static_cast<double>(run.accelerators)), months_of(run.duration),
                  loss_text(run.forecast), layout_text(run.layout)});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-", "-", "none that was tried ends in time"});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string real_text(const std::vector<RealCurve>& curves) {
  std::string out;
  for (const RealCurve& of : curves) {
    const limits::Setting& setting = of.ideal.setting;
    if (!out.empty()) out += "\n";
    out += printable(setting.name) + ", idealised (left), and transformers on " +
           printable(of.cluster) + " (right); sequences of " +
           count_text(static_cast<double>(setting.sequence)) + " tokens, " +
           months_of(setting.duration) + " months allowed\n\n";
    out += aligned(real_rows(of), 0) + "\n" + real_ends_text(of);
  }
  return out + "linear scaling to: idealised, the first model at or below " +
         percent_text(curves.front().ideal.setting.linear_share) +
         " of the sustained peak; transformers, of the best MFU\nbefore it. MFU counts the "
         "transformer's own FLOP, attention in full. The layouts are the best of those that are\n"
         "tried (docs/limits.md): a lower bound, beside the upper bound of the idealised model; "
         "failures are left out\n";
}

}  // namespace headway
