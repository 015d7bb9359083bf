// Every call as a row.
#include "report/comms_measured.hpp"

#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

std::string cell(double value) {
  return shortest_text(value);
}
std::string cell(std::int64_t value) {
  return std::to_string(value);
}
template <int T, int B, int F, int J>
std::string cell(Quantity<T, B, F, J> quantity) {
  return cell(quantity.value());
}
std::string cell(bool value) {
  return value ? "1" : "0";
}
std::string cell(ElementType type) {
  return std::string(to_name(type));
}

// Empty where it is not known.
template <class Value>
std::string cell(const std::optional<Value>& value) {
  return value ? cell(*value) : std::string();
}

}  // namespace

std::string measured_csv(const Measured& measured) {
  const Recording& recording = measured.recording();
  const std::vector<std::int64_t> collective = collective_of_calls(measured);
  std::string out =
      "rank,rank_label,group_id,group_name,group_size,op,done_as,count,bytes,counted_bytes,dtype,"
      "start_ns,"
      "aligned_start_ns,seconds,time_kind,transfer_s,waiting_s,busbw_bytes_per_s,stream,sequence,"
      "peer,in_place,collective\n";
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const RecordedRank& rank = recording.ranks[call.rank];
    std::optional<std::int64_t> aligned, matched;
    std::optional<Seconds> transfer, waiting;
    const auto& offset = measured.alignment.clock_offset_ns[call.rank];
    std::int64_t shifted = 0;
    if (offset && call.start_ns && !__builtin_add_overflow(*call.start_ns, *offset, &shifted)) {
      aligned = shifted;
    }
    if (collective[i] >= 0) {
      matched = collective[i];
      transfer = measured.alignment.matched[static_cast<std::size_t>(collective[i])].transfer;
      waiting = *call.duration - *transfer;
    }
    const std::string cells[] = {
        cell(rank.number),
        csv_cell(rank.label),
        call.group ? csv_cell(recording.groups[*call.group].id) : std::string(),
        call.group ? csv_cell(group_name(recording, call.group)) : std::string(),
        cell(group_size(recording, call)),
        std::string(to_name(call.op)),
        call.done_as ? std::string(to_name(*call.done_as)) : std::string(),
        cell(whole_if_near(call.count)),
        cell(call.bytes),
        cell(call.counted_bytes),
        cell(call.type),
        cell(call.start_ns),
        cell(aligned),
        cell(call.duration),
        std::string(to_name(call.time)),
        cell(transfer),
        cell(waiting),
        cell(bus_bandwidth(recording, call)),
        cell(call.stream),
        cell(call.sequence),
        cell(call.peer),
        cell(call.in_place),
        cell(matched)};
    for (const std::string& text : cells) {
      out += text;
      out += ',';
    }
    out.back() = '\n';
  }
  return out;
}

}  // namespace headway
