#include "calls.hpp"

#include <pthread.h>

#include <algorithm>

#include "../../file/clock.hpp"
#include "../../file/locked.hpp"
#include "../../file/writer.hpp"

namespace headway::recorder::nccl::profiler {
namespace {

using record_file::Record;

struct Call {
  Record record;
  std::uint64_t turn = 0;  // how often the place was taken
  bool taken = false, stopped = false;
  int channels = 0, stopped_channels = 0;
  std::uint64_t begun = 0, ended = 0;  // a bit for each channel
  std::uint64_t first = 0, last = 0;   // on the device's clock
};

constexpr std::uint64_t kPlaces = 4096;  // the oldest call gives way
// The handle of a channel is that of its call with this bit and its number, of at most 64.
constexpr std::uint64_t kChannel = std::uint64_t{1} << 63;
constexpr int kChannelShift = 57;
constexpr std::uint64_t kNumber = (std::uint64_t{1} << kChannelShift) - 1;

Call calls[kPlaces];
std::uint64_t next = 0;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Moment began;

// [RECORD-6] What the host's clock is ahead of the device's: NCCL says late that a channel began,
// so that the least that it ever was ahead is nearest.
std::int64_t ahead = 0;
bool ahead_known = false;

void* handle_of(std::uint64_t place) {
  return reinterpret_cast<void*>(calls[place].turn * kPlaces + place + 1);
}

Call* call_of(void* handle) {
  const std::uint64_t number = (reinterpret_cast<std::uint64_t>(handle) & kNumber) - 1;
  Call& call = calls[number % kPlaces];
  return handle != nullptr && call.taken && call.turn == number / kPlaces ? &call : nullptr;
}

bool is_over(const Call& call) {
  return call.stopped && call.begun == call.ended && call.stopped_channels >= call.channels;
}

// Where a channel never spoke, or never said that it stopped, nobody knows when the kernel did.
void put_call(Call& call) {
  call.taken = false;
  Record& record = call.record;
  if (is_over(call) && call.ended != 0 && call.last > call.first) {
    const Ticks in_ticks(began, this_moment());
    record.time = record_file::kDevice;
    record.duration_ns = in_ticks.ticks_of(static_cast<double>(call.last - call.first));
    record.start_ns = in_ticks.ticks_at(call.first + static_cast<std::uint64_t>(ahead));
  }
  put(record);
}

}  // namespace

void* start_call(const Context& context, const Told& told) {
  Record record;
  const bool parts = told.op == record_file::kAllGather || told.op == record_file::kReduceScatter ||
                     told.op == record_file::kAllToAll || told.op == record_file::kGather ||
                     told.op == record_file::kScatter;
  record.asked = record.done = told.op;
  record.type = told.element.number;
  record.bytes = told.count * told.element.bytes;
  if (parts && context.size > 0) record.bytes *= static_cast<std::uint64_t>(context.size);
  if (parts && context.size == 0) record.flags |= record_file::kEachPart;
  record.group = context.number;
  record.flags |= context.local << record_file::kLocalShift;
  record.flags |= record_file::asked_after(marked_steps());
  if (told.peer >= 0) record.flags |= record_file::kPeer;
  record.peer = told.peer;
  if (told.collective) {
    // NCCL counts those of each operation apart.
    record.sequence = static_cast<std::uint32_t>(told.sequence << 4 | told.op);
    record.flags |= record_file::kSequence;
  }
  record.start_ns = ticks();
  record.time = record_file::kEnqueue;
  if (!is_kept(record)) return nullptr;
  const Locked locked(lock);
  if (began.ns == 0) began = this_moment();
  const std::uint64_t place = next++ % kPlaces;
  Call& call = calls[place];
  if (call.taken) put_call(call);
  const std::uint64_t turn = call.turn + 1;
  call = Call{.record = record, .turn = turn, .taken = true, .channels = told.channels};
  return handle_of(place);
}

void stop_call(void* handle) {
  if (reinterpret_cast<std::uint64_t>(handle) & kChannel) return;
  const Locked locked(lock);
  Call* call = call_of(handle);
  if (call == nullptr || call->stopped) return;
  call->stopped = true;
  call->record.duration_ns = std::max<std::uint64_t>(ticks() - call->record.start_ns, 1);
  if (is_over(*call)) put_call(*call);
}

void* start_channel(void* handle, unsigned channel, std::uint64_t device_ns) {
  const Locked locked(lock);
  Call* call = call_of(handle);
  if (call == nullptr || device_ns == 0) return nullptr;
  const auto now = static_cast<std::int64_t>(now_ns() - device_ns);
  ahead = ahead_known ? std::min(ahead, now) : now;
  ahead_known = true;
  call->first = call->begun == 0 ? device_ns : std::min(call->first, device_ns);
  const std::uint64_t number = channel % 64;
  call->begun |= std::uint64_t{1} << number;
  return reinterpret_cast<void*>((reinterpret_cast<std::uint64_t>(handle) & kNumber) | kChannel |
                                 number << kChannelShift);
}

void stop_channel(void* handle, std::uint64_t device_ns) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  if ((bits & kChannel) == 0) return;
  const Locked locked(lock);
  Call* call = call_of(handle);
  if (call == nullptr) return;
  const std::uint64_t channel = std::uint64_t{1} << (bits >> kChannelShift & 63);
  if ((call->begun & channel) == 0) return;
  call->last = std::max(call->last, device_ns);
  if ((call->ended & channel) == 0) ++call->stopped_channels;
  call->ended |= channel;
  if (is_over(*call)) put_call(*call);
}

void put_left(const Context* context) {
  const Locked locked(lock);
  for (std::uint64_t i = 0; i < kPlaces; ++i) {  // the oldest first
    Call& call = calls[(next + i) % kPlaces];
    const bool is_of_it = context == nullptr || call.record.group == context->number;
    if (call.taken && call.stopped && is_of_it) put_call(call);
  }
}

}  // namespace headway::recorder::nccl::profiler
