#include "simulate/collectives/placement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "simulate/network/traffic.hpp"

namespace headway::network {
namespace {

constexpr double kSame = 1e-12;

// The links of a message between two actors.
class Ways {
 public:
  explicit Ways(const Topology& on) : on_(on) {}

  const std::vector<LinkId>& of(std::uint32_t from, std::uint32_t to) {
    links_.clear();
    on_.route(from % on_.ranks, to % on_.ranks, links_);
    return links_;
  }

 private:
  const Topology& on_;
  std::vector<LinkId> links_;
};

// Messages of one kind of step, their links one behind the other.
struct Step {
  std::vector<Message> messages;
  std::vector<std::uint32_t> begins;  // of each message's links, and the end
  std::vector<LinkId> links;
  std::vector<std::uint32_t> senders;

  Route route(std::size_t message) const {
    return {links.data() + begins[message], links.data() + begins[message + 1]};
  }
};

Step step_of(const Pattern& pattern, std::uint32_t kind, Ways& ways) {
  Step out;
  out.begins.push_back(0);
  for (std::uint32_t actor = 0; actor < pattern.actors; ++actor) {
    const std::size_t before = out.messages.size();
    pattern.sends(actor, kind, out.messages);
    for (std::size_t m = before; m < out.messages.size(); ++m) {
      out.senders.push_back(actor);
      const auto& way = ways.of(actor, out.messages[m].to);
      out.links.insert(out.links.end(), way.begin(), way.end());
      out.begins.push_back(static_cast<std::uint32_t>(out.links.size()));
    }
  }
  return out;
}

// The time of all messages of a step where equal shares of links show that it is one.
std::optional<double> by_equal_shares(const Step& step, const Topology& on) {
  std::vector<std::uint32_t> on_link(on.links.size());
  for (const LinkId link : step.links) ++on_link[link];
  const auto share = [&](LinkId link) { return on.links[link].capacity.value() / on_link[link]; };
  double least = kUnbounded.value();
  for (const LinkId link : step.links) least = std::min(least, share(link));
  std::optional<double> out;
  for (std::size_t m = 0; m < step.messages.size(); ++m) {
    double latency = 0;
    bool held = false;
    for (const LinkId link : step.route(m)) {
      latency += on.links[link].latency.value();
      held = held || share(link) == least;
    }
    const double bytes = step.messages[m].bytes;
    if (!held && bytes > 0) return std::nullopt;
    const double time = latency + (bytes > 0 ? bytes / least : 0);
    if (out && *out != time) return std::nullopt;
    out = time;
  }
  return out;
}

// The same by placing them, all begun at once.
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

bool all_take_part(const Step& step, std::uint32_t actors) {
  std::vector<bool> part(actors, false);
  for (std::size_t m = 0; m < step.messages.size(); ++m) {
    part[step.senders[m]] = part[step.messages[m].to] = true;
  }
  return std::all_of(part.begin(), part.end(), [](bool each) { return each; });
}

std::optional<PlacedPattern> by_classes(const Pattern& pattern, const Topology& on) {
  PlacedPattern out{.by_classes = true};
  Ways ways(on);
  std::vector<double> times;
  double time = 0;
  for (const std::uint32_t kind : pattern.kinds) {
    if (kind >= times.size()) times.resize(kind + 1, -1);
    if (times[kind] < 0) {
      const Step step = step_of(pattern, kind, ways);
      if (!all_take_part(step, pattern.actors)) return std::nullopt;
      auto found = by_equal_shares(step, on);
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

// Each actor's next step, and what of it and of later ones is under way or has come already.
class EveryRank {
 public:
  EveryRank(const Pattern& pattern, const Topology& on)
      : pattern_(pattern), ways_(on), traffic_(on.links), actors_(pattern.actors) {}

  PlacedPattern placed() {
    receives_.resize(pattern_.kinds.empty()
                         ? 0
                         : *std::max_element(pattern_.kinds.begin(), pattern_.kinds.end()) + 1);
    for (std::uint32_t actor = 0; actor < pattern_.actors; ++actor) go_on(actor);
    Seconds end(0);
    for (;;) {
      const auto& ended = traffic_.advance();
      if (ended.empty()) break;
      end = traffic_.now();
      for (const std::uint64_t tag : ended) arrive(tag);
    }
    return {.time = end, .messages = messages_};
  }

 private:
  struct Actor {
    std::uint32_t step = 0;
    std::int32_t waits_for = 0;  // messages of this step, both ways
    bool begun = false;
    std::vector<std::uint32_t> early;  // steps of messages that came before theirs
  };

  // How many messages each actor receives in steps of a kind.
  const std::vector<std::uint32_t>& receives(std::uint32_t kind) {
    std::vector<std::uint32_t>& out = receives_[kind];
    if (!out.empty()) return out;
    out.assign(pattern_.actors, 0);
    for (std::uint32_t actor = 0; actor < pattern_.actors; ++actor) {
      sent_.clear();
      pattern_.sends(actor, kind, sent_);
      for (const Message& each : sent_) ++out[each.to];
    }
    return out;
  }

  // Begins steps until one has something to wait for.
  void go_on(std::uint32_t index) {
    for (Actor& actor = actors_[index]; actor.step < pattern_.steps(); ++actor.step) {
      if (actor.begun) {
        if (actor.waits_for > 0) return;
        actor.begun = false;
        continue;
      }
      const std::uint32_t kind = pattern_.kinds[actor.step];
      actor.waits_for = static_cast<std::int32_t>(receives(kind)[index]);
      if (!actor.early.empty()) {
        actor.waits_for -= static_cast<std::int32_t>(std::erase(actor.early, actor.step));
      }
      actor.begun = true;
      sent_.clear();
      pattern_.sends(index, kind, sent_);
      actor.waits_for += static_cast<std::int32_t>(sent_.size());
      for (const Message& each : sent_) send(index, actor.step, each);
      if (actor.waits_for > 0) return;
      actor.begun = false;
    }
  }

  void send(std::uint32_t from, std::uint32_t step, const Message& message) {
    std::uint32_t flight = 0;
    if (free_.empty()) {
      flight = static_cast<std::uint32_t>(flights_.size());
      flights_.emplace_back();
    } else {
      flight = free_.back();
      free_.pop_back();
    }
    flights_[flight] = {from, message.to, step};
    traffic_.add({.demand = {.route = ways_.of(from, message.to)},
                  .bytes = Bytes(message.bytes),
                  .start = traffic_.now(),
                  .delay = Seconds(0),
                  .tag = flight});
    ++messages_;
  }

  void arrive(std::uint64_t tag) {
    const Flight flight = flights_[tag];
    free_.push_back(static_cast<std::uint32_t>(tag));
    Actor& receiver = actors_[flight.to];
    const bool now = receiver.begun && receiver.step == flight.step;
    if (now) {
      --receiver.waits_for;
    } else {
      receiver.early.push_back(flight.step);
    }
    --actors_[flight.from].waits_for;
    if (now && flight.to != flight.from) go_on(flight.to);
    go_on(flight.from);
  }

  struct Flight {
    std::uint32_t from = 0, to = 0, step = 0;
  };

  const Pattern& pattern_;
  Ways ways_;
  Traffic traffic_;
  std::vector<Actor> actors_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;
  std::vector<std::vector<std::uint32_t>> receives_;
  std::vector<Message> sent_;
  std::uint64_t messages_ = 0;
};

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
  return sends_too_many(pattern) ? PlacedPattern{.too_many = true}
                                 : EveryRank(pattern, on).placed();
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
