#include "forecast/intervals/networks.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::int64_t kNode = 8;

NetworkSpread spread_of(Fields fields) {
  const NetworkSpread out{fields.number("below"), fields.number("above")};
  fields.text_or("source", "");
  if (out.below < 0 || out.above < 0) fields.fail("below", "and above must not be negative");
  fields.reject_unknown();
  return out;
}

Result<NetworkSpreads> read() {
  const auto document = embedded_document("calibration/workloads.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  for (const char* told : {"kind", "date", "source"}) root.text(told);
  const NetworkSpreads out{spread_of(root.table("node", /*required=*/true)),
                           spread_of(root.table("nodes", /*required=*/true))};
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace

const Result<NetworkSpreads>& embedded_network_spreads() {
  static const Result<NetworkSpreads> spreads = read();
  return spreads;
}

void add_network_interval(const NetworkSpreads& spreads, std::int64_t ranks, Forecast& forecast) {
  const NetworkSpread& spread = ranks <= kNode ? spreads.node : spreads.nodes;
  forecast.step_time_interval =
      Interval<Seconds>{std::max(forecast.step_time * std::exp(-spread.below), forecast.least_time),
                        forecast.step_time * std::exp(spread.above)};
}

}  // namespace headway
