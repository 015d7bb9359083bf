#include "study/infer/load/step_times.hpp"

#include <algorithm>

namespace headway {
namespace {

// Between two numbers of tokens of the list.
double between(const std::vector<double>& tokens, const std::vector<double>& seconds, double at) {
  const auto above = std::lower_bound(tokens.begin(), tokens.end(), at);
  if (above == tokens.begin()) return seconds.front();
  if (above == tokens.end()) return seconds.back() * at / tokens.back();
  const auto i = static_cast<std::size_t>(above - tokens.begin());
  const double share = (at - tokens[i - 1]) / (tokens[i] - tokens[i - 1]);
  return seconds[i - 1] + share * (seconds[i] - seconds[i - 1]);
}

}  // namespace

double StepTimes::of(const StepLoad& all) const {
  StepLoad mine = all;
  if (ways > 1) {
    // The fullest of them.
    mine.decoding = all.decoding > 0 ? std::max(1.0, all.decoding / ways) : 0;
    if (all.decoding > 0) mine.cached = all.cached * mine.decoding / all.decoding;
    mine.prompt = std::max(all.prompt / ways, all.piece);
    if (all.prompt > 0) {
      mine.pairs = all.pairs * mine.prompt / all.prompt;
      mine.prompts = all.prompts * mine.prompt / all.prompt;
    }
  }
  const double decoded = mine.decoding * checked;
  double device = between(tokens, work, decoded + mine.prompt) + pair * mine.pairs;
  if (mine.decoding > 0) {
    device += between(tokens, head, decoded) + reading + read_token * mine.cached;
  }
  const double host = step + sequence * mine.decoding + begin * mine.prompts + token * mine.prompt;
  double out = mine.prompt > 0 ? host + std::max(device, launches) : host + gaps + device;
  if (draft != nullptr) {
    // It takes in prompts, too, and makes one guess after another.
    if (mine.prompt > 0) out += draft->of({.prompt = mine.prompt, .pairs = mine.pairs});
    if (mine.decoding > 0) {
      out += guesses * draft->of({.decoding = mine.decoding, .cached = mine.cached});
    }
  }
  return out;
}

}  // namespace headway
