#include "simulate/collectives/steps.hpp"

namespace headway::network {

Step step_of(const Pattern& pattern, std::uint32_t kind, const Topology& on) {
  Step out;
  out.receives.resize(pattern.actors);
  out.begins.push_back(0);
  for (std::uint32_t actor = 0; actor < pattern.actors; ++actor) {
    const std::size_t before = out.messages.size();
    out.first_of.push_back(static_cast<std::uint32_t>(before));
    pattern.sends(actor, kind, out.messages);
    for (std::size_t m = before; m < out.messages.size(); ++m) {
      const std::uint32_t to = out.messages[m].to;
      out.senders.push_back(actor);
      ++out.receives[to];
      on.route(actor % on.ranks, to % on.ranks, out.links);
      out.begins.push_back(static_cast<std::uint32_t>(out.links.size()));
    }
  }
  out.first_of.push_back(static_cast<std::uint32_t>(out.messages.size()));
  return out;
}

}  // namespace headway::network
