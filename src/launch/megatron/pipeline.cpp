// Layers of pipeline stages in Megatron-LM's arguments.
#include <algorithm>

#include "base/text.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

// Most pipeline chunks and layers of a layout: hostile input repeats.
constexpr std::size_t kLongestLayout = 100'000;

// Unrolls "x*3" and "(xy)*3"; nothing where the text is no layout.
class Unroller {
 public:
  explicit Unroller(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    std::string out = sequence(0);
    if (!fine_ || at_ != text_.size()) return std::nullopt;
    return out;
  }

 private:
  std::string sequence(int depth) {
    std::string out;
    while (fine_ && at_ < text_.size() && text_[at_] != ')') {
      const char c = text_[at_++];
      if (c == ',' || c == ' ') continue;
      std::string item(1, c);
      if (c == '(' && depth < 16) {
        item = sequence(depth + 1);
        fine_ = fine_ && at_ < text_.size();
        ++at_;
      } else if (std::string_view("EtmL|").find(c) == std::string_view::npos) {
        fine_ = false;
      }
      std::size_t times = 1;
      if (fine_ && at_ < text_.size() && text_[at_] == '*') times = natural();
      if (!fine_ || out.size() + item.size() * times > kLongestLayout) return fine_ = false, out;
      for (std::size_t i = 0; i < times; ++i) out += item;
    }
    return out;
  }

  std::size_t natural() {
    std::size_t value = 0;
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' &&
           value <= kLongestLayout) {
      value = 10 * value + static_cast<std::size_t>(text_[at_++] - '0');
    }
    fine_ = at_ > begin && value <= kLongestLayout;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

}  // namespace

std::optional<std::vector<std::int64_t>> layers_of_layout(std::string_view text) {
  const auto unrolled = Unroller(text).run();
  if (!unrolled) return std::nullopt;
  std::vector<std::int64_t> out = {0};
  for (const char c : *unrolled) {
    if (c == '|') out.push_back(0);
    if (c == 't') ++out.back();
  }
  return out;
}

void read_pipeline(const MegatronArguments& arguments, RunRequest& fields, Problems& problems) {
  const std::int64_t layers =
      std::clamp<std::int64_t>(arguments.count("--num-layers").value_or(0), 0, kMostLayers);
  const std::int64_t pp = std::clamp<std::int64_t>(
      arguments.count("--pipeline-model-parallel-size").value_or(1), 1, kMostLayers);
  const auto place = [&](std::string_view option) {
    return arguments.where(*arguments.find(option));
  };
  const auto add = [&](const char* field, std::int64_t value, std::string_view option) {
    fields.push_back({field, std::to_string(value), place(option)});
  };
  constexpr std::string_view kLayout = "--pipeline-model-parallel-layout";
  if (arguments.has(kLayout)) {
    const auto counts = layers_of_layout(arguments.text(kLayout));
    const auto fail = [&](const std::string& message) {
      problems.push_back({place(kLayout), message});
    };
    if (!counts) return fail("is no layout of stages, as \"Et*3|t*4|t*3L\"");
    const auto stages = static_cast<std::int64_t>(counts->size());
    if (stages % pp != 0) {
      return fail("has " + std::to_string(stages) +
                  " stages; must be a multiple of --pipeline-model-parallel-size, " +
                  std::to_string(pp));
    }
    const auto layout = spread_of(*counts, layers, pp);
    if (!layout) return fail("spreads layers in a way that Headway has no fields for");
    add("vpp", layout->vpp, kLayout);
    add("embedding-slots", layout->embedding_slots, kLayout);
    add("head-slots", layout->head_slots, kLayout);
    if (layout->first_stage_layers > 0) {
      add("first-stage-layers", layout->first_stage_layers, kLayout);
      add("last-stage-layers", layout->last_stage_layers, kLayout);
    }
    return;
  }
  // DeepSpeed's: by the layers alone, its default in Megatron-DeepSpeed, or with embedding and
  // head.
  constexpr std::string_view kPartition = "--pp-partition-method";
  const std::string partition = lower(arguments.text(kPartition));
  if (partition == "type:transformer|embedding" || partition == "type:embedding|transformer") {
    if (pp > 1) add("embedding-slots", 1, kPartition);
    if (pp > 1) add("head-slots", 1, kPartition);
  } else if (!partition.empty() && partition != "type:transformer" && pp > 1) {
    problems.push_back({place(kPartition),
                        "'" + printable(partition) +
                            "' spreads layers in a way that Headway has no fields for; legal: "
                            "type:transformer, type:transformer|embedding",
                        Trouble::unsupported});
  }
  std::int64_t slots = layers;
  for (const auto& [option, field] :
       {std::pair{"--account-for-embedding-in-pipeline-split", "embedding-slots"},
        std::pair{"--account-for-loss-in-pipeline-split", "head-slots"}}) {
    if (!arguments.has(option)) continue;
    add(field, 1, option);
    ++slots;
  }
  constexpr std::string_view kStages = "--num-virtual-stages-per-pipeline-rank";
  constexpr std::string_view kLayers = "--num-layers-per-virtual-pipeline-stage";
  if (arguments.has(kStages)) {
    fields.push_back({"vpp", arguments.text(kStages), place(kStages)});
  } else if (arguments.has(kLayers)) {
    const std::int64_t each = arguments.count(kLayers).value_or(0);
    if (each < 1 || slots % pp != 0 || slots / pp % each != 0) {
      problems.push_back({place(kLayers), "must divide the " + std::to_string(slots) +
                                              " layers over " + std::to_string(pp) + " stages"});
    } else {
      add("vpp", slots / pp / each, kLayers);
    }
  }
  constexpr std::string_view kFirst = "--decoder-first-pipeline-num-layers";
  constexpr std::string_view kLast = "--decoder-last-pipeline-num-layers";
  if ((!arguments.has(kFirst) && !arguments.has(kLast)) || pp < 2) return;
  // The stages between share what the given ones leave; an end that is not given is one of them.
  std::int64_t rest = layers, others = pp;
  for (const std::string_view option : {kFirst, kLast}) {
    if (!arguments.has(option)) continue;
    rest -= arguments.count(option).value_or(0);
    --others;
  }
  const std::int64_t even = others > 0 ? rest / others : 0;
  add("first-stage-layers", arguments.count(kFirst).value_or(even),
      arguments.has(kFirst) ? kFirst : kLast);
  add("last-stage-layers", arguments.count(kLast).value_or(even),
      arguments.has(kLast) ? kLast : kFirst);
}

}  // namespace headway::launch
