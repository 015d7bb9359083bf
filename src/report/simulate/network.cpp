#include "report/simulate/network.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostLines = 64;

// Of what the link could have carried until the end.
double share_used(const network::SimulatedNetwork& of, std::size_t link) {
  const Bytes most = of.of.links[link].capacity * of.end;
  return most > Bytes(0) ? of.carried[link] / most : 0;
}

BytesPerSecond first_rate(const network::SimulatedFlow& flow) {
  return flow.rates.empty() ? BytesPerSecond(0) : flow.rates.front().rate;
}

BytesPerSecond last_rate(const network::SimulatedFlow& flow) {
  return flow.rates.empty() ? BytesPerSecond(0) : flow.rates.back().rate;
}

std::string more(std::size_t all) {
  return all <= kMostLines
             ? ""
             : "  and " + std::to_string(all - kMostLines) + " more; --json has all\n";
}

}  // namespace

std::string simulate_network_text(const network::SimulatedNetwork& simulated) {
  const network::NetworkQuestion& of = simulated.of;
  std::string out = count_text(static_cast<double>(of.flows.size())) + " flows over " +
                    count_text(static_cast<double>(of.links.size())) + " links, " +
                    to_text(simulated.end) + "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"  flow", "bytes", "start", "end", "first rate", "last rate"}};
  for (std::size_t i = 0; i < std::min(of.flows.size(), kMostLines); ++i) {
    const network::SimulatedFlow& flow = simulated.flows[i];
    rows.push_back({"  " + printable(of.flows[i].name, 24), to_text(of.flows[i].bytes),
                    to_text(flow.start), to_text(flow.end), to_text(first_rate(flow)),
                    to_text(last_rate(flow))});
  }
  out += aligned(rows) + more(of.flows.size()) + "\n";
  rows = {{"  link", "capacity", "carried", "used"}};
  for (std::size_t i = 0; i < std::min(of.links.size(), kMostLines); ++i) {
    rows.push_back({"  " + printable(of.link_names[i], 24), to_text(of.links[i].capacity),
                    to_text(simulated.carried[i]), percent_text(share_used(simulated, i))});
  }
  return out + aligned(rows) + more(of.links.size());
}

std::string simulate_network_json(const network::SimulatedNetwork& simulated) {
  const network::NetworkQuestion& of = simulated.of;
  JsonWriter out;
  out.begin_object();
  out.member("end_s", simulated.end.value());
  out.key("flows");
  out.begin_array();
  for (std::size_t i = 0; i < of.flows.size(); ++i) {
    out.begin_object();
    out.member("name", of.flows[i].name);
    out.member("start_s", simulated.flows[i].start.value());
    out.member("end_s", simulated.flows[i].end.value());
    out.member("bytes", of.flows[i].bytes.value());
    out.key("rates");
    out.begin_array();
    for (const network::RateFrom& each : simulated.flows[i].rates) {
      out.begin_object();
      out.member("from_s", each.at.value());
      out.member("bytes_per_s", each.rate.value());
      out.end_object();
    }
    out.end_array();
    out.end_object();
  }
  out.end_array();
  out.key("links");
  out.begin_array();
  for (std::size_t i = 0; i < of.links.size(); ++i) {
    out.begin_object();
    out.member("name", of.link_names[i]);
    out.member("bytes", simulated.carried[i].value());
    out.member("share_used", share_used(simulated, i));
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
