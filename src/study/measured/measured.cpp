#include "study/measured/measured.hpp"

#include <utility>

namespace headway {

Measured measure(RunRecording run, const Cluster* cluster) {
  Measured measured;
  measured.run = std::move(run);
  const Recording& recording = measured.recording();
  measured.alignment = align(recording);
  measured.grouped = name_whole_group(measured.run.recording, measured.alignment);
  complete_sizes(measured.run.recording);
  const std::vector<std::uint32_t> alike = alike_groups(recording);
  measured.calls = call_table(recording, alike);
  measured.waiting = waiting_table(recording, measured.alignment, alike);
  // Without computation on record nothing can be said of what it hides.
  if (!recording.compute.empty()) measured.overlap = overlap_of(recording);
  measured.steps = steps_of(recording);
  measured.step_rows = step_table(recording, measured.steps, measured.alignment);
  measured.stragglers = stragglers(measured.step_rows);
  measured.exchanges = exchange_table(recording, measured.alignment, alike);
  if (auto path = path_of(recording)) measured.path = std::move(path).value();
  measured.kernels = kernel_table(recording, cluster);
  for (const RecordedCall& call : recording.calls) {
    const bool message = call.bytes && call.time != TimeKind::benchmark;
    if (message) measured.sizes.add(*call.bytes, call.count);
  }
  measured.notes = notes_on(measured);
  return measured;
}

std::vector<std::int64_t> collective_of_calls(const Measured& measured) {
  std::vector<std::int64_t> out(measured.recording().calls.size(), -1);
  std::int64_t number = 0;
  for (const MatchedCall& matched : measured.alignment.matched) {
    for (const std::size_t call : matched.calls) out[call] = number;
    ++number;
  }
  return out;
}

}  // namespace headway
