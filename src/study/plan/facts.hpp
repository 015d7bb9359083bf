// What the activations of blocks take, lowered once for all who plan with a model and a job, on any
// number of threads. Internal to the planner.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "study/plan/keys.hpp"

namespace headway {

/// The blocks of a step: what they save and hold, without ops and calls.
using HeldBlocks = std::vector<Block>;

class PlanFacts {
 public:
  PlanFacts(const Model& model, const Job& job);

  /// What the activations of a layout's blocks take; of `out`, of which the room is used again, all
  /// else is left.
  void held(const Layout& layout, HeldBlocks& out);

  /// Which blocks have experts: they are made for each spread of those, the others once.
  bool has_experts() const { return has_experts_; }
  bool with_experts(std::size_t block) const;

 private:
  struct Fact {
    std::size_t block;
    BlockKind kind;
    Bytes saved, saved_if_kept, working;
    double again;
  };
  struct Facts {
    std::size_t blocks = 0;   // in all
    std::vector<Fact> known;  // of those that were chosen
  };
  struct Part {
    std::mutex door;
    KeptBy<WorkKey, Facts> kept;
    Part();
  };

  void add(const Layout& layout, const WorkKey& key, HeldBlocks& out);
  void make(const WorkKey& key, Facts& out) const;

  const Model& model_;
  const Job& job_;
  bool has_experts_;
  std::array<Part, 64> parts_;  // by key: threads seldom meet
};

}  // namespace headway
