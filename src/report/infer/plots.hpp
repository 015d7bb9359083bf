// What `infer` draws: a load curve, and the front of the best ways.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/infer/search/best.hpp"
#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/curve.hpp"

namespace headway {

/// folder/load.svg: times along the load, and users' speed against accelerators'. Nothing where
/// nothing fits.
std::vector<OutputFile> infer_curve_plots(const Serving& serving, const Load& asked,
                                          const LoadCurve& curve, const std::string& folder);
std::vector<OutputFile> infer_curve_plots(const ServingApart& apart, const Load& asked,
                                          const ApartCurve& curve, const std::string& folder);
/// folder/front.svg: users' speed against accelerators', a colour a split.
std::vector<OutputFile> infer_best_plots(const Serving& base, const Load& asked,
                                         std::int64_t accelerators, const BestOffers& best,
                                         const std::string& folder);
std::vector<OutputFile> infer_best_plots(const Serving& base, const Load& asked,
                                         std::int64_t accelerators, const BestApart& best,
                                         const std::string& folder);

}  // namespace headway
