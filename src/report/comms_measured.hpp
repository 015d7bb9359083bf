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
/// One document in SI units. What is not known is null, never zero.
std::string measured_json(const Measured& measured);
/// Every call as a row; what is not known is an empty field.
std::string measured_csv(const Measured& measured);
/// Drawings for `folder`; those for which there are no data are left out. With a cluster, its
/// modelled busbw is drawn beside the measured one.
std::vector<OutputFile> measured_plots(const Measured& measured, const Cluster* cluster,
                                       const std::string& folder);

}  // namespace headway
