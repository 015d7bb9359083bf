// headway bench plan.

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/plan.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string text(double value, const char* unit = "") {
  return formatted("%.3g%s", value, unit);
}
std::string count(std::uint64_t n) {
  return short_count_text(static_cast<double>(n));
}

}  // namespace

std::string timing_text(const PlanTiming& timing) {
  std::vector<std::vector<std::string>> bounded = {{"run", "layouts", "with bounds",
                                                    "of each kind, 10", "whole answer", "priced",
                                                    "memory", "step"}};
  for (const PlanTiming::Bounded& row : timing.bounded) {
    bounded.push_back({row.name, count(row.layouts), text(row.best.value(), " s"),
                       text(row.ten_best.value(), " s"), text(row.answer.value(), " s"),
                       count(row.priced), to_text(row.memory),
                       row.step ? to_text(*row.step) : "none"});
  }
  std::vector<std::vector<std::string>> whole = {
      {"run", "legal", "fitting", "exhaustive", "layouts/s", "the same best"}};
  for (const PlanTiming::Whole& row : timing.whole) {
    whole.push_back({row.name, count(row.legal), count(row.fitting), text(row.time.value(), " s"),
                     short_count_text(static_cast<double>(row.layouts) / row.time.value()),
                     row.same_best ? "yes" : "NO"});
  }
  return aligned(bounded) + "\n" + aligned(whole) + "\nmedian of " +
         std::to_string(timing.repetitions) +
         " with bounds, of fewer whole answers, once without; " + std::to_string(timing.threads) +
         " threads\n";
}

}  // namespace headway
