#include "mpi.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "unseen.hpp"

namespace headway::replay {
namespace {

// Sums of 16-bit and 8-bit floats have no type in MPI: those of integers move the same bytes.
MPI_Datatype type_of(ElementType type) {
  switch (type) {
    case ElementType::fp64:
      return MPI_DOUBLE;
    case ElementType::fp32:
      return MPI_FLOAT;
    case ElementType::int64:
    case ElementType::uint64:
      return MPI_INT64_T;
    case ElementType::int32:
    case ElementType::uint32:
      return MPI_INT32_T;
    case ElementType::fp16:
    case ElementType::bf16:
    case ElementType::int16:
      return MPI_INT16_T;
    default:
      return MPI_UINT8_T;
  }
}

// Sends and receives of a group are on one, whatever streams they are on: it matches them.
std::pair<std::uint32_t, std::int32_t> key_of(const LiveItem& call) {
  return {call.group, is_between_two(call.op) ? kBesideStreams : call.stream};
}

std::size_t memory_of(const LiveItem& call) {
  return static_cast<std::size_t>(elements_of(call) * bytes_of_element(call.type));
}

}  // namespace

std::string not_by_mpi(const LiveList& list) {
  for (const auto& items : list.ranks) {
    for (const LiveItem& item : items) {
      if (item.kind != LiveItem::Kind::call) continue;
      if (elements_of(item) > std::numeric_limits<int>::max()) {
        return "a call of " + std::to_string(elements_of(item)) +
               " elements, and MPI counts to 2147483647";
      }
    }
  }
  return {};
}

MpiTransport::MpiTransport(const LiveList& list, int rank) {
  // All of a group make its communicators in the same order, whatever each of them calls first.
  std::set<std::pair<std::uint32_t, std::int32_t>> needed;
  std::size_t largest = 0;
  for (std::size_t r = 0; r < list.ranks.size(); ++r) {
    for (const LiveItem& item : list.ranks[r]) {
      if (item.kind != LiveItem::Kind::call) continue;
      needed.insert(key_of(item));
      if (static_cast<int>(r) == rank) largest = std::max(largest, memory_of(item));
    }
  }
  sent_.assign(largest, 1);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int tag = 0;
  for (const auto& [group, stream] : needed) {
    const auto& members = list.groups[group].ranks;
    tag = (tag + 1) % 32767;
    if (!std::binary_search(members.begin(), members.end(), static_cast<std::int64_t>(rank))) {
      continue;
    }
    const std::vector<int> ranks(members.begin(), members.end());
    MPI_Group own = MPI_GROUP_NULL;
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &own);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, own, tag, &made);
    MPI_Group_free(&own);
    communicators_[{group, stream}] = made;
    of_group_.try_emplace(group, made);
  }
  MPI_Group_free(&world);
}

MpiTransport::~MpiTransport() {
  for (auto& [key, communicator] : communicators_) MPI_Comm_free(&communicator);
}

MPI_Comm MpiTransport::communicator(const LiveItem& call) const {
  return communicators_.at(key_of(call));
}

std::vector<char> MpiTransport::take(std::size_t bytes) {
  std::size_t best = kept_.size();
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].size() < bytes) continue;
    if (best == kept_.size() || kept_[i].size() < kept_[best].size()) best = i;
  }
  if (best == kept_.size()) return std::vector<char>(bytes);
  std::vector<char> out = std::move(kept_[best]);
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
  return out;
}

const MpiTransport::Counts& MpiTransport::parts(std::int64_t elements, int ranks) {
  Counts& out = parts_[{elements, ranks}];
  for (std::int64_t i = 0; out.counts.size() < static_cast<std::size_t>(ranks); ++i) {
    const std::int64_t begin = elements * i / ranks, end = elements * (i + 1) / ranks;
    out.counts.push_back(static_cast<int>(end - begin));
    out.places.push_back(static_cast<int>(begin));
  }
  return out;
}

// All that comes: in an uneven all-to-all a rank takes its own part, rounded up, from each.
std::size_t MpiTransport::room_of(const LiveItem& call) const {
  int ranks = 1;
  MPI_Comm_size(communicator(call), &ranks);
  return memory_of(call) + static_cast<std::size_t>(ranks * bytes_of_element(call.type));
}

void MpiTransport::issue(const LiveItem& call, char* received, MPI_Request* request) {
  const MPI_Comm on = communicator(call);
  const MPI_Datatype type = type_of(call.type);
  const std::int64_t elements = elements_of(call);
  const auto n = static_cast<int>(elements);
  const auto peer = static_cast<int>(call.peer);
  const auto tag = static_cast<int>(call.tag);
  const char* const sent = sent_.data();
  int ranks = 1, place = 0;
  MPI_Comm_size(on, &ranks);
  MPI_Comm_rank(on, &place);
  const bool even = elements % ranks == 0;
  const int part = n / ranks;
  const Counts& c = parts(elements, ranks);
  const int own = c.counts[static_cast<std::size_t>(place)];
  const int* const counts = c.counts.data();
  const int* const places = c.places.data();
  switch (call.op) {
    case Operation::all_reduce:
      MPI_Iallreduce(sent, received, n, type, MPI_SUM, on, request);
      break;
    case Operation::all_gather:
      if (even) {
        MPI_Iallgather(sent, part, type, received, part, type, on, request);
      } else {
        MPI_Iallgatherv(sent, own, type, received, counts, places, type, on, request);
      }
      break;
    case Operation::reduce_scatter:
      if (even) {
        MPI_Ireduce_scatter_block(sent, received, part, type, MPI_SUM, on, request);
      } else {
        MPI_Ireduce_scatter(sent, received, counts, type, MPI_SUM, on, request);
      }
      break;
    case Operation::all_to_all:
      if (even) {
        MPI_Ialltoall(sent, part, type, received, part, type, on, request);
      } else {
        // Everyone sends its part of that number; what comes is as many from each.
        const Counts& same = parts(std::int64_t{own} * ranks, ranks);
        MPI_Ialltoallv(sent, counts, places, type, received, same.counts.data(), same.places.data(),
                       type, on, request);
      }
      break;
    case Operation::broadcast:
      MPI_Ibcast(received, n, type, peer, on, request);
      break;
    case Operation::reduce:
      MPI_Ireduce(sent, received, n, type, MPI_SUM, peer, on, request);
      break;
    case Operation::gather:
      MPI_Igatherv(sent, own, type, received, counts, places, type, peer, on, request);
      break;
    case Operation::scatter:
      MPI_Iscatterv(sent, counts, places, type, received, own, type, peer, on, request);
      break;
    case Operation::send:
      MPI_Isend(sent, n, type, peer, tag, on, request);
      break;
    case Operation::receive:
      MPI_Irecv(received, n, type, peer, tag, on, request);
      break;
    default:
      MPI_Ibarrier(on, request);
  }
}

MpiTransport::Handle MpiTransport::begin(const LiveItem& call) {
  Handle handle = static_cast<Handle>(open_.size());
  if (free_.empty()) {
    open_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  Open& open = open_[static_cast<std::size_t>(handle)];
  open.received = take(room_of(call));
  issue(call, open.received.data(), &open.request);
  return handle;
}

bool MpiTransport::done(Handle handle) {
  Open& open = open_[static_cast<std::size_t>(handle)];
  int is_done = 0;
  MPI_Test(&open.request, &is_done, MPI_STATUS_IGNORE);
  if (is_done == 0) return false;
  kept_.push_back(std::move(open.received));
  free_.push_back(handle);
  return true;
}

// By the form that a step uses: MPI may do the one that blocks in another way.
void MpiTransport::call(const LiveItem& call) {
  std::vector<char> received = take(room_of(call));
  MPI_Request request = MPI_REQUEST_NULL;
  issue(call, received.data(), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  kept_.push_back(std::move(received));
}

void MpiTransport::meet(std::uint32_t group) {
  unseen::barrier(of_group_.at(group));
}

void MpiTransport::meet() {
  unseen::barrier(MPI_COMM_WORLD);
}

}  // namespace headway::replay
