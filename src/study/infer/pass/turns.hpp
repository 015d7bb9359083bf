// Two halves of a pass in turn: one computes while the tokens of the other are on their way to
// experts or back. Internal to src/study/infer/pass.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// A layer of each kind, as one half of a pass computes it: until tokens are sent, their experts,
/// and what follows; between them the tokens' way there and back. Of a layer without experts all is
/// `before`. What ranks of tp and cp send each other is in none: it needs the same links.
struct LayerParts {
  double count = 1;  // layers
  Seconds before{}, dispatch{}, experts{}, combine{}, after{};
};

/// By sequences, of one prompt by its tokens; nothing where there is one token.
std::optional<std::pair<PassWork, PassWork>> halves_of(const PassWork& work);

/// [INFER-40] Seconds of the exchange of both halves that lie under the other's work, in a pipeline
/// of so many stages. `taken`: the share of the compute units that an exchange holds, by which work
/// beside it is slower.
Seconds hidden_in_turns(const std::vector<LayerParts>& first, const std::vector<LayerParts>& second,
                        double stages, double taken);

}  // namespace headway
