// scale slimming and scale subnetworks, as text and JSON.
#pragma once

#include <string>

#include "study/laws/subnetworks.hpp"
#include "study/slim/slim.hpp"

namespace headway {

std::string slim_text(const SlimAnswer& answer);
std::string slim_json(const SlimAnswer& answer);
std::string subnetworks_text(const SubnetworkAnswer& answer);
std::string subnetworks_json(const SubnetworkAnswer& answer);

}  // namespace headway
