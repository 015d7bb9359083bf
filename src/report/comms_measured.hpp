// comms with traces: what was measured.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "platform/output.hpp"
#include "study/measured/measured.hpp"

namespace headway {

/// For a terminal of 80 columns. A section is there where the source has data for it.
std::string measured_text(const Measured& measured);
/// One document in SI units. What is not known is null, never zero. With `timeline` everything in
/// its place is part of it.
std::string measured_json(const Measured& measured, bool timeline = false);

class JsonWriter;  // report/json/writer.hpp
/// {time_s, ranks: [{label, and a column for each property}], streams, parts, names, critical_path,
/// left_out, unplaced_ranks}: of at most 200,000 kernels and calls, those that begin first.
void write_measured_timeline(JsonWriter& out, const Measured& measured);
/// Every call as a row; what is not known is an empty field.
std::string measured_csv(const Measured& measured);
/// Drawings for `folder`; those for which there are no data are left out. With a cluster, its
/// modelled busbw is drawn beside the measured one.
std::vector<OutputFile> measured_plots(const Measured& measured, const Cluster* cluster,
                                       const std::string& folder);

}  // namespace headway
