// infer: what serving a model takes.
#include "report/infer/infer.hpp"

#include <algorithm>

#include "api/infer/question.hpp"
#include "api/options.hpp"
#include "study/infer/goodput.hpp"

namespace headway {
namespace {

constexpr std::string_view kOfLoad = "load", kOfEngine = "engine", kOfPools = "prefill apart",
                           kOfGuesses = "speculation";

CommandOutput best_of(const InferRequest& request, const InferQuestion& asked,
                      const ServingConstants& constants) {
  const Serving& serving = asked.serving;
  const Problems stopped = {{"infer", "was stopped", Trouble::stopped}};
  if (request.disaggregate) {
    // Every way with prefill and decode on accelerators of their own, and the best of them.
    const auto best = best_apart(serving, constants, asked.load, *request.gpus, request.streamed,
                                 request.threads, request.progress);
    if (!best) return {.problems = stopped};
    return {.text = request.json ? infer_best_apart_json(serving, asked.load, *request.gpus, *best)
                                 : infer_best_apart_text(serving, asked.load, *request.gpus, *best),
            .exit_code = best->front.empty() ? 1 : 0};
  }
  // Every way of serving it on so many, and the best of them.
  const auto best =
      best_offers(serving, constants, asked.load, *request.gpus, request.threads, request.progress);
  if (!best) return {.problems = stopped};
  return {.text = request.json ? infer_best_json(serving, asked.load, *request.gpus, *best)
                               : infer_best_text(serving, asked.load, *request.gpus, *best),
          .exit_code = best->front.empty() ? 1 : 0};
}

}  // namespace

CommandOutput run_infer(const InferRequest& request) {
  // What is served and what is asked of it, or everything that is wrong with either.
  const auto question = infer_question(request);
  if (!question) return {.problems = question.problems()};
  InferQuestion asked = *question;
  const auto constants = serving_constants(asked.serving.cluster);
  if (!constants) return {.problems = constants.problems()};
  if (request.best) return best_of(request, asked, *constants);

  // The highest rate that keeps to the limits, and what is asked of at that rate where none is
  // said.
  std::optional<double> within;
  const double copies = asked.apart ? 1 : static_cast<double>(asked.serving.dp);
  if (request.goodput) {
    const double each = asked.apart
                            ? rate_within(*asked.apart, *constants, asked.load, *request.goodput)
                            : rate_within(asked.serving, *constants, asked.load, *request.goodput);
    within = copies * each;
    if (!request.rate) asked.load.rate = std::max(each, 1e-6);
  }

  // Its passes in time, and what requests get of them.
  if (asked.apart) {
    ServedApart answer = served(*asked.apart, *constants, asked.load);
    answer.all.rate_within = within;
    return {.text = request.json ? infer_apart_json(*asked.apart, asked.load, answer)
                                 : infer_apart_text(*asked.apart, asked.load, answer),
            .exit_code = answer.all.fits && answer.all.stable() && within != 0.0 ? 0 : 1};
  }
  Served answer = served(asked.serving, *constants, asked.load);
  answer.rate_within = within;
  if (answer.fits && answer.stable()) {
    answer.closed = in_closed_form(asked.serving, *constants, asked.load);
  }
  return {.text = request.json ? infer_json(asked.serving, asked.load, answer)
                               : infer_text(asked.serving, asked.load, answer),
          .exit_code = answer.fits && answer.stable() && within != 0.0 ? 0 : 1};
}

Command infer_command() {
  auto request = std::make_shared<InferRequest>();
  Command out{.name = "infer",
              .help = "serving a model: time to the first token and of each after it, tokens/s",
              .examples = {"headway infer --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16"},
              .run = running(request, run_infer),
              .door = Door::command_line,
              .doing = "searching",
              .things = "splits"};
  constexpr Range kDegree = infer_ranges::kDegree, kTokens = infer_ranges::kTokens,
                  kSequences = infer_ranges::kSequences;
  const auto degree = [&](std::string_view name, std::string_view help, std::int64_t& target) {
    return Option{.name = name, .value = "N", .help = help, .target = &target, .range = kDegree};
  };
  const auto count = [&](std::string_view name, std::string_view help,
                         std::optional<std::int64_t>& target, Range range) {
    return Option{.name = name, .value = "N", .help = help, .target = &target, .range = range};
  };
  const auto in_group = [](Option option, std::string_view group) {
    option.group = group;
    return option;
  };
  out.options = {
      {.name = "model",
       .value = "M",
       .help = "built-in name (headway list models), config.json or .toml",
       .target = &request->model},
      {.name = "cluster",
       .value = "C",
       .help = "built-in name (headway list clusters) or .toml",
       .target = &request->cluster},
      count("gpus", "accelerators; default: tp x pp x dp", request->gpus, kDegree),
      wordless("best", "the best ways on --gpus: of users' speed against accelerators'",
               request->best),
      count("input-len", "tokens of a prompt", request->input, kTokens),
      count("output-len", "tokens of an answer", request->output, kTokens),
      count("batch", "sequences of each copy that start and end together", request->batch,
            kSequences),
      count("concurrency", "clients of each copy, each with one request at a time",
            request->clients, kSequences),
      {.name = "rate",
       .value = "R",
       .help = "requests a second to all copies, at random moments",
       .target = &request->rate},
      path("requests", "FILE", "CSV of input_len, output_len and, where it has them, arrival_s",
           &request->requests),
      path("arrivals", "FILE", "CSV of moments to all copies: arrival_s, rising",
           &request->arrivals),
      {.name = "input-spread",
       .value = "FORM",
       .help = "of prompts about --input-len: uniform:0.8, normal:0.3, log-normal:1.2",
       .target = &request->input_spread,
       .group = kOfLoad},
      {.name = "output-spread",
       .value = "FORM",
       .help = "of answers: from a share of it up, or a deviation over the mean",
       .target = &request->output_spread,
       .group = kOfLoad},
      in_group(count("count", "requests placed in time; default: 10 of a client, 2,000 others",
                     request->count, kDegree),
               kOfLoad),
      {.name = "prefix-hit",
       .value = "SHARE",
       .help = "of a prompt that the cache holds already",
       .target = &request->prefix_hit,
       .group = kOfLoad},
      {.name = "ttft",
       .value = "TIME",
       .help = "what a good answer's first token keeps to: the share that does is told",
       .target = &request->first_limit,
       .group = kOfLoad},
      {.name = "tpot",
       .value = "TIME",
       .help = "the same of each token after it",
       .target = &request->each_limit,
       .group = kOfLoad},
      {.name = "goodput",
       .value = "SHARE",
       .help = "the highest rate of which so many keep to --ttft and --tpot, as 0.9",
       .target = &request->goodput,
       .group = kOfLoad},
      degree("tp", "tensor-parallel degree", request->tp),
      degree("pp", "pipeline-parallel degree", request->pp),
      degree("ep", "ranks over which experts are spread, of tp x dp", request->ep),
      degree("dp", "copies, of attention where experts are shared", request->dp),
      {.name = "imbalance",
       .value = "A",
       .help = "of experts: the i-th busiest is chosen as i^-A",
       .target = &request->imbalance},
      count("redundant-experts", "copies of the busiest, that even out ranks",
            request->redundant_experts, kSequences),
      {.name = "weights",
       .value = "FORMAT",
       .help = "a recipe's name, as bf16, fp8, fp8-block, fp4",
       .target = &request->weights},
      {.name = "cache", .value = "FORMAT", .help = "bf16 or fp8", .target = &request->cache},
      {.name = "engine",
       .value = "NAME",
       .help = "software that serves; default: vllm",
       .target = &request->engine},
      in_group(count("step-tokens", "tokens of one step at most, of prompts and decoded",
                     request->step_tokens, kTokens),
               kOfEngine),
      in_group(count("step-sequences", "sequences of a copy at a time at most",
                     request->step_sequences, kSequences),
               kOfEngine),
      {.name = "prompts",
       .value = "WHEN",
       .help = "first, in steps of their own, or beside what is decoded",
       .target = &request->prompts,
       .group = kOfEngine},
      {.name = "admit",
       .value = "ROOM",
       .help = "requests with room for the whole answer, or for the prompt: some are computed anew",
       .target = &request->admit,
       .group = kOfEngine},
      in_group(count("block", "tokens of a block of the cache", request->block, kDegree),
               kOfEngine),
      {.name = "prefill",
       .value = "SPLIT",
       .help = "on accelerators of its own: tp=4,copies=2, of tp, pp, ep, dp, copies",
       .target = &request->prefill,
       .group = kOfPools},
      {.name = "decode",
       .value = "SPLIT",
       .help = "the same; --concurrency and --rate are then of all copies together",
       .target = &request->decode,
       .group = kOfPools},
      in_group(wordless("stream", "the cache moves layer by layer while prefill makes it",
                        request->streamed),
               kOfPools),
      in_group(wordless("disaggregate", "--best: of such ways, their ratio searched, too",
                        request->disaggregate),
               kOfPools),
      in_group(count("guesses", "tokens that are guessed, and then checked in one pass",
                     request->guesses, infer_ranges::kGuesses),
               kOfGuesses),
      {.name = "acceptance",
       .value = "SHARE",
       .help = "of guesses that are right where all before them are",
       .target = &request->acceptance,
       .group = kOfGuesses},
      {.name = "draft",
       .value = "M",
       .help = "model that guesses; default: the model's own prediction layers",
       .target = &request->draft,
       .group = kOfGuesses}};
  return out;
}

}  // namespace headway
