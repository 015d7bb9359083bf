#include "study/infer/steps.hpp"

#include <algorithm>

namespace headway {
namespace {

// Tokens of the longest step in the list; beyond it all is as long as there, token for token.
constexpr std::int64_t kMostListed = 16'384;

double attention_of(PassTime pass) {
  return pass[ServingPart::attention].value();
}

// The parts of a step that hang on how many tokens pass.
void list_work(StepTimes& out, const Serving& serving, const ServingConstants& constants,
               std::int64_t input, std::int64_t output) {
  // Every token passes the same products; only attention tells decoded ones from those of prompts,
  // and only the host steps with a prompt from those that a graph replays.
  const auto without_attention = [](PassTime pass) {
    const Seconds apart = pass[ServingPart::attention] + pass[ServingPart::host];
    return (pass.total() - apart).value();
  };
  for (std::int64_t tokens = 1; tokens <= kMostListed; tokens += (tokens + 2) / 3) {
    // [INFER-40] What attention hides is of prompts and contexts as they are.
    const std::int64_t prompts = serving.two_batches ? (tokens + input - 1) / input : 1;
    const std::int64_t cached = serving.two_batches ? input + output / 2 : 1;
    const double prompt = without_attention(time_of(
        serving, constants, {.sequences = prompts, .tokens = (tokens + prompts - 1) / prompts}));
    const double decoded = without_attention(
        time_of(serving, constants, {.sequences = tokens, .tokens = 1, .cached = cached}));
    out.tokens.push_back(static_cast<double>(tokens));
    out.work.push_back(prompt);
    out.head.push_back(decoded - prompt);
  }
}

}  // namespace

StepTimes step_times(const Serving& serving, const ServingConstants& constants, std::int64_t input,
                     std::int64_t output) {
  StepTimes out;
  list_work(out, serving, constants, input, output);
  out.stages = static_cast<double>(serving.pp);
  const std::int64_t checked =
      serving.speculation ? serving.speculation->guesses.length + 1 : std::int64_t{1};
  out.checked = static_cast<double>(checked);
  // Attention over the cache is linear in what is read.
  const std::int64_t context = input + output / 2;
  const auto reading = [&](std::int64_t sequences) {
    return attention_of(time_of(
        serving, constants,
        {.sequences = sequences, .tokens = checked, .cached = context, .checks = checked > 1}));
  };
  const double one = reading(1), many = reading(1025);
  out.read_token = (many - one) / (1024 * static_cast<double>(context));
  out.reading = std::max(0.0, one - out.read_token * static_cast<double>(context));
  const double prompt = static_cast<double>(input);
  out.pair = attention_of(time_of(serving, constants, {.tokens = input})) / (prompt * prompt);
  const PassTime launched =
      time_of(serving, constants, {.sequences = 1, .tokens = 1, .cached = 1, .replayed = false});
  out.kernels = launched.kernels;
  if (serving.speculation) {
    out.guesses = static_cast<double>(checked - 1);
    out.draft =
        std::make_shared<const StepTimes>(step_times(draft_of(serving), constants, input, output));
  }
  set_host(out, serving);
  return out;
}

void set_host(StepTimes& steps, const Serving& serving) {
  const Engine& engine = serving.engine;
  steps.step = engine.step.value();
  steps.sequence = engine.sequence.value();
  steps.begin = engine.prompt.value();
  steps.token = engine.token.value();
  steps.launches = launch_time(serving, steps.kernels).value();
  steps.gaps = gaps_of_layers(serving).value();
  steps.eager = eager_time(serving, steps.kernels).value();
  if (steps.draft == nullptr) return;
  const auto draft = std::make_shared<StepTimes>(*steps.draft);
  set_host(*draft, draft_of(serving));
  steps.draft = draft;
}

}  // namespace headway
