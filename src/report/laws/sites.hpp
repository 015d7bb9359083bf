// scale convergence: a loss on several sites, as text and JSON and drawn.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/convergence/sites.hpp"

namespace headway {

std::string sites_text(const SitesAnswer& answer);
std::string sites_json(const SitesAnswer& answer);
/// Days to the loss against the bandwidth between the sites, of the most sites.
std::vector<OutputFile> sites_plots(const SitesAnswer& answer, const std::string& folder);

}  // namespace headway
