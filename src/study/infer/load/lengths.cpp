#include "study/infer/load/lengths.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// From 0 to 1, which it is not.
double uniform_of(SplitMix& numbers) {
  return static_cast<double>(numbers.next() >> 11U) * 0x1p-53;
}

}  // namespace

// [INFER-14] Of a log-normal length of mean m and deviation c·m: exp(ln m - v/2 + √v·z), v =
// ln(1 + c²), z normal.
std::int64_t drawn_length(const LengthSpread& spread, std::int64_t nominal, SplitMix& numbers) {
  const double mean = static_cast<double>(nominal);
  double length = mean;
  const double u = uniform_of(numbers);
  if (spread.kind == LengthSpread::Kind::share) {
    length = (spread.of + (1 - spread.of) * u) * mean;
  } else {
    const double z = normal_of(1 - u, uniform_of(numbers));
    if (spread.kind == LengthSpread::Kind::normal) {
      length = std::round(mean * (1 + spread.of * z));
    } else {
      const double variance = std::log1p(spread.of * spread.of);
      length = std::round(mean * std::exp(std::sqrt(variance) * z - variance / 2));
    }
  }
  // 10⁹ as of a request of a file: what follows counts tokens in whole numbers.
  return static_cast<std::int64_t>(std::clamp(length, 1.0, 1e9));
}

Listed Lengths::drawn() {
  Listed out;
  if (load_.listed != nullptr && !load_.listed->empty()) {
    out = (*load_.listed)[turn_++ % load_.listed->size()];
  }
  if (out.input == 0) {
    out.input = drawn_length(load_.input_spread, load_.input, numbers_);
    out.output = drawn_length(load_.output_spread, load_.output, numbers_);
  }
  return out;
}

Listed Lengths::next() {
  Listed out = drawn();
  if (load_.longest > 1) {
    out.input = std::min(out.input, load_.longest - 1);
    out.output = std::min(out.output, load_.longest - out.input);
  }
  return out;
}

double share_cut(const Load& load) {
  constexpr int kDraws = 10'000;
  if (load.longest <= 1 || load.is_alike() || load.lists_lengths()) return 0;
  Lengths lengths(load);
  int cut = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Listed each = lengths.drawn();
    if (each.input + each.output > load.longest) ++cut;
  }
  return static_cast<double>(cut) / kDraws;
}

double Lengths::pause() {
  return -std::log(1 - uniform_of(numbers_)) / load_.rate;
}

}  // namespace headway
