#include "report/scale_sweep.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/predict.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Points that share a table, with their names in it.
struct Line {
  std::string name;
  const SweepPoint* point;
};
struct SharedTable {
  std::string title;  // empty: none
  std::vector<Line> lines;
};

// Layouts are compared with one another, and so are changes of a network: all series in one table,
// "tensor 4". Other series stand apart.
std::vector<SharedTable> tables_of(const SweepAnswer& answer) {
  const SweepAxis axis = answer.question.axis;
  const bool together = axis == SweepAxis::layout || axis == SweepAxis::network;
  std::vector<SharedTable> out;
  for (const SweepSeries& series : answer.series) {
    if (out.empty() || !together) out.push_back({together ? "" : series.name, {}});
    for (const SweepPoint& point : series.points) {
      const std::string label = printable(point.label, 24);
      out.back().lines.push_back({together ? series.name + " " + label : label, &point});
    }
  }
  return out;
}

std::string share(double value) {
  return formatted("%.1f %%", 100 * value);
}

Rows throughput_rows(const SweepAnswer& answer, const SharedTable& table) {
  Rows rows = {{axis_title(answer.question.axis), "tokens/s", "MFU", "compute", "calls", "exposed",
                "bubble"}};
  for (const auto& [name, at] : table.lines) {
    const SweepPoint& point = *at;
    const Forecast& made = point.forecast;
    rows.push_back({name, short_count_text(made.tokens_per_second), share(made.mfu),
                    to_text(made.parts.compute), to_text(point.communication),
                    to_text(point.exposed), to_text(made.parts.bubble)});
  }
  return rows;
}

Rows power_rows(const SweepAnswer& answer, const SharedTable& table) {
  const bool marginal = is_over_accelerators(answer.question.axis);
  Rows rows = {{axis_title(answer.question.axis), "layout", "each", "W each", "tokens/J"}};
  if (marginal) rows.front().insert(rows.front().end(), {"added each", "a watt"});
  for (const auto& [name, at] : table.lines) {
    const SweepPoint& point = *at;
    rows.push_back({name, short_layout_words(point.run.layout),
                    short_count_text(point.forecast.tokens_per_second_per_accelerator),
                    formatted("%.0f", point.cost.accelerator_power.value()),
                    formatted("%.3g", point.tokens_per_joule)});
    if (!marginal) continue;
    const auto& added = point.marginal;
    rows.back().push_back(added ? short_count_text(added->per_accelerator) : "");
    rows.back().push_back(added ? formatted("%.3g", added->per_watt) : "");
  }
  return rows;
}

Rows cost_rows(const SweepAnswer& answer, const SharedTable& table) {
  Rows rows = {
      {axis_title(answer.question.axis), "days", "GPU-hours", "energy", "CO2", "cost", "goodput"}};
  for (const auto& [name, at] : table.lines) {
    const SweepPoint& point = *at;
    const RunCost& cost = point.cost;
    rows.push_back({name, formatted("%.3g", cost.time.total().value() / kDay),
                    short_count_text(cost.accelerator_time.value() / kHour),
                    energy_text(cost.energy.total()), mass_text(cost.carbon),
                    price_text(cost.price), share(cost.time.goodput)});
  }
  return rows;
}

Rows loss_rows(const SweepAnswer& answer, const SweepSeries& series) {
  Rows rows = {{axis_title(answer.question.axis), "batch", "tokens", "days", "sooner", "tokens/s",
                "best", "with it"}};
  const auto first =
      std::find_if(series.points.begin(), series.points.end(),
                   [](const SweepPoint& point) { return point.to_loss.has_value(); });
  for (const SweepPoint& point : series.points) {
    if (!point.to_loss) continue;
    const TimeToLoss& loss = *point.to_loss;
    const double sequence = static_cast<double>(point.run.job.sequence);
    rows.push_back(
        {printable(point.label, 24),
         tokens_text(static_cast<double>(point.run.job.global_batch) * sequence),
         tokens_text(loss.tokens), formatted("%.3g", loss.time.value() / kDay),
         formatted("%.2f x", first->to_loss->time / loss.time),
         formatted("%.2f x", point.forecast.tokens_per_second / first->forecast.tokens_per_second),
         tokens_text(static_cast<double>(loss.best_batch) * sequence),
         formatted("%.2f x", first->to_loss->own_time / loss.best_time)});
  }
  return rows;
}

std::string diminishing_text(const SweepAnswer& answer, const SweepSeries& series) {
  if (series.points.size() < 2) return {};
  const std::string threshold = formatted("%.3g %%", 100 * answer.question.threshold);
  const SweepPoint& first = series.points.front();
  const double at_first = first.forecast.tokens_per_second_per_accelerator;
  if (!series.diminished) {
    return "Each accelerator added brings at least " + threshold + " of what each of the first " +
           first.label + " brings (" + short_count_text(at_first) + " tokens/s).";
  }
  const SweepPoint& at = series.points[*series.diminished];
  const SweepPoint& before = series.points[*series.diminished - 1];
  return "From " + before.label + " to " + at.label + " each accelerator added brings " +
         short_count_text(at.marginal->per_accelerator) + " tokens/s, " +
         share(at.marginal->per_accelerator / at_first) + " of what each of the first " +
         first.label + " brings: less than " + threshold + ".";
}

// Where time to the loss stops falling, though tokens/s may still grow.
std::string loss_text(const SweepSeries& series) {
  const SweepPoint* best = nullptr;
  for (const SweepPoint& point : series.points) {
    if (!point.to_loss) continue;
    if (best == nullptr || point.to_loss->time < best->to_loss->time) best = &point;
  }
  if (best == nullptr || series.points.size() < 2) return {};
  if (best == &series.points.back()) {
    return "To the same loss the most accelerators, " + best->label + ", come first.";
  }
  return "To the same loss " + best->label +
         " accelerators come first: with more of them the days grow again.";
}

// What the forecasts of the points add, each with its point.
std::string notes_text(const SweepSeries& series) {
  std::string out;
  const std::string name = series.name.empty() ? "" : printable(series.name, 60) + " ";
  for (const SweepPoint& point : series.points) {
    for (const std::string& note : point.forecast.notes) {
      out +=
          wrapped("note: " + name + printable(point.label, 40) + ": " + printable(note, 400), 0, 2);
    }
  }
  return out;
}

// Models that do not fit with the weights gathered once, as the run asks.
std::string regathered_text(const SweepAnswer& answer) {
  if (answer.question.axis != SweepAxis::model) return {};
  std::vector<std::string> names;
  for (const SweepSeries& series : answer.series) {
    for (const SweepPoint& point : series.points) {
      const bool again = point.run.layout.reshard_after_forward &&
                         !answer.question.base.layout.reshard_after_forward;
      if (again) names.push_back(printable(point.label, 40));
    }
  }
  if (names.empty()) return {};
  return "gathered again for the backward pass, without --no-reshard, as it does not fit "
         "otherwise: " +
         join(names, ", ");
}

std::string left_out_text(const SweepSeries& series) {
  std::string out;
  const std::string name = series.name.empty() ? "" : printable(series.name, 60) + " ";
  for (const LeftOut& left : series.left_out) {
    out += wrapped(
        "left out: " + name + printable(left.label, 40) + ": " + printable(left.reason, 400), 0, 2);
  }
  return out;
}

// What is called a sequence and a token below.
std::string sequences_text(const Run& run) {
  if (run.model.is_network())
    return "a sequence of one token is one " + printable(run.model.sample);
  return "sequences of " + short_count_text(static_cast<double>(run.job.sequence)) + " tokens";
}

std::string what_stays(const SweepQuestion& question) {
  const Job& job = question.base.job;
  const std::string sequences = short_count_text(static_cast<double>(job.global_batch));
  switch (question.axis) {
    case SweepAxis::weak: {
      const double each =
          static_cast<double>(job.global_batch) / static_cast<double>(question.base.layout.dp);
      return "weak scaling: " + formatted("%.4g", each) + " sequences a data-parallel rank";
    }
    case SweepAxis::strong:
      return "strong scaling: " + sequences + " sequences a step";
    case SweepAxis::context:
      return question.keep_tokens
                 ? short_count_text(static_cast<double>(job.global_batch * job.sequence)) +
                       " tokens a step"
                 : sequences + " sequences a step";
    default:
      return sequences + " sequences a step on " +
             short_count_text(static_cast<double>(question.base.layout.ranks())) + " accelerators";
  }
}

std::string freedom_text(const SweepQuestion& question) {
  const LayoutFreedom& free = question.free;
  if (question.best && question.axis != SweepAxis::layout)
    return "layout: of each point the best of all";
  std::vector<std::string> chosen;
  if (free.micro_batch) chosen.emplace_back("micro-batch");
  if (free.recompute) chosen.emplace_back("recomputation");
  if (free.virtual_stages != VirtualStages::given) {
    chosen.emplace_back("virtual stages of interleaved and tp x pp");
  }
  if (chosen.empty()) return {};
  return join(chosen, ", ") + ": of each point the fastest that fits";
}

// A run that does not leave a domain sees nothing of the network beyond.
std::string within_text(const SweepQuestion& question) {
  const Level& inner = question.base.cluster.levels.front();
  if (question.axis != SweepAxis::network || question.base.layout.ranks() > inner.size) return {};
  return wrapped("all accelerators lie in one domain of " +
                     short_count_text(static_cast<double>(inner.size)) +
                     ": what is beyond it does not matter",
                 0, 2);
}

std::string crossover_point_text(const SweepPoint& point) {
  return share(point.forecast.mfu) + " MFU, " + share(point.exposed / point.forecast.step_time) +
         " of the step exposed calls, " +
         share(point.forecast.parts.bubble / point.forecast.step_time) + " bubble";
}

std::string crossover_text(const SweepAnswer& answer) {
  const std::string begin =
      "pure data parallelism against the others, on more and more "
      "accelerators with the batch of each as it is: ";
  if (!answer.crossover) {
    return begin + "it stays ahead, or does not fit, from " +
           short_count_text(static_cast<double>(answer.crossover_from)) + " to " +
           short_count_text(static_cast<double>(answer.crossover_to));
  }
  const Crossover& at = *answer.crossover;
  const std::string count = short_count_text(static_cast<double>(at.accelerators));
  return begin +
         (at.at_once ? "it is behind on the fewest that both fit on, " + count
                     : "it is ahead below " + count + ", where it") +
         (at.at_once ? "" : " is overtaken") + " by " + short_layout_words(at.split.run.layout) +
         ". There: pure " + crossover_point_text(at.pure) + "; split " +
         crossover_point_text(at.split);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

std::string markdown_of(const SweepAnswer& answer) {
  std::string out;
  for (const SharedTable& table : tables_of(answer)) {
    if (table.lines.empty()) continue;
    if (!table.title.empty()) out += (out.empty() ? "**" : "\n**") + table.title + "**\n\n";
    out += markdown_table(throughput_rows(answer, table)) + "\n" +
           markdown_table(power_rows(answer, table), 2);
  }
  for (const SweepSeries& series : answer.series) {
    if (is_over_accelerators(answer.question.axis) && !series.points.empty()) {
      out += "\n" + diminishing_text(answer, series) +
             "\n\nTo the loss that the base run comes to (critical batch " +
             tokens_text(answer.same_loss.critical_batch) + " tokens):\n\n" +
             markdown_table(loss_rows(answer, series)) + "\n" + loss_text(series) + "\n";
    }
    for (const LeftOut& left : series.left_out) {
      out += "\nLeft out: " + (series.name.empty() ? "" : series.name + " ") + left.label + ": " +
             left.reason + ".\n";
    }
  }
  if (const std::string text = regathered_text(answer); !text.empty()) {
    out += "\n" + capitalised(text) + ".\n";
  }
  if (answer.question.axis == SweepAxis::layout) {
    out += "\nCrossover: " + crossover_text(answer) + ".\n";
  }
  return out;
}

}  // namespace

std::string scale_sweep_text(const SweepAnswer& answer) {
  const SweepQuestion& question = answer.question;
  std::string out = printable(question.base.model.name) + " on " +
                    printable(question.base.cluster.name) + ", " +
                    std::string(name_of(question.base.job.framework)) + ", " +
                    sequences_text(question.base) + "\n" + what_stays(question) + "\n";
  if (const std::string text = freedom_text(question); !text.empty()) out += wrapped(text, 0, 2);
  out += within_text(question);
  for (const SharedTable& table : tables_of(answer)) {
    if (table.lines.empty()) continue;
    if (!table.title.empty()) out += "\n" + printable(table.title);
    out += "\na step (calls: hidden or not; exposed: what nothing hides)\n" +
           aligned(throughput_rows(answer, table));
    out +=
        is_over_accelerators(question.axis)
            ? "\nlayout, tokens/s and power of each accelerator, tokens/s that those added bring\n"
            : "\nlayout, tokens/s and power of each accelerator\n";
    out += aligned(power_rows(answer, table), 2);
    out += "\n" + tokens_text(question.given.tokens) + " tokens" +
           (question.tokens_given ? "" : " (the default)") +
           ", with failures, spares, hosts and cooling\n" + aligned(cost_rows(answer, table));
  }
  for (const SweepSeries& series : answer.series) {
    if (is_over_accelerators(question.axis) && !series.points.empty()) {
      out += "\nto the loss that the base run comes to (critical batch " +
             tokens_text(answer.same_loss.critical_batch) + " tokens)\n" +
             aligned(loss_rows(answer, series)) + "\n" +
             wrapped(diminishing_text(answer, series), 0, 2) + wrapped(loss_text(series), 0, 2);
    }
    out += left_out_text(series) + notes_text(series);
  }
  if (const std::string text = regathered_text(answer); !text.empty()) out += wrapped(text, 0, 2);
  if (question.axis == SweepAxis::layout) out += "\n" + wrapped(crossover_text(answer), 0, 2);
  for (const std::string& assumption : question.base.assumptions) {
    out += wrapped("assumed: " + printable(assumption, 1000), 0, 2);
  }
  return out;
}

GeneratedBlocks scale_sweep_blocks(const std::vector<PageSweep>& sweeps) {
  GeneratedBlocks out;
  for (const auto& [command, answer] : sweeps) {
    out[std::string(to_name(answer.question.axis))] =
        "    " + command + "\n\n" + markdown_of(answer);
  }
  return out;
}

}  // namespace headway
