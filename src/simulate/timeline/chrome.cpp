// Chrome's trace events as JSON: complete events in microseconds, arrows for transfers.
#include "base/formatted.hpp"
#include "simulate/timeline/events.hpp"

namespace headway {
namespace {

// Names here are of ours and of groups: printable, without quotes.
std::string named(const char* what, std::int64_t pid, std::size_t tid, const std::string& name) {
  return formatted(R"({"ph":"M","name":"%s","pid":%lld,"tid":%zu,"args":{"name":"%s"}})", what,
                   static_cast<long long>(pid), tid, name.c_str());
}

double microseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

}  // namespace

std::string chrome_json(const std::vector<TimelineTrack>& tracks,
                        const std::vector<TimelineCounter>& counters, std::string_view process) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  const auto add = [&](const std::string& event) {
    out += separator;
    out += event;
    separator = ",\n";
  };
  std::int64_t last = -1;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const TimelineTrack& track = tracks[i];
    const auto pid = static_cast<long long>(track.rank);
    if (track.rank != last) {
      add(named("process_name", track.rank, 0,
                std::string(process) + " " + std::to_string(track.rank)));
    }
    last = track.rank;
    add(named("thread_name", track.rank, i + 1, track.name));
    add(formatted(
        R"({"ph":"M","name":"thread_sort_index","pid":%lld,"tid":%zu,"args":{"sort_index":%zu}})",
        pid, i + 1, i));
    for (const TimelineEvent& event : track.events) {
      add(formatted(
          R"({"ph":"X","name":"%s","cat":"%s","pid":%lld,"tid":%zu,"ts":%.3f,"dur":%.3f})",
          event.name.c_str(), track.name.c_str(), pid, i + 1, microseconds(event.begin),
          microseconds(event.end - event.begin)));
      for (const std::uint64_t flow : event.sends) {
        add(formatted(R"({"ph":"s","name":"send","cat":"pp","id":%llu,"pid":%lld,"tid":%zu,)"
                      R"("ts":%.3f})",
                      static_cast<unsigned long long>(flow), pid, i + 1,
                      microseconds(event.begin)));
      }
      if (event.receives != 0) {
        add(formatted(R"({"ph":"f","bp":"e","name":"send","cat":"pp","id":%llu,"pid":%lld,)"
                      R"("tid":%zu,"ts":%.3f})",
                      static_cast<unsigned long long>(event.receives), pid, i + 1,
                      microseconds(event.begin)));
      }
    }
  }
  for (const TimelineCounter& counter : counters) {
    for (const auto& [time, value] : counter.values) {
      add(formatted(R"({"ph":"C","name":"%s","pid":%lld,"ts":%.3f,"args":{"%s":%.10g}})",
                    counter.name.c_str(), static_cast<long long>(counter.rank), microseconds(time),
                    counter.unit.c_str(), value));
    }
  }
  return out + "\n]}\n";
}

}  // namespace headway
