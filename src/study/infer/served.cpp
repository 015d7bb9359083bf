// What requests get of prefill and decode passes.
#include <algorithm>

#include "study/infer/energy.hpp"
#include "study/infer/prompt_passes.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

void place(Served& out, const Serving& serving, const StepTimes& of_copy, const Load& load,
           double most) {
  // Copies take turns, and one stands for all; a list is of all together, as one large engine.
  const bool listed = load.arrivals == Arrivals::listed;
  const double copies = static_cast<double>(serving.dp), joined = listed ? copies : 1;
  StepTimes steps = of_copy;
  steps.copies = joined;
  Policy policy = serving.engine.policy;
  if (listed) policy.most_sequences *= serving.dp;
  const Engined engine = engine_of(serving, steps, policy, out.memory, load, joined);
  if (load.arrivals == Arrivals::random) {
    const double capacity = capacity_of(serving, engine, load, most);
    out.capacity = copies * capacity;
    if (load.rate >= capacity) return;
  }
  summarise(out, answered(engine, load), load, serving.engine.request,
            /*keeps_up=*/true);
  out.output_per_second *= copies / joined;
  out.total_per_second *= copies / joined;
  out.goodput *= copies / joined;
  out.sequences = std::max(1.0, out.sequences / joined);
}

}  // namespace

Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps) {
  Served out;
  out.memory = memory_of(serving, load);
  const double input = static_cast<double>(load.input), output = static_cast<double>(load.output);
  const bool together = load.arrivals == Arrivals::together;
  // [INFER-5] Those that start together end together, with all their tokens cached; others are
  // spread over their answers.
  const double context = together ? input + output : load.under_way();
  const double most = out.memory.sequences_that_fit(context);
  out.fits = most >= (together ? static_cast<double>(load.batch) : 1.0) &&
             holds_sequence(out.memory, load);
  if (!out.fits) return out;
  out.sequences = load.comes() ? 1 : std::min(static_cast<double>(load.batch), most);
  const auto sequences = static_cast<std::int64_t>(out.sequences);

  // [INFER-6] A decode pass takes longer by as much for each token that it makes: the mean is that
  // of the middle.
  // [INFER-18] Of a pipeline as many passes are under way as it has stages, where there are
  // sequences for them: the last comes out when all have passed, one stage after another.
  const std::int64_t at_once = (sequences + serving.pp - 1) / serving.pp;
  const PromptPasses prompts = prompt_passes(serving.engine.policy, load, together ? at_once : 1);
  out.prefill_work = prompts.each;
  out.prompt_passes = prompts.of_one;
  out.prefill = time_of(serving, constants, out.prefill_work);
  PassTime draft;  // what guesses takes in the prompts, too
  if (serving.speculation) draft = time_of(draft_of(serving), constants, prompts.each);
  out.draft_prompt_rated = draft.rated;
  if (together) {
    out.first_token =
        time_of_prompts(serving, constants, prompts, out.sequences, out.prefill.total());
    if (serving.speculation) {
      out.first_token +=
          time_of_prompts(draft_of(serving), constants, prompts, out.sequences, draft.total());
    }
  } else {
    std::optional<StepTimes> own;
    if (steps == nullptr) own.emplace(step_times(serving, constants, load.input, load.output));
    place(out, serving, steps != nullptr ? *steps : *own, load, most);
  }
  decode_pass(out, serving, constants, load, out.sequences);
  if (together) {
    out.each_token = (out.decode.total() + out.draft) / drafting_of(serving).made();
    if (load.output == 1) out.each_token = Seconds(0);  // there is none
    out.latency = out.first_token + (output - 1) * out.each_token;
    out.output_per_second =
        static_cast<double>(serving.dp) * out.sequences * output / out.latency.value();
  }
  if (together) out.total_per_second = out.output_per_second * (input + output) / output;
  if (out.stable()) add_energy(out, serving, constants, load);
  return out;
}

std::optional<Fluid> in_closed_form(const Serving& serving, const ServingConstants& constants,
                                    const Load& load) {
  if (load.arrivals != Arrivals::clients && load.arrivals != Arrivals::random) return std::nullopt;
  const StepTimes steps = step_times(serving, constants, load.input, load.output);
  const ServingMemory memory = memory_of(serving, load);
  const Engined engine = engine_of(serving, steps, serving.engine.policy, memory, load);
  const bool stay = load.arrivals == Arrivals::clients && load.is_alike() && serving.pp == 1;
  return stay ? in_step(engine, load) : in_closed_form(engine, load);
}

}  // namespace headway
