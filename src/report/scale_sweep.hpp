// scale weak, strong, model, context, hardware, network, layout: one run along one axis.
#pragma once

#include <string>
#include <vector>

#include "base/generated.hpp"
#include "platform/output.hpp"
#include "study/sweep/answer.hpp"
#include "study/sweep/page.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string scale_sweep_text(const SweepAnswer& answer);
std::string scale_sweep_json(const SweepAnswer& answer);
/// A row for each point.
std::string scale_sweep_csv(const SweepAnswer& answer);
/// In `folder`: AXIS-throughput.svg and AXIS-parts.svg. Some series has points.
std::vector<OutputFile> scale_sweep_plots(const SweepAnswer& answer, const std::string& folder);

/// The tables of docs/scaling.md.
GeneratedBlocks scale_sweep_blocks(const std::vector<PageSweep>& sweeps);

}  // namespace headway
