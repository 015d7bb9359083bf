// Events of an NCCL profiler plugin, one JSON object a line. A "Coll" or "P2p" event lasts as long
// as the host needs to put the call into its queue; the transfer is in the "KernelCh" events whose
// parent it is, one for each channel. Their times are the host's, when a polling thread saw them;
// the GPU's own clock ("pTimer", ns), where both ends have it, gives the better duration.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/shared_kernels.hpp"

namespace headway {
namespace {

class NcclProfilerReader {
 public:
  explicit NcclProfilerReader(Recording& recording) : recording_(recording) {}

  void add(const JsonValue& record) {
    const std::string_view type = record["type"].text().value_or("");
    if (type == "ProfilerLifecycle") return add_communicator(record);
    if (record["name"].text() == "KernelChStop") {
      if (const auto timer = record["pTimer"].integer()) {
        gpu_stop_[record["eventAddr"].label()] = *timer;
      }
      return;
    }
    if (type == "ncclProfileColl" || type == "ncclProfileP2p") return add_call(record);
    if (type == "ncclProfileKernelCh") add_channel(record);
  }

  void finish() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const Channels& channels = channels_[i];
      RecordedCall& call = recording_.calls[i];
      if (channels.count == 0) {
        leave_unsaid(recording_, "calls without kernel-channel events: enqueue times only");
        continue;
      }
      const bool gpu_clock = channels.gpu_count == channels.count;
      const std::int64_t ns =
          gpu_clock ? channels.gpu_stop - channels.gpu_start : channels.stop - channels.start;
      if (ns < 0 || ns > kMostNanoseconds) continue;
      call.time = TimeKind::kernel;
      call.duration = Seconds(static_cast<double>(ns) * 1e-9);
      call.start_ns = channels.stop - ns;
      if (gpu_clock) launches_[i].on_gpu = {channels.gpu_start, channels.gpu_stop};
    }
    share_kernels(recording_, launches_);
  }

 private:
  struct Channels {
    int count = 0, gpu_count = 0;
    std::int64_t start = 0, stop = 0, gpu_start = 0, gpu_stop = 0;
  };

  std::uint32_t rank_of(const JsonValue& record) {
    const std::string gpu = record["gpuUuid"].label();
    return rank_index(recording_, gpu.empty() ? recording_.source : "GPU " + gpu);
  }

  void add_communicator(const JsonValue& record) {
    const auto size = record["details"]["nranks"].integer();
    if (!size || *size <= 0) return;
    group_index(recording_, record["commId"].label(), size);
    RecordedRank& rank = recording_.ranks[rank_of(record)];
    if (size.value_or(0) > rank.world_size.value_or(0)) {  // of its largest communicator
      rank.number = record["rank"].integer();
      rank.world_size = size;
    }
  }

  void add_call(const JsonValue& record) {
    const JsonValue details = record["details"];
    const auto op = operation_from(details["func"].text().value_or(""));
    const auto elements = details["count"].number();
    const auto start = record["start"]["ts"].microseconds_as_ns();
    const auto stop = record["stop"]["ts"].microseconds_as_ns();
    if (!op || !elements || *elements < 0) {
      return omit(recording_, "records that could not be read");
    }
    RecordedCall call;
    call.op = *op;
    call.rank = rank_of(record);
    call.group = group_index(recording_, record["commId"].label());
    call.sequence = details["seq"].integer();
    call.peer = details["peer"].integer();
    call.type = element_type_from(
        (details["dtype"].present() ? details["dtype"] : details["datatype"]).text().value_or(""));
    if (call.type) {
      set_bytes_from_count(call, *elements * bytes_per_element(*call.type),
                           group_size(recording_, call));
    }
    if (!call.bytes) leave_unsaid(recording_, kCallsWithoutWhole);
    call.start_ns = start;
    if (start && stop && *stop >= *start) {
      call.time = TimeKind::enqueue;
      call.duration = Seconds(static_cast<double>(*stop - *start) * 1e-9);
    }
    by_address_[record["eventAddr"].label()] = recording_.calls.size();
    recording_.calls.push_back(call);
    channels_.emplace_back();
    const std::string group = details["parentGroup"].label();
    launches_.push_back({group == "null" ? std::string() : group});
  }

  void add_channel(const JsonValue& record) {
    const auto call = by_address_.find(record["parentObj"].label());
    const auto start = record["start"]["ts"].microseconds_as_ns();
    const auto stop = record["stop"]["ts"].microseconds_as_ns();
    if (call == by_address_.end() || !start || !stop || *stop < *start) {
      return omit(recording_, "kernel channels without a call");
    }
    Channels& channels = channels_[call->second];
    const bool first = channels.count++ == 0;
    channels.start = first ? *start : std::min(channels.start, *start);
    channels.stop = first ? *stop : std::max(channels.stop, *stop);
    const auto gpu_start = record["details"]["pTimer"].integer();
    const auto gpu_stop = gpu_stop_.find(record["eventAddr"].label());
    if (!gpu_start || gpu_stop == gpu_stop_.end() || gpu_stop->second < *gpu_start ||
        *gpu_start < 0) {
      return;
    }
    const bool first_gpu = channels.gpu_count++ == 0;
    channels.gpu_start = first_gpu ? *gpu_start : std::min(channels.gpu_start, *gpu_start);
    channels.gpu_stop =
        first_gpu ? gpu_stop->second : std::max(channels.gpu_stop, gpu_stop->second);
    gpu_stop_.erase(gpu_stop);  // the address serves again
  }

  Recording& recording_;
  std::map<std::string, std::size_t> by_address_;
  std::map<std::string, std::int64_t> gpu_stop_;
  std::vector<Channels> channels_;  // one for each call
  std::vector<Launch> launches_;    // the same
};

}  // namespace

void read_nccl_profiler(ByteSource& source, Recording& recording) {
  NcclProfilerReader reader(recording);
  for_each_piece(source, JsonShape::lines, recording,
                 [&](std::string_view, const JsonValue& record) { reader.add(record); });
  reader.finish();
}

}  // namespace headway
