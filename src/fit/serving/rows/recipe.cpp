// How the source of a row ran the engine.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "fit/serving/rows/row.hpp"

namespace headway::serving_rows {
namespace {

using serving_words::Most;
using serving_words::Recipe;

// [INFER-3] So that the busiest experts are all that any token chooses.
constexpr double kAlike = 100;

// Of a range, 0: no end.
bool within(std::int64_t least, std::int64_t of, std::int64_t most) {
  return of >= least && (most == 0 || of <= most);
}

// Of a list, empty: any.
bool is_one(const std::string& name, const std::vector<std::string>& of) {
  return of.empty() || std::find(of.begin(), of.end(), name) != of.end();
}

void set(std::int64_t& field, const Most& most, const Load& load, std::int64_t batch) {
  const double count = most.inputs * static_cast<double>(load.input) +
                       most.outputs * static_cast<double>(load.output) +
                       most.batches * static_cast<double>(batch) +
                       most.clients * static_cast<double>(load.batch) + most.more;
  if (count > 0) field = static_cast<std::int64_t>(std::max(count, most.least));
}

// By the model's own prediction layers.
void guess(const Recipe& recipe, RowText& text, Serving& serving) {
  if (recipe.guesses == 0 || serving.model.prediction_layers == 0) return;
  serving.speculation = Speculation{Drafting{recipe.acceptance, recipe.guesses}, std::nullopt};
  text.assume("guesses", std::to_string(recipe.guesses));
}

}  // namespace

const Recipe* recipe_of(const RowText& text, const serving_words::Words& words,
                        const Serving& serving, const Load& load, std::int64_t batch) {
  const bool experts = has_experts(serving.model), copies = serving.dp > 1;
  const std::vector<std::int64_t> lengths = {load.input, load.output};
  const auto holds = [&](const Recipe& recipe) {
    return text.row.source_key.starts_with(recipe.source) &&
           (recipe.engine.empty() || recipe.engine == text.row.engine) && text.says(recipe.has) &&
           text.row.machine.starts_with(recipe.accelerator) &&
           recipe.experts.value_or(experts) == experts &&
           recipe.copies.value_or(copies) == copies && is_one(text.row.model, recipe.models) &&
           is_one(text.cells.text("precision_weights"), recipe.weights) &&
           (recipe.lengths.empty() || recipe.lengths == lengths) &&
           within(0, serving.tp, recipe.most_ranks) &&
           within(recipe.least_batch, batch, recipe.most_batch) && text.measured >= recipe.since &&
           (recipe.until.empty() || (!text.measured.empty() && text.measured < recipe.until));
  };
  const auto found = std::find_if(words.recipes.begin(), words.recipes.end(), holds);
  return found != words.recipes.end() ? &*found : nullptr;
}

void run_by(const Recipe& recipe, const Load& load, std::int64_t batch, RowText& text,
            Serving& serving) {
  Policy& policy = serving.engine.policy;
  set(policy.most_tokens, recipe.tokens, load, batch);
  set(policy.most_sequences, recipe.sequences, load, batch);
  policy.gathers = recipe.gathers;
  policy.gathered = recipe.gathered;
  const auto above = recipe.polls.upper_bound(batch);
  if (above != recipe.polls.begin()) policy.polls = std::prev(above)->second;
  if (recipe.memory > 0) serving.engine.memory = recipe.memory;
  if (!recipe.cache.empty() && text.cells.text("precision_kv").empty()) {
    serving.cache = cache_format(recipe.cache);
    text.assume("precision_kv", recipe.cache);
  }
  if (recipe.cuts) policy.whole_prompts = false;
  if (recipe.library) serving.engine.own_all_reduce = false;
  if (recipe.alike) serving.routing.power = kAlike;
  guess(recipe, text, serving);
}

// As trtllm-bench builds an engine (TensorRT-LLM 0.17, tensorrt_llm/bench/build/tuning.py): as many
// sequences as memory holds, 4,096 at most, over the stages; tokens so that as many prompts come in
// as answers end. Its rounding up, and its guess of the memory that is free, are left out.
void size_steps(const Load& load, Serving& serving) {
  constexpr double kMostSequences = 4096, kLeastTokens = 2048, kMostTokens = 32'768;
  const double input = static_cast<double>(load.input), output = static_cast<double>(load.output);
  const double held = memory_of(serving, load).sequences_that_fit(input + output);
  const double each = std::clamp(held, 1.0, kMostSequences) / static_cast<double>(serving.pp);
  const double tokens = std::clamp(each * (1 + input / output), kLeastTokens, kMostTokens);
  serving.engine.policy.most_sequences = static_cast<std::int64_t>(std::ceil(each));
  serving.engine.policy.most_tokens = static_cast<std::int64_t>(tokens);
}

}  // namespace headway::serving_rows
