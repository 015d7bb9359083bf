#include "fit/own/fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "fit/statistics.hpp"

namespace headway {
namespace {

OwnSetupFit fit_setup(const OwnPrior& prior, const Setup& setup, const std::vector<OwnRun>& runs) {
  OwnSetupFit out;
  for (const OwnRun& run : runs) {
    out.names.push_back(run.name);
    out.measured.push_back(run.measured);
    out.predicted.push_back(run.predicted);
    out.residuals.push_back(run.residual());
  }
  out.shrunk = shrink(prior, out.residuals);
  out.explanations = explanations(prior, runs);
  out.said = {.setup = setup,
              .runs = static_cast<std::int64_t>(runs.size()),
              .factor = out.shrunk.factor,
              .interval = out.shrunk.interval,
              .agree = out.shrunk.agree,
              .looks = {}};
  for (const OwnExplanation& each : out.explanations) out.said.looks.push_back(each.field);
  return out;
}

// "+12.3": what was measured over what was predicted.
std::string off_by(double residual) {
  return formatted("%+.1f", 100 * std::expm1(residual));
}

constexpr std::size_t kMostShown = 20;

std::string to_text(const OwnSetupFit& fit) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "measured", "predicted", "longer by", "left"}, {"", "", "", "%", "%"}};
  for (std::size_t i = 0; i < std::min(kMostShown, fit.names.size()); ++i) {
    rows.push_back({printable(fit.names[i], 60), headway::to_text(fit.measured[i]),
                    headway::to_text(fit.predicted[i]), off_by(fit.residuals[i]),
                    off_by(fit.residuals[i] - std::log(fit.said.factor))});
  }
  std::string out = to_text(fit.said.setup) + "\n" + aligned(rows);
  if (fit.names.size() > kMostShown) {
    out += "... and " + std::to_string(fit.names.size() - kMostShown) + " more\n";
  }
  const std::string mean =
      off_by(fit.shrunk.mean) + " %, with " + in_percent(fit.shrunk.within) + " % from run to run";
  if (fit.said.agree) {
    out += formatted("factor %.3f", fit.said.factor) + ": on the mean longer by " + mean +
           "; shrunk by what chance makes of as many runs\n";
  } else {
    out += "no factor: on the mean longer by " + mean + ", which may be chance\n";
  }
  out += "intervals " + in_percent(fit.said.interval, "%.0f") + " % as wide\n";
  for (const OwnExplanation& each : fit.explanations) {
    std::vector<std::string> left;
    for (std::size_t i = 0; i < std::min(kMostShown, each.residuals.size()); ++i) {
      left.push_back(off_by(each.residuals[i]));
    }
    out +=
        std::string(each.says) + " (" + each.field + "): would leave " + join(left, ", ") + " %\n";
  }
  return out;
}

}  // namespace

OwnFit fit_own_runs(const OwnPrior& prior, OwnRunsRead read) {
  OwnFit out{{}, std::move(read.unused)};
  std::vector<std::pair<Setup, std::vector<OwnRun>>> groups;
  for (OwnRun& run : read.runs) {
    const Setup setup = setup_of(run.run.cluster.accelerator, run.run.job);
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == setup; });
    if (found == groups.end()) found = groups.insert(groups.end(), {setup, {}});
    found->second.push_back(std::move(run));
  }
  for (const auto& [setup, runs] : groups) out.setups.push_back(fit_setup(prior, setup, runs));
  return out;
}

std::string to_text(const OwnFit& fit) {
  std::string out;
  for (const OwnSetupFit& setup : fit.setups) out += (out.empty() ? "" : "\n") + to_text(setup);
  return out;
}

std::string to_toml(const OwnFit& fit, const std::vector<std::string>& files,
                    const std::string& date) {
  std::string out =
      "# What own runs say, for --calibration: written by headway calibrate --runs.\n"
      "# factor: of every time of a step; interval: share of its width, as a log, that is left.\n"
      "kind = \"fitted\"\ndate = " +
      toml_text(date) + "\nsource = " + toml_text(join(files, ", ")) + "\n";
  for (const OwnSetupFit& each : fit.setups) {
    const OwnSetup& setup = each.said;
    out += "\n[[setup]]\naccelerator = " + toml_text(setup.setup.accelerator) +
           "\nframework = " + toml_text(name_of(setup.setup.framework)) +
           "\nbits = " + std::to_string(setup.setup.bits) +
           "\nruns = " + std::to_string(setup.runs) +
           formatted("\nfactor = %.5g\ninterval = %.4g\n", setup.factor, setup.interval) +
           "agree = " + (setup.agree ? "true" : "false") + "\nlooks = " + toml_list(setup.looks) +
           "\n";
  }
  return out;
}

}  // namespace headway
