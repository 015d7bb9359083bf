// The messages of one kind of step with their links.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {

struct Step {
  std::vector<Message> messages;
  std::vector<std::uint32_t> senders;
  std::vector<std::uint32_t> first_of;  // of each actor's messages, and the end
  std::vector<std::uint32_t> receives;  // messages, of each actor
  std::vector<std::uint32_t> begins;    // of each message's links, and the end
  std::vector<LinkId> links;

  bool all_take_part() const;
  Route route(std::size_t message) const {
    return {links.data() + begins[message], links.data() + begins[message + 1]};
  }
};

Step step_of(const Pattern& pattern, std::uint32_t kind, const Topology& on);

/// [SIM-14] Whether all messages of a step, begun at once with nothing else under way, end at the
/// same time, and when: where each crosses a link whose equal share is the least of all the links
/// in use, that share is the rate of all.
class EqualShares {
 public:
  explicit EqualShares(const Topology& on);
  /// None: not so.
  std::optional<double> time(const Step& step);

 private:
  struct OfLink {
    double capacity, latency, share;
    std::uint32_t messages;
  };
  std::vector<OfLink> links_;
};

}  // namespace headway::network
