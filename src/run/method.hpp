// What a method of training makes of a run.
#pragma once

#include "run/request_reader.hpp"

namespace headway {

/// Reads the field `method`: the job's method, what the layout has of it, the narrow model that
/// each replica trains, the links between sites. The degrees have been read; problems stand at the
/// field.
void settle_method(RequestReader& reader, RequestedRun& run);

/// What each of so many narrow models has: its part of the heads and of the neurons between two
/// products, in every layer (2306.16484); or why it cannot be split so.
Result<Model> submodel(const Model& model, std::int64_t parts);

/// The cluster as so many sites, each with the inner levels for `ranks` ranks, joined by links of
/// that bandwidth for all ranks of a site together.
Cluster in_sites(const Cluster& cluster, std::int64_t sites, std::int64_t ranks,
                 BytesPerSecond bandwidth, Seconds latency);

/// Sites that learn together by a method: how many, and the link of each to the others.
struct Sites {
  std::int64_t count = 2;
  BytesPerSecond bandwidth{};
  Seconds latency{};
};
/// The run on so many sites, each split as the run is: its data-parallel degree times the sites, a
/// replica of the method at each, the batch shared by all; or what is wrong with it.
Result<RequestedRun> on_sites(const RequestedRun& of_site, const Method& method,
                              const Sites& sites);

}  // namespace headway
