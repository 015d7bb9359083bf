// What predictions of measured serving aim at, where they are, and what others reach.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fit/serving/aims/left_out.hpp"
#include "fit/serving/serving.hpp"

namespace headway {

/// Errors that another program makes, as shares.
struct ServedPeer {
  std::string name;
  std::optional<double> median, p90, mean;
};

/// An aim of the rows that have a quantity; `source`, `load`: of those alone, empty: of any.
struct ServedAim {
  std::string id, what;
  std::size_t quantity = 0;  // of kServedQuantities
  std::string source, load;
  bool below_capacity = false;  // of those that are short of full
  std::optional<double> median, p90, mean;
  std::vector<ServedPeer> peers;

  bool is_of(const ServedRow& row) const;
};

/// Tokens that an engine says its cache holds.
struct PublishedCache {
  std::string model, cluster, weights, engine, source;
  std::int64_t tp = 1;
  std::optional<double> memory_share;  // that the engine takes; none: as is its habit
  double tokens = 0;
};

struct ServedAims {
  std::vector<ServedAim> aims;
  double least_inside = 0, most_inside = 0, width = 0;  // of 80 % intervals
  double cache_within = 0;
  std::vector<PublishedCache> caches;
};
Result<ServedAims> served_aims_from(const Document& document);
/// data/serving/aims.toml.
const Result<ServedAims>& served_aims();

/// The number that an aim bounds, of the rows at hand by the constants in force, and of the rows
/// that they were fitted on by constants that did not see a row's source, or its model.
struct JudgedAim {
  std::string id, what, measure;
  std::optional<double> at_least{}, at_most{};
  bool percent = true;  // a share; otherwise a plain number
  std::size_t rows = 0, left_out_rows = 0;
  std::optional<double> now{}, no_model{}, no_source{};
  std::string peers{};  // "15 (aiconfigurator), 17 (a roofline)", in percent

  /// By those that saw least.
  std::optional<bool> met() const;
};

std::vector<JudgedAim> judged_aims(const ServedReport& report, const ServedAims& aims,
                                   const ServedLeftOut& left_out);

/// What is predicted of a published cache, in tokens.
Result<double> cache_predicted(const PublishedCache& cache);

}  // namespace headway
