#include "study/infer/pass/turns.hpp"

#include <algorithm>

namespace headway {

std::optional<std::pair<PassWork, PassWork>> halves_of(const PassWork& work) {
  PassWork first = work, second = work;
  if (work.sequences > 1) {
    second.sequences = work.sequences / 2;
    first.sequences = work.sequences - second.sequences;
  } else if (work.is_prompt() && work.tokens > 1) {
    second.tokens = work.tokens / 2;
    first.tokens = work.tokens - second.tokens;
    second.cached = work.cached + first.tokens;
  } else {
    return std::nullopt;
  }
  return std::pair(first, second);
}

// In a layer: the first half's tokens go while the second ends its layer before and does what comes
// before its own; they return while the second's experts work. The second's go while the first's
// experts work, and return while the first ends its layer and begins the next.
Seconds hidden_in_turns(const std::vector<LayerParts>& first, const std::vector<LayerParts>& second,
                        double stages, double taken) {
  const auto under = [&](Seconds work, Seconds exchange) {
    return std::min(work, (1 - taken) * exchange);
  };
  Seconds out(0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const LayerParts &a = first[i], &b = second[i];
    out += a.count * (under(a.experts, b.dispatch) + under(b.experts, a.combine));
    // Before a stage's first layer and behind its last there is no other.
    const double ends = std::min(a.count, stages);
    out += (a.count - ends) *
           (under(b.after + b.before, a.dispatch) + under(a.after + a.before, b.combine));
    out += ends * (under(b.before, a.dispatch) + under(a.after, b.combine));
  }
  return out;
}

}  // namespace headway
