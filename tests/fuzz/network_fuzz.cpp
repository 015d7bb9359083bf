// Links and flows: any text becomes a network in which every flow ends, or problems.
#include <cstdlib>

#include "simulate/network/file.hpp"
#include "targets.hpp"

namespace headway::fuzz {

void network_file(std::string_view text) {
  const auto document = parse_toml(text, "network.toml");
  if (!document) return;
  const auto question = network::read_network(*document);
  if (!question) {
    if (question.problems().empty()) std::abort();
    return;
  }
  const network::SimulatedNetwork simulated = network::simulate_network(*question);
  for (const network::SimulatedFlow& flow : simulated.flows) {
    if (!(flow.end >= flow.start) || !(flow.end <= simulated.end)) std::abort();
  }
}

}  // namespace headway::fuzz
