#include <cstdio>
#include <string>

#include "base/document/document.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/network_entries.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway {
namespace {

constexpr int kMostBorrowings = 8;

double within(Fields& fields, std::string_view key, double fallback, double least, double most) {
  const double value = fields.number_or(key, fallback);
  if (!(value >= least && value <= most)) {
    fields.fail(key, "must be from " + std::to_string(least) + " to " + std::to_string(most));
    return fallback;
  }
  return value;
}

// An efficiency: above 0, at most 1.
double fraction(Fields& fields, std::string_view key, double fallback) {
  return within(fields, key, fallback, 1e-4, 1);
}

// A latency as a multiple of the level's.
double multiple(Fields& fields, std::string_view key, double fallback) {
  return within(fields, key, fallback, 1e-4, 1e4);
}

NetworkParameters parameters_from(Fields& fields, NetworkParameters p) {
  p.bandwidth_efficiency = fraction(fields, "bandwidth_efficiency", p.bandwidth_efficiency);
  p.tree_efficiency = fraction(fields, "tree_efficiency", p.tree_efficiency);
  p.in_network_efficiency = fraction(fields, "in_network_efficiency", p.in_network_efficiency);
  p.base_latency = fields.quantity_or("base_latency", p.base_latency);
  p.ring_hop = multiple(fields, "ring_hop", p.ring_hop);
  p.ring_step = fields.quantity_or("ring_step", p.ring_step);
  p.ring_gap = fields.quantity_or("ring_gap", p.ring_gap);
  p.step_overlap = within(fields, "step_overlap", p.step_overlap, 0, 1);
  p.short_fraction = fraction(fields, "short_fraction", p.short_fraction);
  p.tree_hop = multiple(fields, "tree_hop", p.tree_hop);
  p.tree_fill = fields.quantity_or("tree_fill", p.tree_fill);
  p.tree_half_size = fields.quantity_or("tree_half_size", p.tree_half_size);
  p.message_hop = multiple(fields, "message_hop", p.message_hop);
  // What only people read: where the numbers of an entry come from.
  for (const auto key : {"kind", "source", "date", "from"}) fields.text_or(key, "");
  for (const auto key : {"systems", "sources", "held"}) fields.texts_or_empty(key);
  Fields residuals = fields.table("residuals");
  for (const std::string& key : residuals.keys()) residuals.number_or(key, 0);
  fields.reject_unknown();
  return p;
}

// The entry `name` upon those that it borrows from.
NetworkParameters entry(const Document& document, const std::string& name, int depth,
                        Problems& problems) {
  const Node* node = document.root.find(name);
  if (!node || !node->table() || depth > kMostBorrowings) {
    problems.push_back(
        {document.file, "no entry '" + name + "' to borrow from, or a circle", Trouble::unknown});
    return {};
  }
  Fields fields(*node, document.file, name, problems);
  const std::string from = fields.text_or("from", "");
  const NetworkParameters base =
      from.empty() ? NetworkParameters() : entry(document, from, depth + 1, problems);
  return parameters_from(fields, base);
}

// The network's own, or the default.
std::string entry_for(const Document& entries, const std::string& network) {
  return !network.empty() && entries.root.find(network) != nullptr ? network : "default";
}

Result<NetworkParameters> parameters_in(const Document& entries, const std::string& name) {
  Problems problems;
  const NetworkParameters parameters = entry(entries, name, 0, problems);
  if (!problems.empty()) return problems;
  return parameters;
}

constexpr auto kEstimated = "calibration/networks-estimated.toml";
constexpr auto kFitted = "calibration/networks.toml";

Result<Document> embedded_entries() {
  auto estimated = embedded_document(kEstimated);
  const auto fitted = embedded_document(kFitted);
  Problems problems;
  if (!estimated) append(problems, estimated.problems());
  if (!fitted) append(problems, fitted.problems());
  if (!problems.empty()) return problems;
  overlay(estimated.value().root, fitted->root);
  return estimated;
}

}  // namespace

Result<NetworkParameters> network_parameters_from(const Document& estimated, const Document* fitted,
                                                  const std::string& network) {
  Document all = estimated;
  if (fitted) overlay(all.root, fitted->root);
  return parameters_in(all, entry_for(all, network));
}

Result<NetworkParameters> estimated_network_parameters(const std::string& network,
                                                       const Document* fitted) {
  const auto estimated = embedded_document(kEstimated);
  if (!estimated) return estimated.problems();
  return network_parameters_from(*estimated, fitted, network);
}

Result<NetworkParameters> network_parameters_for(const Level& level) {
  static const Result<Document> entries = embedded_entries();
  if (!entries) return entries.problems();
  static Memo<Result<NetworkParameters>> kept;  // by entry
  const std::string name = entry_for(*entries, level.network);
  const auto& parameters = kept.of(name, [&] { return parameters_in(*entries, name); });
  if (!parameters || level.constants.root.table() == nullptr) return parameters;
  Problems problems;
  Fields own(level.constants.root, level.constants.file, "levels." + level.name + ".constants.",
             problems);
  const NetworkParameters measured = parameters_from(own, *parameters);
  if (!problems.empty()) return problems;
  return measured;
}

std::string network_fields_text(const NetworkParameters& p) {
  char text[1024];
  std::snprintf(
      text, sizeof text,
      "bandwidth_efficiency = %.3f\ntree_efficiency = %.3f\nin_network_efficiency = %.3f\n"
      "base_latency = \"%.4g us\"\nring_hop = %.3f\nring_step = \"%.4g us\"\n"
      "ring_gap = \"%.4g us\"\nstep_overlap = %.3f\nshort_fraction = %.4f\ntree_hop = %.3f\n"
      "tree_fill = \"%.4g us\"\ntree_half_size = \"%.4g KiB\"\nmessage_hop = %.3f\n",
      p.bandwidth_efficiency, p.tree_efficiency, p.in_network_efficiency,
      p.base_latency.value() * 1e6, p.ring_hop, p.ring_step.value() * 1e6, p.ring_gap.value() * 1e6,
      p.step_overlap, p.short_fraction, p.tree_hop, p.tree_fill.value() * 1e6,
      p.tree_half_size.value() / 1024, p.message_hop);
  return text;
}

}  // namespace headway
