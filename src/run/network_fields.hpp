// Fields of a run that are read of networks of modules alone.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "model/count.hpp"
#include "run/run.hpp"

namespace headway {

inline constexpr std::array<std::string_view, 19> kFieldsOfNetworks = {"tables",
                                                                       "copy-below",
                                                                       "rows-from",
                                                                       "table-columns",
                                                                       "table-cache",
                                                                       "table-hits",
                                                                       "table-wise-tables",
                                                                       "column-wise-tables",
                                                                       "row-wise-tables",
                                                                       "table-row-wise-tables",
                                                                       "grid-tables",
                                                                       "data-parallel-tables",
                                                                       "convolutions",
                                                                       "attentions",
                                                                       "feed-forwards",
                                                                       "bottom-mlp",
                                                                       "top-mlp",
                                                                       "interactions",
                                                                       "expert-mlp"};

constexpr std::span<const std::string_view> fields_of_networks() {
  return kFieldsOfNetworks;
}
/// Those of its tables of embeddings.
constexpr std::span<const std::string_view> fields_of_tables() {
  return std::span(kFieldsOfNetworks).first(12);
}

/// Whether a field is read of networks alone, by its name.
constexpr bool is_of_networks(std::string_view name) {
  return std::find(kFieldsOfNetworks.begin(), kFieldsOfNetworks.end(), name) !=
         kFieldsOfNetworks.end();
}

/// A problem for each field that was given and that the run's model does not read.
inline Problems fields_of_other_models(const RequestedRun& run) {
  // Features of a graph's nodes may lie with the hosts, as tables.
  const auto is_of_tables = [&](std::string_view name) {
    const auto names = fields_of_tables();
    return std::find(names.begin(), names.end(), name) != names.end() &&
           !(has_node_features(run.model) && name == "table-cache");
  };
  Problems out;
  for (const GivenField& field : run.given) {
    if (!run.model.is_network() && is_of_networks(field.name)) {
      out.push_back({field.where, "is of networks of modules (docs/workloads.md); leave it out"});
    } else if (run.model.is_network() && !has_tables(run.model) && is_of_tables(field.name)) {
      out.push_back(
          {field.where, "is of tables of embeddings, of which the network has none; leave it out"});
    }
  }
  return out;
}

}  // namespace headway
