// What guesses the next tokens of a serving.
#include <algorithm>

#include "study/infer/serving.hpp"

namespace headway {

// A prediction layer is one of the last kind; it is asked again for each further token.
Serving draft_of(const Serving& serving) {
  Serving out = serving;
  out.speculation.reset();
  out.pp = 1;
  // The host's part is of the pass that checks.
  out.engine.step = out.engine.sequence = Seconds(0);
  if (serving.speculation->draft) {
    out.model = *serving.speculation->draft;
    const std::vector<Layer>& kinds = out.model.kinds;
    const bool experts = std::any_of(kinds.begin(), kinds.end(),
                                     [](const Layer& layer) { return layer.experts.has_value(); });
    if (!experts) out.ep = 1;
    out.routing = {};  // what is known is of the model's own
    return out;
  }
  out.model.name += " prediction layer";
  out.model.pattern = {serving.model.pattern.back()};
  out.predicts = true;
  return out;
}

}  // namespace headway
