#include "study/traffic/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "study/traffic/sums.hpp"

namespace headway {
namespace {

struct Quantity {
  const char* name;
  double (*of)(const StudiedRun&);
};
constexpr Quantity kLengthOf = {
    "sequence length", [](const StudiedRun& run) { return static_cast<double>(run.sequence); }};
constexpr Quantity kSizeOf = {"model size",
                              [](const StudiedRun& run) { return run.weights.value(); }};
constexpr Quantity kVolumeOf = {
    "bytes sent", [](const StudiedRun& run) { return sum_of(run.calls).wire.value(); }};
constexpr Quantity kExposedOf = {"exposed share", [](const StudiedRun& run) {
                                   return sum_of(run.calls).exposed / run.step_time;
                                 }};
constexpr Quantity kThroughputOf = {
    "tokens/s", [](const StudiedRun& run) { return run.tokens_per_second_per_accelerator; }};

constexpr Quantity kPairs[][2] = {
    {kLengthOf, kVolumeOf},     {kLengthOf, kExposedOf},     {kLengthOf, kThroughputOf},
    {kSizeOf, kVolumeOf},       {kSizeOf, kExposedOf},       {kSizeOf, kThroughputOf},
    {kVolumeOf, kThroughputOf}, {kExposedOf, kThroughputOf},
};

// Over the sequence lengths of the model; empty: of all.
std::optional<double> correlation(const CommunicationStudy& study, const Quantity (&pair)[2],
                                  std::string_view model) {
  std::vector<double> a, b;
  for (const StudiedRun& run : study.runs) {
    if (run.part != StudyPart::sequence || (!model.empty() && run.model != model)) continue;
    a.push_back(pair[0].of(run));
    b.push_back(pair[1].of(run));
  }
  return log_correlation(a, b);
}

}  // namespace

std::optional<double> log_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) return std::nullopt;
  const auto positive = [](double value) { return value > 0; };
  if (!std::all_of(a.begin(), a.end(), positive) || !std::all_of(b.begin(), b.end(), positive)) {
    return std::nullopt;
  }
  const double n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += std::log(a[i]) / n;
    mean_b += std::log(b[i]) / n;
  }
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = std::log(a[i]) - mean_a, db = std::log(b[i]) - mean_b;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  constexpr double kEqual = 1e-18;  // rounding of logarithms
  if (aa < kEqual || bb < kEqual) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

std::vector<StudyCorrelation> correlations(const CommunicationStudy& study) {
  std::vector<StudyCorrelation> out;
  for (const auto& pair : kPairs) {
    StudyCorrelation row{pair[0].name, pair[1].name, correlation(study, pair, {}), {}};
    for (const StudiedModel& model : study.models) {
      row.by_model.push_back(correlation(study, pair, model.model));
    }
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace headway
