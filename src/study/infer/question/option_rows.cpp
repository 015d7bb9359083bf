// The table: a row for each thing that `infer` is asked, and how what is given for one fills its
// member.
#include <string>
#include <type_traits>
#include <vector>

#include "base/quantity_text.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/question/options.hpp"

namespace headway {
namespace {

constexpr std::string_view kWhat = kServingGroups[0], kLoad = kServingGroups[1],
                           kSplit = kServingGroups[2], kFormats = kServingGroups[3],
                           kQuestion = kServingGroups[4];

constexpr double kMostDegree = 1e6, kMostTokensOfAny = 1e7, kMostSequencesOfAny = 1e5;

FieldForm whole(double most) {
  return {.kind = FieldForm::Kind::whole, .least = 1, .most = most};
}
FieldForm share(double most) {
  return {.kind = FieldForm::Kind::number, .least = 0, .most = most};
}
FieldForm named(std::span<const std::string_view> names) {
  return {.kind = FieldForm::Kind::name, .names = names};
}

std::span<const std::string_view> engine_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    if (const auto& known = engines(); known) {
      for (const Engine& each : *known) out.emplace_back(each.name);
    }
    return out;
  }();
  return names;
}

std::span<const std::string_view> format_names() {
  static const std::vector<std::string> all = weights_names();
  static const std::vector<std::string_view> names(all.begin(), all.end());
  return names;
}

std::span<const std::string_view> cache_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    if (const auto& known = cache_formats(); known) {
      for (const CacheFormat& each : *known) out.emplace_back(each.name);
    }
    return out;
  }();
  return names;
}

void time(RequestReader& in, const RunField& field, std::optional<Seconds>& into) {
  const GivenField* given = in.find(field.name);
  if (given == nullptr) return;
  const auto time = parse_quantity<Seconds>(given->text, given->where);
  if (!time) {
    for (const Problem& problem : time.problems()) {
      in.fail(field.name, problem.message, problem.kind);
    }
  } else if (time->value() <= 0) {
    in.fail(field.name, "must be greater than zero");
  } else {
    into = *time;
  }
}

template <class T>
struct Inner {
  using type = T;
};
template <class T>
struct Inner<std::optional<T>> {
  using type = T;
};

// What is given fills the member as its type wants it: a number, a name's place, a time.
template <auto member>
void fills(RequestReader& in, const RunField& field, ServingAsked& out) {
  using Member = std::remove_reference_t<decltype(out.*member)>;
  using Value = typename Inner<Member>::type;
  if constexpr (std::is_same_v<Value, Seconds>) {
    time(in, field, out.*member);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (const GivenField* given = in.find(field.name)) out.*member = given->text;
  } else if (const auto number = in.value(field)) {
    if constexpr (std::is_enum_v<Value>) {
      out.*member = static_cast<Value>(static_cast<std::underlying_type_t<Value>>(*number));
    } else {
      out.*member = static_cast<Value>(*number);
    }
  }
}

using A = ServingAsked;

std::vector<ServingOption> table() {
  return {
      {{"model",
        "NAME|FILE",
        "built-in name (headway list models), config.json or .toml",
        {.kind = FieldForm::Kind::model},
        kWhat}},
      {{"cluster",
        "NAME|FILE",
        "built-in name (headway list clusters) or .toml",
        {.kind = FieldForm::Kind::cluster},
        kWhat}},
      {{"gpus", "N", "accelerators", whole(kMostDegree), kWhat, "tp x pp x cp x dp"},
       fills<&A::gpus>},
      {{"input-len", "N", "tokens of a prompt", whole(kMostTokensOfAny), kWhat}, fills<&A::input>},
      {{"output-len", "N", "tokens of an answer", whole(kMostTokensOfAny), kWhat},
       fills<&A::output>},
      {{"batch", "N", "sequences of each copy that start and end together",
        whole(kMostSequencesOfAny), kLoad},
       fills<&A::batch>},
      {{"concurrency", "N", "clients of each copy, each with one request at a time",
        whole(kMostSequencesOfAny), kLoad},
       fills<&A::clients>},
      {{"rate",
        "R",
        "requests a second to all copies, at random moments",
        {.kind = FieldForm::Kind::number, .least = 1e-6, .most = 1e9},
        kLoad},
       fills<&A::rate>},
      {{"ttft",
        "TIME",
        "what a good answer's first token keeps to: the share that does is told",
        {},
        kLoad},
       fills<&A::first_limit>},
      {{"tpot", "TIME", "the same of each token after it", {}, kLoad}, fills<&A::each_limit>},
      {{"goodput", "SHARE",
        "the highest rate of which so many keep to ttft and tpot, as 0.9; of the best that so many "
        "do",
        share(1), kLoad},
       fills<&A::goodput>},
      {{"input-spread",
        "FORM",
        "of prompts about input-len: uniform:0.8 (evenly from this share up), normal:0.3, "
        "log-normal:1.2 (deviation over the mean)",
        {},
        kLoad},
       fills<&A::input_spread>},
      {{"output-spread", "FORM", "the same of answers", {}, kLoad}, fills<&A::output_spread>},
      {{"count", "N", "requests placed in time", whole(kMostDegree), kLoad,
        "10 of a client, 2,000 others"},
       fills<&A::count>},
      {{"prefix-hit", "SHARE", "of a prompt that the cache holds already", share(0.9999), kLoad,
        "0"},
       fills<&A::prefix_hit>},
      {{"tp", "N", "tensor-parallel degree", whole(kMostDegree), kSplit, "1"}, fills<&A::tp>},
      {{"pp", "N", "pipeline-parallel degree", whole(kMostDegree), kSplit, "1"}, fills<&A::pp>},
      {{"ep", "N", "ranks over which experts are spread, of tp x dp", whole(kMostDegree), kSplit,
        "1"},
       fills<&A::ep>},
      {{"dp", "N", "copies, of attention where experts are shared", whole(kMostDegree), kSplit,
        "1"},
       fills<&A::dp>},
      {{"cp", "N", "ranks that share each prompt, and then its cache", whole(kMostDegree), kSplit,
        "1"},
       fills<&A::cp>},
      {{"prefill",
        "SPLIT",
        "on accelerators of its own: tp=4,copies=2, of tp, pp, ep, dp, cp, copies, step-tokens",
        {},
        kSplit},
       fills<&A::prefill>},
      {{"decode",
        "SPLIT",
        "the same; concurrency and rate are then of all copies together",
        {},
        kSplit},
       fills<&A::decode>},
      {{"stream",
        "",
        "the cache moves layer by layer while prefill makes it",
        {.kind = FieldForm::Kind::flag},
        kSplit},
       fills<&A::streamed>},
      {{"imbalance",
        "A",
        "of experts: the i-th busiest is chosen as i to minus it",
        {.kind = FieldForm::Kind::number, .most = 4},
        kSplit,
        "0.6, as measured; 0: all alike"},
       fills<&A::imbalance>},
      {{"redundant-experts", "N", "copies of the busiest, which even out ranks",
        whole(kMostSequencesOfAny), kSplit},
       fills<&A::redundant_experts>},
      {{"exchange", "KIND",
        "how tokens travel to experts and back: collective, or kernels of its own (DeepEP)",
        named(kExchangeNames), kSplit, "collective"},
       fills<&A::exchange>},
      {{"two-batches",
        "",
        "a pass in two halves, of which one computes while the other's tokens are on their way to "
        "experts (two-batch overlap)",
        {.kind = FieldForm::Kind::flag},
        kSplit},
       fills<&A::two_batches>},
      {{"weights", "FORMAT", "of weights; int8, int4, mxfp4 and nvfp4 are of memory alone",
        named(format_names()), kFormats,
        "as the config keeps them, else bf16, fp16 where there is none"},
       fills<&A::weights>},
      {{"cache", "FORMAT", "of keys and values, as the engine has them", named(cache_names()),
        kFormats, "bf16"},
       fills<&A::cache>},
      {{"engine", "NAME", "software that serves", named(engine_names()), kFormats,
        engine_names().empty() ? std::string_view() : engine_names().front()},
       fills<&A::engine>},
      {{"memory-share",
        "SHARE",
        "of an accelerator's memory, or of what weights leave of it (TensorRT-LLM), for the engine",
        {.kind = FieldForm::Kind::number, .least = 0.01, .most = 1},
        kFormats,
        "the engine's"},
       fills<&A::memory_share>},
      {{"step-tokens", "N", "of one step at most, of prompts and decoded", whole(kMostTokensOfAny),
        kFormats, "the engine's"},
       fills<&A::step_tokens>},
      {{"step-sequences", "N", "of a copy at a time at most", whole(kMostSequencesOfAny), kFormats,
        "the engine's"},
       fills<&A::step_sequences>},
      {{"prompts", "WHEN", "in steps of their own, or beside what is decoded", named(kPromptNames),
        kFormats, "the engine's"},
       fills<&A::prompts>},
      {{"admit", "ROOM", "requests with room for the whole answer, or for the prompt",
        named(kAdmitNames), kFormats, "the engine's"},
       fills<&A::admit>},
      {{"block", "N", "tokens of a block of the cache", whole(kMostDegree), kFormats,
        "the engine's"},
       fills<&A::block>},
      {{"eager",
        "",
        "no graph replays decode passes: the host launches their kernels one by one",
        {.kind = FieldForm::Kind::flag},
        kFormats},
       fills<&A::eager>},
      {{"guesses", "N", "tokens that are guessed, and then checked in one pass", whole(64),
        kFormats},
       fills<&A::guesses>},
      {{"acceptance", "SHARE", "of guesses that are right where all before them are", share(1),
        kFormats},
       fills<&A::acceptance>},
      {{"draft",
        "NAME|FILE",
        "model that guesses",
        {.kind = FieldForm::Kind::model},
        kFormats,
        "the model's own prediction layers"},
       fills<&A::draft>},
      {{"best",
        "",
        "the best ways on --gpus: of users' speed against accelerators'",
        {.kind = FieldForm::Kind::flag},
        kQuestion},
       fills<&A::best>},
      {{"formats",
        "FORMATS",
        "with best: any, or weights and after a slash their cache, as bf16,fp8/fp8: what the best "
        "are chosen among",
        {},
        kQuestion,
        "weights and cache"},
       fills<&A::formats>},
      {{"disaggregate",
        "",
        "with best: of prefill and decode apart, their ratio searched, too",
        {.kind = FieldForm::Kind::flag},
        kQuestion},
       fills<&A::disaggregate>},
      {{"curve", "LOAD", "what ever more load gets, up to capacity", named(kCurveNames), kQuestion},
       fills<&A::curve>}};
}

}  // namespace

std::span<const ServingOption> serving_options() {
  static const std::vector<ServingOption> rows = table();
  return rows;
}

}  // namespace headway
