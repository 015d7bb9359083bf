#include "report/published.hpp"

#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/statistics.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string error_lines(const std::vector<PublishedRun>& runs) {
  std::vector<double> all, published, ruled;
  for (const PublishedRun& run : runs) {
    const double error = std::abs(run.error());
    all.push_back(error);
    (run.layout_published ? published : ruled).push_back(error);
  }
  const auto line = [](const std::vector<double>& errors) {
    return std::to_string(errors.size()) + " runs, median error " +
           percent_text(quantile(errors, 0.5).value_or(0)) + ", mean " +
           percent_text(mean(errors).value_or(0));
  };
  return "all: " + line(all) + "\nlayout published: " + line(published) +
         "\nlayout taken by rule (*): " + line(ruled) + "\n";
}

std::string interval_text(const PublishedStep& step) {
  const auto& interval = step.forecast.step_time_interval;
  if (!interval) return "-";
  return to_text(interval->low) + " .. " + to_text(interval->high) +
         (*step.inside() ? "" : " (outside)");
}

std::vector<std::vector<std::string>> table_of(const std::vector<PublishedStep>& steps) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "published", "step", "predicted", "ratio", "80 % of runs", "MFU", "memory", "fits"}};
  for (const PublishedStep& step : steps) {
    const Forecast& f = step.forecast;
    rows.push_back({step.title + (step.layout_published ? "" : " *"), step.stated,
                    to_text(step.step_time), to_text(f.step_time), formatted("%.2f", step.ratio()),
                    interval_text(step), percent_text(f.mfu), to_text(f.memory.total()),
                    f.fits ? "yes" : "no"});
  }
  return rows;
}

std::string summary_of(const std::vector<PublishedStep>& steps) {
  std::size_t fitting = 0, inside = 0;
  for (const PublishedStep& step : steps) {
    fitting += step.forecast.fits ? 1 : 0;
    inside += step.inside().value_or(false) ? 1 : 0;
  }
  const std::string of = " of " + std::to_string(steps.size());
  return "median error " + percent_text(error_quantile(steps, 0.5)) + ", worst " +
         percent_text(error_quantile(steps, 1)) + "; " + std::to_string(fitting) + of + " fit; " +
         std::to_string(inside) + of + " inside the interval\n";
}

}  // namespace

std::string published_text(const std::vector<PublishedRun>& runs) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "MFU", "goodput", "hours published", "predicted", "error"}};
  for (const PublishedRun& run : runs) {
    rows.push_back(
        {run.title + (run.layout_published ? "" : " *"), percent_text(run.whole.forecast.mfu),
         percent_text(run.whole.cost.time.goodput), short_count_text(run.accelerator_hours),
         short_count_text(run.predicted_hours()), formatted("%+.1f %%", 100 * run.error())});
  }
  return aligned(rows) + "\n" + error_lines(runs);
}

std::string published_markdown(const std::vector<PublishedRun>& runs) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "tokens", "MFU", "goodput", "thousand hours", "ours", "error", "MWh", "ours"}};
  const auto thousands = [](double hours) { return short_count_text(std::round(hours / 1000)); };
  for (const PublishedRun& run : runs) {
    const WholeRun& whole = run.whole;
    rows.push_back({run.title + (run.layout_published ? "" : " *"), short_count_text(run.tokens),
                    percent_text(whole.forecast.mfu), percent_text(whole.cost.time.goodput),
                    thousands(run.accelerator_hours), thousands(run.predicted_hours()),
                    formatted("%+.1f %%", 100 * run.error()),
                    run.megawatt_hours ? short_count_text(*run.megawatt_hours) : "",
                    short_count_text(whole.cost.energy.total().value() / 3.6e9)});
  }
  std::string out = markdown_table(rows) +
                    "\n\\*: layout by the rule; hours: of accelerators, as published and as "
                    "predicted; MWh the same.\n";
  out += "\n```\n" + error_lines(runs) + "```\n\nWhat is known of each:\n\n";
  for (const PublishedRun& run : runs) {
    out += "- **" + run.title + "**: " + run.source + ". " + run.remark + "\n";
  }
  return out;
}

std::string published_steps_text(const std::vector<PublishedStep>& steps) {
  return aligned(table_of(steps)) + "\n" + summary_of(steps) +
         "rates: of one accelerator; in all: recomputation counted; *: layout taken by rule\n";
}

std::string published_steps_markdown(const std::vector<PublishedStep>& steps) {
  std::string out = markdown_table(table_of(steps)) +
                    "\nRates are of one accelerator; in all: recomputation counted; \\*: layout "
                    "taken by rule.\n\n```\n" +
                    summary_of(steps) + "```\n\nWhat is known of each:\n\n";
  for (const PublishedStep& step : steps) {
    out += "- **" + step.title + "**: " + step.source + ". " + step.remark +
           (step.why.empty() ? "" : " *Why it is off:* " + step.why) + "\n";
  }
  return out;
}

}  // namespace headway
