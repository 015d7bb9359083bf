// [SIM-50] Data go in K chunks over two dimensions of n1 and n2 ranks, each a reduce-scatter along
// one, then the other, and all-gathers back. A dimension runs the phases of one chunk at a time,
// those that stand earlier in their chunk first, beside the other dimension. Of S bytes a share f
// begins along dimension 1: that is busy for 2S (n1-1)/(n1 b1) (f + (1-f)/n2), dimension 2 for
// 2S (n2-1)/(n2 b2) (f/n1 + 1-f). f = 1: the larger of both phases, where chunks are many
// (BlueConnect, Cho et al. 2019). The f at which both are busy equally long is the best (Themis,
// Rashidi et al. 2022, chooses order by order what comes to that); it meets the bound (n-1)/n S
// over all links of a rank. Exact where all ranks are alike and both dimensions have links of their
// own.
#include "simulate/collectives/chunks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <queue>
#include <set>

#include "simulate/collectives/placement.hpp"

namespace headway::network {
namespace {

constexpr std::uint32_t kMostChunksTried = 256;
constexpr std::size_t kBoth = 2;

// Seconds of a phase by dimension and the bytes that a line has at its beginning.
class PhaseTimes {
 public:
  PhaseTimes(const std::vector<std::uint32_t>& sizes, const Topology& on, bool every_rank)
      : sizes_(sizes), on_(on), every_rank_(every_rank) {}

  double of(std::size_t dimension, double bytes) {
    const auto [at, is_new] = known_.try_emplace({dimension, bytes}, 0.0);
    if (is_new) {
      const PlacedPattern placed =
          place(along_one(bytes, sizes_, dimension, on_), on_, every_rank_);
      at->second = placed.time.value();
      messages_ += placed.messages;
      too_many_ = too_many_ || placed.too_many;
    }
    return at->second;
  }
  std::uint64_t messages() const { return messages_; }
  bool too_many() const { return too_many_; }

 private:
  const std::vector<std::uint32_t>& sizes_;
  const Topology& on_;
  bool every_rank_;
  std::map<std::pair<std::size_t, double>, double> known_;
  std::uint64_t messages_ = 0;
  bool too_many_ = false;
};

struct Phase {
  std::size_t dimension;
  double bytes;  // of a line
};

// What a chunk does that begins along `first`.
std::vector<Phase> phases_of(Collective op, double bytes, std::size_t first,
                             const std::vector<std::uint32_t>& sizes) {
  const Phase one{first, bytes}, other{1 - first, bytes / sizes[first]};
  if (op == Collective::reduce_scatter) return {one, other};
  if (op == Collective::all_gather) return {other, one};
  return {one, other, other, one};
}

// Chunks of two kinds, by the dimension along which they begin.
struct Chunks {
  std::array<std::uint32_t, kBoth> count{};
  std::array<double, kBoth> bytes{};  // of one
};

// When the last phase ends.
double placed(Collective op, const Chunks& chunks, const std::vector<std::uint32_t>& sizes,
              PhaseTimes& times) {
  struct Ready {
    std::size_t phase;
    std::uint32_t chunk;
    bool operator>(const Ready& other) const {
      return phase != other.phase ? phase > other.phase : chunk > other.chunk;
    }
  };
  struct End {
    double at;
    std::size_t dimension;
    Ready what;
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : dimension > other.dimension;
    }
  };
  std::array<std::vector<Phase>, kBoth> phases;
  for (std::size_t kind = 0; kind < kBoth; ++kind) {
    phases[kind] = phases_of(op, chunks.bytes[kind], kind, sizes);
  }
  const auto kind_of = [&](std::uint32_t chunk) {
    return static_cast<std::size_t>(chunk < chunks.count[0] ? 0 : 1);
  };
  std::array<std::priority_queue<Ready, std::vector<Ready>, std::greater<>>, kBoth> ready;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::array<bool, kBoth> busy{};
  const auto add = [&](const Ready& what) {
    ready[phases[kind_of(what.chunk)][what.phase].dimension].push(what);
  };
  for (std::uint32_t c = 0; c < chunks.count[0] + chunks.count[1]; ++c) add({0, c});
  double now = 0;
  for (;;) {
    for (std::size_t d = 0; d < kBoth; ++d) {
      if (busy[d] || ready[d].empty()) continue;
      const Ready next = ready[d].top();
      ready[d].pop();
      busy[d] = true;
      ends.push({now + times.of(d, phases[kind_of(next.chunk)][next.phase].bytes), d, next});
    }
    if (ends.empty()) return now;
    const End end = ends.top();
    ends.pop();
    now = end.at;
    busy[end.dimension] = false;
    if (end.what.phase + 1 < phases[0].size()) add({end.what.phase + 1, end.what.chunk});
  }
}

// Whether messages along one dimension and the other cross the same link.
bool share_links(const std::vector<std::uint32_t>& sizes, const Topology& on) {
  std::array<std::set<LinkId>, kBoth> used;
  std::vector<Message> sent;
  std::vector<LinkId> way;
  for (std::size_t d = 0; d < kBoth; ++d) {
    const Pattern pattern = along_one(1, sizes, d, on);
    for (std::uint32_t actor = 0; actor < pattern.actors; ++actor) {
      sent.clear();
      way.clear();
      pattern.sends(actor, 0, sent);
      for (const Message& each : sent) on.route(actor % on.ranks, each.to % on.ranks, way);
      used[d].insert(way.begin(), way.end());
    }
  }
  return std::any_of(used[0].begin(), used[0].end(),
                     [&](LinkId link) { return used[1].contains(link); });
}

// The share that begins along the first dimension at which both are busy equally long.
double balanced_share(Collective op, double bytes, const std::vector<std::uint32_t>& sizes,
                      PhaseTimes& times) {
  // By first dimension, how long each dimension is busy.
  std::array<std::array<double, kBoth>, kBoth> busy{};
  for (std::size_t first = 0; first < kBoth; ++first) {
    for (const Phase& phase : phases_of(op, bytes, first, sizes)) {
      busy[first][phase.dimension] += times.of(phase.dimension, phase.bytes);
    }
  }
  const double more = busy[0][0] - busy[0][1], less = busy[1][1] - busy[1][0];
  return more + less > 0 ? std::clamp(less / (more + less), 0.0, 1.0) : 0.5;
}

Chunks chunks_of(double bytes, double share, std::uint32_t count) {
  Chunks out;
  auto first = static_cast<std::uint32_t>(std::lround(share * count));
  if (share > 0 && share < 1 && count > 1) first = std::clamp(first, 1U, count - 1);
  // Each kind has just its share, so that every number of chunks is balanced.
  const bool both = first > 0 && first < count;
  const double of_first = both ? share : first > 0 ? 1 : 0;
  out.count = {first, count - first};
  if (first > 0) out.bytes[0] = bytes * of_first / first;
  if (first < count) out.bytes[1] = bytes * (1 - of_first) / (count - first);
  return out;
}

}  // namespace

InChunks in_chunks(const Call& call, const Topology& on, ChunkOrder order, std::uint32_t chunks,
                   bool every_rank) {
  if (call.op == Collective::all_to_all) return {.problem = "does no all-to-all"};
  if (on.sizes.size() > 2) return {.problem = "has chunks over two dimensions alone"};
  const std::uint32_t inner = domain_of(on);
  if (inner == 0) return {.problem = std::string(kNeedsDomains)};
  const std::vector<std::uint32_t> sizes = {inner, on.ranks / inner};
  if (share_links(sizes, on)) {
    return {.problem = "has no chunks where messages within and across domains share links"};
  }
  const double bytes = call.bytes.value();
  PhaseTimes times(sizes, on, every_rank);
  const double share =
      order == ChunkOrder::fixed ? 1 : balanced_share(call.op, bytes, sizes, times);
  InChunks out;
  Chunks best;
  for (std::uint32_t k = chunks > 0 ? chunks : 1; k <= std::max(chunks, kMostChunksTried); k *= 2) {
    const Chunks tried = chunks_of(bytes, share, k);
    const double time = placed(call.op, tried, sizes, times);
    if (out.chunks == 0 || time < out.time.value()) {
      out.time = Seconds(time);
      out.chunks = k;
      out.first = tried.count[0];
      best = tried;
    }
    if (chunks > 0) break;
  }
  if (times.too_many()) {
    return {.problem = "sends more than " + std::to_string(kMostAtOnce) +
                       " messages at once that share links unevenly"};
  }
  out.messages = times.messages();
  std::array<std::uint64_t, kBoth> steps{};
  for (std::size_t kind = 0; kind < kBoth; ++kind) {
    for (const Phase& phase : phases_of(call.op, best.bytes[kind], kind, sizes)) {
      const std::uint32_t others = sizes[phase.dimension] - 1;
      steps[phase.dimension] += static_cast<std::uint64_t>(others) * best.count[kind];
      out.sent_per_rank += Bytes(phase.bytes * others / (others + 1.0) * best.count[kind]);
    }
  }
  out.steps = std::max(steps[0], steps[1]);
  return out;
}

}  // namespace headway::network
