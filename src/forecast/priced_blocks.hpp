// A step with its blocks and transfers priced once, and the passes that put it together.
#pragma once

#include <vector>

#include "forecast/assembly.hpp"
#include "forecast/forecast.hpp"

namespace headway {

/// One entry for calls that differ in nothing but what of them is exposed, as those of a layer's
/// two halves do.
void merge(std::vector<PricedCall>& calls);

/// [OWN-1] Times as own runs had them.
void stretch(std::vector<PricedCall>& calls, double factor);
void stretch(PipelineTimes& pipeline, double factor);

/// Every block priced for one micro-batch, and every stage's transfers.
class PricedBlocks {
 public:
  /// Both are read as long as this is used.
  PricedBlocks(const Step& step, const Prices& prices);

  /// Of the classes of stages of the step, timed.
  Assembly assembly(std::vector<PricedCall>& calls);
  /// The micro-batches and transfers of the stage that the assembly looks at, and what it does
  /// after them.
  PricedUpdate run(Assembly& assembly, std::vector<PricedCall>& calls) const;

  /// Of the stages of the last assembly, which reads them.
  std::vector<StageTime>& times() { return times_; }
  /// Of each class of stages.
  std::vector<std::vector<StageCall>>& transfers() { return transfers_; }

 private:
  const Step& step_;
  const Prices& prices_;
  std::vector<PricedBlock> blocks_;
  std::vector<std::vector<PricedCall>> block_calls_;
  std::vector<std::vector<StageCall>> transfers_;
  std::vector<StageTime> times_;
};

}  // namespace headway
