// The layers of a network, from the traits of its family. Private to this folder.
#pragma once

#include "model/reading/family_reader.hpp"

namespace headway::reading {

/// Sets kinds and pattern of `model`, whose hidden width is known.
void read_layers(const FamilyReader& traits, Model& model);

}  // namespace headway::reading
