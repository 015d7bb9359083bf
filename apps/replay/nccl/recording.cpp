#include "recording.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "simulate/live/file.hpp"

namespace headway::replay::nccl {
namespace {

using record_file::Record;

void append(std::string& to, const Record& record) {
  to.append(reinterpret_cast<const char*>(&record), sizeof record);
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Of the file, in front of its records.
std::string header_of(const NcclPlan& plan, int rank, const std::string& library) {
  return "{\"headway_record\":1,\"rank\":" + std::to_string(rank) +
         ",\"world\":" + std::to_string(plan.list.ranks.size()) +
         ",\"host\":" + json_text(host_name()) + ",\"library\":" + json_text(library) +
         ",\"version\":\"1\",\"functions\":[],\"counts\":\"the whole tensor\"}\n";
}

}  // namespace

Recording::Recording(const NcclPlan& plan, int rank, const std::string& library)
    : plan_(plan), rank_(static_cast<std::size_t>(rank)), header_(header_of(plan, rank, library)) {
  Record whole;
  whole.asked = whole.done = record_file::kState;
  whole.flags = record_file::kWhole;
  append(bytes_, whole);
  std::set<std::uint32_t> named;
  for (const LiveItem& item : plan.list.ranks[rank_]) {
    if (item.kind != LiveItem::Kind::call) continue;
    const std::uint32_t lane = plan.lane_of[rank_][calls_.size()];
    calls_.push_back(&item);
    if (!named.insert(lane).second) continue;
    // Of messages the group that the list names, of which the lane joins two.
    const LiveGroup& group = plan.list.groups[item.group];
    text("{\"group\":" + std::to_string(lane + 1) + ",\"name\":" + json_text(group.name) +
         ",\"ranks\":" + json_list(group.ranks) + "}");
  }
}

void Recording::text(const std::string& json) {
  Record record;
  record.asked = record.done = record_file::kText;
  record.bytes = json.size();
  append(bytes_, record);
  bytes_ += json;
  bytes_.append(record_file::slots(json.size()) * record_file::kRecordBytes - json.size(), ' ');
}

void Recording::step(std::int64_t number, std::uint64_t start_ns) {
  Record record;
  record.asked = record.done = record_file::kStep;
  record.start_ns = start_ns;
  record.bytes = static_cast<std::uint64_t>(number);
  append(bytes_, record);
}

void Recording::call(std::size_t number, std::uint64_t start_ns, std::uint64_t duration_ns) {
  const LiveItem& item = *calls_[number];
  const std::uint32_t lane = plan_.lane_of[rank_][number];
  Record record;
  record.start_ns = start_ns;
  record.duration_ns = std::max<std::uint64_t>(1, duration_ns);
  record.bytes = static_cast<std::uint64_t>(elements_of(item) * bytes_of_element(item.type));
  record.asked = record.done = static_cast<std::uint8_t>(item.op);
  record.type = static_cast<std::uint8_t>(1 + static_cast<int>(item.type));
  record.time = record_file::kDevice;
  record.group = lane + 1;
  if (is_between_two(item.op)) {
    record.stream = static_cast<std::uint32_t>(item.tag);
    record.flags |= record_file::kTag;
  } else {
    record.sequence = sequences_[lane]++;
    record.flags |= record_file::kSequence;
  }
  if (is_between_two(item.op) || has_root(item.op)) {
    record.peer = static_cast<std::int32_t>(item.peer);
    record.flags |= record_file::kPeer;
  }
  append(bytes_, record);
}

bool Recording::write(const std::string& folder) const {
  std::error_code there;
  std::filesystem::create_directories(folder, there);
  const std::string path = folder + "/rank" + std::to_string(rank_) + ".hwr";
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file < 0) return false;
  bool good = true;
  for (const std::string* part : {&header_, &bytes_}) {
    for (std::size_t at = 0; good && at < part->size();) {
      const ssize_t some = ::write(file, part->data() + at, part->size() - at);
      good = some > 0;
      if (good) at += static_cast<std::size_t>(some);
    }
  }
  return ::close(file) == 0 && good;
}

}  // namespace headway::replay::nccl
