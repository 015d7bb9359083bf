// Perfetto's TrackEvent packets: a process for each rank, a thread for each of its tracks; an event
// is a begin and an end, names stand once (interned); counters are tracks of their process.
#include <map>
#include <protozero/pbf_writer.hpp>

#include "simulate/timeline/events.hpp"

namespace headway {
namespace {

using protozero::pbf_writer;

// Numbers of fields, as perfetto's trace_packet.proto and track_event.proto have them.
enum Packet : protozero::pbf_tag_type {
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInterned = 12,
  kFlags = 13,
  kDescriptor = 60
};
constexpr protozero::pbf_tag_type kPacket = 1;
constexpr std::uint32_t kOneSequence = 1, kStateCleared = 1, kNeedsState = 2;

class Writer {
 public:
  explicit Writer(std::string_view process) : process_(process) {}

  std::string write(const std::vector<TimelineTrack>& tracks,
                    const std::vector<TimelineCounter>& counters) {
    std::int64_t last = -1;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const TimelineTrack& track = tracks[i];
      if (track.rank != last) describe_rank(track.rank);
      last = track.rank;
      describe_track(track, i);
    }
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      for (const TimelineEvent& event : tracks[i].events) {
        begin(event, i);
        end(event, i);
      }
    }
    for (std::size_t i = 0; i < counters.size(); ++i) {
      describe_counter(counters[i], i);
      for (const auto& [time, value] : counters[i].values) count(time, value, i);
    }
    return std::move(out_);
  }

 private:
  static std::uint64_t process_of(std::int64_t rank) {
    return (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(rank);
  }
  static std::uint64_t uuid_of(std::size_t track) {
    return (std::uint64_t{2} << 32) + static_cast<std::uint64_t>(track);
  }

  static std::uint64_t uuid_of_counter(std::size_t counter) {
    return (std::uint64_t{3} << 32) + static_cast<std::uint64_t>(counter);
  }

  template <class Fill>
  void packet(Fill&& fill) {
    std::string data;
    pbf_writer writer(data);
    fill(writer);
    writer.add_uint32(kSequence, kOneSequence);
    writer.add_uint32(kFlags, first_ ? kStateCleared : kNeedsState);
    first_ = false;
    pbf_writer(out_).add_message(kPacket, data);
  }

  void describe_rank(std::int64_t rank) {
    packet([&](pbf_writer& to) {
      std::string process, track;
      pbf_writer of_process(process);
      of_process.add_int32(1, static_cast<std::int32_t>(rank) + 1);
      of_process.add_string(6, process_ + " " + std::to_string(rank));
      pbf_writer of_track(track);
      of_track.add_uint64(1, process_of(rank));
      of_track.add_message(3, process);
      to.add_message(kDescriptor, track);
    });
  }

  void describe_track(const TimelineTrack& of, std::size_t at) {
    packet([&](pbf_writer& to) {
      std::string thread, track;
      pbf_writer of_thread(thread);
      of_thread.add_int32(1, static_cast<std::int32_t>(of.rank) + 1);
      of_thread.add_int32(2, static_cast<std::int32_t>(at) + 1);
      of_thread.add_string(5, of.name);
      pbf_writer of_track(track);
      of_track.add_uint64(1, uuid_of(at));
      of_track.add_uint64(5, process_of(of.rank));
      of_track.add_message(4, thread);
      to.add_message(kDescriptor, track);
    });
  }

  void describe_counter(const TimelineCounter& of, std::size_t at) {
    packet([&](pbf_writer& to) {
      std::string counter, track;
      pbf_writer of_counter(counter);
      of_counter.add_string(6, of.unit);
      pbf_writer of_track(track);
      of_track.add_uint64(1, uuid_of_counter(at));
      of_track.add_string(2, of.name);
      of_track.add_uint64(5, process_of(of.rank));
      of_track.add_message(8, counter);
      to.add_message(kDescriptor, track);
    });
  }

  void count(std::int64_t time, double value, std::size_t counter) {
    packet([&](pbf_writer& to) {
      to.add_uint64(kTimestamp, static_cast<std::uint64_t>(time));
      std::string data;
      pbf_writer of_event(data);
      of_event.add_enum(9, 4);
      of_event.add_uint64(11, uuid_of_counter(counter));
      of_event.add_double(44, value);
      to.add_message(kTrackEvent, data);
    });
  }

  void begin(const TimelineEvent& event, std::size_t track) {
    const auto [name, is_new] = names_.try_emplace(event.name, names_.size() + 1);
    packet([&](pbf_writer& to) {
      to.add_uint64(kTimestamp, static_cast<std::uint64_t>(event.begin));
      if (is_new) {
        std::string entry, data;
        pbf_writer of_entry(entry);
        of_entry.add_uint64(1, name->second);
        of_entry.add_string(2, event.name);
        pbf_writer(data).add_message(2, entry);
        to.add_message(kInterned, data);
      }
      std::string data;
      pbf_writer of_event(data);
      of_event.add_enum(9, 1);
      of_event.add_uint64(10, name->second);
      of_event.add_uint64(11, uuid_of(track));
      for (const std::uint64_t flow : event.sends) of_event.add_fixed64(47, flow);
      if (event.receives != 0) of_event.add_fixed64(48, event.receives);
      to.add_message(kTrackEvent, data);
    });
  }

  void end(const TimelineEvent& event, std::size_t track) {
    packet([&](pbf_writer& to) {
      to.add_uint64(kTimestamp, static_cast<std::uint64_t>(event.end));
      std::string data;
      pbf_writer of_event(data);
      of_event.add_enum(9, 2);
      of_event.add_uint64(11, uuid_of(track));
      to.add_message(kTrackEvent, data);
    });
  }

  std::string process_, out_;
  bool first_ = true;
  std::map<std::string, std::uint64_t> names_;
};

}  // namespace

std::string perfetto_bytes(const std::vector<TimelineTrack>& tracks,
                           const std::vector<TimelineCounter>& counters, std::string_view process) {
  return Writer(process).write(tracks, counters);
}

}  // namespace headway
