// The commands that ask one question of the library and print its answer: list, validate.
#include "api/commands.hpp"

#include <algorithm>
#include <iterator>

#include "api/answer.hpp"
#include "api/options.hpp"
#include "base/document/csv.hpp"
#include "base/draw/table.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/benchmarks/benchmarks.hpp"
#include "fit/corpus/measurements.hpp"
#include "fit/serving/serving.hpp"
#include "fit/validation/validation.hpp"
#include "fit/workloads/workloads.hpp"
#include "layout/own_runs.hpp"
#include "limits/load.hpp"
#include "method/methods.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "report/infer/aims.hpp"
#include "report/infer/validation.hpp"
#include "report/limits.hpp"
#include "report/list.hpp"
#include "report/published.hpp"
#include "report/validation.hpp"
#include "report/validation_page.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestCorpus = std::size_t{1} << 30;  // bytes

// What groups share, by the names of one kind of corpus.
template <class By, class Names>
Result<By> by_of(const std::string& name, const Names& names) {
  const auto by = std::find(names.begin(), names.end(), name);
  if (by != names.end()) return static_cast<By>(by - names.begin());
  return Problem{FieldName("by"), not_known(name, words(names)), Trouble::unknown};
}

// Of runs and of serving.
std::vector<std::string> by_names() {
  std::vector<std::string> out = words(kValidateByNames);
  for (const std::string_view name : kServedByNames) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
  }
  return out;
}

// The files of a request: all of one kind.
struct CorpusFiles {
  CorpusKind kind = CorpusKind::training;
  std::vector<MeasurementFile> files;  // those that are tables
  Problems problems;                   // of the others
};

// Without any, the runs of the measurements.
CorpusFiles read_files(const ValidateRequest& request) {
  CorpusFiles out;
  for (const std::string& name : request.corpora) {
    auto text = read_file(name, kLargestCorpus);
    if (!text) {
      append(out.problems, text.problems());
      continue;
    }
    const auto table = parse_csv(*text, name);
    if (!table) {
      append(out.problems, table.problems());
      continue;
    }
    const CorpusKind kind = corpus_kind(*table);
    const auto said = [](CorpusKind each) {
      return std::string(kCorpusKindNames[static_cast<std::size_t>(each)]);
    };
    if (out.files.empty()) {
      out.kind = kind;
    } else if (out.kind != kind) {
      out.problems.push_back({name, "holds " + said(kind) + ", " + out.files[0].path + " " +
                                        said(out.kind) + ": give files of one kind at a time"});
      continue;
    }
    out.files.push_back({name, std::move(text).value()});
  }
  if (request.corpora.empty()) {
    auto file = read_measurements(request.data, "training.csv");
    file ? out.files.push_back(std::move(file).value()) : append(out.problems, file.problems());
  }
  return out;
}

// The rows of all corpora of runs, in the order of the files; to `told` goes what nothing reads.
Result<std::vector<CorpusRow>> read_corpora(const std::vector<MeasurementFile>& files,
                                            Problems& told) {
  Problems problems;
  std::vector<CorpusRow> rows;
  for (const MeasurementFile& file : files) {
    auto corpus = read_corpus(file.text, file.path);
    if (!corpus) {
      append(problems, corpus.problems());
      continue;
    }
    if (!corpus->unread.empty()) told.push_back(unread_columns(*corpus));
    std::vector<CorpusRow>& more = corpus.value().rows;
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  if (!problems.empty()) return problems;
  return rows;
}

// What own runs say, where a file is named; null: none is.
Result<std::shared_ptr<const OwnRuns>> own_runs_of(const std::string& file) {
  if (file.empty()) return std::shared_ptr<const OwnRuns>();
  const auto document = read_document(file);
  if (!document) return document.problems();
  auto own = own_runs_from(*document);
  if (!own) return own.problems();
  return std::make_shared<const OwnRuns>(std::move(own).value());
}

// The page DIR/validation.md with its generated parts renewed, and its plots.
Result<std::vector<OutputFile>> report_files(const std::string& folder, const OutputFile& page,
                                             const ValidationReport& report) {
  const auto renewed = with_generated(page.text, page.path, validation_blocks(report));
  if (!renewed) return renewed.problems();
  std::vector<OutputFile> files = {{page.path, *renewed}};
  for (const Plot& plot : validation_plots(report)) {
    files.push_back({folder + "/validation/" + plot.name + ".svg", plot.svg});
  }
  return files;
}

}  // namespace

std::vector<std::string> list_kinds() {
  return {"models", "clusters", "accelerators", "machines", "methods", "fields", "schemas"};
}

namespace {

CommandOutput list_fields(bool json) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  for (const RunField& field : run_fields()) {
    names.emplace_back(field.name);
    rows.push_back({names.back(), field.help});
  }
  return {.text = json ? names_json("fields", names) : aligned(rows, 2)};
}

}  // namespace

CommandOutput run_list(std::string_view what, bool json) {
  std::vector<std::string> names;
  if (what == "models") {
    names = model_names();
  } else if (what == "clusters") {
    if (json) return {.text = clusters_json()};
    names = cluster_names();
  } else if (what == "accelerators") {
    names = accelerator_names();
  } else if (what == "machines") {
    if (json) return {.text = machines_json()};
    names = limits::machine_names();
  } else if (what == "methods") {
    if (json) return {.text = methods_json()};
    for (const MethodRow& row : methods()) names.push_back(row.name);
  } else if (what == "fields") {
    return list_fields(json);
  } else if (what == "schemas") {
    return {.text = schemas_json(true)};
  } else {
    return {.problems = {{"list", not_known(what, list_kinds()), Trouble::unknown}}};
  }
  if (json) return {.text = names_json(std::string(what), names)};
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) rows.push_back({name, description_of(what, name)});
  return {.text = aligned(rows, 2)};
}

// validate --runs: the pace of published runs. What is of rows means nothing there.
static CommandOutput validate_runs(const ValidateRequest& request) {
  Problems problems;
  const auto refuse = [&](const char* option, bool given) {
    if (given) problems.push_back({FieldName(option), "is not of published runs (--runs)"});
  };
  refuse("corpus", !request.corpora.empty());
  refuse("cluster", !request.cluster.empty());
  refuse("by", request.by != ValidateRequest().by);
  refuse("rows", !request.rows.empty() || request.rows_in_document);
  refuse("data", !request.data.empty());
  refuse("calibration", !request.calibration.empty());
  Result<OutputFile> page = OutputFile();
  if (!request.report.empty()) page = page_to_renew(request.report, "flagship.md");
  if (!page) append(problems, page.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  const auto steps = published_steps();
  if (!steps) return {.problems = steps.problems()};
  if (!request.report.empty()) {
    const auto renewed = with_generated(page->text, page->path,
                                        {{"published-steps", published_steps_markdown(*steps)}});
    if (!renewed) return {.problems = renewed.problems()};
    problems = write_files({{page->path, *renewed}}, "");
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? published_steps_json(*steps) : published_steps_text(*steps)};
}

// The rows of all files, predicted by `predict` from a table.
template <class Row, class Predict>
static std::vector<Row> rows_of(const CorpusFiles& corpus, Problems& problems,
                                const Predict& predict) {
  std::vector<Row> rows;
  for (const MeasurementFile& file : corpus.files) {
    const auto table = parse_csv(file.text, file.path);
    Result<std::vector<Row>> predicted = table ? predict(*table) : table.problems();
    if (!predicted) {
      append(problems, predicted.problems());
      continue;
    }
    std::move(predicted->begin(), predicted->end(), std::back_inserter(rows));
  }
  return rows;
}

// validate of benchmarks of kernels or calls: groups are of accelerator, format, operation and
// size.
static CommandOutput validate_benchmarks(const ValidateRequest& request,
                                         const CorpusFiles& corpus) {
  Problems problems = corpus.problems;
  const auto refuse = [&](const char* option, bool given) {
    if (given) problems.push_back({FieldName(option), "is of measured runs, not of benchmarks"});
  };
  refuse("by", request.by != ValidateRequest().by);
  const bool workloads = corpus.kind == CorpusKind::workloads;
  refuse("report", !request.report.empty() && !workloads);
  Result<OutputFile> page = OutputFile();
  if (!request.report.empty() && workloads) page = page_to_renew(request.report, "workloads.md");
  if (!page) append(problems, page.problems());
  std::optional<Cluster> cluster;
  if (!request.cluster.empty() && corpus.kind != CorpusKind::collectives) {
    problems.push_back({FieldName("cluster"), "is of measured collectives alone"});
  } else if (!request.cluster.empty()) {
    const auto loaded = load_cluster(request.cluster);
    loaded ? static_cast<void>(cluster = *loaded) : append(problems, loaded.problems());
  }
  auto rows = rows_of<BenchmarkRow>(corpus, problems, [&](const Csv& table) {
    if (workloads) return predict_workloads(table);
    return predict_benchmarks(table, corpus.kind, cluster);
  });
  if (!problems.empty()) return {.problems = std::move(problems)};
  const BenchmarkReport report = summarise(corpus.kind, std::move(rows));
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, to_csv(report.kind, report.rows)});
  if (!request.report.empty()) {
    const auto renewed = with_generated(page->text, page->path, workload_blocks(report.rows));
    if (!renewed) return {.problems = renewed.problems()};
    files.push_back({page->path, *renewed});
  }
  problems = write_files(files, "");
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text =
              request.json ? benchmarks_json(report, request.rows_in_document) : to_text(report)};
}

// validate of measured serving: groups are of source (or engine, ...) and quantity. A report has
// those of sources, engines and accelerators.
static CommandOutput validate_serving(const ValidateRequest& request, const CorpusFiles& corpus) {
  Problems problems = corpus.problems;
  const auto refuse = [&](const char* option, bool given) {
    if (given) problems.push_back({FieldName(option), "is not of measured serving"});
  };
  refuse("cluster", !request.cluster.empty());
  const auto by = by_of<ServedBy>(request.by, kServedByNames);
  if (!by) append(problems, by.problems());
  Result<OutputFile> page = OutputFile();
  if (!request.report.empty()) page = page_to_renew(request.report, "models/infer.md");
  const auto& aims = served_aims();
  const auto& left_out = served_left_out();
  if (!page) append(problems, page.problems());
  if (!aims) append(problems, aims.problems());
  if (!left_out) append(problems, left_out.problems());
  std::size_t file = 0;
  auto rows = rows_of<ServedRow>(corpus, problems, [&](const Csv& table) {
    return request.division.divided()
               ? predict_serving_in_parts(table, "rows of file " + std::to_string(++file),
                                          request.division, request.threads)
               : predict_serving(table, request.threads);
  });
  if (!problems.empty()) return {.problems = std::move(problems)};
  if (request.division.only) return {};
  const ServedReport report = summarise_serving(std::move(rows), *by);
  const std::vector<JudgedAim> judged = judged_aims(report, *aims, *left_out);
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, serving_csv(report.rows)});
  if (!request.report.empty()) {
    GeneratedBlocks blocks = serving_blocks(report);
    blocks.merge(served_aims_blocks(judged, *left_out));
    const auto renewed = with_generated(page->text, page->path, blocks);
    if (!renewed) return {.problems = renewed.problems()};
    files.push_back({page->path, *renewed});
  }
  problems = write_files(files, "");
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json
                      ? serving_validation_json(report, judged, *left_out, request.rows_in_document)
                      : serving_validation_text(report, judged, *left_out)};
}

CommandOutput run_validate(const ValidateRequest& request) {
  const bool divided = request.division.divided();
  const Problem undivided{FieldName("shard"),
                          "divides rows of measured serving alone, of --corpus"};
  if (request.runs)
    return divided ? CommandOutput{.problems = {undivided}} : validate_runs(request);
  const CorpusFiles corpus = read_files(request);
  if (corpus.kind == CorpusKind::serving) return validate_serving(request, corpus);
  if (divided && corpus.problems.empty()) return {.problems = {undivided}};
  if (corpus.kind != CorpusKind::training) return validate_benchmarks(request, corpus);
  // What is asked for, or everything that is wrong with it.
  const auto by = by_of<ValidateBy>(request.by, kValidateByNames);
  Problems told;
  const auto rows = read_corpora(corpus.files, told);
  const auto own = own_runs_of(request.calibration);
  Result<OutputFile> page = OutputFile();
  if (!request.report.empty()) page = page_to_renew(request.report, "validation.md");
  Problems problems = corpus.problems;
  if (!request.cluster.empty()) {
    problems.push_back({FieldName("cluster"), "is of measured collectives alone"});
  }
  if (!by) append(problems, by.problems());
  if (!rows) append(problems, rows.problems());
  if (!own) append(problems, own.problems());
  if (own && *own && !request.report.empty()) {
    problems.push_back({FieldName("calibration"),
                        "is of your own runs; --report renews a page on the built-in constants"});
  }
  if (!page) append(problems, page.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // Every row predicted, and the errors of each group.
  // Without a calibration of intervals in this build, rows have none.
  const auto& intervals = embedded_interval_fit();
  auto predicted = predict_rows(*rows, request.threads, request.progress,
                                intervals ? &intervals->model : nullptr, *own);
  if (!predicted) return {.problems = {{"validate", "was stopped", Trouble::stopped}}};
  if (*own && std::none_of(predicted->begin(), predicted->end(),
                           [](const ValidationRow& row) { return row.by_own_runs; })) {
    return {.problems = {{FieldName("calibration"), "holds no runs of the setup of any row"}}};
  }
  ValidationReport report = summarise(std::move(*predicted), *by);
  if (intervals) report.intervals = *intervals;

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, to_csv(report.rows)});
  if (!request.report.empty()) {
    auto more = report_files(request.report, *page, report);
    if (!more) return {.problems = more.problems()};
    std::move(more.value().begin(), more.value().end(), std::back_inserter(files));
  }
  const std::string plots = request.report.empty() ? "" : request.report + "/validation";
  problems = write_files(files, plots);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {
      .text = request.json ? validation_json(report, request.rows_in_document) : to_text(report),
      .warnings = std::move(told)};
}

Command list_command() {
  struct Asked {
    std::string what;
    std::optional<std::string> of;
  };
  auto asked = std::make_shared<Asked>();
  Command out{.name = "list",
              .help = "built-in models, clusters, accelerators, machines; the fields of a run",
              .examples = {"headway list models"}};
  out.options = {
      {.name = "what",
       .help = "what is listed",
       .target = &asked->what,
       .names = list_kinds,
       .required = true,
       .operand = "WHAT"},
      {.name = "of",
       .value = "TEXT",
       .help =
           "of fields: a launch script, a framework's configuration or a run file, whose fields "
           "of a run are listed with their values",
       .target = &asked->of,
       .door = Door::document}};
  out.run = [asked](const Circumstances& at) -> CommandOutput {
    if (at.refused) return {};
    if (!asked->of) return run_list(asked->what, at.json);
    if (asked->what == "fields") return run_given(*asked->of);
    return {.problems = {
                {FieldName("of"), "means something where what is fields alone", Trouble::illegal}}};
  };
  return out;
}

Command validate_command() {
  auto request = std::make_shared<ValidateRequest>();
  Command out{.name = "validate",
              .help = "predict measured runs, kernels or collectives and report the error",
              .examples = {"headway validate --by source"},
              .is_long = true,
              .divides = true,
              .doing = "predicting",
              .things = "rows"};
  out.options = {
      path("corpus", "FILE.csv",
           "measured runs, kernels or collectives, told by the columns; default: the "
           "built-in runs",
           &request->corpora),
      path("cluster", "NAME|FILE", "on which all measured collectives ran, with its own constants",
           &request->cluster),
      {.name = "by",
       .value = "WHAT",
       .help = "what groups of rows share",
       .target = &request->by,
       .names = by_names},
      wordless("runs", "published flagship runs instead of a corpus", request->runs),
      path("rows", "OUT.csv", "write every row to this file", &request->rows),
      {.name = "rows",
       .help = "add every row to the document",
       .target = &request->rows_in_document,
       .door = Door::document},
      path("report", "DIR",
           "renew the generated tables of DIR/validation.md and the plots beside it",
           &request->report),
      path("calibration", "FILE", "what runs of your own say (headway calibrate --runs)",
           &request->calibration),
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data)};
  out.run = [request](const Circumstances& at) {
    adopt(*request, at);
    if (!at.data.empty()) request->data = at.data;
    return run_validate(*request);
  };
  return out;
}

}  // namespace headway
