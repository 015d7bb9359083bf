#include "run/method.hpp"

#include <algorithm>

#include "method/methods.hpp"

namespace headway {
namespace {

// Divides, or says why not.
void split(std::int64_t& number, std::int64_t parts, const char* what, Problems& problems) {
  if (number % parts == 0) {
    number /= parts;
    return;
  }
  problems.push_back({FieldName("method"), std::to_string(parts) + " submodels do not divide the " +
                                               std::to_string(number) + " " + what});
}

// Ranks of a replica lie next to each other where the replicas are outermost.
constexpr std::array kReplicasOutside = {Dimension::tp, Dimension::cp, Dimension::pp,
                                         Dimension::dp};
void put_replicas_outside(const RequestReader& reader, RequestedRun& run) {
  if (reader.has("order") || run.layout.order == kReplicasOutside) return;
  run.layout.order = kReplicasOutside;
  if (run.layout.pp == 1) return;
  run.assumptions.push_back("order tp-cp-pp-dp: each replica on neighbouring ranks, at its site");
}

void read_sites(RequestReader& reader, RequestedRun& run) {
  const Method& method = run.job.method;
  if (!(method.bandwidth.value() > 0)) return;
  put_replicas_outside(reader, run);
  const std::int64_t ranks = run.layout.ranks();
  if (reader.refused("gpus") || ranks < 1 || ranks > 1'000'000'000) return;  // said already
  if (ranks % method.replicas != 0) {
    return reader.fail("method", std::to_string(method.replicas) + " replicas do not divide " +
                                     std::to_string(ranks) + " accelerators");
  }
  if (reader.has("slice")) {
    return reader.fail("slice", "cannot stand beside sites of a method, which are filled evenly");
  }
  const std::int64_t of_site = ranks / method.replicas;
  if (of_site > run.cluster.accelerators) {
    return reader.fail("method", "has sites of " + std::to_string(of_site) +
                                     " accelerators; cluster " + run.cluster.name +
                                     " has at most " + std::to_string(run.cluster.accelerators));
  }
  run.cluster = in_sites(run.cluster, method.replicas, of_site, method.bandwidth, method.latency);
}

}  // namespace

Result<Model> submodel(const Model& model, std::int64_t parts) {
  Model out = model;
  Problems problems;
  if (model.is_network()) {
    return Problem{FieldName("method"), "splits neurons and heads of transformers; " + model.name +
                                            " is a network of modules"};
  }
  for (Layer& layer : out.kinds) {
    if (layer.attention) {
      // Groups of query heads stay with their keys.
      split(layer.attention->kv_heads, parts, "heads of keys", problems);
      split(layer.attention->heads, parts, "heads", problems);
    }
    if (layer.feed_forward) split(layer.feed_forward->width, parts, "neurons", problems);
    if (layer.experts) {
      split(layer.experts->each.width, parts, "neurons of an expert", problems);
      if (layer.experts->shared_width > 0) {
        split(layer.experts->shared_width, parts, "neurons of shared experts", problems);
      }
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

Cluster in_sites(const Cluster& cluster, std::int64_t sites, std::int64_t ranks,
                 BytesPerSecond bandwidth, Seconds latency) {
  Cluster out = cluster;
  Level site = cluster.levels.back();
  const auto whole = std::find_if(out.levels.begin(), out.levels.end(),
                                  [&](const Level& level) { return level.size >= ranks; });
  if (whole != out.levels.end()) {
    out.levels.erase(whole + 1, out.levels.end());
    out.levels.back().size = ranks;
    out.levels.back().usable = 0;
    out.levels.back().dimensions.clear();
    if (out.levels.back().topology == Topology::torus) {
      out.levels.back().topology = Topology::switched;
    }
  }
  if (out.levels.size() == kMostLevels) out.levels.erase(out.levels.end() - 2);
  site.name = "site";
  site.size = ranks * sites;
  site.usable = 0;
  site.topology = Topology::switched;
  site.dimensions.clear();
  site.bandwidth = site.port_bandwidth = bandwidth / static_cast<double>(ranks);
  if (latency.value() > 0) site.latency = latency;
  site.oversubscription = 1;
  site.in_network_reduction = false;
  site.nics = 0;
  site.nics_on_processor = false;
  site.constants = {};
  out.levels.push_back(site);
  out.accelerators = site.size;
  return out;
}

Result<RequestedRun> on_sites(const RequestedRun& of_site, const Method& method,
                              const Sites& sites) {
  RequestedRun out = of_site;
  const std::int64_t ranks = of_site.layout.ranks();
  out.job.method = method;
  Method& of = out.job.method;
  if (of.submodels > 1) {
    of.submodels = sites.count;
    auto narrow = submodel(out.model, sites.count);
    if (!narrow) return narrow.problems();
    out.model = std::move(narrow).value();
  }
  if (of.parts_replicas()) {
    of.replicas = sites.count;
    of.bandwidth = sites.bandwidth;
    of.latency = sites.latency;
  }
  follow(of, out.layout);
  out.layout.dp *= sites.count;
  out.layout.order = kReplicasOutside;
  out.cluster = in_sites(out.cluster, sites.count, ranks, sites.bandwidth, sites.latency);
  if (Problems wrong = check(out); !wrong.empty()) return wrong;
  return out;
}

void settle_method(RequestReader& reader, RequestedRun& run) {
  const auto text = reader.text("method");
  if (!text) return;
  auto method = method_from(*text, reader.find("method")->where);
  if (!method) return reader.fail("method", method.problems());
  run.job.method = std::move(method).value();
  const Method& of = run.job.method;
  if (of.is_synchronous()) return;
  if (of.submodels > 1) {
    auto narrow = submodel(run.model, of.submodels);
    if (!narrow) return reader.fail("method", narrow.problems());
    run.model = std::move(narrow).value();
  }
  run.assumptions.push_back("of the method, " + penalty_of(of));
  follow(of, run.layout);
  read_sites(reader, run);
}

}  // namespace headway
