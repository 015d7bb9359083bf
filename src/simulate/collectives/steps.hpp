// The messages of one kind of step with their links.
#pragma once

#include <cstdint>
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

  Route route(std::size_t message) const {
    return {links.data() + begins[message], links.data() + begins[message + 1]};
  }
};

Step step_of(const Pattern& pattern, std::uint32_t kind, const Topology& on);

}  // namespace headway::network
