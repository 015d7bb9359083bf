// What ever more load gets, as text and as JSON.
#pragma once

#include <string>

#include "report/infer/infer.hpp"
#include "study/infer/search/curve.hpp"

namespace headway {

/// A line for each load.
std::string infer_curve_text(const Serving& serving, const Load& asked, const LoadCurve& curve,
                             const ServedBeside& beside = {});
/// {model, cluster, ..., curve, fits, points: [{concurrency, ttft_s, ...}], memory_bytes, ...}.
std::string infer_curve_json(const Serving& serving, const Load& asked, const LoadCurve& curve,
                             const ServedBeside& beside = {});

/// The same of prefill and decode apart; the document has their `prefill` and `decode`, too.
std::string infer_curve_text(const ServingApart& apart, const Load& asked, const ApartCurve& curve,
                             const ServedBeside& beside = {});
std::string infer_curve_json(const ServingApart& apart, const Load& asked, const ApartCurve& curve,
                             const ServedBeside& beside = {});

}  // namespace headway
