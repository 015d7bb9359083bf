// What no kernel can beat of what serving takes.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

/// [INFER-29] Seconds of a pass whose products multiply at the peak of their arithmetic or read
/// their weights at the memory's bandwidth, whichever is longer, and whose attention does the same
/// with the cache; nothing else takes time.
Seconds least_time(const Serving& serving, const ServingConstants& constants, const PassWork& pass);

}  // namespace headway
