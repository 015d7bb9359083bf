// scale batch: what a batch takes to a target; calibrate --steps: the law of one's own points.
#include "report/laws/batch.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestTable = std::size_t{64} << 20U;  // bytes
constexpr std::size_t kMostBatches = 256;

struct BatchRequest {
  std::string points, laws, measured;  // files; at most one of them
  std::string name;
  std::vector<std::string> batches;
  std::optional<double> throughput, sparse_samples, sparse_steps, density, value_bits, block;
  std::string form;
  bool masks_sent = false;
  bool json = false;
};

std::vector<std::string> form_names() {
  return {kSparsityForms.begin(), kSparsityForms.end()};
}

Result<Csv> table_of(const std::string& file) {
  const auto text = read_file(file, kLargestTable);
  if (!text) return text.problems();
  return parse_csv(*text, file);
}

// Laws of series, and why some make none.
void fit_all(const std::vector<StepsSeries>& series, BatchAnswer& out) {
  for (const StepsSeries& each : series) {
    auto law = fit_steps_law(each);
    if (law) {
      out.laws.push_back(std::move(law).value());
    } else {
      out.without.push_back(law.problems().front().message);
    }
  }
}

void read_laws(const BatchRequest& request, BatchAnswer& out, Problems& problems) {
  if (!request.laws.empty()) {
    const auto document = read_document(request.laws);
    auto laws =
        document ? steps_laws_of(*document) : Result<std::vector<StepsLaw>>(document.problems());
    if (!laws) return append(problems, laws.problems());
    out.laws = std::move(laws).value();
    return;
  }
  const auto table = request.points.empty() ? Result<Csv>(Csv{}) : table_of(request.points);
  if (!table) return append(problems, table.problems());
  const auto series = request.points.empty() ? public_steps_points() : read_steps_points(*table);
  if (!series) return append(problems, series.problems());
  fit_all(*series, out);
}

// A number in a range, or what stands where none is given.
double number_of(const char* name, const std::optional<double>& given, double otherwise,
                 double least, double most, Problems& problems) {
  if (!given) return otherwise;
  if (*given >= least && *given <= most) return *given;
  problems.push_back(
      {FieldName(name), "must be from " + shortest_text(least) + " to " + shortest_text(most)});
  return otherwise;
}

std::vector<double> batches_of(const BatchRequest& request, Problems& problems) {
  std::vector<double> out;
  for (const std::string& list : request.batches) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string text = list.substr(begin, end - begin);
      const double value = real_number(text).value_or(0);
      if (!(value > 0 && value <= 1e18)) {
        problems.push_back({FieldName("batch"), "'" + printable(text, 40) +
                                                    "' is not a number above 0, at most 10^18"});
        return {};
      }
      out.push_back(value);
      begin = end + 1;
    }
  }
  if (out.size() > kMostBatches) {
    problems.push_back({FieldName("batch"), "lists more than 256 values"});
  }
  return out;
}

std::optional<Sparsity> sparsity_of(const BatchRequest& request, Problems& problems) {
  const bool asked = request.density || !request.form.empty() || request.masks_sent ||
                     request.value_bits || request.block;
  if (!asked) return std::nullopt;
  if (!request.density) {
    problems.push_back({FieldName("density"),
                        "is missing: the share of the weights that are not zero",
                        Trouble::missing});
  }
  Sparsity out;
  const auto names = form_names();
  const auto at = std::find(names.begin(), names.end(), request.form);
  if (at != names.end()) out.form = static_cast<SparsityForm>(at - names.begin());
  if (!request.form.empty() && at == names.end()) {
    problems.push_back(
        {FieldName("sparsity"), not_known(printable(request.form, 40), names), Trouble::unknown});
  }
  out.density = number_of("density", request.density, 1, 1e-6, 1, problems);
  out.value_bits =
      static_cast<int>(number_of("value-bits", request.value_bits, 16, 1, 64, problems));
  out.block = static_cast<int>(number_of("block", request.block, 32, 1, 4096, problems));
  if (request.block && out.form != SparsityForm::blocks) {
    problems.push_back({FieldName("block"), "is of --sparsity blocks alone"});
  }
  out.masks_sent = request.masks_sent;
  return out;
}

CommandOutput run_measured(const BatchRequest& request) {
  Problems problems;
  const auto refuse = [&](const char* name, bool given) {
    if (given) problems.push_back({FieldName(name), "is not of --measured, whose rows say it"});
  };
  refuse("batch", !request.batches.empty());
  refuse("throughput", request.throughput.has_value());
  refuse("sparse-samples", request.sparse_samples.has_value());
  refuse("sparse-steps", request.sparse_steps.has_value());
  refuse("density", request.density.has_value());
  refuse("points", !request.points.empty());
  refuse("laws", !request.laws.empty());
  const auto table = table_of(request.measured);
  if (!table) append(problems, table.problems());
  auto runs = table ? read_target_runs(*table) : Result<std::vector<TargetRun>>(Problems{});
  if (table && !runs) append(problems, runs.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  if (!request.name.empty()) {
    std::erase_if(runs.value(),
                  [&](const TargetRun& run) { return run.benchmark != request.name; });
    if (runs->empty()) {
      return {.problems = {{FieldName("name"), "'" + printable(request.name, 40) +
                                                   "' has no run with a target in the file"}}};
    }
  }
  auto timed = times_to_target(*runs);
  if (!timed) return {.problems = timed.problems()};
  BatchAnswer answer;
  answer.targets = std::move(timed).value();
  return {.text = request.json ? batch_json(answer) : batch_text(answer)};
}

CommandOutput run_batch(const BatchRequest& request) {
  if (!request.measured.empty()) return run_measured(request);
  Problems problems;
  BatchAnswer answer;
  if (!request.points.empty() && !request.laws.empty()) {
    problems.push_back(
        {FieldName("laws"), "cannot stand beside points: one of them makes the law"});
  } else {
    read_laws(request, answer, problems);
  }
  const std::vector<double> batches = batches_of(request, problems);
  if (!request.name.empty() && problems.empty()) {
    std::vector<std::string> names;
    for (const StepsLaw& law : answer.laws) names.push_back(law.name);
    std::erase_if(answer.laws, [&](const StepsLaw& law) { return law.name != request.name; });
    answer.without.clear();
    if (answer.laws.empty()) {
      problems.push_back(
          {FieldName("name"), not_known(printable(request.name, 40), names), Trouble::unknown});
    }
  }
  answer.factors.samples =
      number_of("sparse-samples", request.sparse_samples, 1, 1e-3, 1e3, problems);
  answer.factors.steps = number_of("sparse-steps", request.sparse_steps, 1, 1e-3, 1e3, problems);
  answer.sparsity = sparsity_of(request, problems);
  const double throughput = number_of("throughput", request.throughput, 1, 1e-12, 1e18, problems);
  const bool one = answer.laws.size() == 1;
  if ((!batches.empty() || request.throughput) && !one && problems.empty()) {
    problems.push_back({FieldName("name"), "is missing: of which law batches are asked"});
  }
  if (request.throughput && one && answer.laws[0].unit == "epochs") {
    problems.push_back({FieldName("throughput"),
                        "makes no time of progress that is counted in epochs: give the points in "
                        "samples or steps"});
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  for (StepsLaw& law : answer.laws) law = with_sparsity(law, answer.factors);
  if (one) {
    const StepsLaw& law = answer.laws[0];
    std::vector<double> at = batches;
    if (at.empty()) {
      for (double batch = law.least_batch; batch <= law.most_batch * 4 && at.size() < 32;
           batch *= 2) {
        at.push_back(batch);
      }
    }
    for (const double batch : at) {
      BatchRow row{.batch = batch,
                   .progress = law.progress_at(batch),
                   .steps = law.steps_at(batch),
                   .regime = regime_of(batch, law.critical),
                   .time = {},
                   .outside = batch < law.least_batch || batch > law.most_batch};
      if (request.throughput) row.time = Seconds(row.progress / throughput);
      answer.batches.push_back(row);
    }
  }
  return {.text = request.json ? batch_json(answer) : batch_text(answer),
          .exit_code = answer.laws.empty() ? 1 : 0};
}

}  // namespace

CommandOutput calibrate_steps(const CalibrateRequest& request) {
  Problems problems;
  const auto refuse = [&](const char* name, bool given, const char* why) {
    if (given) problems.push_back({FieldName(name), why});
  };
  refuse("what", !request.what.empty(),
         "fits the built-in constants, --steps the law of your own points: ask for one");
  refuse("runs", !request.runs.empty(), "fits what runs say, --steps a law: ask for one");
  refuse("collectives", !request.logs.empty(),
         "fits a cluster's network, --steps a law: ask for one");
  refuse("cluster", !request.cluster.empty(), "is of --collectives");
  refuse("gpus-per-node", request.gpus_per_node > 0, "is of --collectives");
  refuse("write", request.write, "renews the built-in constants; --output FILE.toml writes a law");
  refuse("data", !request.data.empty(), "is of the built-in constants");
  refuse("output", !request.output.empty() && !request.output.ends_with(".toml"),
         "must end in .toml");
  const auto table = table_of(request.steps);
  if (!table) append(problems, table.problems());
  const auto series =
      table ? read_steps_points(*table) : Result<std::vector<StepsSeries>>(Problems{});
  if (table && !series) append(problems, series.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  BatchAnswer answer;
  fit_all(*series, answer);
  if (answer.laws.empty()) {
    for (const std::string& each : answer.without) {
      problems.push_back({FieldName("steps"), each});
    }
    return {.problems = std::move(problems)};
  }
  const std::string toml = to_toml(answer.laws, request.date);
  if (!request.output.empty()) {
    problems = write_files({{request.output, toml}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  std::string text = request.json ? batch_json(answer) : batch_text(answer);
  if (!request.json && request.output.empty()) text += "\n" + toml;
  return {.text = std::move(text)};
}

Command scale_batch_command() {
  auto request = std::make_shared<BatchRequest>();
  Command out{.name = "batch",
              .help = "steps to a target by the batch: published points or your own",
              .examples = {"headway scale batch --name bert --batch 256,4096,65536"},
              .run = running(request, run_batch)};
  out.options = {
      path("points", "POINTS.csv",
           "batch, and steps or samples, to the target; default: MLPerf's published points",
           &request->points),
      path("laws", "LAWS.toml", "laws that headway calibrate --steps wrote", &request->laws),
      path("measured", "RUNS.csv",
           "runs with a target: their time by the law and their throughput, and its error",
           &request->measured),
      {.name = "name",
       .value = "NAME",
       .help = "of which points or law; default: all",
       .target = &request->name},
      {.name = "batch",
       .value = "LIST",
       .help = "batches, samples a step; default: powers of two",
       .target = &request->batches},
      {.name = "throughput",
       .value = "X",
       .help = "samples a second, for the time to the target",
       .target = &request->throughput},
      {.name = "sparse-samples",
       .value = "X",
       .help = "samples to the target of sparse training over those of dense; yours",
       .target = &request->sparse_samples},
      {.name = "sparse-steps",
       .value = "X",
       .help = "the same of steps with a large batch",
       .target = &request->sparse_steps},
      {.name = "density",
       .value = "X",
       .help = "share of the weights that are not zero: what the hardware saves of them",
       .target = &request->density},
      {.name = "sparsity",
       .value = "FORM",
       .help = "how the zeros lie",
       .target = &request->form,
       .names = form_names},
      {.name = "value-bits",
       .value = "N",
       .help = "of a weight and a gradient; default: 16",
       .target = &request->value_bits},
      {.name = "block",
       .value = "N",
       .help = "edge of a block of --sparsity blocks; default: 32",
       .target = &request->block},
      {.name = "masks-sent",
       .help = "which weights are not zero is sent with the gradients",
       .target = &request->masks_sent}};
  return out;
}

}  // namespace headway
