// simulate network: links and flows of a file; simulate collective: one call over a topology.
#include "report/simulate/network.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/algorithms.hpp"
#include "platform/files.hpp"
#include "report/simulate/collective.hpp"
#include "simulate/network/file.hpp"

namespace headway {
namespace {

// Nothing stops a collective that is placed message by message; of so many ranks it takes at most
// tens of seconds (a dragonfly).
constexpr std::uint32_t kMostBoundedRanks = 128;
// Each of so many flows may change its rate whenever another begins or ends.
constexpr std::size_t kMostBoundedFlows = 1000;

Problem too_many(const char* member, std::size_t has, const char* what, std::size_t most) {
  return {FieldName(member), "has " + std::to_string(has) + what + "; a request takes at most " +
                                 std::to_string(most) + ", the command line more"};
}

}  // namespace

CommandOutput run_simulate_network(const SimulateNetworkRequest& request) {
  if (request.file.empty() && !request.network) {
    return {
        .problems = {{"simulate network", "needs a file of links and flows", Trouble::missing}}};
  }
  const auto document =
      request.network ? Result<Document>(*request.network) : read_document(request.file);
  if (!document) return {.problems = document.problems()};

  // Links and flows, or everything that is wrong with them.
  const auto question = network::read_network(*document);
  if (!question) return {.problems = question.problems()};

  if (request.bounded && question->flows.size() > kMostBoundedFlows) {
    return {.problems = {too_many("network", question->flows.size(), " flows", kMostBoundedFlows)}};
  }

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
              .run = running(request, run_simulate_network)};
  out.options = {operand("FILE.toml", "tables [[links]] and [[flows]]", &request->file),
                 {.name = "network",
                  .help = "lists links and flows, as the tables of a file",
                  .target = &request->network,
                  .door = Door::document}};
  return out;
}

CommandOutput run_simulate_collective(const SimulateCollectiveRequest& request) {
  network::CollectiveText asked = request;
  std::optional<Result<Document>> file;
  if (request.on.described) {
    asked.topology = request.on.described->file;
    file = *request.on.described;
  } else {
    asked.topology = request.on.name;
    if (network::names_topology_file(asked.topology)) file = read_document(asked.topology);
  }

  // The call and the topology, or everything that is wrong with them.
  const auto question = network::read_collective(asked, file);
  if (!question) return {.problems = question.problems()};

  if (request.bounded && question->on.ranks > kMostBoundedRanks) {
    return {.problems = {too_many("topology", question->on.ranks, " ranks", kMostBoundedRanks)}};
  }

  // By that algorithm, or by the best.
  const auto simulated =
      network::simulate_collective(question->call, question->on, question->options);
  if (!simulated) return {.problems = simulated.problems()};
  return {.text = request.json ? simulate_collective_json(*question, *simulated)
                               : simulate_collective_text(*question, *simulated)};
}

Command simulate_collective_command() {
  auto request = std::make_shared<SimulateCollectiveRequest>();
  Command out{.name = "collective",
              .help = "one collective as messages over a topology",
              .examples = {"headway simulate collective --op all_reduce --bytes \"64 MiB\" "
                           "\\\n    --topology torus:8x8 --algorithm rotations"},
              .run = running(request, run_simulate_collective)};
  out.options = {
      {.name = "op",
       .value = "NAME",
       .help = "all_reduce, all_gather, reduce_scatter, all_to_all",
       .target = &request->op},
      {.name = "algorithm",
       .value = "NAME",
       .help = "default: the best",
       .target = &request->algorithm},
      {.name = "ranks",
       .value = "N",
       .help = "where the topology has no size",
       .target = &request->ranks},
      {.name = "bytes",
       .value = "BYTES",
       .help = "the whole tensor; of all_to_all what a rank has for all",
       .target = &request->bytes},
      {.name = "topology",
       .value = "NAME|FILE.toml",
       .help = "switch, full, torus:8x8, mesh:5x5, cubes:4x4x8, switches:8x8, fat-tree:4x8:2, "
               "clos:16, rails:32x8, dragonfly:2x4x2, sites:4x16",
       .target = &request->on}};
  add(out.options, link_options(*request));
  add(out.options,
      {wordless("every-rank", "each message of each rank, alike or not", request->every_rank)});
  return out;
}

}  // namespace headway
