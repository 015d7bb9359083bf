#include "report/simulate/collective.hpp"

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

std::string_view name_of(network::Collective op) {
  return network::collective_names()[static_cast<std::size_t>(op)];
}

}  // namespace

std::string simulate_collective_text(const network::CollectiveQuestion& question,
                                     const network::SimulatedCollective& simulated) {
  const auto count = [](std::uint64_t of) { return count_text(static_cast<double>(of)); };
  std::string out = std::string(name_of(question.call.op)) + " of " + to_text(question.call.bytes) +
                    ", " + count(question.on.ranks) + " ranks, " + printable(question.on.name) +
                    "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"algorithm", simulated.algorithm},
      {"time", to_text(simulated.time)},
      {"at least", to_text(simulated.bound), percent_text(simulated.bound / simulated.time)},
      {"steps", count(simulated.steps)},
      {"sent by a rank", to_text(simulated.sent_per_rank)}};
  if (simulated.chunks > 0) rows.push_back({"chunks", count_text(simulated.chunks)});
  if (simulated.chunks_along_first.value_or(simulated.chunks) < simulated.chunks) {
    rows.back().push_back(count_text(*simulated.chunks_along_first) +
                          " begin along the first dimension");
  }
  rows.push_back({"messages placed", count(simulated.messages),
                  simulated.by_classes ? "each kind of step once" : ""});
  return out + aligned(rows);
}

std::string simulate_collective_json(const network::CollectiveQuestion& question,
                                     const network::SimulatedCollective& simulated) {
  JsonWriter out;
  out.begin_object();
  out.member("op", name_of(question.call.op));
  out.member("algorithm", simulated.algorithm);
  out.member("topology", question.on.name);
  out.member("ranks", question.on.ranks);
  out.member("bytes", question.call.bytes.value());
  out.member("time_s", simulated.time.value());
  out.member("steps", simulated.steps);
  out.member("bytes_sent_per_rank", simulated.sent_per_rank.value());
  out.member("bound_s", simulated.bound.value());
  if (simulated.chunks > 0) out.member("chunks", simulated.chunks);
  if (simulated.chunks_along_first) {
    out.member("chunks_along_first", *simulated.chunks_along_first);
  }
  out.member("by_classes", simulated.by_classes);
  out.member("messages_placed", simulated.messages);
  out.end_object();
  return out.take();
}

}  // namespace headway
