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

  /// Blocks that were lowered of a key.
  struct Lowered {
    WorkKey key;
    std::vector<Block> blocks;  // none: they were taken
  };
  /// What the activations of a layout's blocks take; of `out`, of which the room is used again, all
  /// else is left. What is lowered for it is given to `made`: who asked will price it next.
  void held(const Layout& layout, HeldBlocks& out, std::vector<Lowered>& made);

  /// body(key) for the keys of which the blocks are made: those with experts for each spread of
  /// them, the others once.
  template <class Body>
  void for_choices(const WorkKey& key, const Body& body) const {
    if (!has_experts_) return body(key);
    body(key.of(BlockChoice::with_experts));
    body(key.of(BlockChoice::without_experts));
  }
  /// Whether the block is made of such a key.
  bool is_of(BlockChoice choice, std::size_t block) const {
    return takes(choice, with_experts(block));
  }

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

  bool with_experts(std::size_t block) const;
  void add(const Layout& layout, const WorkKey& key, HeldBlocks& out, std::vector<Lowered>& made);
  void make(const WorkKey& key, Facts& out, std::vector<Lowered>& made) const;

  const Model& model_;
  const Job& job_;
  bool has_experts_;
  std::array<Part, 64> parts_;  // by key: threads seldom meet
};

}  // namespace headway
