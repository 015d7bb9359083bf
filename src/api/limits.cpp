// headway limits.
#include "report/limits.hpp"

#include <utility>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/generated.hpp"
#include "cluster/load.hpp"
#include "platform/output.hpp"
#include "report/limits_page.hpp"
#include "study/limits/beyond.hpp"
#include "study/limits/real.hpp"
#include "study/limits/sensitivities.hpp"

namespace headway {
namespace {

// What stands in for settings that cannot be read, so that flags which edit them are judged too,
// and for a machine that nobody names where one is needed.
const char* const kStandIn = "h100-sxm";

// Flags without meaning beside one another.
Problems misplaced_flags(const LimitsRequest& request) {
  Problems out;
  const auto refuse = [&](bool given, const char* flag, const char* why) {
    if (given) out.push_back({FieldName(flag), why});
  };
  if (request.real) {
    refuse(request.sensitivity, "sensitivity", "has no meaning with --real: ask for one of them");
    refuse(request.explain, "explain",
           "has no meaning with --real: it explains the idealised model");
    refuse(request.smooth, "smooth", "has no meaning with --real, which searches few models");
  } else {
    refuse(!request.cluster.empty(), "cluster", "is of --real, which is missing");
  }
  if (request.machine.asks()) {
    const char* const kWhy = "has no meaning where machine and layout are looked for together";
    refuse(request.real, "real", kWhy);
    refuse(request.sensitivity, "sensitivity", kWhy);
    refuse(request.smooth, "smooth", kWhy);
    refuse(request.explain, "explain", kWhy);
    refuse(!request.rows.empty(), "rows", kWhy);
    refuse(!request.plot.empty(), "plot", kWhy);
  }
  if (request.sensitivity) {
    refuse(!request.rows.empty(), "rows", "writes models of a curve; --sensitivity has none");
    refuse(request.explain, "explain", "explains a curve; --sensitivity has none");
    refuse(request.smooth, "smooth", "is part of --sensitivity already");
  }
  return out;
}

// The settings that are asked about, as flags edit them; or everything that is wrong.
Result<limits::Comparison> asked_settings(const LimitsRequest& request) {
  Problems problems = misplaced_flags(request);
  auto comparison = limits_settings(request);
  if (!comparison) {
    append(problems, comparison.problems());
    LimitsRequest flags = request;
    flags.loose_level.reset();  // levels are the machine's
    const auto machine = limits::embedded_machine(kStandIn);
    const std::vector<limits::Setting> stand_in = {limits::setting_on(*machine)};
    const auto beyond = with_beyond(stand_in, flags);
    if (!beyond) append(problems, beyond.problems());
    if (request.real) append(problems, real_problems(request, stand_in));
    return problems;
  }
  auto settings = with_beyond(comparison->settings, request);
  if (!settings) append(problems, settings.problems());
  if (request.real) {
    append(problems, real_problems(request, settings ? *settings : comparison->settings));
  }
  if (!problems.empty()) return problems;
  return limits::Comparison{comparison->name, comparison->title, std::move(settings).value()};
}

CommandOutput run_limits_real(const LimitsRequest& request, const limits::Comparison& comparison) {
  // Both answers of each setting.
  const auto curves = real_answers(request, comparison.settings, request.threads, request.progress);
  if (!curves) return {.problems = curves.problems()};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, real_csv(*curves)});
  for (std::size_t i = 0; i < curves->size() && !request.plot.empty(); ++i) {
    files.push_back(
        {request.plot + "/limits-real-" + std::to_string(i + 1) + ".svg", real_svg((*curves)[i])});
  }
  if (Problems failed = write_files(files, request.plot); !failed.empty()) {
    return {.problems = std::move(failed)};
  }
  bool feasible = false;
  for (const RealCurve& of : *curves) feasible |= of.last() != nullptr;
  return {.text = request.json ? real_json(comparison.title, *curves) : real_text(*curves),
          .exit_code = feasible ? 0 : 1};
}

CommandOutput run_limits_sensitivity(const LimitsRequest& request,
                                     const limits::Comparison& comparison) {
  // Of each setting what its numbers do, and the curves as they are.
  std::vector<limits::Sensitivities> all;
  for (std::size_t i = 0; i < comparison.settings.size(); ++i) {
    auto found = limits_sensitivity(comparison.settings[i], i, request.division, request.threads,
                                    request.progress);
    if (!found && found.problems().front().kind != Trouble::stopped) {
      return {.problems = found.problems()};
    }
    if (!found) return {.problems = {{"limits", "was stopped", Trouble::stopped}}};
    all.push_back(std::move(found).value());
  }
  if (request.division.only) return {};
  const auto curves = limits_curves(comparison.settings, request.threads, {});

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  for (std::size_t i = 0; i < all.size() && !request.plot.empty(); ++i) {
    files.push_back({request.plot + "/limits-sensitivity-" + std::to_string(i + 1) + ".svg",
                     sensitivity_svg(comparison.settings[i], all[i])});
  }
  if (Problems problems = write_files(files, request.plot); !problems.empty()) {
    return {.problems = std::move(problems)};
  }
  if (request.json) return {.text = sensitivity_json(comparison.title, *curves, all)};
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (text.empty() ? "" : "\n") + sensitivity_text((*curves)[i], all[i]);
  }
  return {.text = std::move(text)};
}

// The page DIR/limits.md with its generated parts renewed, and its drawings.
Result<std::vector<OutputFile>> page_files(const LimitsRequest& request) {
  const auto old = page_to_renew(request.report, "limits.md");
  if (!old) return old.problems();
  const auto page = limits_page(request.threads, request.progress);
  if (!page) return page.problems();
  auto renewed = with_generated(old->text, old->path, limits_blocks(*page));
  if (!renewed) return renewed.problems();
  std::vector<OutputFile> out = {{old->path, std::move(renewed).value()}};
  for (OutputFile& drawing : limits_drawings(*page, request.report + "/limits")) {
    out.push_back(std::move(drawing));
  }
  return out;
}

CommandOutput run_limits_report(const LimitsRequest& request) {
  Problems problems;
  const auto refuse = [&](bool given, const Where& where) {
    if (given)
      problems.push_back({where, "has no meaning with --report, which asks what the page says"});
  };
  refuse(!request.files.empty(), "SETTING.toml");
  refuse(!request.presets.empty(), FieldName("preset"));
  refuse(!request.gpus.empty(), FieldName("gpu"));
  refuse(request.sparse, FieldName("sparse"));
  refuse(request.as_published, FieldName("as-published"));
  refuse(request.explain, FieldName("explain"));
  refuse(request.sensitivity, FieldName("sensitivity"));
  refuse(request.smooth, FieldName("smooth"));
  refuse(request.real, FieldName("real"));
  refuse(!request.cluster.empty(), FieldName("cluster"));
  refuse(request.sequence != 0, FieldName("seq"));
  refuse(!request.relax.empty() || request.sync_every || request.compression ||
             request.sample_penalty || request.blocks || request.submodels || request.loose_level,
         FieldName("relax"));
  refuse(!request.sites.empty(), FieldName("sites"));
  refuse(request.machine.asks(), FieldName("budget"));
  refuse(request.months.has_value(), FieldName("months"));
  refuse(!request.rows.empty(), FieldName("rows"));
  refuse(!request.plot.empty(), FieldName("plot"));
  refuse(request.json, FieldName("json"));
  if (!problems.empty()) return {.problems = std::move(problems)};

  const auto files = page_files(request);
  if (!files) return {.problems = files.problems()};
  problems = write_files(*files, request.report + "/limits");
  if (!problems.empty()) return {.problems = std::move(problems)};
  std::string text = "renewed:\n";
  for (const OutputFile& file : *files) text += "  " + file.path + "\n";
  return {.text = std::move(text)};
}

CommandOutput run_limits_curves(const LimitsRequest& request, limits::Comparison comparison) {
  // The curves.
  auto curves =
      limits_curves(comparison.settings, request.threads, request.progress, request.smooth);
  if (!curves) return {.problems = {{"limits", "was stopped", Trouble::stopped}}};
  const LimitsReport report{std::move(comparison.title), std::move(*curves)};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, limits_csv(report)});
  if (!request.plot.empty()) {
    for (OutputFile& file : limits_plots(report, request.plot + "/")) {
      files.push_back(std::move(file));
    }
  }
  if (Problems problems = write_files(files, request.plot); !problems.empty()) {
    return {.problems = std::move(problems)};
  }

  // What is shown; no answer where no setting has any feasible run.
  bool feasible = false;
  for (const LimitsCurve& of : report.curves) feasible |= !of.curve.runs.empty();
  std::string text = request.json ? limits_json(report)
                                  : limits_text(report) + relaxations_text(comparison.settings);
  if (request.explain && !request.json) text += limits_explanation(report);
  return {.text = std::move(text), .exit_code = feasible ? 0 : 1};
}

}  // namespace

CommandOutput run_limits(const LimitsRequest& given) {
  if (!given.report.empty()) return run_limits_report(given);
  LimitsRequest request = given;
  const bool names_none = request.files.empty() && request.presets.empty() &&
                          request.gpus.empty() && request.settings.empty();
  // Of the published comparison's machines most have no price.
  if (request.machine.asks() && names_none) request.gpus = {kStandIn};
  auto comparison = asked_settings(request);
  if (!comparison) return {.problems = comparison.problems()};
  if (request.division.divided() && !request.sensitivity) {
    return {.problems = {{FieldName("shard"), "divides --sensitivity alone, which is missing"}}};
  }
  if (request.machine.asks()) return run_limits_budget(request, comparison->settings);
  if (request.real) return run_limits_real(request, *comparison);
  if (request.sensitivity) return run_limits_sensitivity(request, *comparison);
  return run_limits_curves(request, std::move(comparison).value());
}

namespace {

constexpr Range kCounts = {1, 1'000'000'000};

// Settings as flags edit them.
std::vector<Option> limits_edits(LimitsRequest& request) {
  return {
      {.name = "months", .help = "in which a run must end; default: 3", .target = &request.months},
      {.name = "relax",
       .value = "METHOD",
       .help = "beside each setting, with less communication",
       .target = &request.relax,
       .names = relaxation_methods},
      {.name = "sync-every", .help = "steps between meetings", .target = &request.sync_every},
      {.name = "loose-level",
       .help = "level from which outwards replicas meet rarely",
       .target = &request.loose_level},
      {.name = "compression",
       .help = "gradient bytes over bytes sent",
       .target = &request.compression},
      {.name = "blocks",
       .help = "blocks with losses of their own",
       .target = &request.blocks,
       .range = kCounts},
      {.name = "submodels",
       .help = "submodels trained apart",
       .target = &request.submodels,
       .range = kCounts},
      {.name = "sample-penalty",
       .help = "data needed, times that of synchronous training",
       .target = &request.sample_penalty},
      {.name = "sites",
       .value = "N",
       .help = "data centres that share the run, or the shares of unlike ones: 4,2,1",
       .target = &request.sites,
       .form = Form::number_or_text},
      {.name = "site-bandwidth",
       .value = "B",
       .help = "of one GPU to other sites, \"1 GB/s\" or unlimited; a list: of each site",
       .target = &request.site_bandwidth},
      {.name = "site-distance",
       .value = "KM",
       .help = "between sites: light in glass takes 5 ms for 1000 km",
       .target = &request.site_distance_km}};
}

}  // namespace

Command limits_command() {
  auto request = std::make_shared<LimitsRequest>();
  Command out{.name = "limits",
              .help = "how large a training run can become before moving data stops it",
              .examples = {"headway limits --gpu h100-sxm --gpu gb200-nvl72 --explain"},
              .run = running(request, run_limits),
              .is_long = true,
              .divides = true,
              .doing = "searching",
              .things = "models"};
  out.options = {
      operand("SETTING.toml", "settings of your own", &request->files),
      {.name = "preset",
       .value = "NAME",
       .help = "a published comparison (grand_dense where nothing is asked for)",
       .target = &request->presets,
       .names = limits::comparison_names},
      {.name = "gpu",
       .value = "G",
       .help = "a machine of `headway list machines`, or a .toml of your own",
       .target = &request->gpus,
       .names = limits::machine_names,
       .built_in = "machine",
       .instead = "; others stand in settings"},
      {.name = "settings",
       .help = "settings described in place, as a setting's .toml",
       .target = &request->settings,
       .door = Door::document},
      wordless("sparse", "models with experts in every setting", request->sparse),
      wordless("as-published", "with the slip of the study's program, to compare numbers",
               request->as_published),
      wordless("explain", "add what binds, what formulas say, and the model's weak points",
               request->explain),
      path("rows", "OUT.csv", "write every model's best layout to this file", &request->rows),
      path("plot", "DIR", "draw to this folder", &request->plot),
      wordless("sensitivity", "how far each number of the machine moves the limits, and which most",
               request->sensitivity),
      wordless("smooth", "add the limits between the models of the curve: they change smoothly",
               request->smooth),
      wordless("real", "beside each setting, real transformers: the prediction of their steps",
               request->real),
      {.name = "cluster",
       .value = "C",
       .help = "of --real, a name or .toml; default: what the machine stands for",
       .target = &request->cluster,
       .names = cluster_names,
       .built_in = "cluster"},
      {.name = "seq",
       .help = "tokens in a sequence; default: 2048",
       .target = &request->sequence,
       .range = Range{1, 100'000'000},
       .checked = true}};
  add(out.options, limits_edits(*request));
  add(out.options, budget_options(request->machine));
  Option report =
      path("report", "DIR", "renew the tables of DIR/limits.md and the drawings beside it",
           &request->report);
  report.counted = "tables";
  out.options.push_back(std::move(report));
  return out;
}

}  // namespace headway
