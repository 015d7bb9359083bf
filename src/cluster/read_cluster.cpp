#include <algorithm>
#include <string>

#include "base/document/sources.hpp"
#include "base/text.hpp"
#include "cluster/read.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostAccelerators = 1'000'000'000;
constexpr BytesPerSecond kWidestLink{1e15};  // far above any link: a slip of the unit
const std::vector<std::string> kTopologies = {"switched", "ring", "torus", "mesh"};

// A level and the fields that wait for the size of the level below.
struct Draft {
  Level level;
  Fields fields;
  BytesPerSecond nic_bandwidth;
  bool port_stated = false;
};

Topology read_topology(Fields& fields) {
  const std::string name = fields.text_or("topology", "switched");
  const auto found = std::find(kTopologies.begin(), kTopologies.end(), name);
  if (found != kTopologies.end()) return static_cast<Topology>(found - kTopologies.begin());
  fields.fail("topology",
              "'" + printable(name) + "' is not a topology" + suggestion(name, kTopologies));
  return Topology::switched;
}

BytesPerSecond bandwidth(Fields& fields, std::string_view key) {
  const auto value = fields.quantity_or<BytesPerSecond>(key, BytesPerSecond());
  if (value > kWidestLink) fields.fail(key, "is beyond any link; is the unit right?");
  return value;
}

// `node` is the table that `fields` reads.
Draft read_level(const std::string& name, Fields fields, const Node* node,
                 const std::string& file) {
  Draft draft{Level(), std::move(fields), BytesPerSecond(), false};
  Fields& in = draft.fields;
  Level& level = draft.level;
  level.name = name;
  level.network = in.text("network");
  level.size = in.count("size");
  if (level.size > kMostAccelerators) {
    in.fail("size", "is more than " + std::to_string(kMostAccelerators) + " accelerators");
    level.size = 0;
  }
  level.usable = in.count_or("usable", 0);
  if (level.usable > level.size && level.size > 0) in.fail("usable", "is more than size");
  level.topology = read_topology(in);
  draft.port_stated = in.has("port_bandwidth");
  level.bandwidth = bandwidth(in, "bandwidth");
  level.port_bandwidth = bandwidth(in, "port_bandwidth");
  level.nics = in.count_or("nics", 0);
  draft.nic_bandwidth = bandwidth(in, "nic_bandwidth");
  if (in.has("bandwidth") == in.has("nics")) {
    in.fail("bandwidth",
            in.has("nics") ? "and nics exclude each other: state one of them"
                           : "is missing; state it, or nics and nic_bandwidth",
            Trouble::missing);
  }
  if (in.has("nics") != in.has("nic_bandwidth")) {
    in.fail(in.has("nics") ? "nic_bandwidth" : "nics", "is missing beside its partner",
            Trouble::missing);
  }
  level.latency = in.quantity<Seconds>("latency");
  if (level.latency > Seconds(10)) in.fail("latency", "is more than 10 s");
  level.oversubscription = in.number_or("oversubscription", 1);
  if (level.oversubscription < 1 || level.oversubscription > 1000) {
    in.fail("oversubscription", "must be from 1 (none) to 1000");
  }
  level.in_network_reduction = in.flag_or("in_network_reduction", false);
  level.nics_on_processor = in.flag_or("nics_on_processor", false);
  level.dimensions = in.naturals_or_empty("dimensions");
  if (in.has("constants")) {
    in.table("constants");  // a problem where it is none; its fields are read with their class
    level.constants = {file, *node->find("constants")};
  }
  in.reject_unknown();
  return draft;
}

// Checks and completes a level once the number of accelerators in a domain below it is known.
void complete(Draft& draft, std::int64_t below) {
  Level& level = draft.level;
  Fields& in = draft.fields;
  if (level.size <= 0 || below <= 0) return;  // already reported
  if (level.size % below != 0) {
    in.fail("size", "is " + std::to_string(level.size) + ", which the level below (" +
                        std::to_string(below) + " accelerators) does not divide");
  }
  if (level.nics > 0) {
    // All accelerators of a domain share its NICs; one alone can drive one NIC, or its whole share
    // where it has several.
    const double share = static_cast<double>(level.nics) / static_cast<double>(below);
    level.bandwidth = draft.nic_bandwidth * share;
    if (!draft.port_stated) {
      level.port_bandwidth = std::max(draft.nic_bandwidth, level.bandwidth);
    }
  } else if (!draft.port_stated) {
    level.port_bandwidth = level.bandwidth;
  }
  if (level.port_bandwidth < level.bandwidth) {
    in.fail("port_bandwidth", "is less than bandwidth, what each gets when all send");
  }
  if (level.topology == Topology::torus && level.dimensions.empty()) {
    in.fail("dimensions", "is missing; a torus needs its extents, e.g. [16, 16]", Trouble::missing);
  }
  if (!level.dimensions.empty()) {
    std::int64_t product = 1;
    for (const std::int64_t extent : level.dimensions) {
      if (extent < 1 || product > kMostAccelerators / extent) {
        product = 0;
        break;
      }
      product *= extent;
    }
    if (product != level.size / below) {
      in.fail("dimensions", "must multiply to " + std::to_string(level.size / below) +
                                ", the domains of the level below in one of this");
    }
  }
}

std::vector<Level> read_levels(Fields& fields, const Document& document) {
  Fields tables = fields.table("levels", true);
  std::vector<Draft> drafts;
  for (const std::string& name : tables.keys()) {
    const Node* node = document.root.find("levels")->find(name);
    drafts.push_back(read_level(name, tables.table(name), node, document.file));
  }
  // From the package outwards, wherever they stand in the file or its base.
  std::stable_sort(drafts.begin(), drafts.end(),
                   [](const Draft& a, const Draft& b) { return a.level.size < b.level.size; });
  std::int64_t below = 1;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (i > 0 && drafts[i].level.size == drafts[i - 1].level.size && drafts[i].level.size > 0) {
      drafts[i].fields.fail("size", "is the same as that of level '" +
                                        printable(drafts[i - 1].level.name) +
                                        "'; each level must be larger than the one inside it");
    }
    complete(drafts[i], below);
    below = drafts[i].level.size;
  }
  if (fields.has("levels") && (drafts.size() < 2 || drafts.size() > kMostLevels)) {
    fields.fail("levels", "has " + std::to_string(drafts.size()) + " levels; needs 2 to " +
                              std::to_string(kMostLevels) + ", e.g. node and fabric");
  }
  std::vector<Level> levels;
  for (Draft& draft : drafts) levels.push_back(std::move(draft.level));
  return levels;
}

}  // namespace

Result<Cluster> read_cluster(const Document& document, const std::string& name,
                             const Result<Accelerator>& accelerator) {
  Problems problems;
  Fields fields(document, problems);
  Cluster out;
  out.name = fields.text_or("name", name);
  out.title = fields.text_or("title", out.name);
  if (accelerator) {
    out.accelerator = *accelerator;
  } else {
    append(problems, accelerator.problems());
  }
  // Read by the caller; asked for here so that it is known.
  if (fields.has("accelerator") && document.root.find("accelerator")->table() != nullptr) {
    fields.table("accelerator");
  } else {
    fields.text("accelerator");
  }
  out.levels = read_levels(fields, document);
  if (!out.levels.empty()) out.accelerators = out.levels.back().size;
  out.price_per_accelerator_hour = fields.number_or("price_per_accelerator_hour", 0);
  if (out.price_per_accelerator_hour < 0 || out.price_per_accelerator_hour > 1e6) {
    fields.fail("price_per_accelerator_hour", "must be from 0 (not stated) to 10^6 US dollars");
  }
  out.power_usage_effectiveness = fields.number_or("power_usage_effectiveness", 1.2);
  if (out.power_usage_effectiveness < 1 || out.power_usage_effectiveness > 10) {
    fields.fail("power_usage_effectiveness", "must be from 1 to 10");
  }
  out.host_power_per_accelerator = fields.quantity_or<Watts>("host_power_per_accelerator", Watts());
  if (out.host_power_per_accelerator > Watts(1e6)) {
    fields.fail("host_power_per_accelerator", "is beyond any machine; is the unit right?");
  }
  out.source = read_sources(fields, document, problems);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
