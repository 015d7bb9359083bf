#include "device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <stdexcept>

#include "../compute.hpp"
#include "simulate/live/single.hpp"

// Names what failed.
#define DO(function, ...) check(of_.function(__VA_ARGS__), #function)

namespace headway::replay::nccl {
namespace {

using Kind = LiveItem::Kind;

constexpr unsigned kNonBlocking = 1, kTimed = 0;
constexpr Reduction kSum = 0;
constexpr DataType kBytes = 1, kDouble = 8;

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

// One of as many bytes that NCCL of any version sums: fp8 and what it has no type for move as
// others.
DataType type_of(ElementType type) {
  constexpr DataType kHalf = 6;
  if (type == ElementType::int16) return kHalf;
  for (DataType number = 0; number < 10; ++number) {
    if (element_type_from_nccl(number) == type) return number;
  }
  return kBytes;
}

// On a thread of CUDA's, in the order of the stream.
void spin(void* item) {
  const double seconds = static_cast<const LiveItem*>(item)->time.value();
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  while (now_ns() < until) {
  }
}

}  // namespace

DeviceRank::DeviceRank(const Libraries& of, const NcclPlan& plan, const Place& place,
                       Meeting& meeting, bool multiplies)
    : of_(of),
      plan_(plan),
      rank_(static_cast<std::size_t>(place.rank)),
      multiplies_(multiplies),
      items_(plan.list.ranks[rank_]) {
  for (const LiveItem& item : items_) {
    if (item.kind == Kind::call) calls_.push_back(&item);
  }
  int devices = 0;
  DO(GetDeviceCount, &devices);
  if (place.local >= devices) {
    throw std::runtime_error("rank " + std::to_string(place.rank) + " wants GPU " +
                             std::to_string(place.local) + " of its machine, which has " +
                             std::to_string(devices) + ": NCCL needs one for each rank");
  }
  DO(SetDevice, place.local);
  make_communicators(place, meeting);
  make_memory();
  make_streams();
  connect();
  load_products();
}

DeviceRank::~DeviceRank() {
  of_.DeviceSynchronize();
  for (const Comm comm : comms_) {
    if (comm != nullptr) of_.ncclCommDestroy(comm);
  }
  if (world_ != nullptr) of_.ncclCommDestroy(world_);
  for (const auto& [begin, end] : times_) of_.EventDestroy(begin), of_.EventDestroy(end);
  for (Event* const event : handed_) of_.EventDestroy(event);
  if (zero_ != nullptr) of_.EventDestroy(zero_);
  for (const auto& [number, stream] : streams_) of_.StreamDestroy(stream);
  if (blas_ != nullptr) of_.cublasDestroy_v2(blas_);
  if (main_ != nullptr) of_.StreamDestroy(main_);
  for (char* const memory : received_) of_.Free(memory);
  for (char* const memory : products_) of_.Free(memory);
  of_.Free(sent_);
}

// The first of each makes its name; number 0 is that of all ranks.
void DeviceRank::make_communicators(const Place& place, Meeting& meeting) {
  const auto make = [&](std::size_t number, int ranks, int own) {
    UniqueId id;
    if (own == 0) {
      DO(ncclGetUniqueId, &id);
      meeting.give(number, id);
    } else {
      id = meeting.take(number);
    }
    Comm comm = nullptr;
    DO(ncclCommInitRank, &comm, ranks, id, own);
    return comm;
  };
  world_ = make(0, place.ranks, place.rank);
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    const auto& members = plan_.lanes[i].members;
    const auto at = std::lower_bound(members.begin(), members.end(), std::int64_t{place.rank});
    const bool is_in = at != members.end() && *at == place.rank;
    places_.push_back(static_cast<int>(at - members.begin()));
    comms_.push_back(is_in ? make(i + 1, static_cast<int>(members.size()), places_[i]) : nullptr);
  }
}

void DeviceRank::make_memory() {
  const auto make = [&](std::int64_t bytes) {
    void* memory = nullptr;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 256));
    DO(Malloc, &memory, size);
    constexpr int kSmall = 0x3c;  // a small number in bf16, fp16 and fp32: sums stay numbers
    DO(Memset, memory, kSmall, size);
    return static_cast<char*>(memory);
  };
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    const std::int64_t bytes = comms_[i] == nullptr ? 0 : plan_.lanes[i].bytes;
    received_.push_back(bytes > 0 ? make(bytes) : nullptr);
    largest = std::max(largest, bytes);
  }
  sent_ = make(std::max<std::int64_t>(largest, 1 << 20));
  if (multiplies_) {
    constexpr std::int64_t kBytesOfBf16 = 2;
    const auto elements = largest_products(items_);
    for (std::size_t i = 0; i < 3; ++i) products_[i] = make(kBytesOfBf16 * elements[i]);
  }
  DO(DeviceSynchronize);  // streams that do not block do not wait for it
}

void DeviceRank::make_streams() {
  DO(StreamCreateWithFlags, &main_, kNonBlocking);
  DO(EventCreateWithFlags, &zero_, kTimed);
  for (const LiveItem* call : calls_) {
    stream_of(call->stream);
    Times times;
    DO(EventCreateWithFlags, &times.begin, kTimed);
    DO(EventCreateWithFlags, &times.end, kTimed);
    times_.push_back(times);
    DO(EventCreateWithFlags, &handed_.emplace_back(), kTimed);
  }
  if (!multiplies_) return;
  DO(cublasCreate_v2, &blas_);
  DO(cublasSetStream_v2, blas_, main_);
}

Stream* DeviceRank::stream_of(std::int32_t number) {
  Stream*& out = streams_[number];
  if (out == nullptr) DO(StreamCreateWithFlags, &out, kNonBlocking);
  return out;
}

// NCCL joins ranks at the first call of a kind, for which it holds up the host until the others
// come: in the list's own order two ranks could wait for each other there. In the order of single
// calls none does [LIVE-4].
void DeviceRank::connect() {
  // Of messages by their direction: what else goes among the same ranks has the same lanes.
  const auto kind_of = [](Operation op) { return is_between_two(op) ? op : Operation::all_reduce; };
  std::map<std::pair<std::vector<std::int64_t>, Operation>, std::set<std::uint32_t>> lanes;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const std::uint32_t lane = plan_.lane_of[rank_][i];
    lanes[{plan_.lanes[lane].members, kind_of(calls_[i]->op)}].insert(lane);
  }
  const LiveList singles = single_calls(plan_.list, false);
  for (const LiveItem& item : singles.ranks[rank_]) {
    if (item.kind != Kind::call) continue;
    const auto& members = singles.groups[item.group].ranks;
    const std::int64_t bytes = size_of(item, members.size()).whole * bytes_of_element(item.type);
    for (const std::uint32_t lane : lanes[{members, kind_of(item.op)}]) {
      if (bytes > plan_.lanes[lane].bytes) continue;  // another one's
      call(item, lane, comms_[lane], main_);
      DO(StreamSynchronize, main_);
    }
  }
  for (const Comm comm : comms_) {
    if (comm != nullptr) meet(comm);
  }
}

// CUDA loads a kernel at its first call, for which it waits until nothing runs on the device:
// beside a message that waits for another rank, which waits for this one's products, for ever.
void DeviceRank::load_products() {
  if (!multiplies_) return;
  std::set<std::array<std::int64_t, 3>> loaded;
  for (const LiveItem& item : items_) {
    if (!item.product) continue;
    LiveItem once = item;
    once.product->batch = 1;
    const LiveProduct& p = *once.product;
    if (loaded.insert({p.m, p.n, p.k}).second) compute(once);
  }
  DO(DeviceSynchronize);
}

void DeviceRank::meet(Comm comm) {
  DO(ncclAllReduce, sent_, sent_, 1, kBytes, kSum, comm, main_);
  DO(StreamSynchronize, main_);
}

void DeviceRank::call(const LiveItem& item, std::uint32_t lane, Comm comm, Stream* on) {
  const NcclSize size = size_of(item, plan_.lanes[lane].members.size());
  const auto whole = static_cast<std::size_t>(size.whole),
             part = static_cast<std::size_t>(size.part);
  const DataType type = type_of(item.type);
  char* const to = received_[lane] != nullptr ? received_[lane] : sent_;
  // Of messages the lane has two members.
  const int other = 1 - places_[lane], root = static_cast<int>(item.peer);
  switch (item.op) {
    case Operation::all_reduce:
      return DO(ncclAllReduce, sent_, to, whole, type, kSum, comm, on);
    case Operation::all_gather:
      return DO(ncclAllGather, sent_, to, part, type, comm, on);
    case Operation::reduce_scatter:
      return DO(ncclReduceScatter, sent_, to, part, type, kSum, comm, on);
    case Operation::broadcast:
      return DO(ncclBroadcast, sent_, to, whole, type, root, comm, on);
    case Operation::reduce:
      return DO(ncclReduce, sent_, to, whole, type, kSum, root, comm, on);
    case Operation::send:
      return DO(ncclSend, sent_, whole, type, other, comm, on);
    case Operation::receive:
      return DO(ncclRecv, to, whole, type, other, comm, on);
    case Operation::all_to_all:
    case Operation::gather:
    case Operation::scatter:
      return among_all(item, lane, comm, on);
    default:  // a barrier
      return DO(ncclAllReduce, sent_, to, 1, kBytes, kSum, comm, on);
  }
}

// What NCCL of all versions makes of messages that meet as one.
void DeviceRank::among_all(const LiveItem& item, std::uint32_t lane, Comm comm, Stream* on) {
  const std::size_t ranks = plan_.lanes[lane].members.size();
  const auto part = static_cast<std::size_t>(size_of(item, ranks).part);
  const auto step = part * static_cast<std::size_t>(bytes_of_element(item.type));
  const DataType type = type_of(item.type);
  const bool all = item.op == Operation::all_to_all, is_root = places_[lane] == item.peer;
  DO(ncclGroupStart);
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto other = static_cast<int>(i);
    const bool of_root = other == item.peer;
    const bool sends = all || (item.op == Operation::gather ? of_root : is_root);
    const bool receives = all || (item.op == Operation::gather ? is_root : of_root);
    if (sends) DO(ncclSend, sent_ + i * step, part, type, other, comm, on);
    if (receives) DO(ncclRecv, received_[lane] + i * step, part, type, other, comm, on);
  }
  DO(ncclGroupEnd);
}

// [LIVE-1] Time alone on a thread of the host, which the stream waits for; or the products, row by
// row: C^T = B^T A^T, column by column.
void DeviceRank::compute(const LiveItem& item) {
  if (!multiplies_ || !item.product) {
    if (item.time.value() > 0) DO(LaunchHostFunc, main_, spin, const_cast<LiveItem*>(&item));
    return;
  }
  constexpr int kAsItIs = 0, kBf16 = 14, kInFp32 = 68, kDefault = -1;
  const LiveProduct& p = *item.product;
  const float one = 1, none = 0;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  for (std::int64_t i = 0; i < p.batch; ++i) {
    DO(cublasGemmEx, blas_, kAsItIs, kAsItIs, n, m, k, &one, products_[1], kBf16, n, products_[0],
       kBf16, k, &none, products_[2], kBf16, n, kInFp32, kDefault);
  }
}

std::vector<double> DeviceRank::longest(const std::vector<double>& own) {
  constexpr int kToDevice = 1, kToHost = 2;
  constexpr Reduction kMax = 2;
  const std::size_t bytes = own.size() * sizeof(double);
  std::vector<double> out(own.size());
  void* memory = nullptr;
  DO(Malloc, &memory, bytes);
  DO(Memcpy, memory, own.data(), bytes, kToDevice);
  DO(DeviceSynchronize);  // it may return before all is there
  DO(ncclAllReduce, memory, memory, own.size(), kDouble, kMax, world_, main_);
  DO(StreamSynchronize, main_);
  DO(Memcpy, out.data(), memory, bytes, kToHost);
  DO(Free, memory);
  return out;
}

void DeviceRank::begin(Repeat& out) {
  out.calls.resize(calls_.size());
  meet(world_);
  out.begin_ns = now_ns();
  DO(EventRecord, zero_, main_);
}

void DeviceRank::end(Repeat& out) {
  DO(DeviceSynchronize);
  out.seconds = static_cast<double>(now_ns() - out.begin_ns) * 1e-9;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    float before = 0, taken = 0;
    DO(EventElapsedTime, &before, zero_, times_[i].begin);
    DO(EventElapsedTime, &taken, times_[i].begin, times_[i].end);
    out.calls[i] = {before * 1e-3, taken * 1e-3};
  }
}

Repeat DeviceRank::step() {
  Repeat out;
  begin(out);
  std::size_t called = 0;
  for (const LiveItem& item : items_) {
    switch (item.kind) {
      case Kind::call: {
        const std::size_t i = called++;
        Stream* const on = stream_of(item.stream);
        DO(EventRecord, handed_[i], main_);
        DO(StreamWaitEvent, on, handed_[i], 0);
        for (const std::uint32_t other : item.after) {
          DO(StreamWaitEvent, on, times_[other].end, 0);
        }
        DO(EventRecord, times_[i].begin, on);
        const std::uint32_t lane = plan_.lane_of[rank_][i];
        call(item, lane, comms_[lane], on);
        DO(EventRecord, times_[i].end, on);
        break;
      }
      case Kind::compute:
        compute(item);
        break;
      case Kind::wait:
        DO(StreamWaitEvent, main_, times_[item.awaited].end, 0);
        break;
      case Kind::mark:
        break;
    }
  }
  end(out);
  return out;
}

Repeat DeviceRank::single() {
  Repeat out;
  begin(out);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const std::uint32_t lane = plan_.lane_of[rank_][i];
    meet(comms_[lane]);
    DO(EventRecord, times_[i].begin, main_);
    call(*calls_[i], lane, comms_[lane], main_);
    DO(EventRecord, times_[i].end, main_);
    DO(StreamSynchronize, main_);
  }
  end(out);
  return out;
}

}  // namespace headway::replay::nccl
