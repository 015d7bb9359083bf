// simulate network: links and flows of a file.
#include "api/commands.hpp"
#include "api/options.hpp"
#include "platform/files.hpp"
#include "report/simulate/network.hpp"
#include "simulate/network/file.hpp"

namespace headway {

CommandOutput run_simulate_network(const SimulateNetworkRequest& request) {
  if (request.file.empty()) {
    return {
        .problems = {{"simulate network", "needs a file of links and flows", Trouble::missing}}};
  }
  const auto text = read_file(request.file, kLargestDocument);
  if (!text) return {.problems = text.problems()};
  const auto document = parse_toml(*text, request.file);
  if (!document) return {.problems = document.problems()};

  // Links and flows, or everything that is wrong with them.
  const auto question = network::read_network(*document);
  if (!question) return {.problems = question.problems()};

  // Each flow from its start to its end.
  const network::SimulatedNetwork simulated = network::simulate_network(*question);
  return {.text =
              request.json ? simulate_network_json(simulated) : simulate_network_text(simulated)};
}

Command simulate_network_command() {
  auto request = std::make_shared<SimulateNetworkRequest>();
  Command out{.name = "network",
              .help = "flows over links that they share: their rates, and when each ends",
              .examples = {"headway simulate network examples/two-jobs-one-uplink.toml"},
              .run = running(request, run_simulate_network),
              .door = Door::command_line};
  out.options = {operand("FILE.toml", "tables [[links]] and [[flows]]", &request->file)};
  return out;
}

}  // namespace headway
