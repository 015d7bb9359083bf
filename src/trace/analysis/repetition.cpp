#include "trace/analysis/repetition.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace headway {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr double kLeast = 0.5;  // of the sequence
constexpr double kAlike = 0.9;  // of the longest

// For each place how much of what begins there is as the sequence begins (Gusfield's Z).
std::vector<std::size_t> common_prefixes(const Words& words) {
  std::vector<std::size_t> out(words.size(), 0);
  for (std::size_t i = 1, begin = 0, end = 0; i < words.size(); ++i) {
    if (i < end) out[i] = std::min(end - i, out[i - begin]);
    while (i + out[i] < words.size() && words[out[i]] == words[i + out[i]]) ++out[i];
    if (i + out[i] > end) begin = i, end = i + out[i];
  }
  return out;
}

// A stretch [begin, end) in which each word is the one `period` before it.
struct Stretch {
  std::size_t begin, end, period;
  std::size_t size() const { return end - begin; }
};

// Those that hold the middle and a period to its right, one for each period (Main & Lorentz 1984):
// from the middle on as far as it is like itself a period later, and back from there likewise.
void add_stretches(const Words& words, std::vector<Stretch>& out) {
  const std::size_t middle = words.size() / 2;
  const Words right(words.begin() + static_cast<std::ptrdiff_t>(middle), words.end());
  const std::vector<std::size_t> ahead = common_prefixes(right);
  // The left half backwards, a word that is nowhere else, all backwards.
  Words backwards(words.rend() - static_cast<std::ptrdiff_t>(middle), words.rend());
  backwards.push_back(~0u);
  backwards.insert(backwards.end(), words.rbegin(), words.rend());
  const std::vector<std::size_t> back = common_prefixes(backwards);
  for (std::size_t period = 1; period <= right.size(); ++period) {
    const std::size_t behind = period < right.size() ? ahead[period] : 0;
    const std::size_t before = back[middle + 1 + (words.size() - middle - period)];
    out.push_back({middle - std::min(before, middle), middle + period + behind, period});
  }
}

std::vector<Stretch> stretches(const Words& words) {
  std::vector<Stretch> out, turned;
  add_stretches(words, out);
  add_stretches(Words(words.rbegin(), words.rend()), turned);
  for (const Stretch& stretch : turned) {
    out.push_back({words.size() - stretch.end, words.size() - stretch.begin, stretch.period});
  }
  std::erase_if(out, [&](const Stretch& stretch) {
    return stretch.size() < 2 * stretch.period ||
           static_cast<double>(stretch.size()) < kLeast * static_cast<double>(words.size());
  });
  return out;
}

// The calls of each rank, by the order of their starts where the source has them.
std::vector<RankRepetition> sequences_of(const Recording& recording) {
  std::vector<RankRepetition> out(recording.ranks.size());
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.time != TimeKind::benchmark) out[call.rank].calls.push_back(i);
  }
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    out[rank].rank = static_cast<std::uint32_t>(rank);
    std::stable_sort(
        out[rank].calls.begin(), out[rank].calls.end(), [&](std::size_t a, std::size_t b) {
          const auto &first = recording.calls[a].start_ns, &second = recording.calls[b].start_ns;
          return first && second && *first < *second;
        });
  }
  std::erase_if(out, [](const RankRepetition& rank) { return rank.calls.empty(); });
  return out;
}

Words words_of(const Recording& recording, const std::vector<std::size_t>& calls) {
  using Word = std::tuple<Operation, double, std::uint32_t>;
  std::map<Word, std::uint32_t> known;
  Words out;
  for (const std::size_t i : calls) {
    const RecordedCall& call = recording.calls[i];
    const Word word(call.op, call.bytes.value_or(Bytes(-1)).value(), call.group.value_or(kNoGroup));
    const auto number = static_cast<std::uint32_t>(known.size());
    out.push_back(known.try_emplace(word, number).first->second);
  }
  return out;
}

}  // namespace

std::optional<Repetition> repetition_in(const std::vector<std::uint32_t>& words) {
  const std::vector<Stretch> found = stretches(words);
  std::size_t longest = 0;
  for (const Stretch& stretch : found) longest = std::max(longest, stretch.size());
  std::optional<Stretch> best;
  for (const Stretch& stretch : found) {
    if (static_cast<double>(stretch.size()) < kAlike * static_cast<double>(longest)) continue;
    const auto order = [](const Stretch& s) { return std::tuple(s.period, s.begin); };
    if (!best || order(stretch) < order(*best)) best = stretch;
  }
  if (!best) return std::nullopt;
  return Repetition{best->begin, best->period, best->size() / best->period};
}

std::optional<RepeatedSteps> repeated_steps(const Recording& recording) {
  RepeatedSteps out;
  out.ranks = sequences_of(recording);
  std::size_t most = 0, least = ~std::size_t{0};
  for (RankRepetition& rank : out.ranks) {
    const auto found = repetition_in(words_of(recording, rank.calls));
    if (!found) return std::nullopt;
    rank.found = *found;
    least = std::min(least, found->count);
    most = std::max(most, found->count);
    out.calls += static_cast<double>(found->period);
    out.before += static_cast<double>(found->begin);
    out.behind +=
        static_cast<double>(rank.calls.size() - found->begin - found->period * found->count);
  }
  if (out.ranks.empty() || most > least + 1) return std::nullopt;
  out.steps = static_cast<std::int64_t>(least);
  const auto ranks = static_cast<double>(out.ranks.size());
  for (double* mean : {&out.calls, &out.before, &out.behind}) *mean /= ranks;
  return out;
}

}  // namespace headway
