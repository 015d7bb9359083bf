#include "study/infer/load/step_times.hpp"

#include <algorithm>

namespace headway {
namespace {

// A place in the list of tokens: between two of its numbers, or beyond it.
class PlaceInList {
 public:
  PlaceInList(const std::vector<double>& tokens, double at) {
    const auto above = std::lower_bound(tokens.begin(), tokens.end(), at);
    above_ = static_cast<std::size_t>(above - tokens.begin());
    if (above == tokens.begin()) return;
    if (above == tokens.end()) {
      share_ = at / tokens.back();
    } else {
      share_ = (at - tokens[above_ - 1]) / (tokens[above_] - tokens[above_ - 1]);
    }
  }

  double of(const std::vector<double>& seconds) const {
    if (above_ == 0) return seconds.front();
    if (above_ == seconds.size()) return seconds.back() * share_;
    return seconds[above_ - 1] + share_ * (seconds[above_] - seconds[above_ - 1]);
  }

 private:
  std::size_t above_ = 0;
  double share_ = 0;
};

}  // namespace

double StepTimes::of(const StepLoad& all) const {
  StepLoad mine = all;
  if (const double ways = this->ways(); ways > 1) {
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
  const PlaceInList all_tokens(tokens, decoded + mine.prompt);
  double device = all_tokens.of(work) + pair * mine.pairs;
  if (mine.decoding > 0) {
    const PlaceInList decoding_alone = mine.prompt > 0 ? PlaceInList(tokens, decoded) : all_tokens;
    device += decoding_alone.of(head) + reading + read_token * mine.cached;
  }
  const double host = step + sequence * mine.decoding + begin * mine.prompts + token * mine.prompt;
  double out =
      mine.prompt > 0 ? host + std::max(device, launches) : host + std::max(device + gaps, eager);
  if (draft != nullptr) {
    // It takes in prompts, too, and makes one guess after another.
    if (mine.prompt > 0) out += draft->of({.prompt = mine.prompt, .pairs = mine.pairs});
    if (mine.decoding > 0) {
      out += guesses * draft->of({.decoding = mine.decoding, .cached = mine.cached});
    }
  }
  return out;
}

double StepTimes::emptying(double seconds, double pieces, double last, double longest) const {
  const double entering = ((pieces - 1) * seconds + std::min(seconds, last)) / stages;
  return std::max(0.0, entering + (stages - 1) / stages * longest - seconds);
}

}  // namespace headway
