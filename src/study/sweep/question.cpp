#include "study/sweep/question.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "base/written_count.hpp"
#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "run/request_reader.hpp"
#include "study/sweep/family.hpp"

namespace headway {
namespace {

constexpr FieldForm kList = {.kind = FieldForm::Kind::list};
constexpr std::array<std::string_view, 2> kKept = {"sequences", "tokens"};

RunField at(const char* what, const char* otherwise) {
  return {"at", "LIST", what, kList, {}, otherwise};
}

// What a sweep along the axis takes besides a run and what is assumed of a whole one.
std::vector<RunField> table(SweepAxis axis) {
  std::vector<RunField> out = {
      {"best",
       "",
       "each point takes the best layout (headway plan), not the given one",
       {.kind = FieldForm::Kind::flag}}};
  switch (axis) {
    case SweepAxis::weak:
    case SweepAxis::strong:
      out.push_back(at("accelerators, as 8,16,32", "1 to 64 times --gpus"));
      out.push_back({"threshold",
                     "0..1",
                     "share of what the first accelerators bring, below which more bring little",
                     {.kind = FieldForm::Kind::number, .least = 0, .most = 1},
                     {},
                     "0.5"});
      break;
    case SweepAxis::model:
      out.push_back(at("models", "the family of --model among the built-in ones"));
      break;
    case SweepAxis::context:
      out.push_back(at("tokens in a sequence", "1/4 to 32 times --seq"));
      out.push_back({"keep",
                     "tokens|sequences",
                     "what of a step stays the same",
                     {.kind = FieldForm::Kind::name, .names = kKept},
                     {},
                     "tokens"});
      break;
    case SweepAxis::hardware:
      out.push_back(at("clusters", "dgx-v100 to gb200-nvl72, by generation"));
      break;
    case SweepAxis::network:
      out.push_back(
          {"bandwidth", "LIST", "factors of the rates beyond the node", kList, {}, "0.125 to 8"});
      out.push_back(
          {"latency", "LIST", "factors of the latencies beyond the node", kList, {}, "0.125 to 8"});
      out.push_back(
          {"domain", "LIST", "accelerators that the innermost links join", kList, {}, "8 to 512"});
      break;
    case SweepAxis::layout:
      out.push_back(at("degrees of tensor, context and pipeline parallelism", "2,4,8"));
      out.push_back({"shard",
                     "LIST",
                     "ranks that share one copy of sharded states (hybrid sharding)",
                     kList,
                     {},
                     "the innermost domain, and 4, 16 ... times as many"});
      break;
  }
  for (RunField& field : out) {
    field.help = help_text(field);
    field.group = "Points";
  }
  return out;
}

// Words between commas, without blanks around them.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    out.push_back(std::move(word));
    begin = end + 1;
  }
  return out;
}

constexpr std::size_t kMostPoints = 64;

bool read_number(const std::string& word, std::int64_t& into, std::int64_t least,
                 std::int64_t most) {
  const auto count = written_count(word);
  into = count.value_or(0);
  return count && into >= least && into <= most;
}
bool read_number(const std::string& word, double& into, double least, double most) {
  const auto number = real_number(word);
  into = number.value_or(0);
  return number && into >= least && into <= most;
}

// Lists of values in rising order, each once.
class ListReader {
 public:
  explicit ListReader(RequestReader& reader) : reader_(reader) {}

  template <class Number>
  void numbers(const char* name, std::vector<Number>& into, Number least, Number most,
               const char* wanted) {
    for (const std::string& word : texts(name)) {
      Number value{};
      if (!read_number(word, value, least, most)) {
        return reader_.fail(name, "'" + printable(word) + "' is not " + wanted);
      }
      into.push_back(value);
    }
    std::sort(into.begin(), into.end());
    into.erase(std::unique(into.begin(), into.end()), into.end());
  }

  std::vector<std::string> texts(const char* name) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return {};
    std::vector<std::string> out = words(given->text);
    if (out.size() > kMostPoints) {
      reader_.fail(name, "lists " + std::to_string(out.size()) + " values; at most " +
                             std::to_string(kMostPoints));
      return {};
    }
    return out;
  }

 private:
  RequestReader& reader_;
};

// Names that nothing can be loaded from are wrong input, not points left out. What is wrong within
// a file is said where it stands there.
void check_names(RequestReader& reader, const SweepQuestion& question, Problems& problems) {
  for (const std::string& name : question.names) {
    const auto fail = [&](const Problems& found) {
      for (const Problem& problem : found) {
        if (problem.place.kind != Place::Kind::file) {
          reader.fail("at", problem.message);
        } else {
          problems.push_back(problem);
        }
      }
    };
    if (question.axis == SweepAxis::model) {
      if (const auto model = load_model(name); !model) fail(model.problems());
    } else if (const auto cluster = load_cluster(name); !cluster) {
      fail(cluster.problems());
    }
  }
}

// What a method makes of one cluster or model is not what it makes of the others along the axis.
void refuse_fixed_method(const RequestedRun& base, SweepAxis axis, Problems& problems) {
  const Method& method = base.job.method;
  if (method.bandwidth > BytesPerSecond(0)) {
    problems.push_back({FieldName("method"),
                        "states the link of sites that hold so many ranks, which change along the "
                        "axis; describe the sites as a level of --cluster FILE",
                        Trouble::unsupported});
  }
  if (method.submodels > 1 && axis == SweepAxis::model) {
    problems.push_back({FieldName("method"), "trains parts of one model; the axis has several",
                        Trouble::unsupported});
  }
}

void read_axis(const RunRequest& fields, SweepQuestion& question, Problems& problems) {
  RequestReader reader(fields, problems, scale_sweep_fields(question.axis));
  ListReader lists(reader);
  question.best = reader.flag("best");
  reader.number("threshold", question.threshold, 0, 1);
  reader.choice("keep", kKept, question.keep_tokens);
  if (is_over_names(question.axis)) {
    question.names = lists.texts("at");
    check_names(reader, question, problems);
  } else {
    constexpr std::int64_t kMost = 10'000'000;
    lists.numbers<std::int64_t>("at", question.at, 1, kMost, "a whole number from 1 to 10^7");
  }
  constexpr double kSlowest = 1e-3, kFastest = 1e3;
  for (const auto& [name, into] :
       {std::pair("bandwidth", &question.bandwidth), std::pair("latency", &question.latency)}) {
    lists.numbers<double>(name, *into, kSlowest, kFastest, "a factor from 0.001 to 1000");
  }
  lists.numbers<std::int64_t>("domain", question.domain, 2, 100'000,
                              "a number of accelerators from 2 to 100,000");
  lists.numbers<std::int64_t>("shard", question.shard, 1, 10'000'000,
                              "a number of ranks from 1 to 10^7");
}

}  // namespace

std::span<const RunField> scale_sweep_fields(SweepAxis axis) {
  static const auto all = [] {
    std::array<std::vector<RunField>, kSweepNames.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = table(static_cast<SweepAxis>(i));
    return out;
  }();
  return all[static_cast<std::size_t>(axis)];
}

Result<SweepQuestion> read_sweep(SweepAxis axis, const RunRequest& request) {
  SweepQuestion out;
  out.axis = axis;
  const auto own = scale_sweep_fields(axis);
  RunRequest axis_fields, others;
  for (const GivenField& given : request) {
    const bool is_own = std::any_of(
        own.begin(), own.end(), [&](const RunField& field) { return field.name == given.name; });
    (is_own ? axis_fields : others).push_back(given);
  }
  SplitRequest parts = split(others);
  const auto given = [&](const RunRequest& fields, std::string_view name) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const GivenField& field) { return field.name == name; });
  };
  out.tokens_given = given(parts.scale, "tokens");
  if (!out.tokens_given) parts.scale.push_back({"tokens", "1T", "default"});
  out.free.micro_batch = !given(parts.run, "micro-batch");
  out.free.recompute = !given(parts.run, "recompute") && !given(parts.run, "recompute-pieces") &&
                       !given(parts.run, "recompute-every") &&
                       !given(parts.run, "recompute-one-in");
  out.free.reshard = axis == SweepAxis::model;
  if (axis == SweepAxis::layout && !given(parts.run, "vpp")) {
    out.free.virtual_stages = VirtualStages::any;
  }

  // Everything that is wrong, of the run, of the assumptions and of the axis.
  Problems problems;
  refuse_unknown(parts.run, own, problems);
  auto base = make_run(parts.run);
  if (!base) append(problems, base.problems());
  auto assumptions = read_assumptions(parts.scale);
  if (!assumptions) append(problems, assumptions.problems());
  read_axis(axis_fields, out, problems);
  if (base) refuse_fixed_method(*base, axis, problems);
  if (!problems.empty()) return problems;
  out.base = std::move(base).value();
  out.given = std::move(assumptions).value();
  if (axis == SweepAxis::model && out.names.empty()) {
    auto family = family_of(out.base);
    if (!family) return family.problems();
    out.names = std::move(family).value();
  }
  const Cluster& cluster = out.base.cluster;
  const auto assumed = assumptions_for(out.given, cluster, out.base.layout.ranks());
  if (!assumed) return assumed.problems();
  auto values = assumed_values(out.given, *assumed, cluster);
  if (!values) return values.problems();
  out.assumed = std::move(values).value();
  return out;
}

}  // namespace headway
