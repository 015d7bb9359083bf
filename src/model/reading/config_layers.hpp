// The layers of a network, from the traits of its family. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/reading/family_reader.hpp"

namespace headway::reading {

/// What a list of one word a layer says; empty where there is none, or after a problem.
std::vector<std::string> types_of_layers(const FamilyReader& traits, std::int64_t layers);

/// Kinds and pattern of a model in which blocks take turns before the layers that have one; the
/// first use of each holds its weights [MODEL-10].
void read_shared(const FamilyReader& traits, Model& model);

/// Sets kinds and pattern of `model`, whose hidden width is known.
void read_layers(const FamilyReader& traits, Model& model);

}  // namespace headway::reading
