// A pass kernel by kernel and call by call, for who asks where its time goes.
#pragma once

#include <variant>
#include <vector>

#include "step/program/program.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// What a pass does `count` times, alike. Nothing: of the host, or between stages.
struct PassItem {
  ServingPart part{};
  std::variant<std::monostate, Op, Call> what = {};
  BlockKind block = BlockKind::layer;
  std::size_t kind = 0;  // of the model's kinds of layers
  double count = 1;
  Seconds each{};
  Flops flops{};  // of one
  Bytes bytes{};  // that one reads and writes; of a call, as of Call::bytes
};

/// The same as time_of, with what it is made of in the order of the pass.
PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work,
                 std::vector<PassItem>& items);

}  // namespace headway
