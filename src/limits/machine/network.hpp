// Seconds that one step's communication takes on the levels of the network, bandwidth and latency
// apart, for a given placement of the parallel degrees.
#pragma once

#include <array>
#include <cstdint>

#include "limits/machine/layout.hpp"
#include "limits/machine/scaling.hpp"
#include "limits/machine/setting.hpp"

namespace headway::limits {

/// Of one global batch. Bandwidth: all traffic of a kind is spread evenly over all links of a
/// level.
struct NetworkTimes {
  Seconds tensor, pipeline, data;  // moving bytes; pipeline: and experts
  Seconds tensor_latency, pipeline_latency, data_latency;
};

/// The levels of one setting in the form the formulas need, for a run on a number of GPUs.
class Network {
 public:
  Network(const Setting& setting, const Shape& shape, std::int64_t gpus);

  NetworkTimes times(const Layout& layout) const;

  Seconds data_bandwidth(const Split& data) const;  // [LIMIT-9]
  Seconds data_latency(const Split& data) const;    // [LIMIT-9]
  /// Bandwidth and latency of what joins tensor shards. [LIMIT-10]
  std::array<Seconds, 2> tensor(const Split& tensor_model, const Split& tensor_ff) const;
  /// Bandwidth and latency of what joins stages and experts. [LIMIT-11]
  std::array<Seconds, 2> pipeline(const Split& pipeline, const Split& expert,
                                  std::int64_t interleave) const;

  /// The network with the levels up to `last` made one, which stands at `last` and has the sum of
  /// their bandwidths and the least of their latencies: what lies on them never takes longer there.
  /// [LIMIT-12]
  Network collapsed(int last) const;

 private:
  Network() = default;

  struct Link {
    double seconds_per_byte = 0;  // of the whole cluster
    double latency = 0;
    double syncs = 1;       // of the replicas joined there, in one step
    double data_share = 1;  // of the replicas' bytes that is sent there, over all steps
  };
  std::array<Link, kMostLevels> links_{};
  int levels_ = 0;
  double gpus_ = 1;
  double layers_ = 1, d_model_ = 1, d_ff_ = 1, batch_ = 1;
  double parameter_bytes_ = 0, word_ = 2;
  double repeated_ = 1;  // communication of the layers with recomputed activations
};

}  // namespace headway::limits
