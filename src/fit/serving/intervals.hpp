// [INFER-11] The intervals of serving, from what constants leave that did not see a row's source or
// its model.
#pragma once

#include <string>
#include <vector>

#include "fit/serving/hosts.hpp"
#include "study/infer/intervals/intervals.hpp"

namespace headway {

/// How intervals hold the rows of a source that the constants did not see; `by_others`: neither did
/// the intervals.
struct HeldServing {
  std::string source, quantity;  // source "all": of all
  std::size_t rows = 0;
  double inside = 0, inside_by_others = 0;  // shares
  double width = 0;                         // high over low, the median
};

struct ServingIntervalFit {
  ServingIntervals intervals;
  std::vector<HeldServing> held;
};

/// Of a fit that left out. An engine that other sources measured errs as its rows of other models
/// and sources do; another as sources do that alone measured theirs. An accelerator without rows
/// errs no less than others, and as those do whose rows, and whose kernels, are left out. Quantiles
/// are weighted: n rows of a source (of an accelerator that is left out) count as n to the power of
/// 0.4; a class has 20 rows at least, else a wider one stands for it.
ServingIntervalFit fit_serving_intervals(const std::vector<ServedCase>& cases, const HostFit& fit);

UnitTable held_table(const ServingIntervalFit& fit);
std::string to_text(const ServingIntervalFit& fit);
/// The text of data/serving/intervals.toml.
std::string to_toml(const ServingIntervalFit& fit, const std::string& date);

}  // namespace headway
