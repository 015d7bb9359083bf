#include "study/infer/apart.hpp"

#include <algorithm>

#include "layout/placement.hpp"
#include "study/infer/energy.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/prompt_passes.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

// Of one part; what is wrong with it is of the option that gives it.
Problems check_part(const Serving& part, std::string_view option) {
  Problems out = check(part);
  for (Problem& problem : out) {
    std::string names;
    for (const FieldName& field : problem.fields) {
      if (field.name == "cluster" || field.name == "model" || field.name == "weights") continue;
      names += (names.empty() ? "" : ", ") + field.name;
    }
    if (names.empty()) continue;
    problem.message = names + " " + problem.message;
    problem.fields = {FieldName(option)};
  }
  return out;
}

// Seconds that the cache of so many tokens of a sequence, and its state, take from the ranks of one
// copy of attention of prefill to those of one of decode, each of which needs its own part; of
// ranks that share each sequence (cp) a part of its tokens.
double moving_time(const ServingApart& apart, const ServingConstants& constants, const Load& load,
                   double tokens) {
  const ServingMemory there = memory_of(apart.decode, load);
  const std::int64_t senders = ranks_of_attention(apart.prefill);
  const std::int64_t receivers = ranks_of_attention(apart.decode);
  const double lanes = static_cast<double>(std::min(senders, receivers));
  const Bytes each = (there.cache_of_token * tokens + there.state_of_sequence) *
                     static_cast<double>(receivers) / lanes;
  const std::int64_t stride =
      std::max(apart.prefill_ranks(), apart.ranks() - apart.prefill_ranks());
  const GroupSpan span = span_of(2, stride, 2 * stride, apart.prefill.cluster);
  return collective_time(CollectiveOp::send_receive, each, span, apart.prefill.cluster,
                         constants.alone.levels)
      .value();
}

}  // namespace

std::string pool_as_given(const Serving& part, std::int64_t copies) {
  std::string out = "tp=" + std::to_string(part.tp);
  const auto add = [&](const char* name, std::int64_t count, std::int64_t usual) {
    if (count != usual) out += std::string(",") + name + "=" + std::to_string(count);
  };
  add("pp", part.pp, 1);
  add("ep", part.ep, 1);
  add("dp", part.dp, 1);
  add("cp", part.cp, 1);
  add("copies", copies, 1);
  const auto& known = engines();
  if (!known) return out;
  for (const Engine& engine : *known) {
    if (engine.name != part.engine.name) continue;
    add("step-tokens", part.engine.policy.most_tokens, engine.policy.most_tokens);
  }
  return out;
}

Problems check(const ServingApart& apart) {
  Problems out = check_part(apart.prefill, "prefill");
  append(out, check_part(apart.decode, "decode"));
  const std::int64_t has = apart.prefill.cluster.accelerators;
  if (apart.ranks() > has) {
    out.push_back({FieldNames{FieldName("prefill"), FieldName("decode")},
                   "take " + std::to_string(apart.ranks()) + " accelerators; the cluster has " +
                       std::to_string(has)});
  }
  return out;
}

std::string_view ServedApart::binding() const {
  if (rates.least() == rates.prefill) return "prefill";
  return rates.least() == rates.decode ? "decode" : "moving the cache";
}

StepTimes steps_of_copy(const Serving& serving, const ServingConstants& constants,
                        const Load& load) {
  StepTimes out = step_times(serving, constants, load.input, load.output);
  out.copies = static_cast<double>(serving.dp);
  return out;
}

Policy policy_of_copy(const Serving& serving) {
  Policy out = serving.engine.policy;
  out.most_sequences *= serving.dp;
  return out;
}

Apart apart_of(const ServingApart& apart, const ApartEngines& engines,
               const ServingConstants& constants, const Load& load) {
  Apart out{engine_of(apart.prefill, engines.prefill, engines.of_prefill, engines.prefill_memory,
                      load, static_cast<double>(apart.prefill.dp)),
            engine_of(apart.decode, engines.decode, engines.of_decode, engines.decode_memory, load,
                      static_cast<double>(apart.decode.dp)),
            apart.prefill_copies, apart.decode_copies};
  out.prefill.guesses = {};  // it makes the first token alone
  out.lanes = apart.prefill.dp;
  const double tokens = static_cast<double>(load.input);
  const double whole = moving_time(apart, constants, load, tokens);
  out.move_token = 2 * (whole - moving_time(apart, constants, load, tokens / 2)) / tokens;
  out.move_start = whole - out.move_token * tokens;
  if (apart.streamed) {
    // The last layer's, and what takes longer than prefill itself.
    const double prompt = prompt_times(out.prefill, load).alone;
    out.exposed =
        std::max(1 / static_cast<double>(apart.prefill.model.layers()), 1 - prompt / whole);
  }
  return out;
}

OwnedApart::OwnedApart(const ServingApart& apart, const ServingConstants& constants,
                       const Load& load, const ServingMemory& prefill_memory,
                       const ServingMemory& decode_memory)
    : prefill_(steps_of_copy(apart.prefill, constants, load)),
      decode_(steps_of_copy(apart.decode, constants, load)),
      of_prefill_(policy_of_copy(apart.prefill)),
      of_decode_(policy_of_copy(apart.decode)),
      apart_(apart_of(apart,
                      {prefill_, decode_, of_prefill_, of_decode_, prefill_memory, decode_memory},
                      constants, load)) {}

ServedApart served(const ServingApart& serving, const ServingConstants& constants,
                   const Load& load) {
  ServedApart out;
  out.prefill = memory_of(serving.prefill, load);
  out.all.memory = memory_of(serving.decode, load);
  out.prefill_fits = holds_prompt(out.prefill, load);
  out.decode_fits = holds_sequence(out.all.memory, load);
  out.all.fits = out.prefill_fits && out.decode_fits;
  if (!out.all.fits) return out;

  const OwnedApart engines(serving, constants, load, out.prefill, out.all.memory);
  const Apart& apart = engines.apart();
  out.moving = Seconds(apart.move_start + apart.move_token * static_cast<double>(load.input));
  out.rates = rates_of(apart, load);
  if (load.arrivals != Arrivals::listed) out.all.closed = in_closed_form(apart, load);
  if (load.arrivals != Arrivals::clients) {
    out.all.capacity = out.rates.least();
    if (load.arrivals == Arrivals::random && load.rate >= out.rates.least()) return out;
  }
  const Answered by = answered(apart, load);
  summarise(out.all, by, load, serving.prefill.engine.request, /*keeps_up=*/false);
  const PromptPasses prompts = prompt_passes(serving.prefill.engine.policy, load, 1);
  out.all.prefill_work = prompts.each;
  out.all.prompt_passes = prompts.of_one;
  out.all.prefill = time_of(serving.prefill, constants, prompts.each);
  decode_pass(out.all, serving.decode, constants, load,
              out.all.sequences / static_cast<double>(serving.decode.dp));
  add_energy(out.all, serving, constants, load);
  return out;
}

}  // namespace headway
