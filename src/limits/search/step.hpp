// One optimiser step of a layout: the seconds of its parts, and what a run of such steps amounts
// to.
#pragma once

#include <array>
#include <string_view>

#include "limits/machine/layout.hpp"
#include "limits/machine/matmul.hpp"
#include "limits/machine/network.hpp"
#include "limits/machine/scaling.hpp"
#include "limits/machine/setting.hpp"

namespace headway::limits {

/// The parts add up to `total`.
struct StepParts {
  Seconds arithmetic;  // at the sustained peak
  Seconds memory;      // longer products, as their data move too slowly or their tiles are padded
  Seconds kernel_latency;   // of the products
  Seconds network;          // moving bytes that no product hides
  Seconds bubble;           // of the pipeline
  Seconds network_latency;  // that nothing hides
};

constexpr std::array<std::string_view, 6> kPartNames = {"arithmetic", "memory", "kernel latency",
                                                        "network",    "bubble", "network latency"};

/// The seconds of StepParts in the order of kPartNames.
std::array<Seconds, 6> in_order(const StepParts& parts);

/// What a step loses most time to: the largest part but arithmetic, as an index of kPartNames.
std::size_t largest_loss(const StepParts& parts);

struct StepTimes {
  Seconds total;
  Seconds matmul;        // of one GPU
  NetworkTimes network;  // as if nothing overlapped
  StepParts parts;
};

/// Seconds of the six products of one layer and micro-batch. [LIMIT-13]
class LayerMatmuls {
 public:
  LayerMatmuls(const Setting& setting, const Shape& shape, std::int64_t tensor_model,
               std::int64_t tensor_ff);
  Seconds time(std::int64_t tokens) const;

 private:
  Matmul down_, up_, down_gradient_, up_gradient_;
  bool forward_only_ = false;
};

/// The tokens one product sees: of one micro-batch, replica and expert.
std::int64_t tokens_of_product(const Shape& shape, std::int64_t data, std::int64_t micro_batches);

/// Seconds of all products of a step on one GPU. [LIMIT-13]
Seconds matmul_time(const Setting& setting, const Shape& shape, const Degrees& degrees,
                    std::int64_t micro_batches, const LayerMatmuls& layer);

/// No layout on `gpus` has less: arithmetic, and the latency of the kernels with as many
/// micro-batches as stages wait, or twice as many. [LIMIT-39]
Seconds least_matmul_time(const Setting& setting, const Shape& shape, std::int64_t gpus,
                          std::int64_t expert, bool zero_bubble);

/// Stages of a pipeline that wait for one another: of one block where blocks have losses of their
/// own. [LIMIT-29]
std::int64_t waiting_stages(const Setting& setting, std::int64_t stages);

/// The share of a pipeline's time in which a stage has no work. [LIMIT-14]
double bubble_share(std::int64_t stages, std::int64_t interleave, std::int64_t micro_batches,
                    bool zero_bubble);

/// What the step takes, its parts put together. [LIMIT-15]
Seconds step_time(const Setting& setting, Seconds matmul, const NetworkTimes& network,
                  double bubble, bool zero_bubble);

/// All of it for one layout.
StepTimes step_times(const Setting& setting, const Shape& shape, const Layout& layout);

/// Whether weights, gradients and optimizer words of `data` replicas fit, `loose` groups of which
/// meet rarely (1: all are in step). [LIMIT-16] [LIMIT-27]
bool fits(const Setting& setting, const Shape& shape, std::int64_t gpus, std::int64_t data,
          std::int64_t loose);

/// The replicas that meet rarely, as placed: each a group of replicas in step. [LIMIT-27]
std::int64_t loose_replicas(const Setting& setting, const Split& data);

/// Model FLOP over what the GPUs can do at their highest clock.
double utilization(const Setting& setting, const Shape& shape, std::int64_t gpus, Seconds step);

}  // namespace headway::limits
