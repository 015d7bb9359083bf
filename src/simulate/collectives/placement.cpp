#include "simulate/collectives/placement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "simulate/collectives/every_rank.hpp"
#include "simulate/collectives/steps.hpp"
#include "simulate/network/traffic.hpp"

namespace headway::network {
namespace {

constexpr double kSame = 1e-12;

// The time of all messages of a step, begun at once, where it is one.
std::optional<double> by_placing(const Step& step, const Topology& on) {
  Traffic traffic(on.links);
  for (std::size_t m = 0; m < step.messages.size(); ++m) {
    traffic.add({.demand = {.route = step.route(m)},
                 .bytes = Bytes(step.messages[m].bytes),
                 .start = Seconds(0),
                 .delay = Seconds(0),
                 .tag = m});
  }
  std::optional<double> first;
  while (!traffic.advance().empty()) {
    const double now = traffic.now().value();
    if (!first) first = now;
    if (now > *first * (1 + kSame)) return std::nullopt;
  }
  return first;
}

std::optional<PlacedPattern> by_classes(const Pattern& pattern, const Topology& on) {
  PlacedPattern out{.by_classes = true};
  EqualShares shares(on);
  std::vector<double> times;
  double time = 0;
  for (const std::uint32_t kind : pattern.kinds) {
    if (kind >= times.size()) times.resize(kind + 1, -1);
    if (times[kind] < 0) {
      const Step step = step_of(pattern, kind, on);
      if (!step.all_take_part()) return std::nullopt;
      auto found = shares.time(step);
      if (!found && step.messages.size() > kMostAtOnce) return PlacedPattern{.too_many = true};
      if (!found) found = by_placing(step, on);
      if (!found) return std::nullopt;
      times[kind] = *found;
      out.messages += step.messages.size();
    }
    time += times[kind];
  }
  out.time = Seconds(time);
  return out;
}

bool sends_too_many(const Pattern& pattern) {
  std::vector<Message> sent;
  for (std::size_t s = 0; s < pattern.steps(); ++s) {
    if (s > 0 && pattern.kinds[s] == pattern.kinds[s - 1]) continue;
    sent.clear();
    pattern.sends(0, pattern.kinds[s], sent);
    if (sent.size() > 8 && sent.size() * pattern.actors > kMostAtOnce) return true;
  }
  return false;
}

}  // namespace

PlacedPattern place(const Pattern& pattern, const Topology& on, bool every_rank) {
  if (!every_rank) {
    if (const auto found = by_classes(pattern, on)) return *found;
  }
  return sends_too_many(pattern) ? PlacedPattern{.too_many = true} : place_every_rank(pattern, on);
}

Bytes most_sent(const Pattern& pattern, std::uint32_t ranks) {
  std::vector<double> sent(ranks);
  std::vector<std::uint64_t> taken;
  for (const std::uint32_t kind : pattern.kinds) {
    if (kind >= taken.size()) taken.resize(kind + 1);
    ++taken[kind];
  }
  std::vector<Message> messages;
  for (std::uint32_t kind = 0; kind < taken.size(); ++kind) {
    for (std::uint32_t actor = 0; actor < pattern.actors; ++actor) {
      messages.clear();
      pattern.sends(actor, kind, messages);
      for (const Message& each : messages) {
        sent[actor % ranks] += each.bytes * static_cast<double>(taken[kind]);
      }
    }
  }
  return Bytes(sent.empty() ? 0 : *std::max_element(sent.begin(), sent.end()));
}

}  // namespace headway::network
