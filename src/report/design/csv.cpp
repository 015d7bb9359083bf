#include "base/document/csv.hpp"

#include "base/formatted.hpp"
#include "report/design/design.hpp"

namespace headway {
namespace {

std::string number(double value) {
  return formatted("%.9g", value);
}

void add_row(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i > 0 ? "," : "") + csv_cell(cells[i]);
  out += '\n';
}

std::vector<std::string> cells_of(const DesignAnswer& design, const DesignPoint& point) {
  std::vector<std::string> out;
  for (std::size_t axis = 0; axis < design.axes.size(); ++axis) {
    const DesignAxis& along = design.axes[axis];
    if (point.at.empty()) {
      out.emplace_back();
      continue;
    }
    const AxisValue& value = along.values[point.at[axis]];
    out.push_back(along.row->is_number() ? number(value.number) : value.text);
  }
  const Accelerator& accelerator = point.machine.cluster.accelerator;
  for (const double value : {peak_in_16_bit(accelerator).value(), accelerator.memory.value(),
                             accelerator.memory_bandwidth.value(),
                             point.machine.least_power.value(), point.machine.most_power.value()}) {
    out.push_back(number(value));
  }
  out.push_back(point.machine.area ? number(*point.machine.area) : "");
  for (const std::optional<PriceRange>& price : {point.machine.parts, point.fabric}) {
    out.push_back(price ? number(price->low) : "");
    out.push_back(price ? number(price->high) : "");
  }
  out.push_back(point.stands() ? number(point.tokens_per_second) : "");
  for (std::size_t i = 0; i < design.workload.times.size(); ++i) {
    if (!point.stands()) {
      out.resize(out.size() + 2 + kBoundNames.size());
      continue;
    }
    const DesignTime& time = point.times[i];
    out.push_back(number(time.time.value()));
    for (const Seconds bound : time.bounds.of()) out.push_back(number(bound / time.time));
    out.emplace_back(to_name(time.bounds.most()));
  }
  out.push_back(point.on_front ? "1" : "0");
  out.push_back(point.why_not);
  return out;
}

}  // namespace

std::string design_csv(const DesignAnswer& design) {
  std::vector<std::string> head;
  for (const DesignAxis& axis : design.axes) head.emplace_back(axis.row->name);
  for (const char* name : {"peak_flop_per_s", "memory_bytes", "memory_bytes_per_s", "power_low_w",
                           "power_high_w", "area_mm2", "parts_low_usd", "parts_high_usd",
                           "fabric_low_usd", "fabric_high_usd", "tokens_per_s"}) {
    head.emplace_back(name);
  }
  for (std::string time : design.workload.times) {
    for (char& c : time) c = c == ' ' ? '_' : c;
    head.push_back(time + "_s");
    for (const std::string_view bound : kBoundNames) {
      head.push_back(time + "_share_" + std::string(bound));
    }
    head.push_back(time + "_bound");
  }
  head.emplace_back("on_front");
  head.emplace_back("why_not");
  std::string out;
  add_row(out, head);
  add_row(out, cells_of(design, design.base));
  for (const DesignPoint& point : design.points) add_row(out, cells_of(design, point));
  return out;
}

}  // namespace headway
