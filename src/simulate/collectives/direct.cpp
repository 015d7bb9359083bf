// Messages straight to all others, and all-to-all.
#include <bit>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {
namespace {

// `count` steps in each of which a rank sends the same to each other rank.
Planned to_all(std::uint32_t n, std::size_t count, double bytes) {
  Planned out;
  out.pattern.actors = n;
  out.pattern.kinds.assign(count, 0);
  out.pattern.sends = [=](std::uint32_t r, std::uint32_t, std::vector<Message>& into) {
    for (std::uint32_t k = 1; k < n; ++k) into.push_back({(r + k) % n, bytes});
  };
  return out;
}

constexpr std::uint32_t kMostDirect = 2048;  // ranks: four million messages at a time

std::string too_many(const Topology& on) {
  return on.ranks > kMostDirect ? "sends at most among " + std::to_string(kMostDirect) + " ranks"
                                : "";
}

}  // namespace

Planned direct(const Call& call, const Topology& on) {
  if (call.op == Collective::all_reduce) {
    return {{}, "does no all-reduce; one-shot and two-shot do"};
  }
  if (std::string problem = too_many(on); !problem.empty()) return {{}, std::move(problem)};
  return to_all(on.ranks, 1, call.bytes.value() / on.ranks);
}

Planned one_shot(const Call& call, const Topology& on) {
  if (call.op != Collective::all_reduce) return {{}, "does all-reduce"};
  if (std::string problem = too_many(on); !problem.empty()) return {{}, std::move(problem)};
  return to_all(on.ranks, 1, call.bytes.value());
}

Planned two_shot(const Call& call, const Topology& on) {
  if (call.op != Collective::all_reduce) return {{}, "does all-reduce"};
  if (std::string problem = too_many(on); !problem.empty()) return {{}, std::move(problem)};
  return to_all(on.ranks, 2, call.bytes.value() / on.ranks);
}

Planned pairwise(const Call& call, const Topology& on) {
  if (call.op != Collective::all_to_all) return {{}, "does all-to-all"};
  const std::uint32_t n = on.ranks;
  const double block = call.bytes.value() / n;
  const bool power = std::has_single_bit(n);
  Planned out;
  out.pattern.actors = n;
  for (std::uint32_t k = 0; k + 1 < n; ++k) out.pattern.kinds.push_back(k);
  out.pattern.sends = [=](std::uint32_t r, std::uint32_t kind, std::vector<Message>& into) {
    into.push_back({power ? r ^ (kind + 1) : (r + kind + 1) % n, block});
  };
  return out;
}

// To each rank of the domain what is for its place in all domains, then to each domain.
Planned two_level(const Call& call, const Topology& on) {
  if (call.op != Collective::all_to_all) return {{}, "does all-to-all"};
  const std::uint32_t n = on.ranks, inner = domain_of(on);
  if (inner == 0) return {{}, std::string(kNeedsDomains)};
  const std::uint32_t outer = n / inner;
  const double bytes = call.bytes.value();
  Planned out;
  out.pattern.actors = n;
  for (std::uint32_t k = 0; k + 2 < inner + outer; ++k) out.pattern.kinds.push_back(k);
  out.pattern.sends = [=](std::uint32_t r, std::uint32_t kind, std::vector<Message>& into) {
    const std::uint32_t place = r % inner, domain = r / inner;
    if (kind + 1 < inner) {
      into.push_back({domain * inner + (place + kind + 1) % inner, bytes / inner});
    } else {
      into.push_back({(domain + kind + 2 - inner) % outer * inner + place, bytes / outer});
    }
  };
  return out;
}

// The first bytes of all reach the switch; then what all send streams through it and back.
Planned switch_reduction(const Call& call, const Topology& on) {
  if (call.op != Collective::all_reduce) return {{}, "does all-reduce"};
  if (!on.reduces) return {{}, "needs all ranks on one switch, which adds up"};
  const double bytes = call.bytes.value();
  Planned out;
  out.pattern.actors = on.ranks;
  out.pattern.kinds = {0, 1};
  out.pattern.sends = [bytes](std::uint32_t r, std::uint32_t kind, std::vector<Message>& into) {
    into.push_back({r, kind == 0 ? 0 : bytes});
  };
  return out;
}

}  // namespace headway::network
