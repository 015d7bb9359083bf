#include "report/plan.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string more(double value, double best) {
  return formatted("%+.1f %%", 100 * (value / best - 1));
}

// What is made as small as can be, of a point: as text, and as a number.
struct Objective {
  std::string name, text;
  double value;
};
Objective objective_of(const Plan& plan, Seconds time, Bytes memory, Joules energy) {
  if (plan.objective == "memory") return {"memory", to_text(memory), memory.value()};
  if (plan.objective == "energy") return {"energy", to_text(energy), energy.value()};
  return {"step", to_text(time), time.value()};
}
Objective objective_of(const Plan& plan, const PlanPoint& point) {
  return objective_of(plan, point.time, point.memory, point.energy);
}
Objective objective_of(const Plan& plan, const Forecast& forecast) {
  return objective_of(plan, forecast.step_time, forecast.memory.total() - forecast.gaps,
                      forecast.energy);
}

std::string interval_text(const std::optional<Interval<Seconds>>& interval) {
  return interval ? to_text(interval->low) + " .. " + to_text(interval->high) : "";
}

std::string heading(const Plan& plan) {
  const Job& job = plan.run.job;
  std::string out = printable(plan.run.model.name) + " on " +
                    count_text(static_cast<double>(plan.accelerators)) +
                    (plan.accelerators == 1 ? " accelerator of " : " accelerators of ") +
                    printable(plan.run.cluster.name) + "\n";
  out += std::string(name_of(job.framework)) + ", " + std::string(job.recipe->name) +
         ", attention " +
         std::string(kAttentionKernelNames[static_cast<std::size_t>(job.attention)]) + ", " +
         count_text(static_cast<double>(job.global_batch)) +
         (plan.run.model.is_network()
              ? " samples\n"
              : " sequences of " + count_text(static_cast<double>(job.sequence)) + " tokens\n");
  out += count_text(static_cast<double>(plan.layouts)) + " layouts searched for the best " +
         plan.objective;
  if (plan.headroom > 0) out += ", " + percent_text(plan.headroom) + " of the memory left free";
  if (!plan.proven) return out + ": STOPPED, the best so far, NOT PROVEN\n";
  return out + (plan.all ? ": proven\n" : ": the best that was found\n");
}

std::string best_table(const Plan& plan) {
  std::vector<std::vector<std::string>> rows = {
      {"", "step", "80 % of runs", "MFU", "memory", "layout"}};
  for (std::size_t i = 0; i < plan.best.size(); ++i) {
    const PlannedLayout& at = plan.best[i];
    rows.push_back({std::to_string(i + 1), to_text(at.forecast.step_time),
                    interval_text(at.forecast.step_time_interval), percent_text(at.forecast.mfu),
                    to_text(at.forecast.memory.total() - at.forecast.gaps)});
  }
  // The words of a layout in the rest of its line, and in as many lines below as they need.
  const std::string table = aligned(rows);
  std::string out;
  std::size_t begin = 0;
  for (std::size_t i = 0; begin < table.size(); ++i) {
    const std::size_t end = table.find('\n', begin);
    std::string line = table.substr(begin, end - begin);
    begin = end + 1;
    if (i == 0) {
      out += line + "\n";
      continue;
    }
    out += line + "\n" + wrapped(layout_words(plan.best[i - 1].run.layout), 5, 5);
  }
  return out;
}

std::string undecided(const Plan& plan) {
  std::string ranks;
  for (std::size_t i = 1; i < plan.best.size(); ++i) {
    if (plan.best[i].undecided) ranks += (ranks.empty() ? "" : ", ") + std::to_string(i + 1);
  }
  if (ranks.empty()) return "";
  return wrapped("Undecided: the intervals of 1 and " + ranks +
                     " meet. Which is fastest only the machine can say: try these.",
                 0, 0);
}

std::string why(const Plan& plan) {
  const PlannedLayout& best = plan.best.front();
  std::string parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, plan.bounds.size()); ++i) {
    parts += (i == 0 ? "" : ", ") + printable(plan.bounds[i].what) + " " +
             percent_text(plan.bounds[i].share);
  }
  std::string out = wrapped("What binds 1: " + parts + " of the step.", 0, 2);
  const double full = (best.forecast.memory.total() - best.forecast.gaps) / best.forecast.capacity;
  const Objective now = objective_of(plan, best.forecast);
  if (plan.roomy) {
    const Objective then = objective_of(plan, plan.roomy->point);
    out += wrapped("Memory binds: with more of it than the " + to_text(best.forecast.capacity) +
                       " there are, the best " + now.name + " would be " + then.text + ", " +
                       more(then.value, now.value) + " (" + layout_words(plan.roomy->layout) + ").",
                   0, 2);
  } else if (plan.objective != "memory") {
    out += "Memory does not bind: 1 takes " + percent_text(full) + " of it.\n";
  }
  if (!plan.without.empty()) {
    std::vector<std::vector<std::string>> rows = {{"without", now.name, "", ""}};
    for (const PlanWithout& without : plan.without) {
      if (!without.best) {
        rows.push_back({without.feature, without.legal ? "nothing fits" : "not legal", ""});
        continue;
      }
      const Objective then = objective_of(plan, *without.best);
      rows.push_back({without.feature, then.text, more(then.value, now.value)});
    }
    out += "\n" + aligned(rows);
  }
  return out;
}

std::string sensitivity_table(const Plan& plan) {
  if (plan.sensitivity.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"if", "1 takes", "", "the best then"}};
  const PlannedLayout& best = plan.best.front();
  const Objective now = objective_of(plan, best.forecast);
  for (const PlanSensitivity& at : plan.sensitivity) {
    std::vector<std::string> row = {printable(at.what), "does not fit", "", "nothing fits"};
    if (at.winner) {
      const Objective then = objective_of(plan, *at.winner);
      row[1] = then.text;
      row[2] = more(then.value, now.value);
    }
    if (at.best) {
      row[3] = at.layout == best.run.layout ? "1" : "another, " + objective_of(plan, *at.best).text;
    }
    rows.push_back(std::move(row));
  }
  return "\n" + aligned(rows);
}

std::string front_table(const Plan& plan) {
  if (plan.front.size() < 2) return "";
  std::string out = "\nleast memory for each step time (of " +
                    count_text(static_cast<double>(plan.front.size())) +
                    " layouts that no other "
                    "beats in both)\n";
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> words;
  const std::size_t shown = std::min<std::size_t>(6, plan.front.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const PlannedPoint& at = plan.front[i * (plan.front.size() - 1) / (shown - 1)];
    rows.push_back({"  " + to_text(at.point.time), to_text(at.point.memory)});
    words.push_back(layout_words(at.layout));
  }
  const std::string table = aligned(rows);
  std::size_t begin = 0;
  for (const std::string& layout : words) {
    const std::size_t end = table.find('\n', begin);
    out += wrapped(table.substr(begin, end - begin) + "  " + layout, 0, 4);
    begin = end + 1;
  }
  return out;
}

std::string nothing_fits(const Plan& plan) {
  if (plan.run.model.is_network()) return "NOTHING FITS.\n";
  std::string out = "NOTHING FITS";
  out += plan.remedies.empty() ? ", nor with any multiple of the accelerators that was tried.\n"
                               : ". Something does:\n";
  for (const PlanRemedy& remedy : plan.remedies) {
    out += wrapped(printable(remedy.what) + ": " + to_text(remedy.best.time) + " a step, " +
                       layout_words(remedy.layout),
                   2, 4);
  }
  return out;
}

}  // namespace

std::string plan_text_begin(const Plan& plan) {
  return heading(plan) + "\n" + best_table(plan) + "\n" + undecided(plan);
}

std::string plan_text(const Plan& plan) {
  std::string out;
  if (plan.best.empty()) {
    out += heading(plan) + "\n";
    out += plan.proven ? nothing_fits(plan) : "nothing that fits was found so far\n";
  } else {
    out += plan_text_begin(plan);
    if (plan.proven) out += why(plan) + sensitivity_table(plan) + front_table(plan);
    out += "\n" + wrapped("as flags of headway predict: " +
                              layout_flags(plan.run, plan.best.front().run.layout),
                          0, 2);
  }
  for (const std::string& note : plan.notes) out += wrapped("note: " + printable(note, 1000), 0, 2);
  for (const std::string& assumption : plan.run.assumptions) {
    out += wrapped("assumed: " + printable(assumption, 1000), 0, 2);
  }
  return out;
}

}  // namespace headway
