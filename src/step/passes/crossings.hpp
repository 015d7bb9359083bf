// What the passes that turn crossings into calls share. Internal to src/step/passes.
#pragma once

#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

/// body(i, crossing, call) for each crossing; `call`: the sum of its tensor over the group,
/// forward. What body() puts in its place replaces the crossing.
template <class Body>
void for_crossings(Program& program, const Share& share, Group group, const Body& body) {
  for (std::uint32_t i = 0; i < program.items.size(); ++i) {
    const auto* found = std::get_if<Crossing>(&program.items[i].what);
    if (found == nullptr) continue;
    const Crossing crossing = *found;
    body(i, crossing,
         Call{.op = CollectiveOp::all_reduce,
              .group = group,
              .phase = Phase::forward,
              .dtype = share.activation,
              .bytes = crossing.tensor,
              .count = crossing.count,
              .module = crossing.module});
  }
}

inline Call by(CollectiveOp op, Call call) {
  call.op = op;
  return call;
}

/// Of a number for each token, over the parts of the vocabulary: maximum, sum and target logit.
inline Call of_tokens(Call call) {
  call.dtype = Precision::fp32;
  call.count = 3;
  return call;
}

}  // namespace headway
