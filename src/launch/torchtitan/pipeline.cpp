#include "launch/torchtitan/pipeline.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/document.hpp"

namespace headway::launch {
namespace {

constexpr std::string_view kHere = "parallelism";
constexpr std::string_view kSplitPoints = "pipeline_parallel_split_points";

// The layer of "layers.3"; nothing where the module is no layer.
std::optional<std::int64_t> layer_of(std::string_view module) {
  constexpr std::string_view kLayer = "layers.";
  if (!module.starts_with(kLayer)) return std::nullopt;
  return whole_number(module.substr(kLayer.size()));
}

class PipelineReader : DocumentReader {
 public:
  PipelineReader(const Document& document, std::int64_t layers, bool early, Problems& problems)
      : DocumentReader(document, problems), layers_(layers), early_(early) {}

  LaunchRequest read() {
    pp_ = degree(kHere, "pipeline_parallel_degree", 1);
    if (pp_ <= 1) return std::move(out_);
    micro_batch();
    stages(schedule());
    return std::move(out_);
  }

 private:
  // Early releases state how many micro-batches a local batch is cut into, by default as many as
  // there are stages; later ones how large they are.
  void micro_batch() {
    constexpr std::string_view kSize = "pipeline_parallel_microbatch_size";
    constexpr std::string_view kCount = "pipeline_parallel_microbatches";
    const bool counted = find(kHere, kCount) != nullptr;
    if (!counted && (!early_ || find(kHere, kSize) != nullptr)) {
      return add("micro-batch", std::to_string(degree(kHere, kSize, 1)), kHere, kSize);
    }
    const bool today = find("training", "local_batch_size") != nullptr;
    const std::int64_t local = degree("training", today ? "local_batch_size" : "batch_size", 8);
    const auto points = static_cast<std::int64_t>(split_points().size());
    const std::int64_t batches = degree(kHere, kCount, std::max(pp_, points + 1));
    if (batches < 1 || local % batches != 0) {
      return fail(kHere, kCount,
                  "must divide the local batch of " + std::to_string(local) + "; it is " +
                      std::to_string(batches));
    }
    add("micro-batch", std::to_string(local / batches), kHere, kCount);
  }

  // The virtual stages of a rank where nothing else says them.
  std::int64_t schedule() {
    constexpr std::string_view kSchedule = "pipeline_parallel_schedule";
    const std::string schedule = text(kHere, kSchedule);
    const std::string known = lower(schedule.empty() ? "1F1B" : schedule);
    if (known == "gpipe") {
      add("schedule", "gpipe", kHere, kSchedule);
    } else if (known == "zbvzerobubble") {
      add("schedule", "zero-bubble-v", kHere, kSchedule);
      folded_ = true;
    } else if (known == "dualpipev") {
      add("schedule", "dual-pipe-v", kHere, kSchedule);
      folded_ = true;
    } else if (known == "loopedbfs") {
      add("schedule", "breadth-first", kHere, kSchedule);
      return 2;
    } else if (known == "interleaved1f1b" || known == "interleaved_1f1b") {
      return 2;
    } else if (known != "1f1b") {
      add("schedule", schedule, kHere, kSchedule);
    }
    return 1;
  }

  void stages(std::int64_t vpp) {
    constexpr std::string_view kParts = "module_fqns_per_model_part";
    constexpr std::string_view kFirst = "pipeline_parallel_first_stage_less_layers";
    constexpr std::string_view kLast = "pipeline_parallel_last_stage_less_layers";
    constexpr std::string_view kEach = "pipeline_parallel_layers_per_stage";
    if (const Node* parts = find(kHere, kParts)) return spread(kParts, layers_of(*parts));
    if (find(kHere, kSplitPoints) != nullptr && !split_points().empty()) {
      return spread(kSplitPoints, layers_between(split_points()));
    }
    const std::int64_t before = degree(kHere, kFirst, 1), behind = degree(kHere, kLast, 1);
    add("embedding-slots", std::to_string(before), kHere, kFirst);
    add("head-slots", std::to_string(behind), kHere, kLast);
    const std::int64_t each = degree(kHere, kEach, 0);
    if (each > 0 && layers_ > 0 && vpp > 1) {
      const std::int64_t stages = (layers_ + before + behind + each - 1) / each;
      if (stages % pp_ != 0) {
        return fail(
            kHere, kEach,
            "makes " + std::to_string(stages) + " stages; must be a multiple of " + to_text());
      }
      vpp = stages / pp_;
    }
    if (vpp > 1) add("vpp", std::to_string(vpp), kHere, "pipeline_parallel_schedule");
  }

  // Lists of modules: how many of each are layers.
  static std::vector<std::int64_t> layers_of(const Node& parts) {
    std::vector<std::int64_t> counts;
    if (parts.array() == nullptr) return counts;
    for (const Node& part : *parts.array()) {
      counts.push_back(0);
      if (part.array() == nullptr) continue;
      for (const Node& module : *part.array()) {
        if (layer_of(scalar_text(module))) ++counts.back();
      }
    }
    return counts;
  }

  // "layers.2, layers.4", or a list of such names: where all stages but the first begin.
  std::vector<std::int64_t> split_points() const {
    const Node* node = find(kHere, kSplitPoints);
    if (node == nullptr) return {};
    std::string names = scalar_text(*node);
    if (const Node::Array* array = node->array()) {
      for (const Node& one : *array) names += scalar_text(one) + ",";
    }
    std::vector<std::int64_t> out;
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t begin = names.find_first_not_of(", ", at);
      if (begin == std::string::npos) break;
      at = std::min(names.find_first_of(", ", begin), names.size());
      out.push_back(layer_of(std::string_view(names).substr(begin, at - begin)).value_or(-1));
    }
    return out;
  }

  std::vector<std::int64_t> layers_between(const std::vector<std::int64_t>& points) const {
    std::vector<std::int64_t> counts;
    std::int64_t begin = 0;
    for (const std::int64_t point : points) {
      counts.push_back(point - begin);
      begin = point;
    }
    counts.push_back(layers_ - begin);
    return counts;
  }

  // Layers on each stage, as the option `key` says.
  void spread(std::string_view key, const std::vector<std::int64_t>& counts) {
    const auto stages = static_cast<std::int64_t>(counts.size());
    if (stages == 0 || stages % pp_ != 0) {
      return fail(kHere, key, "must make stages for every rank, a multiple of " + to_text());
    }
    if (folded_ && stages != 2 * pp_) {
      return fail(kHere, key, "must make two stages for every rank, as the schedule has them");
    }
    const bool possible =
        std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count >= 0; });
    const auto layout = possible ? spread_of(counts, layers_, pp_) : std::nullopt;
    if (!layout) {
      return fail(kHere, key, "spreads layers in a way that Headway has no fields for");
    }
    if (!folded_) add("vpp", std::to_string(layout->vpp), kHere, key);
    add("embedding-slots", std::to_string(layout->embedding_slots), kHere, key);
    add("head-slots", std::to_string(layout->head_slots), kHere, key);
    if (layout->first_stage_layers == 0) return;
    add("first-stage-layers", std::to_string(layout->first_stage_layers), kHere, key);
    add("last-stage-layers", std::to_string(layout->last_stage_layers), kHere, key);
  }

  std::string to_text() const { return std::to_string(pp_); }

  std::int64_t layers_;
  bool early_;
  bool folded_ = false;  // the schedule places two stages on each rank itself
  std::int64_t pp_ = 1;
};

}  // namespace

LaunchRequest pipeline_fields(const Document& document, std::int64_t layers, bool early,
                              Problems& problems) {
  return PipelineReader(document, layers, early, problems).read();
}

}  // namespace headway::launch
