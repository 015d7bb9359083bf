#include "study/budget/bill.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

// Far above any price, power or energy of a part: larger values are slips of the unit.
constexpr double kMost = 1e9;
constexpr std::int64_t kMostPorts = 1'000'000;

double not_negative(Fields& fields, std::string_view key) {
  const double out = fields.number(key);
  if (!(out >= 0 && out <= kMost)) fields.fail(key, "must be from 0 to 1e9");
  return out;
}

// key_low and key_high.
LowHigh spread(Fields& fields, const std::string& key) {
  const LowHigh out{not_negative(fields, key + "_low"), not_negative(fields, key + "_high")};
  if (out.high < out.low) fields.fail(key + "_high", "is below " + key + "_low");
  return out;
}

// US dollars of 1 GB/s and pJ of a bit: of 1 B/s, `passes` times over.
MachineCost of_bandwidth(Fields& fields, const std::string& part, double passes) {
  const LowHigh dollars = spread(fields, part + "_price"),
                picojoules = spread(fields, part + "_energy");
  return {1e-9 * dollars, passes * 8e-12 * picojoules};
}

std::string source_of(Fields& fields) {
  fields.text("kind");
  fields.text("date");
  return fields.text("source");
}

std::int64_t ports(Fields& fields, std::string_view key, std::int64_t least) {
  const std::int64_t out = fields.natural(key);
  if (out < least || out > kMostPorts) {
    fields.fail(key, "must be from " + std::to_string(least) + " to 1000000");
  }
  return std::max(out, least);
}

// A port takes in what its link brings; a cable and a card carry both ways.
LinkParts read_link(Fields fields, const std::string& name) {
  LinkParts out;
  out.name = name;
  out.title = fields.text("title");
  out.radix = ports(fields, "radix", 4);
  out.copper = ports(fields, "copper", 0);
  out.card = of_bandwidth(fields, "card", 2);
  out.port = of_bandwidth(fields, "port", 1);
  out.copper_cable = of_bandwidth(fields, "copper", 2);
  out.optical_cable = of_bandwidth(fields, "optical", 2);
  out.source = source_of(fields);
  fields.reject_unknown();
  return out;
}

ServerParts read_server(Fields fields, const std::string& machine) {
  ServerParts out;
  out.machine = machine;
  out.domain = ports(fields, "domain", 1);
  out.each = {spread(fields, "price"), spread(fields, "power")};
  out.source = source_of(fields);
  fields.reject_unknown();
  return out;
}

}  // namespace

const ServerParts* MachineShop::server_of(const std::string& machine) const {
  const auto found = std::find_if(servers.begin(), servers.end(),
                                  [&](const ServerParts& each) { return each.machine == machine; });
  return found == servers.end() ? nullptr : &*found;
}

Result<MachineShop> machine_shop(const Document* own) {
  auto document = embedded_document("limits/parts.toml");
  if (!document) return document.problems();
  Document whole = std::move(document).value();
  if (own != nullptr) {
    forget_lines(whole.root);
    overlay(whole.root, own->root);
    whole.file = own->file;
  }
  Problems problems;
  Fields root(whole, problems);
  MachineShop out;
  Fields servers = root.table("servers", true);
  for (const std::string& machine : servers.keys()) {
    out.servers.push_back(read_server(servers.table(machine), machine));
  }
  Fields links = root.table("links", true);
  out.inner = read_link(links.table("nvlink", true), "nvlink");
  out.outer = read_link(links.table("infiniband", true), "infiniband");
  links.reject_unknown();
  Fields building = root.table("building", true);
  out.pue = spread(building, "pue");
  if (out.pue.low < 1) building.fail("pue_low", "must be 1 or more");
  out.source = source_of(building);
  building.reject_unknown();
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

// [LIMIT-40] A folded Clos network of switches of k ports joins k ends with one tier and 2 (k/2)^t
// with t, without blocking.
std::int64_t tiers_of(std::int64_t ends, std::int64_t radix) {
  if (ends <= 1) return 0;
  const double half = static_cast<double>(radix) / 2;
  std::int64_t tiers = 1;
  for (double most = 2 * half; most < static_cast<double>(ends); most *= half) ++tiers;
  return tiers;
}

// [LIMIT-40] Of each end: a card, 2 t - 1 ports of switches and t cables; the first cable is of
// copper where copper joins all ends, the others are of optics. Links draw as much idle as busy.
MachineCost network_cost(const LinkParts& link, std::int64_t ends, BytesPerSecond bandwidth) {
  const std::int64_t tiers = tiers_of(ends, link.radix);
  if (tiers == 0) return {};
  const auto upper = static_cast<double>(tiers - 1);
  const MachineCost each =
      link.card + (2 * upper + 1) * link.port + link.cable(ends) + upper * link.optical_cable;
  return bandwidth.value() * each;
}

std::string why_no_bill(const MachineShop& shop, const std::string& server,
                        const limits::Machine& machine) {
  if (shop.server_of(server) == nullptr) {
    std::vector<std::string> known;
    for (const ServerParts& each : shop.servers) known.push_back(each.machine);
    return "no price of '" + printable(server) + "' is known; known are " + join(known, ", ") +
           "; --parts takes a table of your own, [servers." + printable(server) + "]";
  }
  if (machine.sites > 0) return "links between sites have no price in data/limits/parts.toml";
  if (machine.levels.size() != 2) {
    return "only machines of a domain and a fabric are priced, and '" + printable(machine.name) +
           "' has " + std::to_string(machine.levels.size()) + " levels of network";
  }
  for (const limits::Level& level : machine.levels) {
    if (!std::isfinite(level.bandwidth.value())) {
      return "what '" + printable(level.name) + "' joins without limit has no price";
    }
  }
  return {};
}

namespace {

// Servers are bought whole, those of a domain whole: small domains share a server.
std::int64_t bought(std::int64_t domains, std::int64_t size, std::int64_t of_server) {
  const auto rounded_up = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
  const std::int64_t servers = size <= of_server ? rounded_up(domains, of_server / size)
                                                 : domains * rounded_up(size, of_server);
  return servers * of_server;
}

}  // namespace

// [LIMIT-41] Domains and servers are bought whole. Each accelerator of a domain has a network of
// its own among those of its place in other domains ("rails"), so that the fabric joins as many
// ends as there are domains. The links of a server's own domain are in its price.
Bill bill_of(const MachineShop& shop, const std::string& server, const limits::Machine& machine,
             std::int64_t gpus) {
  const ServerParts& parts = *shop.server_of(server);
  const limits::Level& inner = machine.levels.front();
  const limits::Level& outer = machine.levels.back();
  const std::int64_t used = limits::domains_in_use(machine, gpus).front();
  const std::int64_t domains = gpus / used;
  Bill out;
  const std::int64_t joined = domains > 1 ? inner.size : gpus;
  out.accelerators = bought(domains, joined, parts.domain);
  const auto count = static_cast<double>(out.accelerators);
  const auto metered = [&](const MachineCost& of) {
    return MachineCost{
        count * of.dollars,
        {count * of.watts.low * shop.pue.low, count * of.watts.high * shop.pue.high}};
  };
  out.servers = metered(parts.each);
  if (joined > parts.domain) {
    out.inner = metered(network_cost(shop.inner, joined, inner.bandwidth));
    out.inner_tiers = tiers_of(joined, shop.inner.radix);
  }
  out.outer = metered(network_cost(shop.outer, domains, outer.bandwidth));
  out.outer_tiers = tiers_of(domains, shop.outer.radix);
  return out;
}

}  // namespace headway
