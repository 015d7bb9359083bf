#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/laws/phases.hpp"
#include "report/words.hpp"

namespace headway {

std::string phases_text(const PhasesAnswer& answer) {
  const WholeRun& first = answer.steps.front().whole;
  std::string out = printable(first.run.model.name) + " on " + printable(first.run.cluster.name) +
                    " in " + std::to_string(answer.steps.size()) + " phases\n\n";
  std::vector<std::vector<std::string>> rows = {{"phase", "layout", "accelerators", "seq", "batch",
                                                 "tokens", "MFU", "time", "changing over",
                                                 "in the layout before"}};
  double hours = 0, price = 0;
  for (const PhaseStep& step : answer.steps) {
    const RunCost& cost = step.whole.cost;
    hours += cost.accelerator_time.value() / kHour;
    price += cost.price;
    rows.push_back({step.name, short_layout_words(step.whole.run.layout),
                    count_text(static_cast<double>(cost.accelerators)),
                    count_text(static_cast<double>(step.whole.run.job.sequence)),
                    tokens_text(step.whole.batch), tokens_text(step.whole.assumed.tokens),
                    percent_text(step.whole.forecast.mfu), duration_text(cost.time.total()),
                    step.change > Seconds() ? duration_text(step.change) : "-",
                    step.staying ? duration_text(*step.staying) : "not possible"});
  }
  rows[1].back() = "-";
  out += aligned(rows, 2);
  std::vector<std::vector<std::string>> totals = {
      {"all phases", duration_text(answer.time)},
      {"each in the layout that it names", duration_text(answer.own_time)},
      {"all in one layout", answer.fixed_time ? duration_text(*answer.fixed_time) + " (" +
                                                    answer.layouts[answer.fixed_layout].from + ")"
                                              : "not possible"},
      {"accelerator-hours", short_count_text(hours)},
      {"cost", price > 0 ? "$" + short_count_text(price) : "price not known"}};
  out += "\n" + aligned(totals);
  for (std::size_t i = 1; i < answer.steps.size(); ++i) {
    const PhaseStep& step = answer.steps[i];
    if (!(step.change > Seconds())) continue;
    const Seconds own = step.whole.cost.time.total() + step.change;
    out += wrapped(step.name + ": " +
                       (step.staying ? "changing over pays, " + duration_text(own) +
                                           " instead of " + duration_text(*step.staying)
                                     : std::string("changing over is needed")),
                   0, 2);
  }
  return out;
}

}  // namespace headway
