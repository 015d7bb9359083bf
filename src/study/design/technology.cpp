#include "study/design/technology.hpp"

#include <utility>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

// Each entry of a file of data/technology, read by `read(fields, name)`.
template <class Read>
void each_of(const std::string& file, Problems& problems, const Read& read) {
  const auto document = embedded_document("technology/" + file + ".toml");
  if (!document) return append(problems, document.problems());
  Fields root(*document, problems);
  for (const std::string& name : root.keys()) {
    Fields fields = root.table(name);
    read(fields, name);
    for (const char* said : {"source", "kind", "date"}) fields.text(said);
    fields.reject_unknown();
  }
}

double positive(Fields& fields, std::string_view key) {
  const double out = fields.number(key);
  if (!(out > 0)) fields.fail(key, "must be above 0");
  return out;
}

// Both ends of what sources give.
std::pair<double, double> range_of(Fields& fields, const std::string& what) {
  const double low = positive(fields, what + "_low"), high = positive(fields, what + "_high");
  if (high < low) fields.fail(what + "_high", "is below " + what + "_low");
  return {low, high};
}

EnergyPerBit energy_of(Fields& fields) {
  const auto [low, high] = range_of(fields, "energy");
  return {low * 1e-12, high * 1e-12};
}

std::optional<PriceRange> price_of(Fields& fields, const std::string& what = "price") {
  if (!fields.has(what + "_low")) return std::nullopt;
  const auto [low, high] = range_of(fields, what);
  return PriceRange{low, high};
}

std::optional<InterfaceArea> interface_of(Fields& fields) {
  if (!fields.has("phy")) return std::nullopt;
  return InterfaceArea{positive(fields, "phy"), positive(fields, "control")};
}

std::optional<NetworkPieces> pieces_of(Fields& fields) {
  const auto card = price_of(fields, "card"), transceiver = price_of(fields, "transceiver"),
             port = price_of(fields, "port");
  if (!card || !transceiver || !port) return std::nullopt;
  return NetworkPieces{*card, *transceiver, *port};
}

MemoryTechnology read_memory(Fields& fields, const std::string& name) {
  MemoryTechnology out;
  out.name = name;
  out.title = fields.text("title");
  out.unit = fields.text("unit");
  if (fields.has("bandwidth")) {
    out.bandwidth = fields.quantity<BytesPerSecond>("bandwidth");
    out.node = fields.text("node");
    out.interface = InterfaceArea();  // it is on the die
  } else {
    out.width = fields.count("width");
    out.pin_rate = fields.quantity<BytesPerSecond>("pin_rate");
    out.fastest = fields.quantity_or<BytesPerSecond>("fastest", out.pin_rate);
    out.bandwidth = static_cast<double>(out.width) * out.pin_rate;
    out.package = fields.text("package");
    out.interface = interface_of(fields);
  }
  out.capacity = fields.quantity<Bytes>("capacity");
  out.energy = energy_of(fields);
  out.price = price_of(fields);
  return out;
}

LogicNode read_node(Fields& fields, const std::string& name) {
  LogicNode out{name,
                fields.text("title"),
                positive(fields, "density"),
                positive(fields, "sram"),
                positive(fields, "power"),
                price_of(fields)};
  if (out.wafer) out.defects = positive(fields, "defects");
  return out;
}

LinkTechnology read_link(Fields& fields, const std::string& name) {
  LinkTechnology out;
  out.name = name;
  out.title = fields.text("title");
  const std::string place = fields.text("place");
  if (place != "inner" && place != "outer") fields.fail("place", "must be inner or outer");
  out.inner = place == "inner";
  out.network = fields.text("class");
  out.bandwidth = fields.quantity<BytesPerSecond>("bandwidth");
  out.latency = fields.quantity<Seconds>("latency");
  out.sums = fields.flag_or("sums", false);
  const std::string topology = fields.text_or("topology", "switched");
  if (topology != "switched" && topology != "mesh") {
    fields.fail("topology", "must be switched or mesh");
  }
  out.topology = topology == "mesh" ? Topology::mesh : Topology::switched;
  out.energy = energy_of(fields);
  out.interface = interface_of(fields);
  out.price = price_of(fields);
  if (out.price) out.price_domain = fields.count("price_domain");
  out.pieces = pieces_of(fields);
  return out;
}

// What names another entry, of those read before.
template <class T>
const T* reference(Fields& fields, std::string_view key, const std::vector<T>& all) {
  const std::string name = fields.text(key);
  const T* out = named(all, name);
  if (out == nullptr) fields.fail(key, "names no entry", Trouble::unknown);
  return out;
}

MachineParts read_machine(Fields& fields, const std::string& name, const Technologies& of) {
  MachineParts out;
  out.accelerator = name;
  out.memory = reference(fields, "memory", of.memories);
  out.units = fields.count("units");
  out.interfaces = fields.count_or("interfaces", out.units);
  if (out.interfaces < out.units) fields.fail("interfaces", "are fewer than units");
  out.pin_rate = fields.quantity<BytesPerSecond>("pin_rate");
  out.unit_capacity = fields.quantity<Bytes>("unit_capacity");
  if (fields.has("node")) {
    Dies dies;
    dies.node = reference(fields, "node", of.nodes);
    dies.count = fields.count("dies");
    dies.area = positive(fields, "die_mm2");
    dies.arithmetic = positive(fields, "arithmetic");
    dies.cache = positive(fields, "cache");
    if (dies.arithmetic + dies.cache >= 1) fields.fail("cache", "leaves nothing for what is else");
    out.dies = dies;
  }
  out.within = positive(fields, "within");
  return out;
}

// Machines point at the other entries, which stay where they are when the vectors are moved.
void read_technologies(Technologies& out, Problems& problems) {
  each_of("memory", problems, [&](Fields& fields, const std::string& name) {
    out.memories.push_back(read_memory(fields, name));
  });
  each_of("links", problems, [&](Fields& fields, const std::string& name) {
    out.links.push_back(read_link(fields, name));
  });
  each_of("nodes", problems, [&](Fields& fields, const std::string& name) {
    out.nodes.push_back(read_node(fields, name));
  });
  each_of("packages", problems, [&](Fields& fields, const std::string& name) {
    out.packages.push_back({name, positive(fields, "wires_per_mm"), price_of(fields)});
  });
  each_of("machines", problems, [&](Fields& fields, const std::string& name) {
    out.machines.push_back(read_machine(fields, name, out));
  });
}

}  // namespace

const Result<Technologies>& technologies() {
  static const Result<Technologies> read = []() -> Result<Technologies> {
    Technologies out;
    Problems problems;
    read_technologies(out, problems);
    if (!problems.empty()) return problems;
    return Result<Technologies>(std::move(out));  // moved, not copied: machines point into it
  }();
  return read;
}

const MachineParts* parts_of(const Technologies& of, const Accelerator& accelerator) {
  for (const MachineParts& parts : of.machines) {
    if (parts.accelerator == accelerator.name) return &parts;
  }
  return nullptr;
}

}  // namespace headway
