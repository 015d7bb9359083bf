#include "forecast/priced_blocks.hpp"

#include <cmath>

namespace headway {

void merge(std::vector<PricedCall>& calls) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i].call;
    std::size_t at = 0;
    const auto same = [&](const Call& other) {
      return other.op == call.op && other.group == call.group && other.phase == call.phase &&
             other.dtype == call.dtype && other.bytes == call.bytes;
    };
    while (at < kept && !same(calls[at].call)) ++at;
    if (at == kept) {
      calls[kept++] = calls[i];
    } else {
      calls[at].call.count += call.count;
      calls[at].exposed += calls[i].exposed;
    }
  }
  calls.resize(kept);
  // Shares of what goes across blocks [STEP-20] sum to whole numbers but for rounding.
  for (PricedCall& priced : calls) {
    const double whole = std::round(priced.call.count);
    if (std::abs(priced.call.count - whole) < 1e-6) priced.call.count = whole;
  }
}

void stretch(std::vector<PricedCall>& calls, double factor) {
  for (PricedCall& call : calls) {
    call.each *= factor;
    call.exposed *= factor;
  }
}
void stretch(PipelineTimes& pipeline, double factor) {
  for (StageTime& stage : pipeline.stages) {
    for (Seconds* time : {&stage.forward, &stage.backward, &stage.weight_gradient, &stage.transfers,
                          &stage.vocabulary, &stage.messages}) {
      *time *= factor;
    }
  }
  pipeline.send *= factor;
}

PricedBlocks::PricedBlocks(const Step& step, const Prices& prices) : step_(step), prices_(prices) {
  blocks_.reserve(step.blocks.size());
  for (const Block& block : step.blocks) {
    block_calls_.emplace_back();
    blocks_.push_back(price_block(block, prices, block_calls_.back()));
  }
  for (const StageClass& stage : step.stages) transfers_.push_back(priced_transfers(stage, prices));
}

Assembly PricedBlocks::assembly(std::vector<PricedCall>& calls) {
  Assembly out(step_.stages, blocks_, step_.micro_batches, prices_, times_, &calls);
  out.time_stages([&](std::size_t i) -> const std::vector<StageCall>& { return transfers_[i]; });
  return out;
}

PricedUpdate PricedBlocks::run(Assembly& assembly, std::vector<PricedCall>& calls) const {
  const StageClass& stage = step_.stages[assembly.pace()];
  assembly.run_micro_batches();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (stage.counts[i] == 0) continue;
    const double times = static_cast<double>(step_.micro_batches) *
                         static_cast<double>(stage.counts[i]) * stage.share;
    for (PricedCall call : block_calls_[i]) {
      call.call.count *= times;
      call.exposed *= times;
      call.block = static_cast<int>(i);
      calls.push_back(call);
    }
  }
  assembly.run_pipeline(transfers_[assembly.pace()]);
  return priced_update(stage, prices_);
}

}  // namespace headway
