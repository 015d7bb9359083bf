#include "study/power.hpp"

#include <algorithm>

#include "base/document.hpp"

namespace headway {
namespace {

Watts drawn(const PowerModel& model, const Accelerator& accelerator, double utilisation) {
  const Watts wanted =
      accelerator.idle_power + accelerator.tdp * (model.resident + model.products * utilisation);
  return std::min(wanted, accelerator.tdp * model.cap);
}

}  // namespace

Result<PowerModel> embedded_power_model() {
  static const auto document = embedded_document("economics/power.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  PowerModel out;
  Fields accelerator = fields.table("accelerator", /*required=*/true);
  out.resident = accelerator.number("resident");
  out.products = accelerator.number("products");
  out.cap = accelerator.number("cap");
  out.host = fields.table("host", /*required=*/true).number("share");
  if (!problems.empty()) return problems;
  return out;
}

// [SCALE-20] P = min(cap · TDP, idle + TDP · (resident + products · u)).
// u: rate of products over the peak of their format, over the whole step. A rank that waits spins
// in a kernel of the communication library at full clock, which is why power hardly falls where
// throughput does. Known error: memory-bound and network traffic are not counted apart; a chip at
// its cap lowers its clock, and the forecast's rates hold that already.
Watts training_power(const PowerModel& model, const Accelerator& accelerator, double utilisation) {
  return drawn(model, accelerator, utilisation);
}

Watts waiting_power(const PowerModel& model, const Accelerator& accelerator) {
  return drawn(model, accelerator, 0);
}

Watts idle_power(const Accelerator& accelerator) {
  return accelerator.idle_power;
}

Watts host_power(const PowerModel& model, const Cluster& cluster) {
  return cluster.host_power_per_accelerator * model.host;
}

}  // namespace headway
