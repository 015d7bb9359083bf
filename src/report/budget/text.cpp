// limits --budget: what stands on the terminal.
#include "base/text.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/budget/budget.hpp"
#include "report/limits.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

// "$1.2 G" beyond what price_text() has words for.
std::string money(double dollars) {
  return dollars < 1e9 ? price_text(dollars) : "$" + formatted("%.3g", dollars / 1e9) + " G";
}

std::string range(const BudgetAnswer& of, const MachineCost& cost) {
  const auto one = [&](const std::string& low, const std::string& high) {
    return low == high ? low : low + " to " + high;
  };
  return of.by_power ? one(to_text(Watts(cost.watts.low)), to_text(Watts(cost.watts.high)))
                     : one(money(cost.dollars.low), money(cost.dollars.high));
}

std::string middle(const BudgetAnswer& of, const MachineCost& cost) {
  return of.by_power ? to_text(Watts(cost.watts.middle())) : money(cost.dollars.middle());
}

std::string bounds_text(const BudgetAnswer& of) {
  std::vector<std::string> out;
  if (of.dollars) out.push_back(money(*of.dollars));
  if (of.power) out.push_back(to_text(*of.power));
  return join(out, " and ");
}

std::string months(Seconds time) {
  return formatted("%.3g months", time.value() / limits::kSecondsOfAMonth);
}

std::string machine_text(const PricedMachine& of) {
  return count_text(static_cast<double>(of.run->gpus)) + " accelerators in domains of " +
         std::to_string(of.domain) + ", fabric " + to_text(of.fabric) + " each";
}

std::string shares_text(const BudgetAnswer& of, const Bill& bill) {
  const auto of_total = [&](const MachineCost& part) {
    const auto value = [&](const MachineCost& cost) {
      return of.by_power ? cost.watts.middle() : cost.dollars.middle();
    };
    return percent_text(value(part) / value(bill.total()));
  };
  const auto tiers = [](std::int64_t count) {
    return count == 0 ? std::string()
                      : " (" + std::to_string(count) + (count == 1 ? " tier)" : " tiers)");
  };
  return "servers " + of_total(bill.servers) + ", links in domains beyond theirs " +
         of_total(bill.inner) + tiers(bill.inner_tiers) + ", fabric " + of_total(bill.outer) +
         tiers(bill.outer_tiers);
}

// What of a machine costs, a row for each domain.
std::string choices_table(const BudgetAnswer& of) {
  Cells rows = {{"domain"}};
  for (const BytesPerSecond fabric : of.fabrics) rows.front().push_back(to_text(fabric));
  for (std::size_t row = 0; row < of.domains.size(); ++row) {
    rows.push_back({std::to_string(of.domains[row])});
    for (std::size_t column = 0; column < of.fabrics.size(); ++column) {
      const std::size_t at = row * of.fabrics.size() + column;
      const PricedMachine& choice = of.choices[at];
      rows.back().push_back(!choice.run      ? "-"
                            : at == *of.best ? middle(of, choice.bill.total()) + " *"
                                             : middle(of, choice.bill.total()));
    }
  }
  return aligned(rows);
}

// Where what was tried may have cut the choice short.
std::string at_edge_text(const BudgetAnswer& of) {
  const PricedMachine& best = of.choices[*of.best];
  std::vector<std::string> out;
  if (of.fabrics.size() > 1 && best.fabric == of.fabrics.front()) {
    out.emplace_back("The least fabric that was tried: less may do.");
  }
  if (of.fabrics.size() > 1 && best.fabric == of.fabrics.back()) {
    out.emplace_back("The widest fabric that was tried: more may be better.");
  }
  if (of.domains.size() > 1 && best.domain == of.domains.back()) {
    out.emplace_back("The largest domain that was tried: a larger one may be better.");
  }
  return out.empty() ? std::string() : join(out, " ") + "\n";
}

std::string at_ends_text(const BudgetAnswer& of) {
  const char* const kEnds[] = {"all at their least", "servers at their least, links at their most",
                               "servers at their most, links at their least", "all at their most"};
  std::string out;
  for (std::size_t i = 0; i < of.best_at_ends.size(); ++i) {
    if (of.best_at_ends[i] == *of.best) continue;
    const PricedMachine& other = of.choices[of.best_at_ends[i]];
    out += std::string("  ") + kEnds[i] + ": domains of " + std::to_string(other.domain) +
           ", fabric " + to_text(other.fabric) + "\n";
  }
  const char* what = of.by_power ? "power" : "prices";
  return out.empty() ? std::string("The same is best at every end of ") + what + ".\n"
                     : std::string("Another is best where ") + what + " lie at other ends\n" + out;
}

std::string one_text(const BudgetAnswer& of) {
  const std::string bounds = bounds_text(of);
  std::string out =
      printable(of.setting.name) + ": " + (of.by_power ? "the least power" : "the least money") +
      " for d_model " + std::to_string(of.shape.d_model) + ", " + std::to_string(of.shape.layers) +
      " layers, " + power_text(of.shape.training.value()) + " FLOP in " +
      months(of.setting.duration) + (bounds.empty() ? "" : ", within " + bounds) + "\n";
  if (!of.best) {
    return out + (bounds.empty() ? "no machine that was tried ends in time\n"
                                 : "no machine that was tried ends in time within it\n");
  }
  const PricedMachine& best = of.choices[*of.best];
  const Cells rows = {
      {"", "machine", machine_text(best)},
      {"", of.by_power ? "draws" : "costs",
       range(of, best.bill.total()) + ": " + shares_text(of, best.bill)},
      {"", of.by_power ? "costs" : "draws",
       of.by_power
           ? money(best.bill.total().dollars.low) + " to " + money(best.bill.total().dollars.high)
           : to_text(Watts(best.bill.total().watts.low)) + " to " +
                 to_text(Watts(best.bill.total().watts.high))},
      {"", "takes",
       months(best.run->duration) + ", utilisation " + percent_text(best.run->utilization)},
      {"", "layout", limits_layout_text(best.run->layout)},
      {"", "its step", limits_losses_text(*best.run)}};
  out += aligned(rows, 3) + "\n";
  out += "What the least machine in time " + std::string(of.by_power ? "draws" : "costs") +
         ", by domain and fabric of an accelerator (* the least)\n" + choices_table(of) + "\n";
  out += at_edge_text(of) + at_ends_text(of);
  if (of.fastest && of.fastest->run->duration < best.run->duration) {
    out += "Fastest within " + bounds + ": " + machine_text(*of.fastest) + ", " +
           months(of.fastest->run->duration) + ", " + middle(of, of.fastest->bill.total()) + ".\n";
  }
  if (of.next) {
    out += "What binds is " + bounds + ": the next model, d_model " +
           std::to_string(of.next->d_model) + " with " + power_text(of.next->training.value()) +
           " FLOP, has no machine in time within it.\n";
  } else {
    out += "What binds is the time: on fewer accelerators none of them ends in it.\n";
  }
  return out + wrapped("Prices: " + printable(of.sources, 1000), 0, 0);
}

}  // namespace

std::string budget_text(const std::vector<BudgetAnswer>& answers) {
  std::string out;
  for (const BudgetAnswer& answer : answers) out += (out.empty() ? "" : "\n") + one_text(answer);
  return out + wrapped(
                   "Bought: servers, switches, cables, cards; no buildings, storage, spares. "
                   "Power at the meter. An upper bound of an idealised machine.",
                   0, 0);
}

}  // namespace headway
