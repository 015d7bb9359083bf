#include "study/limits/real.hpp"

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

Result<Grounds> grounds_of(const LimitsQuestion& question,
                           const std::vector<limits::Setting>& settings) {
  Problems problems;
  Grounds out;
  for (const limits::Setting& setting : settings) {
    const std::string& own = setting.machine.stands_for;
    const std::string& name = question.cluster.empty() ? own : question.cluster;
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
      if (!question.cluster.empty()) break;  // the same for all settings
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

Problems real_problems(const LimitsQuestion& question,
                       const std::vector<limits::Setting>& settings) {
  const auto grounds = grounds_of(question, settings);
  return grounds ? Problems{} : grounds.problems();
}

Result<std::vector<RealCurve>> real_answers(const LimitsQuestion& question,
                                            const std::vector<limits::Setting>& settings,
                                            int threads, const Progress& progress) {
  const auto grounds = grounds_of(question, settings);
  if (!grounds) return grounds.problems();
  auto curves = real_curves(settings, grounds->clusters, grounds->calibrations, threads, progress);
  if (!curves) return Problem{"limits", "was stopped", Trouble::stopped};
  return std::move(*curves);
}

}  // namespace headway
