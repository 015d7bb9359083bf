#include "study/limits/page.hpp"

#include <array>
#include <functional>
#include <utility>

#include "platform/files.hpp"
#include "study/limits/beyond.hpp"
#include "study/limits/question.hpp"
#include "study/limits/real.hpp"
#include "study/limits/sensitivities.hpp"

namespace headway {
namespace {

// A table of curves on the page, and what is asked for it.
struct CurvesPart {
  std::string name;
  LimitsQuestion question;
  std::size_t drawings = 0;
};

LimitsQuestion of_preset(const char* preset) {
  LimitsQuestion out;
  out.presets = {preset};
  return out;
}

// The machines that the page is about (data/runs/studies.toml).
struct Machines {
  std::vector<std::string> hardware;  // compared
  std::string one;                    // of sites, sensitivity and transformers
};

Result<Machines> machines() {
  const auto studies = embedded_document("runs/studies.toml");
  if (!studies) return studies.problems();
  Problems problems;
  Fields fields = Fields(*studies, problems).table("limits", /*required=*/true);
  Machines out{fields.texts_or_empty("hardware"), fields.text("machine")};
  if (!problems.empty()) return problems;
  return out;
}

std::vector<CurvesPart> curves_parts(const Machines& of) {
  LimitsQuestion hardware;
  hardware.gpus = of.hardware;
  LimitsQuestion sites;
  sites.gpus = {of.one};
  sites.sites = "4";
  sites.site_bandwidth = "100 MB/s";
  sites.site_distance_km = 2000;
  sites.relax = "federated";
  return {{"grand-dense", of_preset("grand_dense"), 2},
          {"grand-sparse", of_preset("grand_sparse")},
          {"batch", of_preset("batch")},
          {"hardware", hardware},
          {"beyond", of_preset("beyond")},
          {"shallow", of_preset("shallow")},
          {"sites", sites, 1},
          {"relaxed", of_preset("relaxed"), 1}};
}

constexpr std::array<std::int64_t, 2> kRealSequences = {2048, 8192};

Problems add_curves(const CurvesPart& part, int threads, LimitsPage& page) {
  const auto comparison = limits_settings(part.question);
  if (!comparison) return comparison.problems();
  const auto settings = with_beyond(comparison->settings, part.question);
  if (!settings) return settings.problems();
  auto curves = limits_curves(*settings, threads, {});
  page.curves.push_back(
      {part.name, LimitsReport{comparison->title, std::move(*curves)}, part.drawings});
  return {};
}

Problems add_sensitivity(const std::string& name, int threads, LimitsPage& page) {
  const auto machine = limits::embedded_machine(name);
  if (!machine) return machine.problems();
  page.setting = limits::setting_on(*machine);
  page.sensitivities = *limits_sensitivity(page.setting, threads, {});
  return {};
}

Problems add_real(const std::string& machine, std::int64_t sequence, int threads,
                  LimitsPage& page) {
  LimitsQuestion question;
  question.gpus = {machine};
  question.real = true;
  question.sequence = sequence;
  const auto comparison = limits_settings(question);
  if (!comparison) return comparison.problems();
  auto curves = real_answers(question, comparison->settings, threads, {});
  if (!curves) return curves.problems();
  page.real.push_back(std::move(curves.value().front()));
  return {};
}

}  // namespace

Result<LimitsPage> limits_page(int threads, const Progress& progress) {
  // One after the other, each on all threads.
  const auto of = machines();
  if (!of) return of.problems();
  LimitsPage page;
  std::vector<std::function<Problems()>> parts;
  for (const CurvesPart& part : curves_parts(*of)) {
    parts.push_back([part, threads, &page] { return add_curves(part, threads, page); });
  }
  parts.push_back([&, threads] { return add_sensitivity(of->one, threads, page); });
  for (const std::int64_t sequence : kRealSequences) {
    parts.push_back([&, sequence, threads] { return add_real(of->one, sequence, threads, page); });
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (progress && !progress(i, parts.size()))
      return Problem{"limits", "was stopped", Trouble::stopped};
    if (Problems problems = parts[i](); !problems.empty()) return problems;
  }
  return page;
}

}  // namespace headway
