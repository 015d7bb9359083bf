#include "simulate/collectives/synthesis.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <queue>

#include "base/random/random.hpp"

namespace headway::network {
namespace {

constexpr double kSameMoment = 1e-12;

// Sets of chunks, one for each rank.
class Holdings {
 public:
  Holdings(std::size_t ranks, std::size_t chunks)
      : words_((chunks + 63) / 64), bits_(ranks * words_) {}

  void add(std::size_t rank, std::size_t chunk) {
    bits_[rank * words_ + chunk / 64] |= std::uint64_t{1} << (chunk % 64);
  }
  std::size_t words() const { return words_; }
  std::uint64_t word(std::size_t rank, std::size_t at) const { return bits_[rank * words_ + at]; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct Delivery {
  double at;
  LinkId link;
  std::uint32_t chunk;
  bool operator>(const Delivery& other) const {
    return at != other.at ? at > other.at : link > other.link;
  }
};

class Gathering {
 public:
  Gathering(double bytes, std::uint32_t chunks, const Topology& on, std::uint64_t seed)
      : on_(on),
        chunk_bytes_(bytes / on.ranks / chunks),
        numbers_(xor_shift_of(seed)),
        has_(on.ranks, std::size_t{on.ranks} * chunks),
        will_have_(has_),
        holders_(std::size_t{on.ranks} * chunks, 1),
        carried_(on.links.size()) {
    for (std::uint32_t c = 0; c < holders_.size(); ++c) {
      has_.add(c / chunks, c);
      will_have_.add(c / chunks, c);
    }
    order_links();
  }

  Synthesised made() {
    Synthesised out;
    std::vector<LinkId> idle = order_;
    for (;;) {
      std::erase_if(idle, [this](LinkId link) { return take(link); });
      if (deliveries_.empty()) break;
      const double moment = deliveries_.top().at * (1 + kSameMoment);
      now_ = deliveries_.top().at;
      while (!deliveries_.empty() && deliveries_.top().at <= moment) {
        const Delivery done = deliveries_.top();
        deliveries_.pop();
        has_.add(on_.links[done.link].to, done.chunk);
        idle.push_back(done.link);
        ++out.messages;
      }
      std::sort(idle.begin(), idle.end(),
                [this](LinkId a, LinkId b) { return rank_of_[a] < rank_of_[b]; });
      out.time = now_;
    }
    std::vector<double> sent(on_.ranks);
    for (std::size_t l = 0; l < carried_.size(); ++l) {
      sent[on_.links[l].from] += static_cast<double>(carried_[l]) * chunk_bytes_;
      out.steps = std::max(out.steps, carried_[l]);
    }
    out.most_sent = *std::max_element(sent.begin(), sent.end());
    return out;
  }

 private:
  double duration(LinkId link) const {
    return on_.links[link].latency.value() + chunk_bytes_ / on_.links[link].capacity.value();
  }

  // Fast links first, then those into ranks with the least bandwidth in, then by chance.
  void order_links() {
    std::vector<double> into(on_.ranks);
    for (const Link& link : on_.links) into[link.to] += link.capacity.value();
    std::vector<std::uint64_t> chance(on_.links.size());
    for (std::uint64_t& each : chance) each = numbers_.next();
    order_.resize(on_.links.size());
    std::iota(order_.begin(), order_.end(), LinkId{0});
    std::sort(order_.begin(), order_.end(), [&](LinkId a, LinkId b) {
      const double first = into[on_.links[a].to], second = into[on_.links[b].to];
      if (duration(a) != duration(b)) return duration(a) < duration(b);
      return first != second ? first < second : chance[a] < chance[b];
    });
    rank_of_.resize(order_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) rank_of_[order_[i]] = i;
  }

  // Whether a chunk goes over the link from now on.
  bool take(LinkId link) {
    const NodeId from = on_.links[link].from, to = on_.links[link].to;
    std::uint32_t best = 0, fewest = ~std::uint32_t{0};
    std::uint64_t alike = 0;
    for (std::size_t w = 0; w < has_.words(); ++w) {
      for (std::uint64_t bits = has_.word(from, w) & ~will_have_.word(to, w); bits != 0;
           bits &= bits - 1) {
        const auto chunk = static_cast<std::uint32_t>(w * 64 + std::countr_zero(bits));
        if (holders_[chunk] > fewest) continue;
        if (holders_[chunk] < fewest) alike = 0;
        fewest = holders_[chunk];
        if (numbers_.next() % ++alike == 0) best = chunk;
      }
    }
    if (alike == 0) return false;
    will_have_.add(to, best);
    ++holders_[best];
    ++carried_[link];
    deliveries_.push({now_ + duration(link), link, best});
    return true;
  }

  const Topology& on_;
  double chunk_bytes_, now_ = 0;
  XorShift numbers_;
  Holdings has_, will_have_;
  std::vector<std::uint32_t> holders_;  // of each chunk, those about to get it among them
  std::vector<std::uint64_t> carried_;
  std::vector<LinkId> order_;
  std::vector<std::uint32_t> rank_of_;
  std::priority_queue<Delivery, std::vector<Delivery>, std::greater<>> deliveries_;
};

}  // namespace

Synthesised synthesise_all_gather(double bytes, std::uint32_t chunks, const Topology& on,
                                  std::uint64_t seed) {
  return Gathering(bytes, chunks, on, seed).made();
}

}  // namespace headway::network
