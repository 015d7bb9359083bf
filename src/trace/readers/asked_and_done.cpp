#include "trace/readers/asked_and_done.hpp"

#include <algorithm>
#include <numeric>

namespace headway {
namespace {

bool can_be(const HostCall& asked, const HostCall& done) {
  const bool summed = asked.op == Operation::reduce_scatter && done.op == Operation::all_reduce;
  if (asked.op != done.op && !summed) return false;
  const bool sized = done.input >= 0 && (asked.input >= 0 || asked.output >= 0);
  return !sized || done.input == asked.input || done.input == asked.output;
}

std::vector<std::size_t> in_order(const std::vector<HostCall>& calls) {
  std::vector<std::size_t> out(calls.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(),
                   [&](std::size_t a, std::size_t b) { return calls[a].order < calls[b].order; });
  return out;
}

}  // namespace

std::vector<std::optional<std::size_t>> asked_for(const std::vector<HostCall>& asked,
                                                  const std::vector<HostCall>& done) {
  constexpr std::size_t kMostOpen = 256;  // asked for, and not yet done
  std::vector<std::optional<std::size_t>> out(done.size());
  const std::vector<std::size_t> questions = in_order(asked);
  std::vector<std::size_t> open;  // in their order
  std::size_t next = 0;
  for (const std::size_t work : in_order(done)) {
    for (; next < questions.size() && asked[questions[next]].order <= done[work].order; ++next) {
      if (open.size() == kMostOpen) open.erase(open.begin());
      open.push_back(questions[next]);
    }
    const auto found = std::find_if(open.begin(), open.end(), [&](std::size_t question) {
      return can_be(asked[question], done[work]);
    });
    if (found == open.end()) continue;
    out[work] = *found;
    open.erase(found);
  }
  return out;
}

}  // namespace headway
