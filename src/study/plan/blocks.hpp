// Blocks that are lowered and priced once for all layouts that share them. Internal to the planner.
#pragma once

#include <memory>
#include <vector>

#include "forecast/price.hpp"
#include "study/plan/facts.hpp"

namespace headway {

/// Blocks with what they hold, without ops and calls, and their tensors.
using SampleBlocks = std::shared_ptr<const LoweredBlocks>;

class PlanBlockCache {
 public:
  /// Of any layout of the run. `facts` are of its model and job.
  PlanBlockCache(const Run& run, const Calibration& calibration, std::shared_ptr<PlanFacts> facts);

  /// The weights of a layout's blocks, whatever else they are.
  SampleBlocks sample(const Layout& layout);
  /// What the activations of a layout's blocks take. As all that follow, it stands until the next
  /// call.
  const HeldBlocks& held(const Layout& layout);
  /// Groups lie there from now on. It must stand until they lie elsewhere.
  void go_to(const Spans& spans);
  /// The prices of a layout's blocks for one micro-batch.
  const std::vector<PricedBlock>& priced(const Layout& layout);
  /// At most what each of them takes, however weights are shared and sharded.
  const std::vector<Seconds>& floor(const Layout& layout);

 private:
  // Blocks with their calls alone, and what their ops take.
  struct Work {
    std::vector<Block> blocks;
    std::vector<PricedWork> work;
  };
  // Where groups lay when blocks were priced last.
  struct Seen {
    Group group;
    GroupSpan span;
  };
  struct Priced {
    Work shared;  // with the calls over other ranks, where they are among those priced
    std::vector<PricedBlock> prices;
    std::vector<Seconds> totals;        // of floors
    std::vector<std::uint64_t> groups;  // that each of them calls, a bit for each
    std::vector<Seen> seen;             // of the groups of all calls
    std::uint64_t place = 0;
  };

  std::vector<Block> lowered(const WorkKey& key);
  Work& work(const WorkKey& key);
  template <class Body>
  void for_blocks(const PriceKey& key, Priced& of, const Body& body);
  KeptBy<PriceKey, Priced>& kept_for(const PriceKey& key);
  const Priced& priced(const PriceKey& key);
  void share(const PriceKey& key, Priced& out);
  void make(const PriceKey& key, Priced& out);
  void price(Block& block, const PricedWork& work, const PriceKey& key, Priced& out, std::size_t i);

  const Run& run_;
  const Calibration& calibration_;
  std::shared_ptr<PlanFacts> facts_;
  KeptBy<WorkKey, Work> works_;
  KeptBy<WorkKey, SampleBlocks> samples_;
  KeptBy<PriceKey, Priced> prices_;   // of layouts that shard no weights
  KeptBy<PriceKey, Priced> sharded_;  // of the others
  KeptBy<PriceKey, Priced> floors_;   // of all blocks, or of those with experts
  KeptBy<PriceKey, Priced> floors_without_experts_;
  const Spans* spans_ = nullptr;
  std::uint64_t place_ = 0;  // counts those gone to
  CallMemo memo_;            // of the place
  // Room that is used again.
  std::vector<PricedCall> calls_;
  HeldBlocks held_;
  std::vector<PlanFacts::Lowered> lowered_;  // for it, of which work may still be made
  std::vector<Seconds> floor_;
};

}  // namespace headway
