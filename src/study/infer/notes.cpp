// What a reader of results should know of them.
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/infer/load/lengths.hpp"
#include "study/infer/parts.hpp"

namespace headway {

std::vector<std::string> unmeasured(const Serving& serving, const ServingConstants& constants) {
  std::vector<std::string> out;
  const Accelerator& accelerator = serving.cluster.accelerator;
  const std::string& architecture = accelerator.architecture;
  const auto say = [&](const std::string& what) {
    out.push_back(what + " were not measured on " + architecture +
                  ": its data sheet, with what others reach of theirs");
  };
  if (!kernels_measured(accelerator)) say("products and passes over memory");
  if (!constants.kernels.measured) {
    say("attention over a cache, small all-reduces and experts");
  }
  if (!serving.engine.layer.contains(architecture)) {
    out.push_back("what " + serving.engine.name + "'s host takes was not measured on " +
                  architecture + ": as elsewhere, kernels as late as they start there");
  }
  if (!constants.sparse.measured && chooses_keys(serving.model)) {
    say("kernels of attention over chosen keys");
  }
  if (serving.stored == nullptr) return out;
  const auto& products = constants.formats.products;
  const bool experts = has_experts(serving.model);
  const bool dense = is_stored(*serving.stored, serving.model, false);
  const bool measured = (!dense || products.at(serving.stored->dense).measured) &&
                        (!experts || products.at(serving.stored->experts).measured);
  if (!measured) {
    say("products of " + serving.stored->name + " weights");
  }
  return out;
}

namespace {

// [INFER-41]
std::string no_room_for_graphs(const Serving& serving, const Load& load) {
  const ServingMemory memory = memory_of(serving, load);
  const Bytes left = serving.cluster.accelerator.memory - memory.capacity;
  if (memory.graphs <= left) return {};
  return "graphs take " + to_text(memory.graphs) + " beside what the engine takes, which leaves " +
         to_text(left) + ": it stops at its start unless it takes less or replays none (--eager)";
}

}  // namespace

std::vector<std::string> notes_of(const Serving& serving, const ServingConstants& constants,
                                  const Load& load) {
  std::vector<std::string> out = serving.model.notes;
  for (std::string& note : unmeasured(serving, constants)) out.push_back(std::move(note));
  if (std::string said = no_room_for_graphs(serving, load); !said.empty()) {
    out.push_back(std::move(said));
  }
  if (serving.eager) {
    out.emplace_back(
        "no row that was measured here decodes without graphs: what launches take is of five "
        "published pairs, 23 % off in the median and up to 49");
  }
  if (const double cut = share_cut(load); cut > 0) {
    out.push_back(formatted("%.2g", 100 * cut) + " % of what is drawn is longer than the model's " +
                  count_text(static_cast<double>(load.longest)) + " positions, and is cut there");
  }
  return out;
}

}  // namespace headway
