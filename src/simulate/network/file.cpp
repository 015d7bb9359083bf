#include "simulate/network/file.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "simulate/network/paths.hpp"

namespace headway::network {
namespace {

constexpr std::size_t kMostFlows = 200'000;

using Named = std::unordered_map<std::string, std::size_t>;

std::vector<std::string> keys_of(const auto& map) {
  std::vector<std::string> out;
  for (const auto& [name, index] : map) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

// The member as a time of zero or more.
Seconds time_or_none(Fields& fields, const char* key) {
  if (!fields.has(key)) return fields.text_or(key, ""), Seconds(0);
  const std::string written = fields.text(key);
  if (written.empty()) return Seconds(0);
  const auto time = parse_quantity<Seconds>(written, fields.where(key));
  if (!time) {
    for (const Problem& problem : time.problems()) fields.fail(key, problem.message, problem.kind);
    return Seconds(0);
  }
  if (*time < Seconds(0)) return fields.fail(key, "must not be negative"), Seconds(0);
  return *time;
}

struct Reader {
  NamedLinks links;
  Paths paths;
  Named flow_of;

  NodeId node(Fields& fields, const char* key) {
    const std::string name = fields.text(key);
    if (name.empty()) return kNowhere;
    const auto found = links.node_of.find(name);
    if (found != links.node_of.end()) return found->second;
    fields.fail(
        key,
        "'" + printable(name) + "' is an end of no link" + suggestion(name, keys_of(links.node_of)),
        Trouble::unknown);
    return kNowhere;
  }

  void named_route(Fields& fields, std::vector<LinkId>& route) {
    for (const std::string& name : fields.texts_or_empty("route")) {
      const auto found = links.link_of.find(name);
      if (found == links.link_of.end()) {
        fields.fail("route", "'" + printable(name) + "' is no link" + suggestion(name, links.names),
                    Trouble::unknown);
        continue;
      }
      if (std::find(route.begin(), route.end(), found->second) != route.end()) {
        fields.fail("route", "crosses '" + printable(name) + "' twice");
      }
      const NodeId end = route.empty() ? kNowhere : links.links[route.back()].to;
      const NodeId begin = links.links[found->second].from;
      if (!route.empty() && end != begin && end != kNowhere && begin != kNowhere) {
        fields.fail("route", "is disconnected: '" + printable(links.names[route.back()]) +
                                 "' ends at '" + printable(links.nodes[end]) + "', '" +
                                 printable(name) + "' begins at '" + printable(links.nodes[begin]) +
                                 "'");
      }
      route.push_back(found->second);
    }
  }

  void route(Fields& fields, std::vector<LinkId>& into) {
    const bool ends = fields.has("from") || fields.has("to");
    if (fields.has("route")) {
      if (ends) fields.fail("route", "stands beside from and to: one of both says the way");
      fields.text_or("from", "");
      fields.text_or("to", "");
      return named_route(fields, into);
    }
    if (!ends) {
      return fields.fail("route", "needs links, or from and to need nodes", Trouble::missing);
    }
    const NodeId from = node(fields, "from");
    const NodeId to = node(fields, "to");
    if (from == kNowhere || to == kNowhere) return;
    if (!paths.route(from, to, into)) {
      fields.fail("to", "is disconnected: no links lead from '" + printable(links.nodes[from]) +
                            "' to '" + printable(links.nodes[to]) + "'");
    }
  }

  NamedFlow flow(Fields& fields) {
    NamedFlow out;
    out.name = fields.text("name");
    out.bytes = fields.quantity<Bytes>("bytes");
    out.start = time_or_none(fields, "start");
    out.bound = fields.quantity_or<BytesPerSecond>("bound", kUnbounded);
    out.weight = fields.number_or("weight", 1);
    if (out.weight < 1e-6 || out.weight > 1e6) fields.fail("weight", "must be from 1e-6 to 1e6");
    route(fields, out.route);
    return out;
  }
};

// Flows that wait for themselves, each circle once, as "a -> b -> a".
std::vector<std::string> circles(const std::vector<NamedFlow>& flows) {
  std::vector<std::string> out;
  std::vector<char> state(flows.size(), 0);  // 0 new, 1 on the way, 2 done
  for (std::size_t first = 0; first < flows.size(); ++first) {
    if (state[first] != 0) continue;
    std::vector<std::pair<std::size_t, std::size_t>> way = {{first, 0}};  // flow, next of its needs
    state[first] = 1;
    while (!way.empty()) {
      auto& [flow, need] = way.back();
      if (need == flows[flow].after.size()) {
        state[flow] = 2;
        way.pop_back();
        continue;
      }
      const std::size_t before = flows[flow].after[need++];
      if (state[before] == 0) {
        state[before] = 1;
        way.emplace_back(before, 0);
      } else if (state[before] == 1) {
        std::string circle;
        auto at = std::find_if(way.begin(), way.end(),
                               [&](const auto& each) { return each.first == before; });
        for (; at != way.end(); ++at) circle += printable(flows[at->first].name) + " -> ";
        out.push_back(circle + printable(flows[before].name));
      }
    }
  }
  return out;
}

}  // namespace

NamedLinks read_links(Fields& root) {
  NamedLinks out;
  const auto node = [&](const std::string& name) {
    const auto [at, added] = out.node_of.emplace(name, static_cast<NodeId>(out.nodes.size()));
    if (added) out.nodes.push_back(name);
    return at->second;
  };
  const auto add = [&](Fields& fields, const std::string& name, const Link& link) {
    if (!out.link_of.emplace(name, static_cast<LinkId>(out.links.size())).second) {
      fields.fail("name", "'" + printable(name) + "' stands twice");
    }
    out.names.push_back(name);
    out.links.push_back(link);
  };
  for (Fields& fields : root.tables("links")) {
    Link link;
    const std::string name = fields.text("name");
    link.capacity = fields.quantity<BytesPerSecond>("capacity");
    link.latency = time_or_none(fields, "latency");
    const bool both = fields.flag_or("both_ways", false);
    if (fields.has("from") || fields.has("to")) {
      const std::string from = fields.text("from"), to = fields.text("to");
      if (!from.empty() && !to.empty()) link.from = node(from), link.to = node(to);
      if (!from.empty() && from == to) fields.fail("to", "is where the link begins");
    } else {
      fields.text_or("from", "");
      fields.text_or("to", "");
      if (both) fields.fail("both_ways", "needs from and to", Trouble::missing);
    }
    add(fields, name, link);
    if (both) {
      std::swap(link.from, link.to);
      add(fields, "-" + name, link);
    }
    fields.reject_unknown();
  }
  return out;
}

Result<NetworkQuestion> read_network(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  NamedLinks links = read_links(root);
  if (links.links.empty() && problems.empty()) {
    root.fail("links", "needs a table [[links]]", Trouble::missing);
  }
  std::vector<Fields> tables = root.tables("flows");
  root.reject_unknown();
  if (tables.empty() && !root.has("flows")) {
    root.fail("flows", "needs a table [[flows]]", Trouble::missing);
  }
  if (tables.size() > kMostFlows) {
    root.fail("flows", "are more than " + std::to_string(kMostFlows));
    return problems;
  }
  Paths paths(links.links, links.nodes.size());
  Reader reader{std::move(links), std::move(paths), {}};
  NetworkQuestion out;
  for (Fields& fields : tables) {
    out.flows.push_back(reader.flow(fields));
    const std::string& name = out.flows.back().name;
    if (!name.empty() && !reader.flow_of.emplace(name, out.flows.size() - 1).second) {
      fields.fail("name", "'" + printable(name) + "' stands twice");
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const std::string& name : tables[i].texts_or_empty("after")) {
      const auto found = reader.flow_of.find(name);
      if (found != reader.flow_of.end()) {
        out.flows[i].after.push_back(found->second);
      } else {
        tables[i].fail(
            "after",
            "'" + printable(name) + "' is no flow" + suggestion(name, keys_of(reader.flow_of)),
            Trouble::unknown);
      }
    }
    tables[i].reject_unknown();
  }
  for (const std::string& circle : circles(out.flows)) {
    root.fail("flows", "wait for each other and never start: " + circle);
  }
  if (!problems.empty()) return problems;
  out.link_names = std::move(reader.links.names);
  out.links = std::move(reader.links.links);
  return out;
}

}  // namespace headway::network
