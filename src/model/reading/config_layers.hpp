// The layers of a network, from the traits of its family. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/reading/family_reader.hpp"

namespace headway::reading {

/// Attention with a state in place of the cache, as wide as `softmax` where the family does not
/// say.
Attention read_linear(const FamilyReader& traits, const Model& model, const Attention& softmax);

/// A feed-forward part of the width and with the bias of these traits.
FeedForward read_part(const FamilyReader& traits, std::string_view width, std::string_view bias);

/// What a list of one word a layer says; empty where there is none, or after a problem.
std::vector<std::string> types_of_layers(const FamilyReader& traits, std::int64_t layers);

/// Kinds and pattern of a model in which blocks take turns before the layers that have one; the
/// first use of each holds its weights [MODEL-10].
void read_shared(const FamilyReader& traits, Model& model);

/// Sets kinds and pattern of `model`, whose hidden width is known.
void read_layers(const FamilyReader& traits, Model& model);

}  // namespace headway::reading
