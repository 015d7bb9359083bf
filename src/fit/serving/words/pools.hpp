// Prefill and decode apart, as the notes of a row state them.
#pragma once

#include <optional>
#include <string_view>

#include "study/infer/serving.hpp"

namespace headway::serving_words {

struct StatedPool {
  ServingSplit split;
  std::int64_t copies = 1;
};

/// What follows `before` in a text in lower case with spaces for _ and -: "prefill workers 2 x (tp
/// 4 pp 1 dp 1 moe tp 1 moe ep 4)", a copy's split; nothing where it is not all there.
std::optional<StatedPool> pool_behind(std::string_view before, std::string_view text);

}  // namespace headway::serving_words
