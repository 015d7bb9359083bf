// Which kinds of layer a call serves. Internal to src/study.
#pragma once

#include <array>

#include "forecast/forecast.hpp"
#include "step/step.hpp"

namespace headway {

constexpr std::size_t kModules = kModuleNames.size();
/// Shares of a whole, by kind of layer.
using ByModule = std::array<double, kModules>;

/// [COMM-10] Of the bytes of a call of this stage, those that serve each kind of layer. Sums to 1.
ByModule module_shares(const PricedCall& priced, const StageClass& stage, const Step& step);

}  // namespace headway
