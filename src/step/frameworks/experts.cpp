#include "step/frameworks/experts.hpp"

#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {

std::int64_t usual_expert_tensor(const Model& model, const Job& job, const Layout& layout) {
  if (!habits(job).experts.split_as_layers) return 1;
  const std::int64_t tp = layout.tp, ranks = layout.dp * layout.cp * tp;
  // Degrees that are no degrees are refused elsewhere.
  if (tp < 1 || layout.ep < 1 || layout.ep > ranks / tp || ranks % (layout.ep * tp) != 0) return 1;
  const auto splits = [&](const Layer& layer) {
    return !layer.experts || layer.experts->each.width % tp == 0;
  };
  const bool has = std::any_of(model.kinds.begin(), model.kinds.end(),
                               [](const Layer& layer) { return layer.experts.has_value(); });
  return has && std::all_of(model.kinds.begin(), model.kinds.end(), splits) ? tp : 1;
}

}  // namespace headway
