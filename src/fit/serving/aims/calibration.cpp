#include "fit/serving/aims/calibration.hpp"

#include "base/draw/table.hpp"
#include "fit/serving/aims/aims.hpp"
#include "fit/serving/imbalance.hpp"
#include "fit/serving/kernels.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 30;  // bytes

Result<Csv> table_of(const std::string& option, const std::string& file, CorpusKind kind) {
  const auto text = read_file(file, kLargestTable);
  if (!text) return text.problems();
  auto table = parse_csv(*text, file);
  if (table && corpus_kind(*table) != kind) {
    return Problem{FieldName(option),
                   "holds no " + std::string(kCorpusKindNames[static_cast<std::size_t>(kind)])};
  }
  return table;
}

Result<std::string> data_file(const std::string& folder, const std::string& path) {
  if (!folder.empty()) return read_file(folder + "/" + path);
  const auto text = embedded_file(path);
  if (!text) return Problem{"data/" + path, "is missing from this build", Trouble::unreadable};
  return std::string(*text);
}

Problems add_kernels(ServingCalibration& out, const ServingMeasurements& from, int threads) {
  const auto table = table_of("kernels", from.kernels, CorpusKind::inference_kernels);
  if (!table) return table.problems();
  const auto rows = predict_benchmarks(*table, CorpusKind::inference_kernels);
  if (!rows) return rows.problems();
  const auto fit = fit_serving_kernels(*rows, from.left_out, threads);
  if (!fit) return fit.problems();
  out.text += to_text(*fit);
  out.blocks["serving-kernels"] = markdown_of(kernel_table(*fit), 4);
  out.files.emplace_back("serving/kernels.toml", to_toml(*fit, from.date));
  return {};
}

Problems add_hosts(ServingCalibration& out, const ServingMeasurements& from, int threads,
                   const Progress& progress) {
  const auto table = table_of("corpus", from.corpus, CorpusKind::serving);
  const auto& start = engines();
  const auto file = data_file(from.data, "serving/engines.toml");
  Problems problems;
  if (!table) append(problems, table.problems());
  if (!start) append(problems, start.problems());
  if (!file) append(problems, file.problems());
  if (!problems.empty()) return problems;
  auto cases = read_serving(*table);
  if (!cases) return cases.problems();
  const auto fit = fit_hosts(*cases, *start, from.left_out, threads, progress);
  if (!fit) return {{"calibrate", "was stopped", Trouble::stopped}};
  if (fit->residuals.empty()) return {{FieldName("corpus"), "holds no serving that is predicted"}};
  const auto imbalance = fit_imbalance(*cases, threads, progress);
  if (!imbalance) return {{"calibrate", "was stopped", Trouble::stopped}};
  if (imbalance->rows > 0) {
    out.text += (out.text.empty() ? "" : "\n") + aligned(imbalance_table(*imbalance), 1);
    out.blocks["serving-imbalance"] = markdown_of(imbalance_table(*imbalance), 1);
    out.files.emplace_back("serving/routing.toml", to_toml(*imbalance, from.date));
  }
  out.text += (out.text.empty() ? "" : "\n") + to_text(*fit, *cases);
  out.blocks["serving-left-out"] = markdown_of(host_table(*fit, *cases), 2);
  out.files.emplace_back("serving/engines.toml", renewed_engines(*file, *fit, *cases, from.date));
  if (!from.left_out) return {};
  const ServingIntervalFit intervals = fit_serving_intervals(*cases, *fit);
  const auto& aims = served_aims();
  if (!aims) return aims.problems();
  for_each_index(cases->size(), threads, [&](std::size_t i, std::size_t) {
    ServedCase& each = cases.value()[i];
    if (each.asked) each.row.of_capacity = share_of_capacity(*each.asked);
  });
  out.text += "\n" + to_text(intervals);
  out.blocks["serving-intervals"] = markdown_of(held_table(intervals), 2);
  out.files.insert(out.files.begin(), {"serving/intervals.toml", to_toml(intervals, from.date)});
  out.files.emplace_back("serving/left_out.toml",
                         to_toml(left_out_of(*aims, *cases, *fit, intervals), from.date));
  return {};
}

}  // namespace

Result<ServingCalibration> calibrate_serving(const ServingMeasurements& from, int threads,
                                             const Progress& progress) {
  if (from.kernels.empty() && from.corpus.empty()) {
    return Problem{"calibrate", "serving needs --kernels FILE.csv, --corpus FILE.csv, or both"};
  }
  ServingCalibration out;
  Problems problems;
  if (!from.kernels.empty()) append(problems, add_kernels(out, from, threads));
  if (!from.corpus.empty()) append(problems, add_hosts(out, from, threads, progress));
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
