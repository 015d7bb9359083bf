#include "report/design/design.hpp"
#include "report/infer/would_fit.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

std::string key_of(std::string name) {
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

void write_price(JsonWriter& json, std::string_view name, const PriceRange& price) {
  json.key(name);
  json.begin_array();
  json.value(price.low);
  json.value(price.high);
  json.end_array();
}

void write_machine(JsonWriter& json, const BuiltMachine& machine) {
  const Accelerator& accelerator = machine.cluster.accelerator;
  json.begin_object();
  json.member("peak_flop_per_s", peak_in_16_bit(accelerator).value());
  json.member("compute_units", accelerator.compute_units);
  json.member("memory_bytes", accelerator.memory.value());
  json.member("memory_bytes_per_s", accelerator.memory_bandwidth.value());
  json.member("link_bytes_per_s", machine.cluster.levels.front().bandwidth.value());
  json.member("link_latency_s", machine.cluster.levels.front().latency.value());
  json.member("domain", machine.cluster.levels.front().size);
  if (machine.cluster.levels.size() > 1) {
    json.member("network_bytes_per_s", machine.cluster.levels[1].bandwidth.value());
    json.member("network_latency_s", machine.cluster.levels[1].latency.value());
  }
  json.key("power_w");
  json.begin_array();
  json.value(machine.least_power.value());
  json.value(machine.most_power.value());
  json.end_array();
  if (machine.area) json.member("area_mm2", *machine.area);
  if (machine.parts) write_price(json, "parts_usd", *machine.parts);
  json.end_object();
}

void write_time(JsonWriter& json, const DesignTime& time) {
  json.begin_object();
  json.member("time_s", time.time.value());
  json.member("bound", to_name(time.bounds.most()));
  json.key("bound_s");
  json.begin_object();
  for (std::size_t i = 0; i < kBoundNames.size(); ++i) {
    json.member(kBoundNames[i], time.bounds[static_cast<Bound>(i)].value());
  }
  json.end_object();
  json.key("elasticities");
  json.begin_object();
  for (std::size_t i = 0; i < kRateNames.size(); ++i) json.member(kRateNames[i], -time.rates[i]);
  json.member("fixed_times", time.latency());
  json.end_object();
  json.end_object();
}

void write_choice(JsonWriter& json, const DesignAnswer& design,
                  const std::vector<std::size_t>& at) {
  json.begin_object();
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const DesignAxis& along = design.axes[axis];
    const AxisValue& value = along.values[at[axis]];
    if (along.row->is_number()) {
      json.member(key_of(std::string(along.row->name)), value.number);
    } else {
      json.member(key_of(std::string(along.row->name)), value.text);
    }
  }
  json.end_object();
}

void write_point(JsonWriter& json, const DesignAnswer& design, const DesignPoint& point) {
  json.begin_object();
  json.key("choice");
  write_choice(json, design, point.at);
  json.key("machine");
  write_machine(json, point.machine);
  json.member("fits", point.fits);
  if (!point.stands()) {
    json.member("why_not", point.why_not);
    return json.end_object();
  }
  json.key("times");
  json.begin_object();
  for (std::size_t i = 0; i < point.times.size(); ++i) {
    json.key(key_of(design.workload.times[i]));
    write_time(json, point.times[i]);
  }
  json.end_object();
  json.member("tokens_per_s", point.tokens_per_second);
  if (point.fabric) write_price(json, "fabric_usd", *point.fabric);
  json.member("on_front", point.on_front);
  json.end_object();
}

// Flags of what is served, as infer has them; of a step a note, as predict has it.
void write_changes(JsonWriter& json, const WouldFit& would_fit) {
  if (!would_fit.changes) {
    json.key("notes");
    json.begin_array();
    json.value(would_fit.words);
    return json.end_array();
  }
  write_would_fit(json, *would_fit.changes);
}

}  // namespace

std::string design_json(const DesignAnswer& design) {
  JsonWriter json;
  json.begin_object();
  json.member("workload", design.workload.title);
  json.member("cluster", design.workload.base.name);
  json.member("gpus", design.workload.accelerators);
  json.key("base");
  write_point(json, design, design.base);
  if (design.would_fit) write_changes(json, *design.would_fit);
  json.key("points");
  json.begin_array();
  for (const DesignPoint& point : design.points) write_point(json, design, point);
  json.end_array();
  json.key("moves");
  json.begin_array();
  for (const BoundMove& move : design.moves) {
    json.begin_object();
    json.member("axis", design.axes[move.axis].row->name);
    json.member("time", key_of(design.workload.times[move.time]));
    json.member("value", move.value);
    json.member("before", to_name(move.before));
    json.member("after", to_name(move.after));
    json.member("of", words_of(design, move.at, move.axis));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
