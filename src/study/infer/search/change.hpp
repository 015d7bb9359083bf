// What makes a serving fit that does not.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "study/infer/apart.hpp"

namespace headway {

/// Flags with what they become: {"tp", "2"}.
struct ServingChange {
  std::vector<std::pair<std::string, std::string>> flags;
  double output_per_second = 0;  // tokens, of one accelerator
  std::int64_t ranks = 0;        // accelerators that it is then on
};

/// [INFER-23] Of a serving that does not fit: each flag alone that makes it fit, changed as little
/// as does; where none does, pairs of flags. What makes most of an accelerator first; none: nothing
/// does.
std::vector<ServingChange> smallest_changes(const Serving& serving,
                                            const ServingConstants& constants, const Load& load);
/// The same of prefill and decode apart, whose flags are {"prefill", "tp=2,copies=2"}: the pool
/// that is too small gets more accelerators; formats are of both.
std::vector<ServingChange> smallest_changes(const ServingApart& apart,
                                            const ServingConstants& constants, const Load& load);

/// "it would with --weights nvfp4, or --tp 4": the first three; of none, that nothing would.
std::string would_fit_text(std::span<const ServingChange> changes);

}  // namespace headway
