#include "study/measured/rates.hpp"

#include "cost/calibration/calibration.hpp"
#include "cost/collective/collective.hpp"

namespace headway {

std::vector<MeasuredRate> rates_of(const Measured& measured) {
  const Recording& recording = measured.recording();
  std::vector<MeasuredRate> out;
  const auto add = [&](const RecordedCall& call, Seconds time) {
    const auto bytes = wire_bytes(recording, call);
    const BytesPerSecond rate = bytes && time.value() > 0 ? *bytes / time : BytesPerSecond();
    if (!(rate.value() > 0) || call.time == TimeKind::enqueue) return;
    out.push_back(
        {call.op, static_cast<double>(group_size(recording, call).value_or(0)), *call.bytes, rate});
  };
  const std::vector<std::int64_t> collective = collective_of_calls(measured);
  for (const MatchedCall& matched : measured.alignment.matched) {
    add(recording.calls[matched.calls.front()], matched.transfer);
  }
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (collective[i] < 0 && call.duration) add(call, *call.duration);
  }
  return out;
}

std::vector<BytesPerSecond> modelled_rates(Operation op, std::int64_t ranks,
                                           std::span<const Bytes> sizes, const Cluster& cluster) {
  const auto constants = benchmarked_for(cluster);
  const auto modelled = to_collective(op);
  if (!constants || !modelled) return {};
  const GroupSpan span = span_of(ranks, 1, ranks, cluster);
  std::vector<BytesPerSecond> out;
  for (const Bytes size : sizes) {
    const Seconds time = collective_time(*modelled, size, span, cluster, constants->levels);
    out.push_back(bus_factor(op, static_cast<double>(ranks)) * size / time);
  }
  return out;
}

}  // namespace headway
