#include "study/infer/steps.hpp"

#include <algorithm>

namespace headway {
namespace {

double attention_of(PassTime pass) {
  return pass[ServingPart::attention].value();
}

}  // namespace

StepTimes::StepTimes(const Serving& serving, const ServingConstants& constants, std::int64_t input,
                     std::int64_t output) {
  // [INFER-9] Every token passes the same products; only attention tells decoded ones from those of
  // prompts, and only the host steps with a prompt from those that a graph replays.
  const auto without_attention = [](PassTime pass) {
    const Seconds apart = pass[ServingPart::attention] + pass[ServingPart::host];
    return (pass.total() - apart).value();
  };
  for (std::int64_t tokens = 1; tokens <= 2 * kMostTokens; tokens += (tokens + 2) / 3) {
    const double prompt = without_attention(time_of(serving, constants, {.tokens = tokens}));
    const double decoded = without_attention(
        time_of(serving, constants, {.sequences = tokens, .tokens = 1, .cached = 1}));
    tokens_.push_back(static_cast<double>(tokens));
    work_.push_back(prompt);
    head_.push_back(decoded - prompt);
  }
  // Attention over the cache is linear in what is read.
  const std::int64_t context = input + output / 2;
  const auto reading = [&](std::int64_t sequences) {
    return attention_of(
        time_of(serving, constants, {.sequences = sequences, .tokens = 1, .cached = context}));
  };
  const double one = reading(1), many = reading(1025);
  read_token_ = (many - one) / (1024 * static_cast<double>(context));
  reading_ = std::max(0.0, one - read_token_ * static_cast<double>(context));
  prompt_token_ =
      attention_of(time_of(serving, constants, {.tokens = input})) / static_cast<double>(input);
  const PassTime launched =
      time_of(serving, constants, {.sequences = 1, .tokens = 1, .cached = 1, .replayed = false});
  kernels_ = launched.kernels;
  set_host(serving);
}

void StepTimes::set_host(const Serving& serving) {
  step_ = serving.engine.step.value();
  sequence_ = serving.engine.sequence.value();
  launches_ = kernels_ * serving.engine.launch.value();
  scheduling_ = serving.engine.scheduling;
  gaps_ = static_cast<double>(serving.model.layers()) *
          gap_of_layer(serving.engine, serving.cluster.accelerator).value();
}

double StepTimes::between(const std::vector<double>& seconds, double tokens) const {
  const auto above = std::lower_bound(tokens_.begin(), tokens_.end(), tokens);
  if (above == tokens_.begin()) return seconds.front();
  if (above == tokens_.end()) return seconds.back() * tokens / tokens_.back();
  const auto at = static_cast<std::size_t>(above - tokens_.begin());
  const double share = (tokens - tokens_[at - 1]) / (tokens_[at] - tokens_[at - 1]);
  return seconds[at - 1] + share * (seconds[at] - seconds[at - 1]);
}

double StepTimes::of(double decoding, double cached, double prompt) const {
  double device = between(work_, decoding + prompt) + prompt_token_ * prompt;
  if (decoding > 0) device += between(head_, decoding) + reading_ + read_token_ * cached;
  const double host = step_ + sequence_ * decoding;
  return prompt > 0 ? host + std::max(device, launches_) : host + gaps_ + device;
}

}  // namespace headway
