#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/document/sources.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "limits/machine/read.hpp"
#include "limits/machine/sites.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway::limits {
namespace {

constexpr int kDeepestBase = 8;  // a chain of bases longer than that is a circle
constexpr std::string_view kUnlimited = "unlimited";

// Far above any machine, the imagined ones too: larger values are slips of the unit.
constexpr FlopsPerSecond kFastest{1e24};
constexpr Bytes kLargest{1e18};
constexpr BytesPerSecond kWidest{1e18};
constexpr Seconds kSlowest{10};
constexpr std::int64_t kMostUnits = 1'000'000'000;

template <class Q>
void bounded(Fields& fields, std::string_view key, Q most, Q& value) {
  value = value > Q() ? fields.quantity_or<Q>(key, value) : fields.quantity<Q>(key);
  if (value <= most) return;
  fields.fail(key, "is beyond any machine (more than " + to_text(most) + "); is the unit right?");
  value = Q();
}

// The document laid over its base, if it names one.
Result<Document> with_base(Document document, const OpenMachine& open, int depth) {
  const Node* base = document.root.find("base");
  if (base == nullptr) return document;
  const Where where(document.file, base->line, FieldName("base"));
  const auto* name = std::get_if<std::string>(&base->value);
  if (name == nullptr || name->empty()) {
    return Problem{where, "must be the name of a machine, or a path, in quotes"};
  }
  if (depth >= kDeepestBase) {
    return Problem{where, "the chain of bases is deeper than " + std::to_string(kDeepestBase) +
                              " files; does a file name itself?"};
  }
  Result<Document> opened = open(*name, document.file, where);
  if (!opened) return opened.problems();
  Result<Document> below = with_base(std::move(opened).value(), open, depth + 1);
  if (!below) return below.problems();
  Node root = std::move(below.value().root);
  forget_lines(root);
  for (Node* node : {&root, &document.root}) {
    std::erase_if(std::get<Node::Table>(node->value), [&](const auto& member) {
      // What a machine is called and which cluster it idealises holds for no other.
      return member.first == "base" ||
             (node == &root && (member.first == "name" || member.first == "stands_for"));
    });
  }
  overlay(root, document.root);
  root.line = document.root.line;
  document.root = std::move(root);
  return document;
}

bool check_cluster(Fields& fields, std::string_view key, const std::string& name) {
  const std::vector<std::string> names = cluster_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  fields.fail(key, "'" + printable(name) + "' is not a known cluster" + suggestion(name, names),
              Trouble::unknown);
  return false;
}

// Accelerator and levels of a cluster in data/, as far as the study knows them.
void take_cluster(Fields& fields, Machine& out) {
  if (!fields.has("cluster")) {
    fields.text_or("cluster", "");
    return;
  }
  const std::string name = fields.text("cluster");
  if (!check_cluster(fields, "cluster", name)) return;
  const Result<Cluster> cluster = load_cluster(name);
  if (!cluster) return fields.fail("cluster", cluster.problems().front().message);
  const Accelerator& accelerator = cluster->accelerator;
  out.gpu.peak = accelerator.peak;
  out.gpu.compute_units = accelerator.compute_units;
  out.gpu.l2 = accelerator.cache;
  out.gpu.memory_bandwidth = accelerator.memory_bandwidth;
  out.gpu.memory = accelerator.memory;
  for (const headway::Level& level : cluster->levels) {
    out.levels.push_back({level.name, level.usable > 0 ? level.usable : level.size,
                          level.bandwidth / level.oversubscription, level.latency});
  }
}

void read_gpu(Fields& fields, Gpu& gpu) {
  Fields peak = fields.table("peak");
  for (int i = 0; i < kPrecisions; ++i) {
    if (peak.has(kPrecisionNames[i])) {
      bounded(peak, kPrecisionNames[i], kFastest, gpu.peak[i]);
    } else {
      peak.text_or(kPrecisionNames[i], "");
    }
  }
  peak.reject_unknown();
  const bool any = std::any_of(gpu.peak.begin(), gpu.peak.end(),
                               [](FlopsPerSecond rate) { return rate > FlopsPerSecond(); });
  if (!any && peak.keys().empty()) {
    fields.fail("peak",
                "is missing; state it for one precision at least, e.g. bf16 = \"989 TFLOP/s\"",
                Trouble::missing);
  }
  if (!fields.has("sustained")) fields.fail("sustained", "is missing", Trouble::missing);
  gpu.sustained = number_between(fields, "sustained", 1, 0.01, 1);
  gpu.compute_units = gpu.compute_units > 0 ? fields.count_or("compute_units", gpu.compute_units)
                                            : fields.count("compute_units");
  gpu.register_blocks = fields.count_or("register_blocks", gpu.register_blocks);
  for (const auto& [key, value] : {std::pair("compute_units", gpu.compute_units),
                                   std::pair("register_blocks", gpu.register_blocks)}) {
    if (value > kMostUnits) fields.fail(key, "is beyond any machine");
  }
  bounded(fields, "registers", kLargest, gpu.registers);
  bounded(fields, "shared_bandwidth", kWidest, gpu.shared_bandwidth);
  gpu.shared_between_units = fields.flag_or("shared_between_units", false);
  bounded(fields, "l2_bandwidth", kWidest, gpu.l2_bandwidth);
  bounded(fields, "l2", kLargest, gpu.l2);
  bounded(fields, "memory_bandwidth", kWidest, gpu.memory_bandwidth);
  bounded(fields, "memory", kLargest, gpu.memory);
  bounded(fields, "kernel_latency", kSlowest, gpu.kernel_latency);
}

void read_level(Fields fields, Level& level) {
  level.size = level.size > 0 ? fields.count_or("size", level.size) : fields.natural_or("size", 0);
  if (fields.has("bandwidth") && fields.text_or("bandwidth", "") == kUnlimited) {
    level.bandwidth = BytesPerSecond(std::numeric_limits<double>::infinity());
  } else {
    bounded(fields, "bandwidth", kWidest, level.bandwidth);
  }
  bounded(fields, "latency", kSlowest, level.latency);
  fields.reject_unknown();
}

void read_levels(Fields& fields, std::vector<Level>& levels, bool has_sites) {
  Fields tables = fields.table("levels", levels.empty());
  for (const std::string& name : tables.keys()) {
    auto level = std::find_if(levels.begin(), levels.end(),
                              [&](const Level& known) { return known.name == name; });
    if (level == levels.end()) {
      levels.emplace_back();
      level = levels.end() - 1;
      level->name = name;
    }
    read_level(tables.table(name), *level);
  }

  // The levels in use, from the inside outwards.
  const std::vector<std::string> use = fields.texts_or_empty("use_levels");
  std::vector<Level> used;
  for (const std::string& name : use) {
    const auto level = std::find_if(levels.begin(), levels.end(),
                                    [&](const Level& known) { return known.name == name; });
    if (level != levels.end()) {
      used.push_back(*level);
      continue;
    }
    std::vector<std::string> names;
    for (const Level& known : levels) names.push_back(known.name);
    fields.fail("use_levels", "'" + printable(name) + "' is not a level of this machine" +
                                  suggestion(name, names));
  }
  if (!use.empty()) levels = std::move(used);
  if (levels.empty() || levels.size() > static_cast<std::size_t>(kMostLevels)) {
    fields.fail("levels", "are " + std::to_string(levels.size()) + "; needs 1 to " +
                              std::to_string(kMostLevels));
  }
  std::int64_t inside = 1;
  const std::size_t sized = levels.size() - std::min(levels.size(), has_sites ? 2ul : 1ul);
  for (std::size_t i = 0; i < sized; ++i) {
    if (levels[i].size <= inside) {
      fields.fail("levels", "'" + printable(levels[i].name) + "' needs a size, in GPUs, above " +
                                std::to_string(inside) + ", what lies inside it");
    }
    inside = std::max(inside, levels[i].size);
  }
}

// Why nothing can be said of a machine of that name; empty: it is none of those.
std::string why_refused(const std::string& name) {
  const Result<Document> refused = embedded_document("limits/refused.toml");
  if (!refused) return {};
  const Node* entry = refused->root.find(name);
  const Node* why = entry != nullptr ? entry->find("why") : nullptr;
  const auto* text = why != nullptr ? std::get_if<std::string>(&why->value) : nullptr;
  return text != nullptr ? *text : std::string();
}

}  // namespace

Result<Document> open_embedded_machine(const std::string& name, const std::string&,
                                       const Where& where) {
  const std::string path = "limits/machines/" + name + ".toml";
  if (embedded_file(path)) return embedded_document(path);
  if (const std::string why = why_refused(name); !why.empty()) {
    return Problem{where, "'" + printable(name) + "' is refused: " + why, Trouble::unsupported};
  }
  return Problem{
      where, "'" + printable(name) + "' is not a known machine" + suggestion(name, machine_names()),
      Trouble::unknown};
}

Result<Machine> read_machine(const Document& document, const std::string& name,
                             const OpenMachine& open) {
  const Result<Document> whole = with_base(document, open, 0);
  if (!whole) return whole.problems();
  Problems problems;
  Fields fields(*whole, problems);
  Machine out;
  out.name = fields.text_or("name", name);
  out.title = fields.text_or("title", out.name);
  take_cluster(fields, out);
  out.stands_for = fields.text_or("stands_for", "");
  if (!out.stands_for.empty()) check_cluster(fields, "stands_for", out.stands_for);
  read_gpu(fields, out.gpu);
  out.sites = fields.natural_or("sites", 0);
  read_levels(fields, out.levels, out.sites > 0);
  if (out.sites > kMostSites) fields.fail("sites", "must be at most " + std::to_string(kMostSites));
  out.gpu.name = out.name;
  out.gpu.title = out.title;
  out.source = read_sources(fields, *whole, problems);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

Result<Machine> embedded_machine(const std::string& name) {
  const Result<Document> document = open_embedded_machine(name, "", "machine");
  if (!document) return document.problems();
  return read_machine(*document, name);
}

}  // namespace headway::limits
