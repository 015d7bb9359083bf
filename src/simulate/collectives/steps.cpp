#include "simulate/collectives/steps.hpp"

#include <algorithm>

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

bool Step::all_take_part() const {
  for (std::size_t actor = 0; actor < receives.size(); ++actor) {
    if (receives[actor] == 0 && first_of[actor] == first_of[actor + 1]) return false;
  }
  return true;
}

EqualShares::EqualShares(const Topology& on) {
  links_.reserve(on.links.size());
  for (const Link& link : on.links) {
    links_.push_back({link.capacity.value(), link.latency.value(), 0, 0});
  }
}

std::optional<double> EqualShares::time(const Step& step) {
  for (const LinkId link : step.links) links_[link].messages = 0;
  for (const LinkId link : step.links) ++links_[link].messages;
  double least = kUnbounded.value();
  for (const LinkId id : step.links) {
    OfLink& link = links_[id];
    link.share = link.capacity / link.messages;
    least = std::min(least, link.share);
  }
  std::optional<double> out;
  for (std::size_t m = 0; m < step.messages.size(); ++m) {
    double latency = 0;
    bool held = false;
    for (const LinkId id : step.route(m)) {
      latency += links_[id].latency;
      held = held || links_[id].share == least;
    }
    const double bytes = step.messages[m].bytes;
    if (!held && bytes > 0) return std::nullopt;
    const double took = latency + (bytes > 0 ? bytes / least : 0);
    if (out && *out != took) return std::nullopt;
    out = took;
  }
  return out;
}

}  // namespace headway::network
