// The slots of all ranks in their places. Internal to src/simulate.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "simulate/step/chunks.hpp"
#include "simulate/step/once.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {

/// What a rank runs in its slots and once a step.
struct RankWork {
  /// By chunk and SlotWork.
  std::vector<std::array<std::shared_ptr<const SlotProgram>, 4>> chunks;
  OnceAStep once;
};

/// Programs of slots, each made once.
class SlotPrograms {
 public:
  explicit SlotPrograms(const PricedStep& step) : step_(step) {}
  std::shared_ptr<const SlotProgram> get(const ChunkBlocks& blocks, SlotWork work);

 private:
  const PricedStep& step_;
  std::map<std::pair<ChunkBlocks, SlotWork>, std::shared_ptr<const SlotProgram>> made_;
};

struct SlotRules {
  bool blocking = false;    // a sender waits for its transfers
  double interference = 0;  // what a slot loses of the time that calls run beside it
};

/// [SIM-8] Every slot as soon as its rank is free and what it needs is there. Gathers under the
/// first micro-batch's forward slots, reductions under the last one's backward slots, an even part
/// of them in each: what is not done by the end of the last slot is the last span.
void place_slots(const Pipeline& pipeline, const std::vector<RankWork>& work,
                 const SlotRules& rules, std::vector<RankTimeline>& out);

}  // namespace headway
