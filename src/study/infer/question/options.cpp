// The rows, and how what is given for one fills its member.
#include "study/infer/question/options.hpp"

#include <string>
#include <type_traits>
#include <vector>

#include "base/quantity_text.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

constexpr std::string_view kWhat = kServingGroups[0], kLoad = kServingGroups[1],
                           kSplit = kServingGroups[2], kFormats = kServingGroups[3],
                           kQuestion = kServingGroups[4];

constexpr double kMostDegree = 1e6, kMostTokensOfAny = 1e7, kMostSequencesOfAny = 1e5;

FieldForm whole(double most) {
  return {.kind = FieldForm::Kind::whole, .least = 1, .most = most};
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
  } else if (const auto number = in.value(field)) {
    if constexpr (std::is_same_v<Value, const Recipe*>) {
      out.*member = &recipes()[static_cast<std::size_t>(*number)];
    } else if constexpr (std::is_enum_v<Value>) {
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
        {},
        kWhat}},
      {{"cluster", "NAME|FILE", "built-in name (headway list clusters) or .toml", {}, kWhat}},
      {{"gpus", "N", "accelerators", whole(kMostDegree), kWhat, "tp x pp x dp"}, fills<&A::gpus>},
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
      {{"tp", "N", "tensor-parallel degree", whole(kMostDegree), kSplit, "1"}, fills<&A::tp>},
      {{"pp", "N", "pipeline-parallel degree", whole(kMostDegree), kSplit, "1"}, fills<&A::pp>},
      {{"ep", "N", "ranks over which experts are spread, of tp x dp", whole(kMostDegree), kSplit,
        "1"},
       fills<&A::ep>},
      {{"dp", "N", "copies, of attention where experts are shared", whole(kMostDegree), kSplit,
        "1"},
       fills<&A::dp>},
      {{"weights", "FORMAT", "a recipe's name", field_row("precision")->field.form, kFormats,
        "bf16"},
       fills<&A::weights>},
      {{"cache", "FORMAT", "of keys and values", named(kCacheFormatNames), kFormats, "bf16"},
       fills<&A::cache>},
      {{"engine", "NAME", "software that serves", named(engine_names()), kFormats,
        engine_names().empty() ? std::string_view() : engine_names().front()},
       fills<&A::engine>},
      {{"best",
        "",
        "the best ways on --gpus: of users' speed against accelerators'",
        {.kind = FieldForm::Kind::flag},
        kQuestion},
       fills<&A::best>},
      {{"curve", "LOAD", "what ever more load gets, up to capacity", named(kCurveNames), kQuestion},
       fills<&A::curve>}};
}

}  // namespace

std::span<const ServingOption> serving_options() {
  static const std::vector<ServingOption> rows = table();
  return rows;
}

std::span<const RunField> serving_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields;
    for (const ServingOption& row : serving_options()) {
      fields.push_back(row.field);
      fields.back().help = help_text(row.field);
    }
    return fields;
  }();
  return out;
}

}  // namespace headway
