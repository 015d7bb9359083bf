// headway limits --real.
#include "api/limits_real.hpp"

#include <utility>

#include "base/text.hpp"
#include "cluster/load.hpp"

namespace headway {
namespace {

// The clusters that the settings are asked about, and their constants.
struct Grounds {
  std::vector<Cluster> clusters;
  std::vector<Calibration> calibrations;
};

Result<Grounds> grounds_of(const LimitsRequest& request,
                           const std::vector<limits::Setting>& settings) {
  Problems problems;
  Grounds out;
  for (const limits::Setting& setting : settings) {
    const std::string& own = setting.machine.stands_for;
    const std::string& name = request.cluster.empty() ? own : request.cluster;
    if (name.empty()) {
      problems.push_back({FieldName("cluster"),
                          "is missing: the machine '" + printable(setting.machine.name) +
                              "' stands for no cluster; name one of `headway list "
                              "clusters`, or a .toml",
                          Trouble::missing});
      continue;
    }
    auto cluster = load_cluster(name);
    if (!cluster) {
      append(problems, cluster.problems());
      if (!request.cluster.empty()) break;  // the same for all settings
      continue;
    }
    auto calibration = calibration_for(*cluster);
    if (!calibration) {
      append(problems, calibration.problems());
      continue;
    }
    append(problems, transformer_problems(setting, *cluster));
    out.clusters.push_back(std::move(cluster).value());
    out.calibrations.push_back(std::move(calibration).value());
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace

Problems real_problems(const LimitsRequest& request, const std::vector<limits::Setting>& settings) {
  const auto grounds = grounds_of(request, settings);
  return grounds ? Problems{} : grounds.problems();
}

Result<std::vector<RealCurve>> real_answers(const LimitsRequest& request,
                                            const std::vector<limits::Setting>& settings) {
  const auto grounds = grounds_of(request, settings);
  if (!grounds) return grounds.problems();
  auto curves = real_curves(settings, grounds->clusters, grounds->calibrations, request.threads,
                            request.progress);
  if (!curves) return Problem{"limits", "was stopped", Trouble::stopped};
  return std::move(*curves);
}

CommandOutput run_limits_real(const LimitsRequest& request, const limits::Comparison& comparison) {
  // Both answers of each setting.
  const auto curves = real_answers(request, comparison.settings);
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

}  // namespace headway
