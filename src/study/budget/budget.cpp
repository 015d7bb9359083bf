#include "study/budget/budget.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::int64_t kWidestDomain = 1'000'000;
constexpr std::int64_t kWidestUsualDomain = 1024;
constexpr double kLeastUsualFabric = 1.0 / 64, kMostUsualFabric = 4;  // of the machine's own
constexpr std::size_t kMostChoices = 400;
constexpr double kMostDollars = 1e18;

// What must hold of a machine.
struct Bounds {
  std::optional<double> dollars;
  std::optional<Watts> power;

  bool hold(const MachineCost& cost) const {
    return (!dollars || cost.dollars.middle() <= *dollars) &&
           (!power || cost.watts.middle() <= power->value());
  }
};

std::vector<std::int64_t> domains_of(const BudgetQuestion& question, const limits::Level& own,
                                     Problems& problems) {
  std::vector<std::int64_t> out;
  for (const std::string& text : question.domains) {
    const auto size = whole_number(text);
    if (!size || *size < 2 || *size > kWidestDomain) {
      problems.push_back({FieldName("domain"), "'" + printable(text, 40) +
                                                   "' is no number of accelerators from 2 to " +
                                                   std::to_string(kWidestDomain)});
    } else {
      out.push_back(*size);
    }
  }
  if (question.domains.empty()) {
    out.push_back(own.size);
    for (std::int64_t size = 8; size <= kWidestUsualDomain; size *= 2) {
      if (size > own.size) out.push_back(size);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<BytesPerSecond> fabrics_of(const BudgetQuestion& question, const limits::Level& own,
                                       Problems& problems) {
  std::vector<BytesPerSecond> out;
  for (const std::string& text : question.fabrics) {
    const auto rate = parse_quantity<BytesPerSecond>(text, FieldName("fabric"));
    if (!rate) {
      append(problems, rate.problems());
    } else if (!(*rate > BytesPerSecond() && *rate <= BytesPerSecond(1e15))) {
      problems.push_back({FieldName("fabric"), "must be above 0, and at most 1 PB/s"});
    } else {
      out.push_back(*rate);
    }
  }
  if (question.fabrics.empty()) {
    for (double times = kLeastUsualFabric; times <= kMostUsualFabric; times *= 2) {
      out.push_back(times * own.bandwidth);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Bounds bounds_of(const BudgetQuestion& question, Problems& problems) {
  Bounds out;
  if (question.budget != 0) {
    if (!(question.budget > 0 && question.budget <= kMostDollars)) {
      problems.push_back({FieldName("budget"), "must be US dollars above 0, at most 1e18"});
    }
    out.dollars = question.budget;
  }
  if (!question.power_budget.empty()) {
    const auto power = parse_quantity<Watts>(question.power_budget, FieldName("power-budget"));
    if (!power) {
      append(problems, power.problems());
    } else if (!(*power > Watts())) {
      problems.push_back({FieldName("power-budget"), "must be above 0"});
    } else {
      out.power = *power;
    }
  }
  return out;
}

// The widths of the curve, or the one that is asked for.
std::vector<std::int64_t> widths_of(const BudgetQuestion& question, const limits::Setting& setting,
                                    bool bounded, Problems& problems) {
  const std::vector<std::int64_t> all = limits::widths(setting);
  if (question.width == 0) {
    if (!bounded) {
      problems.push_back({FieldName("budget"),
                          "is missing, as is --power-budget: without a --width the widest model "
                          "within one of them is looked for",
                          Trouble::missing});
    }
    return all;
  }
  if (std::find(all.begin(), all.end(), question.width) == all.end()) {
    const auto above = std::lower_bound(all.begin(), all.end(), question.width);
    const std::int64_t near = above != all.end() ? *above : all.back();
    problems.push_back({FieldName("width"), std::to_string(question.width) +
                                                " is no width of the study's models; " +
                                                std::to_string(near) + " is near it"});
  }
  return {question.width};
}

Result<MachineShop> shop_of(const BudgetQuestion& question) {
  if (question.parts.empty()) {
    return machine_shop(question.parts_here ? &*question.parts_here : nullptr);
  }
  const auto document = read_document(question.parts);
  if (!document) return document.problems();
  return machine_shop(&*document);
}

limits::Setting on_machine(limits::Setting setting, std::int64_t domain, BytesPerSecond fabric) {
  setting.machine.levels.front().size = domain;
  setting.machine.levels.back().bandwidth = fabric;
  return setting;
}

// Everything that one choice of a machine contributes.
struct Found {
  PricedMachine smallest;
  std::optional<PricedMachine> fastest;
};

// Bills rise with the cluster: the smallest one that ends in time is the least there is, and behind
// the first that is over the budget none is within it.
Found choice_of(const limits::Setting& setting, const std::string& server,
                const limits::Shape& shape, const MachineShop& shop, const Bounds& bounds) {
  Found out;
  out.smallest.domain = setting.machine.levels.front().size;
  out.smallest.fabric = setting.machine.levels.back().bandwidth;
  limits::Search search(setting, shape);
  Seconds longest = setting.duration;
  const bool bounded = bounds.dollars || bounds.power;
  for (const std::int64_t gpus : limits::clusters(setting, shape, setting.duration)) {
    const Bill bill = bill_of(shop, server, setting.machine, gpus);
    if (!bounds.hold(bill.total())) break;
    std::optional<limits::Run> run = search.fastest(gpus, longest);
    if (!run) continue;
    longest = run->duration;
    PricedMachine found = out.smallest;
    found.run = std::move(run);
    found.bill = bill;
    if (!out.smallest.run) out.smallest = found;
    if (!bounded) break;
    out.fastest = std::move(found);
  }
  return out;
}

// Which choice is the least where servers and links cost so much.
template <class Value>
std::optional<std::size_t> least_of(const std::vector<PricedMachine>& choices, const Value& value) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!choices[i].run) continue;
    if (!out || value(choices[i].bill) < value(choices[*out].bill)) out = i;
  }
  return out;
}

void choose(BudgetAnswer& out) {
  const auto spread = [&](const MachineCost& of) { return out.by_power ? of.watts : of.dollars; };
  out.best = least_of(out.choices, [&](const Bill& bill) { return spread(bill.total()).middle(); });
  if (!out.best) return;
  for (const bool server_high : {false, true}) {
    for (const bool link_high : {false, true}) {
      const auto at = [&](const Bill& bill) {
        const LowHigh servers = spread(bill.servers), links = spread(bill.inner + bill.outer);
        return (server_high ? servers.high : servers.low) + (link_high ? links.high : links.low);
      };
      out.best_at_ends.push_back(*least_of(out.choices, at));
    }
  }
}

bool is_faster(const PricedMachine& a, const std::optional<PricedMachine>& b) {
  return !b || a.run->duration < b->run->duration;
}

}  // namespace

// [LIMIT-42] Every domain and fabric that is asked for, every cluster of the study, its best
// layout; of models the widest that has any machine within the budget, from the widest down that
// servers alone could be bought for.
Result<BudgetAnswer> answer_budget(const BudgetQuestion& question, const limits::Setting& setting,
                                   int threads, const Progress& progress) {
  Problems problems;
  const auto shop = shop_of(question);
  if (!shop) append(problems, shop.problems());
  const Bounds bounds = bounds_of(question, problems);
  BudgetAnswer out;
  out.setting = setting;
  out.server = setting.machine.name;
  out.dollars = bounds.dollars;
  out.power = bounds.power;
  out.by_power = bounds.power && !bounds.dollars;
  out.domains = domains_of(question, setting.machine.levels.front(), problems);
  out.fabrics = fabrics_of(question, setting.machine.levels.back(), problems);
  if (out.domains.size() * out.fabrics.size() > kMostChoices) {
    problems.push_back({FieldName("domain"), "times the fabrics must be at most " +
                                                 std::to_string(kMostChoices) + " machines"});
  }
  const auto widths = widths_of(question, setting, bounds.dollars || bounds.power, problems);
  if (shop) {
    const std::string why = why_no_bill(*shop, out.server, setting.machine);
    if (!why.empty()) problems.push_back({FieldName("gpu"), why});
  }
  if (!problems.empty()) return problems;
  const ServerParts& server = *shop->server_of(out.server);
  out.sources = server.source;

  // Machines, and the widest model whose servers alone are within the budget.
  std::vector<limits::Setting> machines;
  for (const std::int64_t domain : out.domains) {
    for (const BytesPerSecond fabric : out.fabrics) {
      machines.push_back(on_machine(setting, domain, fabric));
    }
  }
  std::size_t models = widths.size();
  for (; models > 1; --models) {
    const limits::Shape shape = limits::shape_of(setting, widths[models - 1]);
    const auto sizes = limits::clusters(setting, shape, setting.duration);
    if (sizes.empty()) continue;
    if (bounds.hold(static_cast<double>(sizes.front()) * server.each)) break;
  }
  if (models < widths.size()) out.next = limits::shape_of(setting, widths[models]);

  for (std::size_t looked = 0; models > 0; --models, ++looked) {
    out.shape = limits::shape_of(setting, widths[models - 1]);
    std::vector<Found> found(machines.size());
    const std::size_t of = (looked + models) * machines.size();
    const bool done = for_each_index(
        machines.size(), threads,
        [&](std::size_t i, std::size_t) {
          found[i] = choice_of(machines[i], out.server, out.shape, *shop, bounds);
        },
        progress ? Progress([&](std::size_t i, std::size_t) {
          return progress(looked * machines.size() + i, of);
        })
                 : Progress(),
        1);
    if (!done) return Problem{"limits", "was stopped", Trouble::stopped};
    out.choices.clear();
    for (Found& each : found) {
      if (each.fastest && is_faster(*each.fastest, out.fastest)) out.fastest = each.fastest;
      out.choices.push_back(std::move(each.smallest));
    }
    choose(out);
    if (out.best || models == 1) break;
    out.next = out.shape;
  }
  return out;
}

}  // namespace headway
