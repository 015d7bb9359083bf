// design: what which part of a machine brings.
#include "report/design/design.hpp"

#include <algorithm>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/output.hpp"

namespace headway {
namespace {

// What a file of what is served has beside model, cluster and how it is split.
constexpr std::array<std::string_view, 6> kOfServing = {"input-len", "output-len", "batch",
                                                        "weights",   "cache",      "engine"};
constexpr std::array<std::string_view, 7> kOfBoth = {"model", "cluster", "gpus", "tp",
                                                     "pp",    "ep",      "dp"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The fields of training among them, and those of serving apart.
struct AskedFields {
  RunRequest fields, serving;
};
AskedFields sorted_fields(RunRequest all) {
  AskedFields out;
  for (GivenField& field : all) {
    (is_one_of(kOfServing, field.name) ? out.serving : out.fields).push_back(std::move(field));
  }
  return out;
}

// What is served, from the fields that a run shares with it and its own.
class ServingReader {
 public:
  explicit ServingReader(const AskedFields& asked) {
    for (const GivenField& field : asked.fields) common(field);
    for (const GivenField& field : asked.serving) own(field);
  }

  Result<Workload> read() {
    Serving serving;
    Load load;
    append(problems_, read_infer(request_, serving, load));
    if (!problems_.empty()) return problems_;
    return serving_workload(std::move(serving), load);
  }

 private:
  void common(const GivenField& field) {
    if (!is_one_of(kOfBoth, field.name)) {
      return problems_.push_back({field.where, "is of training, and this is served"});
    }
    if (field.document != nullptr) {
      return problems_.push_back(
          {field.where, "described in place cannot be served; name it", Trouble::unsupported});
    }
    if (field.name == "model") request_.model = field.text;
    if (field.name == "cluster") request_.cluster = field.text;
    for (const auto& [name, degree] : {std::pair{"tp", &request_.tp},
                                       {"pp", &request_.pp},
                                       {"ep", &request_.ep},
                                       {"dp", &request_.dp}}) {
      if (field.name == name) *degree = whole(field).value_or(1);
    }
    if (field.name == "gpus") request_.gpus = whole(field);
  }

  void own(const GivenField& field) {
    if (field.name == "input-len") request_.input = whole(field);
    if (field.name == "output-len") request_.output = whole(field);
    if (field.name == "batch") request_.batch = whole(field);
    if (field.name == "weights") request_.weights = field.text;
    if (field.name == "cache") request_.cache = field.text;
    if (field.name == "engine") request_.engine = field.text;
  }

  std::optional<std::int64_t> whole(const GivenField& field) {
    const auto out = whole_number(field.text);
    if (!out || *out < 1 || *out > 10'000'000) {
      problems_.push_back(
          {field.where,
           "'" + printable(field.text, 60) + "' is no whole number from 1 to 10,000,000",
           Trouble::malformed});
      return std::nullopt;
    }
    return out;
  }

  InferRequest request_;
  Problems problems_;
};

// A file and axes, where both stand without a flag: --vary memory=hbm4 link=nvlink5.
struct Words {
  std::string run_file;
  std::vector<std::string> axes;
};
Result<Words> sorted_words(const DesignRequest& request) {
  Words out{{}, request.vary};
  for (const std::string& word : request.words) {
    if (word.find('=') != std::string::npos) {
      out.axes.push_back(word);
    } else if (out.run_file.empty()) {
      out.run_file = word;
    } else {
      return Problem{FieldName("RUN.toml"), "one run file can be given, and '" +
                                                printable(word, 60) +
                                                "' would be another; an axis is NAME=VALUES"};
    }
  }
  return out;
}

Result<Workload> workload_of(const AskedFields& asked) {
  if (!asked.serving.empty()) return ServingReader(asked).read();
  auto run = make_run(asked.fields);
  if (!run) return run.problems();
  return training_workload(std::move(run).value());
}

}  // namespace

CommandOutput run_design(const DesignRequest& request) {
  // What the machine is asked to do, and what of it is varied, or everything that is wrong.
  const auto words = sorted_words(request);
  if (!words) return {.problems = words.problems()};
  const auto fields = read_run_request(words->run_file, request.fields);
  auto workload = fields ? workload_of(sorted_fields(*fields)) : fields.problems();
  if (!workload) {
    Problems problems = workload.problems();
    append(problems, problems_of_axes(words->axes));
    return {.problems = std::move(problems)};
  }
  auto axes = read_axes(words->axes, *workload);
  if (!axes) return {.problems = axes.problems()};

  // Every machine.
  const auto design =
      make_design(std::move(workload).value(), std::move(axes).value(), request.progress);
  if (!design) return {.problems = design.problems()};
  const bool none = std::none_of(design->points.begin(), design->points.end(),
                                 [](const DesignPoint& point) { return point.stands(); });

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, design_csv(*design)});
  if (!request.plot.empty()) {
    for (OutputFile& plot : design_plots(*design, request.plot)) files.push_back(std::move(plot));
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? design_json(*design) : design_text(*design),
          .exit_code = none ? 1 : 0};
}

Command design_command() {
  auto request = std::make_shared<DesignRequest>();
  Command out{.name = "design",
              .help = "technology: what which part of the machine brings, in training or serving",
              .examples = {"headway design --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16 \\\n"
                           "    --vary memory=hbm3,hbm3e,hbm4 link=nvlink4,nvlink5"},
              .run = running(request, run_design),
              .is_long = true,
              .things = "machines"};
  out.options = {
      operand("RUN.toml", "a run file, which flags override; more axes", &request->words),
      {.name = "vary",
       .value = "AXIS=VALUES",
       .help = "repeatable; memory, units, bandwidth, capacity, link, link-bandwidth, "
               "link-latency, domain, network, network-bandwidth, network-latency, node, area, "
               "arithmetic, peak, power; values A,B,C or FROM..TO:COUNT",
       .target = &request->vary,
       .required = true}};
  const auto of_serving = [&](std::string_view name, std::string_view value,
                              std::string_view help) {
    return Option{.name = name,
                  .value = value,
                  .help = help,
                  .target = &request->fields,
                  .form = Form::number_or_text,
                  .field = name};
  };
  add(out.options,
      {of_serving("input-len", "N", "served instead of trained: tokens of a prompt"),
       of_serving("output-len", "N", "tokens of an answer"),
       of_serving("batch", "N", "sequences of each copy that start and end together"),
       of_serving("weights", "FORMAT", "a recipe's name, as bf16, fp8, fp8-block, fp4"),
       of_serving("cache", "FORMAT", "bf16 or fp8"),
       of_serving("engine", "NAME", "software that serves; default: vllm")});
  add_fields(out.options, request->fields, run_fields(), {"model", "cluster"});
  add(out.options, {path("csv", "OUT.csv", "write the machines to this file", &request->csv),
                    path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

}  // namespace headway
