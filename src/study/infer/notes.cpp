// What a reader of results should know of them.
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/infer/load/lengths.hpp"
#include "study/infer/parts.hpp"

namespace headway {

std::vector<std::string> unmeasured(const Serving& serving, const ServingConstants& constants) {
  std::vector<std::string> out;
  const std::string& architecture = serving.cluster.accelerator.architecture;
  if (!constants.kernels.measured) {
    out.push_back("attention over a cache, small all-reduces and experts were not measured on " +
                  architecture + ": its data sheet, with what others reach of theirs");
  }
  if (!constants.sparse.measured && chooses_keys(serving.model)) {
    out.push_back("attention over chosen keys was not measured on " + architecture +
                  ": its data sheet, with what others reach of theirs");
  }
  if (serving.stored == nullptr) return out;
  const auto& products = constants.formats.products;
  const bool experts = has_experts(serving.model);
  const bool dense = is_stored(*serving.stored, serving.model, false);
  const bool measured = (!dense || products.at(serving.stored->dense).measured) &&
                        (!experts || products.at(serving.stored->experts).measured);
  if (!measured) {
    out.push_back("products of " + serving.stored->name + " weights were not measured on " +
                  architecture + ": its data sheet, with what others reach of theirs");
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
