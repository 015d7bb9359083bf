#include "simulate/recorded/network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/calibration/calibration.hpp"
#include "cost/collective/collective.hpp"
#include "layout/placement.hpp"
#include "simulate/recorded/programs.hpp"
#include "simulate/topology/part.hpp"

namespace headway {
namespace {

using Ranks = std::vector<network::NodeId>;
constexpr Bytes kBarrier(8);

// What is called, between which ranks.
struct WireCall {
  Operation op = Operation::all_reduce;
  Bytes bytes;
  Ranks ranks;
};

std::optional<network::Collective> over_links(Operation op) {
  switch (op) {
    case Operation::all_reduce:
    case Operation::barrier:
      return network::Collective::all_reduce;
    case Operation::all_gather:
    case Operation::broadcast:
    case Operation::gather:
      return network::Collective::all_gather;
    case Operation::reduce_scatter:
    case Operation::reduce:
    case Operation::scatter:
      return network::Collective::reduce_scatter;
    case Operation::all_to_all:
      return network::Collective::all_to_all;
    default:
      return std::nullopt;
  }
}
std::optional<CollectiveOp> on_a_cluster(Operation op) {
  switch (op) {
    case Operation::barrier:
      return CollectiveOp::all_reduce;
    case Operation::gather:
      return CollectiveOp::all_gather;
    case Operation::reduce:
    case Operation::scatter:
      return CollectiveOp::reduce_scatter;
    default:
      return to_collective(op);
  }
}
// Numbers beyond are no ranks, whatever a file says.
bool is_rank(std::int64_t number) {
  return number >= 0 && number < (std::int64_t{1} << 24);
}
bool is_of_two(Operation op) {
  return op == Operation::send || op == Operation::receive || op == Operation::send_receive;
}

// The whole bytes of a call of so many ranks. A number of which the source does not say what it
// counts is what one rank puts in: of a gather its part, else the whole.
std::optional<Bytes> whole_bytes(const RecordedCall& call, double ranks) {
  if (call.op == Operation::barrier) return kBarrier;
  if (call.bytes || !call.counted_bytes) return call.bytes;
  const Operation op = done_op(call);
  const bool part = call.counted_part || op == Operation::all_gather || op == Operation::gather;
  return part ? *call.counted_bytes * ranks : *call.counted_bytes;
}

// Why calls cannot be priced, and how many.
class Unpriced {
 public:
  void add(std::string what) { ++counts_[std::move(what)]; }
  Problems problems() const {
    Problems out;
    for (const auto& [what, count] : counts_) {
      out.push_back(
          {"recording", what + " (" + std::to_string(count) + (count == 1 ? " call)" : " calls)")});
    }
    return out;
  }

 private:
  std::map<std::string, std::int64_t> counts_;
};

class CallReader {
 public:
  CallReader(const Recording& recording, const RecordedProgram& program)
      : recording_(recording), callers_(recording.groups.size()) {
    for (const CallMeeting& meeting : program.meetings) {
      for (const std::size_t call : meeting.calls) {
        if (const auto group = recording.calls[call].group) add_caller(*group, call);
      }
    }
    for (std::uint32_t r = 0; r < recording.ranks.size(); ++r) all_.push_back(number_of(r));
    normalise(all_);
    world_ = ranks_of_run(recording);
  }

  std::int64_t world() const { return world_; }

  std::optional<WireCall> read(const CallMeeting& meeting, Unpriced& unpriced) const {
    const RecordedCall& first = recording_.calls[meeting.calls.front()];
    WireCall out{.op = done_op(first), .bytes = Bytes(0), .ranks = {}};
    const std::string shown = shown_call(recording_, meeting.calls.front());
    const auto ranks = is_of_two(out.op) ? ends_of(first) : ranks_of(first);
    if (!ranks) {
      unpriced.add(shown + ": which ranks take part is not known");
      return std::nullopt;
    }
    out.ranks = *ranks;
    for (const std::size_t call : meeting.calls) {
      const auto bytes = whole_bytes(recording_.calls[call], static_cast<double>(ranks->size()));
      if (!bytes) {
        unpriced.add(shown + ": its size is not known");
        return std::nullopt;
      }
      out.bytes = std::max(out.bytes, *bytes);
    }
    return out;
  }

 private:
  network::NodeId number_of(std::uint32_t rank) const {
    const auto number = recording_.ranks[rank].number;
    return static_cast<network::NodeId>(number && is_rank(*number) ? *number : rank);
  }
  static void normalise(Ranks& ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  void add_caller(std::uint32_t group, std::size_t call) {
    callers_[group].push_back(number_of(recording_.calls[call].rank));
    if (callers_[group].size() > 4096) normalise(callers_[group]);
  }

  std::optional<Ranks> ends_of(const RecordedCall& call) const {
    if (!call.peer || !is_rank(*call.peer)) return std::nullopt;
    const auto own = number_of(call.rank), other = static_cast<network::NodeId>(*call.peer);
    return call.op == Operation::receive ? Ranks{other, own} : Ranks{own, other};
  }
  // As the source lists them, else those that are recorded, if they are all.
  std::optional<Ranks> ranks_of(const RecordedCall& call) const {
    if (!call.group) return all_.size() > 1 ? std::optional(all_) : std::nullopt;
    const RecordedGroup& group = recording_.groups[*call.group];
    Ranks out;
    if (!group.ranks.empty()) {
      for (const std::int64_t rank : group.ranks) {
        if (!is_rank(rank)) return std::nullopt;
        out.push_back(static_cast<network::NodeId>(rank));
      }
    } else {
      out = callers_[*call.group];
    }
    normalise(out);
    const auto count = static_cast<std::int64_t>(out.size());
    if (count == group.size.value_or(count) && (count > 1 || group.size)) return out;
    // Of all ranks of the run: which they are is clear.
    if (group.size == world_) {
      out.clear();
      for (network::NodeId i = 0; i < world_; ++i) out.push_back(i);
      return out;
    }
    return std::nullopt;
  }

  const Recording& recording_;
  std::vector<Ranks> callers_;  // of each group
  Ranks all_;
  std::int64_t world_ = 0;
};

Nanoseconds whole_nanoseconds(Seconds time) {
  return std::llround(std::min(time.value(), 1e9) * 1e9);
}

// Prices over links, each call once.
class LinkPrices {
 public:
  explicit LinkPrices(const network::LinksQuestion& on) : on_(on) {}

  Result<Seconds> time(const WireCall& call) {
    const auto known = known_.find({call.op, call.bytes.value(), call.ranks});
    if (known != known_.end()) return known->second;
    const auto found = is_of_two(call.op) ? message(call) : collective(call);
    if (found) known_.emplace(std::tuple{call.op, call.bytes.value(), call.ranks}, *found);
    return found;
  }

 private:
  Result<Seconds> message(const WireCall& call) const {
    std::vector<network::LinkId> route;
    if (call.ranks[0] == call.ranks[1]) return Seconds(0);
    if (!on_.on.route(call.ranks[0], call.ranks[1], route)) {
      return Problem{"topology", "no way joins rank " + std::to_string(call.ranks[0]) +
                                     " and rank " + std::to_string(call.ranks[1])};
    }
    Seconds latency(0);
    BytesPerSecond narrowest = network::kUnbounded;
    for (const network::LinkId link : route) {
      latency += on_.on.links[link].latency;
      narrowest = std::min(narrowest, on_.on.links[link].capacity);
    }
    return latency + call.bytes / narrowest;
  }

  Result<Seconds> collective(const WireCall& call) {
    const auto op = over_links(call.op);
    if (!op) {
      return Problem{"recording", "calls that no algorithm does", Trouble::unsupported};
    }
    if (call.ranks.size() < 2 || !(call.bytes > Bytes(0))) return Seconds(0);
    auto [part, is_new] = parts_.try_emplace(call.ranks);
    if (is_new) part->second = network::part_of(on_.on, call.ranks);
    const network::Call asked{*op, call.bytes};
    auto simulated = network::simulate_collective(asked, part->second, on_.options);
    if (!simulated && !on_.options.algorithm.empty()) {
      network::CollectiveOptions best = on_.options;
      best.algorithm.clear();
      simulated = network::simulate_collective(asked, part->second, best);
    }
    if (!simulated) return simulated.problems();
    return simulated->time;
  }

  const network::LinksQuestion& on_;
  std::map<Ranks, network::Topology> parts_;
  std::map<std::tuple<Operation, double, Ranks>, Seconds> known_;
};

// Prices of the closed forms.
class ClusterPrices {
 public:
  ClusterPrices(const Cluster& cluster, const LevelParameters& levels, std::int64_t world)
      : cluster_(cluster), levels_(levels), world_(world) {}

  Result<Seconds> time(const WireCall& call) const {
    const auto op = on_a_cluster(call.op);
    if (!op) return Problem{"recording", "calls that no algorithm does", Trouble::unsupported};
    return collective_time(*op, call.bytes, span_of_ranks(call.ranks), cluster_, levels_);
  }

 private:
  // Ranks as far apart as the mean of those next to each other.
  GroupSpan span_of_ranks(const Ranks& ranks) const {
    const auto count = static_cast<std::int64_t>(ranks.size());
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
    const std::int64_t apart = count > 1 ? (*most - *least) / (count - 1) : 1;
    return span_of(count, std::max<std::int64_t>(1, apart), world_, cluster_);
  }

  const Cluster& cluster_;
  const LevelParameters& levels_;
  std::int64_t world_;
};

template <class Prices>
Result<std::vector<Nanoseconds>> price_all(Prices&& prices, const CallReader& reader,
                                           const RecordedProgram& program) {
  Unpriced unpriced;
  Problems problems;
  std::vector<Nanoseconds> out;
  for (const CallMeeting& meeting : program.meetings) {
    const auto call = reader.read(meeting, unpriced);
    if (!call) continue;
    const auto time = prices.time(*call);
    if (time) {
      out.push_back(whole_nanoseconds(*time));
      continue;
    }
    for (const Problem& each : time.problems()) {
      if (std::find(problems.begin(), problems.end(), each) == problems.end()) {
        problems.push_back(each);
      }
    }
  }
  append(problems, unpriced.problems());
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace

std::int64_t ranks_of_run(const Recording& recording) {
  auto out = static_cast<std::int64_t>(recording.ranks.size());
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.number && is_rank(*rank.number)) out = std::max(out, *rank.number + 1);
    if (rank.world_size && is_rank(*rank.world_size)) out = std::max(out, *rank.world_size);
  }
  for (const RecordedGroup& group : recording.groups) {
    for (const std::int64_t rank : group.ranks) {
      if (is_rank(rank)) out = std::max(out, rank + 1);
    }
  }
  for (const RecordedCall& call : recording.calls) {
    if (is_of_two(call.op) && call.peer && is_rank(*call.peer)) out = std::max(out, *call.peer + 1);
  }
  return out;
}

Result<std::vector<Nanoseconds>> transfers_on(const OtherNetwork& network,
                                              const RecordedProgram& program,
                                              const Recording& recording) {
  const CallReader reader(recording, program);
  const std::int64_t places =
      network.links ? network.links->on.ranks : network.cluster->accelerators;
  if (reader.world() > places) {
    return Problem{FieldName(network.links ? "topology" : "cluster"),
                   "has " + std::to_string(places) + " ranks; the recording is of a run of " +
                       std::to_string(reader.world())};
  }
  if (network.links) return price_all(LinkPrices(*network.links), reader, program);
  const auto constants = calibration_for(*network.cluster);
  if (!constants) return constants.problems();
  return price_all(ClusterPrices(*network.cluster, constants->levels, reader.world()), reader,
                   program);
}

}  // namespace headway
