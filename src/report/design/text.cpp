#include "base/text.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/design/design.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostMachines = 40, kMostMoves = 12;

std::string power_text(const BuiltMachine& machine) {
  const auto watts = [](Watts power) { return formatted("%.0f", power.value()); };
  return watts(machine.least_power) == watts(machine.most_power)
             ? watts(machine.least_power) + " W"
             : watts(machine.least_power) + "-" + watts(machine.most_power) + " W";
}

std::string price_text(const std::optional<PriceRange>& price) {
  if (!price) return "-";
  const std::string low = count_text(std::round(price->low)),
                    high = count_text(std::round(price->high));
  return low == high ? low : low + "-" + high;
}

// Where links or networks differ and some of them have a price.
bool tells_fabric(const DesignAnswer& design) {
  return std::any_of(design.points.begin(), design.points.end(),
                     [](const DesignPoint& point) { return point.fabric.has_value(); });
}

std::vector<std::string> row_of(const DesignAnswer& design, const DesignPoint& point, bool fabric) {
  std::vector<std::string> out;
  for (std::size_t axis = 0; axis < design.axes.size(); ++axis) {
    out.push_back(point.at.empty() ? "as it is" : design.axes[axis].values[point.at[axis]].text);
  }
  if (!point.stands()) {
    out.push_back(point.why_not);
    return out;
  }
  for (const DesignTime& time : point.times) out.push_back(to_text(time.time));
  out.push_back(count_text(point.tokens_per_second));
  out.push_back(power_text(point.machine));
  out.push_back(point.machine.area ? formatted("%.0f", *point.machine.area) : "-");
  out.push_back(price_text(point.machine.parts));
  if (fabric) out.push_back(price_text(point.fabric));
  const DesignTime& first = point.times.front();
  for (const Seconds bound : first.bounds.of()) {
    out.push_back(formatted("%.0f", 100 * std::max(0.0, bound / first.time)));
  }
  out.push_back(point.at.empty() ? "" : point.on_front ? "*" : "");
  return out;
}

std::string points_table(const DesignAnswer& design) {
  const bool fabric = tells_fabric(design);
  std::vector<std::vector<std::string>> rows(1);
  for (const DesignAxis& axis : design.axes) rows[0].emplace_back(axis.row->name);
  for (const std::string& time : design.workload.times) rows[0].push_back(time);
  for (const char* head : {"tokens/s", "power", "mm2", "parts $"}) rows[0].emplace_back(head);
  if (fabric) rows[0].emplace_back("fabric $");
  for (const char* head : {"comp", "mem", "net", "lat", "front"}) rows[0].emplace_back(head);
  rows.push_back(row_of(design, design.base, fabric));
  std::vector<std::vector<std::string>> others;
  for (const DesignPoint& point : design.points) {
    if (rows.size() > kMostMachines) break;
    (point.stands() ? rows : others).push_back(row_of(design, point, fabric));
  }
  std::string out = aligned(rows, design.axes.size());
  if (design.points.size() > rows.size() + others.size() - 2) {
    out += "and " + std::to_string(design.points.size() - (rows.size() + others.size() - 2)) +
           " more: --csv has all\n";
  }
  if (!others.empty()) out += "\nno times\n" + aligned(others, design.axes.size() + 1);
  return out;
}

// What would make the base fit, where it does not.
std::string would_fit_line(const DesignAnswer& design) {
  return design.would_fit ? wrapped("as it is: " + design.would_fit->words, 0, 2) : "";
}

std::string elasticities_table(const DesignAnswer& design) {
  if (!design.base.stands()) return {};
  std::vector<std::vector<std::string>> rows = {{"as it is, 1 % more of"}};
  for (const std::string& time : design.workload.times) rows[0].push_back(time);
  const auto percent = [](double value) { return formatted("%+.2f %%", value); };
  for (std::size_t rate = 0; rate < kRateNames.size(); ++rate) {
    std::vector<std::string> row = {std::string(kRateNames[rate])};
    for (const DesignTime& time : design.base.times) row.push_back(percent(-time.rates[rate]));
    rows.push_back(std::move(row));
  }
  std::vector<std::string> row = {"all fixed times"};
  for (const DesignTime& time : design.base.times) row.push_back(percent(time.latency()));
  rows.push_back(std::move(row));
  return "\n" + aligned(rows);
}

std::string moves_text(const DesignAnswer& design) {
  std::string out;
  const bool many = design.moves.size() > kMostMoves;
  std::size_t told = 0;
  for (const BoundMove& move : design.moves) {
    if (many && (move.time > 0 || told == kMostMoves)) continue;
    ++told;
    const AxisRow& row = *design.axes[move.axis].row;
    const std::string rest = words_of(design, move.at, move.axis);
    out += design.workload.times[move.time] + ": from " + std::string(row.name) + " " +
           row.write(move.value) + " on " + std::string(to_name(move.after)) + " binds, before " +
           std::string(to_name(move.before)) + (rest.empty() ? "" : " (" + rest + ")") + "\n";
  }
  if (many) out += std::to_string(design.moves.size() - told) + " more: --json\n";
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string words_of(const DesignAnswer& design, const std::vector<std::size_t>& at,
                     std::size_t but) {
  std::string out;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (axis == but) continue;
    out += (out.empty() ? "" : ", ") + std::string(design.axes[axis].row->name) + " " +
           design.axes[axis].values[at[axis]].text;
  }
  return out;
}

// What mark_front() compares.
static std::string front_words(const DesignAnswer& design) {
  const bool area =
      std::any_of(design.points.begin(), design.points.end(),
                  [](const DesignPoint& point) { return point.machine.area.has_value(); });
  std::vector<std::string> least = {"is as fast", "draws as little"};
  if (area) least.emplace_back("has as little area");
  if (design.counts_money) {
    least.emplace_back(design.varies_fabric() ? "is of parts and links that cost as little"
                                              : "is of parts that cost as little");
  }
  const std::string last = least.back();
  least.pop_back();
  return "no other " + join(least, ", ") + " and " + last;
}

static std::string money_words(const DesignAnswer& design) {
  const bool any =
      std::any_of(design.points.begin(), design.points.end(),
                  [](const DesignPoint& point) { return point.machine.parts.has_value(); });
  const std::string fabric =
      tells_fabric(design) ? "\nfabric: what an accelerator pays for the links or the network that "
                             "differ, as they are sold"
                           : "";
  if (!any) return "no price is known of these parts: money is not compared" + fabric + "\n";
  return "parts: logic, memory and package of an accelerator as they are made; board, test and "
         "margins have no price here" +
         fabric +
         (design.counts_money ? "\n"
                              : "\nof some of these machines parts or links have no known price: "
                                "the front does not count money\n");
}

std::string design_text(const DesignAnswer& design) {
  const DesignWorkload& work = design.workload;
  return printable(work.title) + " on " + std::to_string(work.accelerators) + " " +
         printable(work.base.accelerator.title) + ", " + printable(work.base.name) + "\n\n" +
         points_table(design) + would_fit_line(design) + "comp, mem, net, lat: % of the time of " +
         std::string(work.times.front() == "step" ? "a step" : work.times.front()) +
         " that each binds; front: " + front_words(design) + "\n" + elasticities_table(design) +
         moves_text(design) + "\n" + money_words(design);
}

}  // namespace headway
