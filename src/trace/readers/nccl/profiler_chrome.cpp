// What NCCL's example profiler plugin dumps (NCCL_PROFILE_DUMP_FILE): Chrome's asynchronous events,
// "ph": "b" at a beginning and "e" at an end, one array. A call ("cat": "COLL" or "P2P") encloses
// its kernel channels ("cat": "GPU") in the order of the file. As in the other events of a profiler
// plugin, the call's own duration is that of enqueueing. Some versions leave the quotes of a
// datatype out; such events of the "API" kinds are no JSON and are counted as damaged.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/shared_kernels.hpp"

namespace headway {
namespace {

class ChromeEvents {
 public:
  explicit ChromeEvents(Recording& recording) : recording_(recording) {}

  void add(const JsonValue& event) {
    const std::string_view category = event["cat"].text().value_or("");
    const bool begins = event["ph"].text() == "b";
    const auto at_ns = event["ts"].microseconds_as_ns();
    if (!at_ns || (!begins && event["ph"].text() != "e")) return;
    if (category == "GROUP") {  // encloses the calls that were launched with one another
      in_group_ = begins ? std::to_string(++groups_) : std::string();
    } else if (category == "COLL" || category == "P2P") {
      if (begins) {
        begin_call(event, *at_ns);
      } else {
        end_call(*at_ns);
      }
    } else if (category == "GPU" && event["name"].text() == "KernelCh") {
      add_channel(event, begins, *at_ns);
    }
  }

  void finish() {
    end_call(std::nullopt);
    share_kernels(recording_, launches_);
  }

 private:
  void begin_call(const JsonValue& event, std::int64_t at_ns) {
    end_call(std::nullopt);
    const JsonValue args = event["args"];
    const auto op = operation_from(event["name"].text().value_or(""));
    const auto elements = args["Count"].number();
    if (!op || !elements || *elements < 0) {
      return omit(recording_, "records that could not be read");
    }
    RecordedCall call;
    call.op = *op;
    const auto number = args["Rank"].integer();
    call.rank = rank_index(recording_,
                           number ? "rank " + std::to_string(*number) : recording_.source, number);
    call.group = group_index(recording_, args["CommHash"].label());
    call.sequence = args["SeqNum"].integer();
    call.peer = args["Peer"].integer();
    call.start_ns = at_ns;
    call.type = element_type_from(args["Datatype"].text().value_or(""));
    if (call.type) {
      set_bytes_from_count(call, *elements * bytes_per_element(*call.type), std::nullopt);
    }
    if (!call.bytes) leave_unsaid(recording_, kCallsWithoutWhole);
    recording_.calls.push_back(call);
    launches_.push_back({in_group_});
    open_ = true;
    channels_ = {};
    begun_.clear();
  }

  void add_channel(const JsonValue& event, bool begins, std::int64_t at_ns) {
    if (!open_) return omit(recording_, "kernel channels without a call");
    const std::string id = event["id"].label();
    if (begins) {
      begun_[id] = at_ns;
      const auto start = event["args"]["StartGpuClk"].integer();
      const auto stop = event["args"]["StopGpuClk"].integer();
      if (start && stop && *start > 0 && *stop >= *start) widen(channels_.gpu, {*start, *stop});
      return;
    }
    const auto begun = begun_.find(id);
    if (begun != begun_.end() && at_ns >= begun->second) {
      widen(channels_.host, {begun->second, at_ns});
    }
  }

  // Without an end of its own a call that has no channels has no duration.
  void end_call(std::optional<std::int64_t> at_ns) {
    if (!std::exchange(open_, false)) return;
    RecordedCall& call = recording_.calls.back();
    const auto& measured = channels_.gpu ? channels_.gpu : channels_.host;
    std::int64_t ns = 0;
    if (measured) {
      ns = measured->second - measured->first;  // both are positive, or times that were read
      if (ns > kMostNanoseconds) return;
      call.time = TimeKind::kernel;
      launches_.back().on_gpu = channels_.gpu;
      if (channels_.host) call.start_ns = channels_.host->second - ns;
    } else if (at_ns && *at_ns >= *call.start_ns) {
      ns = *at_ns - *call.start_ns;
      call.time = TimeKind::enqueue;
      leave_unsaid(recording_, "calls without kernel-channel events: enqueue times only");
    } else {
      return;
    }
    call.duration = Seconds(static_cast<double>(ns) * 1e-9);
  }

  using Interval = std::pair<std::int64_t, std::int64_t>;
  static void widen(std::optional<Interval>& to, Interval more) {
    to = to ? Interval{std::min(to->first, more.first), std::max(to->second, more.second)} : more;
  }

  struct Channels {
    std::optional<Interval> host, gpu;
  };

  Recording& recording_;
  bool open_ = false;  // the last call encloses what comes
  Channels channels_;
  std::map<std::string, std::int64_t> begun_;  // channels of the open call
  std::int64_t groups_ = 0;
  std::string in_group_;
  std::vector<Launch> launches_;  // one for each call
};

}  // namespace

void read_nccl_profiler_chrome(ByteSource& source, Recording& recording) {
  ChromeEvents events(recording);
  for_each_piece(source, JsonShape::document, recording,
                 [&](std::string_view, const JsonValue& event) { events.add(event); });
  events.finish();
}

}  // namespace headway
