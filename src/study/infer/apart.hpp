// Prefill and decode on accelerators of their own.
#pragma once

#include "study/infer/load/closed.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// Copies of each; all of one model and cluster.
struct ServingApart {
  Serving prefill, decode;
  std::int64_t prefill_copies = 1, decode_copies = 1;
  bool streamed = false;  // the cache moves layer by layer as prefill makes it

  std::int64_t prefill_ranks() const { return prefill_copies * prefill.ranks(); }
  std::int64_t ranks() const { return prefill_ranks() + decode_copies * decode.ranks(); }
};

/// A pool as it is given, "tp=4,copies=2": degrees above one, and tp; steps' tokens where they are
/// not its engine's own.
std::string pool_as_given(const Serving& part, std::int64_t copies);

/// Everything that keeps it from being one.
Problems check(const ServingApart& apart);

struct ServedApart {
  Served all;             // its memory is of decode, its decode pass of one copy
  ServingMemory prefill;  // of a rank of prefill
  bool prefill_fits = false, decode_fits = false;
  Seconds moving;    // that the cache of a mean prompt is on its way
  ApartRates rates;  // requests a second that each part could answer

  /// The part that answers fewest.
  std::string_view binding() const;
};

/// Of a copy whose copies of attention pass together.
StepTimes steps_of_copy(const Serving& serving, const ServingConstants& constants,
                        const Load& load);
Policy policy_of_copy(const Serving& serving);

/// All that requests see of it; of values that must outlive it.
struct ApartEngines {
  const StepTimes &prefill, &decode;
  const Policy &of_prefill, &of_decode;
  const ServingMemory &prefill_memory, &decode_memory;
};
Apart apart_of(const ServingApart& apart, const ApartEngines& engines,
               const ServingConstants& constants, const Load& load);

/// The same with the steps and policies that it is of.
class OwnedApart {
 public:
  OwnedApart(const ServingApart& apart, const ServingConstants& constants, const Load& load,
             const ServingMemory& prefill_memory, const ServingMemory& decode_memory);
  OwnedApart(const OwnedApart&) = delete;
  OwnedApart& operator=(const OwnedApart&) = delete;

  const Apart& apart() const { return apart_; }

 private:
  const StepTimes prefill_, decode_;
  const Policy of_prefill_, of_decode_;
  const Apart apart_;
};

/// [INFER-19] `load`: of all copies together, from clients, at random or at listed moments.
ServedApart served(const ServingApart& apart, const ServingConstants& constants, const Load& load);

}  // namespace headway
