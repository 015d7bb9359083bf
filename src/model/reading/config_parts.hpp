// What a layer is made of, from the traits of its family. Private to this folder.
#pragma once

#include "model/reading/family_reader.hpp"

namespace headway::reading {

/// Attention over a cache of keys and values; `model`: of a known hidden width.
Attention read_attention(const FamilyReader& traits, const Model& model);

/// Attention with a state in place of the cache, as wide as `softmax` where the family does not
/// say.
Attention read_linear(const FamilyReader& traits, const Model& model, const Attention& softmax);

/// A feed-forward part of the width and with the bias of these traits.
FeedForward read_part(const FamilyReader& traits, std::string_view width, std::string_view bias);

Experts read_experts(const FamilyReader& traits);

}  // namespace headway::reading
