#include "simulate/collectives/every_rank.hpp"

#include <algorithm>
#include <optional>

#include "simulate/collectives/steps.hpp"
#include "simulate/network/traffic.hpp"

namespace headway::network {
namespace {

// Steps of each kind, made when the first actor comes to it and kept until the last has ended it.
class Kinds {
 public:
  Kinds(const Pattern& pattern, const Topology& on) : pattern_(pattern), on_(on) {
    for (const std::uint32_t kind : pattern.kinds) {
      if (kind >= kinds_.size()) kinds_.resize(kind + 1);
      kinds_[kind].to_end += pattern.actors;
    }
  }

  const Step& of(std::uint32_t step) {
    Kind& kind = kinds_[pattern_.kinds[step]];
    if (!kind.made) kind.made = step_of(pattern_, pattern_.kinds[step], on_);
    return *kind.made;
  }
  // So many actors have ended the step.
  void end(std::uint32_t step, std::uint32_t actors) {
    Kind& kind = kinds_[pattern_.kinds[step]];
    kind.to_end -= actors;
    if (kind.to_end == 0) kind.made.reset();
  }

 private:
  struct Kind {
    std::optional<Step> made;
    std::uint64_t to_end = 0;  // steps of actors
  };
  const Pattern& pattern_;
  const Topology& on_;
  std::vector<Kind> kinds_;
};

// Each actor's next step, and what of it and of later ones is under way or has come already.
class EveryRank {
 public:
  EveryRank(const Pattern& pattern, const Topology& on)
      : steps_(static_cast<std::uint32_t>(pattern.steps())),
        on_(on),
        kinds_(pattern, on),
        traffic_(on.links),
        actors_(pattern.actors) {}

  PlacedPattern placed(bool one_by_one) {
    const std::uint32_t together = one_by_one ? 0 : go_together();
    for (Actor& actor : actors_) actor.step = together;
    for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) go_on(actor);
    Seconds end = apart_;
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

  // How many steps all actors begin and end together; they part at `apart_`.
  std::uint32_t go_together() {
    EqualShares shares(on_);
    for (std::uint32_t at = 0; at < steps_; ++at) {
      const Step& step = kinds_.of(at);
      const auto time = step.all_take_part() ? shares.time(step) : std::nullopt;
      if (!time) return at;
      apart_ += Seconds(*time);
      messages_ += step.messages.size();
      kinds_.end(at, static_cast<std::uint32_t>(actors_.size()));
    }
    return steps_;
  }

  // Begins steps until one has something to wait for.
  void go_on(std::uint32_t index) {
    Actor& actor = actors_[index];
    while (actor.step < steps_) {
      if (!actor.begun) begin(index);
      if (actor.waits_for > 0) return;
      actor.begun = false;
      kinds_.end(actor.step++, 1);
    }
  }

  void begin(std::uint32_t index) {
    Actor& actor = actors_[index];
    const Step& step = kinds_.of(actor.step);
    const std::uint32_t first = step.first_of[index], end = step.first_of[index + 1];
    actor.begun = true;
    actor.waits_for = static_cast<std::int32_t>(step.receives[index] + end - first);
    if (!actor.early.empty()) {
      actor.waits_for -= static_cast<std::int32_t>(std::erase(actor.early, actor.step));
    }
    for (std::uint32_t m = first; m < end; ++m) {
      traffic_.add({.demand = {.route = step.route(m)},
                    .bytes = Bytes(step.messages[m].bytes),
                    .start = std::max(traffic_.now(), apart_),
                    .delay = Seconds(0),
                    .tag = (std::uint64_t{actor.step} << 32U) | m});
    }
    messages_ += end - first;
  }

  void arrive(std::uint64_t tag) {
    const auto at = static_cast<std::uint32_t>(tag >> 32U);
    const auto message = static_cast<std::uint32_t>(tag);
    const Step& step = kinds_.of(at);
    const std::uint32_t from = step.senders[message], to = step.messages[message].to;
    Actor& receiver = actors_[to];
    const bool now = receiver.begun && receiver.step == at;
    if (now) {
      --receiver.waits_for;
    } else {
      receiver.early.push_back(at);
    }
    --actors_[from].waits_for;
    if (now && to != from) go_on(to);
    go_on(from);
  }

  std::uint32_t steps_;
  const Topology& on_;
  Kinds kinds_;
  Traffic traffic_;
  std::vector<Actor> actors_;
  Seconds apart_{0};
  std::uint64_t messages_ = 0;
};

}  // namespace

PlacedPattern place_every_rank(const Pattern& pattern, const Topology& on, bool one_by_one) {
  return EveryRank(pattern, on).placed(one_by_one);
}

}  // namespace headway::network
