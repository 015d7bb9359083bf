#include "fit/kernels/errors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/draw/table.hpp"
#include "fit/statistics.hpp"

namespace headway {
namespace {

using Line = std::vector<std::string>;

}  // namespace

ErrorSummary errors_of(std::vector<double> ratios) {
  for (double& ratio : ratios) ratio -= 1;
  return summarise(ratios);
}

std::string class_name(const KernelMeasurement& row) {
  std::string name(kKernelClassNames[static_cast<std::size_t>(row.kernel)]);
  if (row.algorithm)
    return name + ", " +
           std::string(kAttentionKernelNames[static_cast<std::size_t>(*row.algorithm)]);
  if (!is_matmul(row.kernel)) return name;
  return name + (row.product.m >= 512   ? ", m >= 512"
                 : row.product.m >= 128 ? ", m < 512"
                                        : ", m < 128");
}

std::vector<KernelErrorLine> error_lines(const KernelData& data, std::span<const double> ratios,
                                         std::span<const double> held_out) {
  struct Bucket {
    std::vector<double> ratios, held_out;
  };
  // By accelerator, class, source, and whether a fit saw the rows.
  std::map<std::tuple<std::string, std::string, std::string, bool>, Bucket> buckets;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const KernelMeasurement& row = data.rows[i];
    Bucket& bucket =
        buckets[{data.accelerators[row.accelerator].name, class_name(row), row.source, row.fitted}];
    bucket.ratios.push_back(ratios[i]);
    if (!held_out.empty() && held_out[i] > 0) bucket.held_out.push_back(held_out[i]);
  }
  std::vector<KernelErrorLine> lines;
  for (auto& [key, bucket] : buckets) {
    const auto& [accelerator, kernel, source, fitted] = key;
    lines.push_back({source, accelerator, kernel, fitted, errors_of(std::move(bucket.ratios)),
                     errors_of(std::move(bucket.held_out))});
  }
  return lines;
}

std::string to_text(const KernelReport& report) {
  std::vector<Line> lines = {{"accelerator", "kernel", "source", "rows", "median %", "p90 %",
                              "bias %", "unseen median %", "unseen p90 %"}};
  for (const KernelErrorLine& line : report.lines) {
    const bool unseen = line.held_out.rows > 0;
    lines.push_back({line.accelerator, line.kernel + (line.fitted ? "" : " (not fitted)"),
                     line.source, std::to_string(line.error.rows), in_percent(line.error.median),
                     in_percent(line.error.p90), in_percent(line.error.bias),
                     unseen ? in_percent(line.held_out.median) : "-",
                     unseen ? in_percent(line.held_out.p90) : "-"});
  }
  std::string text = aligned(lines, 3);
  for (const SkippedKernels& skipped : report.skipped) {
    text += std::to_string(skipped.rows) + " rows left out: " + skipped.reason + '\n';
  }
  return text;
}

}  // namespace headway
