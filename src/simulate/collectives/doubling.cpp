// Partners at distances that double or halve.
#include <algorithm>
#include <bit>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {
namespace {

Planned steps(std::uint32_t actors, std::size_t count, decltype(Pattern::sends) sends) {
  Planned out;
  out.pattern.actors = actors;
  for (std::uint32_t k = 0; k < count; ++k) out.pattern.kinds.push_back(k);
  out.pattern.sends = std::move(sends);
  return out;
}

std::uint32_t log_of(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n)) - 1;
}
std::uint32_t rounds_of(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

// All-reduce among the largest power of two of ranks; the others give their data to a partner first
// and get the result at the end. `exchange`: of ranks of that power in a step, the partner's
// distance and the bytes.
template <class Exchange>
Planned folded(std::uint32_t n, double bytes, std::size_t count, Exchange exchange) {
  const std::uint32_t most = std::bit_floor(n), rest = n - most;
  const std::uint32_t before = rest > 0 ? 1 : 0;
  const auto inner = static_cast<std::uint32_t>(count);
  // The first `rest` pairs of ranks: the odd one stands aside.
  return steps(n, count + 2 * before,
               [=](std::uint32_t r, std::uint32_t kind, std::vector<Message>& into) {
                 const bool paired = r < 2 * rest, aside = paired && r % 2 == 1;
                 if (before == 1 && kind == 0) {
                   if (aside) into.push_back({r - 1, bytes});
                   return;
                 }
                 if (before == 1 && kind == inner + 1) {
                   if (paired && !aside) into.push_back({r + 1, bytes});
                   return;
                 }
                 if (aside) return;
                 const auto [distance, moved] = exchange(kind - before);
                 const std::uint32_t partner = (paired ? r / 2 : r - rest) ^ distance;
                 into.push_back({partner < rest ? 2 * partner : partner + rest, moved});
               });
}

using Exchanged = std::pair<std::uint32_t, double>;

constexpr const char* kPowerOfTwo = "needs a power of two of ranks; bruck takes any number";

}  // namespace

Planned recursive_doubling(const Call& call, const Topology& on) {
  const std::uint32_t n = on.ranks;
  const double bytes = call.bytes.value();
  if (call.op == Collective::all_reduce) {
    return folded(n, bytes, log_of(n), [bytes](std::uint32_t k) {
      return Exchanged{1U << k, bytes};
    });
  }
  if (call.op != Collective::all_gather) return {{}, "does all-reduce and all-gather"};
  if (!std::has_single_bit(n)) return {{}, kPowerOfTwo};
  return steps(n, log_of(n), [=](std::uint32_t r, std::uint32_t k, std::vector<Message>& into) {
    into.push_back({r ^ (1U << k), bytes / n * (1U << k)});
  });
}

Planned recursive_halving(const Call& call, const Topology& on) {
  const std::uint32_t n = on.ranks;
  if (call.op != Collective::reduce_scatter) return {{}, "does reduce-scatter"};
  if (!std::has_single_bit(n)) return {{}, kPowerOfTwo};
  const double bytes = call.bytes.value();
  return steps(n, log_of(n), [=](std::uint32_t r, std::uint32_t k, std::vector<Message>& into) {
    into.push_back({r ^ (n >> (k + 1)), bytes / (2U << k)});
  });
}

Planned rabenseifner(const Call& call, const Topology& on) {
  if (call.op != Collective::all_reduce) return {{}, "does all-reduce"};
  const std::uint32_t n = on.ranks, rounds = log_of(n), most = std::bit_floor(n);
  const double bytes = call.bytes.value();
  return folded(n, bytes, 2 * rounds, [=](std::uint32_t k) {
    const std::uint32_t halvings = k < rounds ? k : 2 * rounds - 1 - k;
    return Exchanged{most >> (halvings + 1), bytes / (2U << halvings)};
  });
}

Planned bruck(const Call& call, const Topology& on) {
  const std::uint32_t n = on.ranks;
  const double block = call.bytes.value() / n;
  if (call.op == Collective::all_gather) {
    return steps(
        n, rounds_of(n), [=](std::uint32_t r, std::uint32_t k, std::vector<Message>& into) {
          const std::uint32_t distance = 1U << k;
          into.push_back({(r + n - distance) % n, block * std::min(distance, n - distance)});
        });
  }
  if (call.op != Collective::all_to_all) return {{}, "does all-gather and all-to-all"};
  // In round k each rank passes on the blocks whose way has the bit k.
  return steps(n, rounds_of(n), [=](std::uint32_t r, std::uint32_t k, std::vector<Message>& into) {
    const std::uint32_t bit = 1U << k, whole = n / (2 * bit) * bit;
    const std::uint32_t over = n % (2 * bit);
    const std::uint32_t blocks = whole + (over > bit ? over - bit : 0);
    into.push_back({(r + bit) % n, block * blocks});
  });
}

// Parallel aggregated trees, buffers as large as needed: the farthest partners first, so that the
// largest messages go to the nearest.
Planned pat(const Call& call, const Topology& on) {
  const std::uint32_t n = on.ranks, rounds = rounds_of(n);
  const bool gathers = call.op == Collective::all_gather;
  if (!gathers && call.op != Collective::reduce_scatter) {
    return {{}, "does all-gather and reduce-scatter"};
  }
  const double block = call.bytes.value() / n;
  return steps(n, rounds, [=](std::uint32_t r, std::uint32_t k, std::vector<Message>& into) {
    // What a rank holds after the distances before comes from multiples of 2·distance behind it.
    const std::uint32_t distance = 1U << (gathers ? rounds - 1 - k : k);
    const std::uint32_t blocks = (n - distance - 1) / (2 * distance) + 1;
    into.push_back({gathers ? (r + distance) % n : (r + n - distance) % n, block * blocks});
  });
}

}  // namespace headway::network
