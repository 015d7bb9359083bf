#include <algorithm>

#include "api/comms.hpp"
#include "base/text.hpp"

namespace headway {

Problems warnings_of(const RunRecording& run) {
  Problems warnings = run.unread;
  for (const std::string& doubt : run.doubts) warnings.push_back({"traces", doubt});
  for (const Omission& omission : run.recording.omissions) {
    if (!omission.lost) continue;
    warnings.push_back({run.files.size() == 1 ? run.files.front() : "traces",
                        omission.what + " (" + std::to_string(omission.count) + ")"});
  }
  if (!run.not_traces.empty()) {
    std::vector<std::string> some = run.not_traces;
    constexpr std::size_t kShown = 5;
    const std::size_t more = some.size() > kShown ? some.size() - kShown : 0;
    some.resize(some.size() - more);
    for (std::string& name : some) name = printable(name, 120);
    warnings.push_back(
        {"passed over", join(some, ", ") +
                            (more > 0 ? " and " + std::to_string(more) + " more" : std::string()) +
                            (run.not_traces.size() == 1 ? ": no trace" : ": no traces")});
  }
  return warnings;
}

}  // namespace headway
