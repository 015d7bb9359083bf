#include <string>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/entries.hpp"
#include "cost/calibration/network_constants.hpp"
#include "cost/calibration/network_entries.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway {
namespace {

// The network's own, or the default.
std::string entry_for(const Document& entries, const std::string& network) {
  return !network.empty() && entries.root.find(network) != nullptr ? network : "default";
}

}  // namespace

Result<NetworkParameters> network_parameters_from(const Document& estimated, const Document* fitted,
                                                  const std::string& network) {
  Document all = estimated;
  if (fitted) overlay(all.root, fitted->root);
  return entry_of<NetworkParameters>(all, entry_for(all, network));
}

Result<NetworkParameters> estimated_network_parameters(const std::string& network,
                                                       const Document* fitted) {
  const auto estimated = embedded_document(kNetworkFiles.estimated);
  if (!estimated) return estimated.problems();
  return network_parameters_from(*estimated, fitted, network);
}

Result<NetworkParameters> network_parameters_for(const Level& level) {
  static const Result<Document> entries = embedded_entries(kNetworkFiles);
  if (!entries) return entries.problems();
  static Memo<Result<NetworkParameters>> kept;  // by entry
  const std::string name = entry_for(*entries, level.network);
  const auto& parameters =
      kept.of(name, [&] { return entry_of<NetworkParameters>(*entries, name); });
  if (!parameters || level.constants.root.table() == nullptr) return parameters;
  Problems problems;
  Fields own(level.constants.root, level.constants.file, "levels." + level.name + ".constants.",
             problems);
  const NetworkParameters measured = constants_in(own, *parameters);
  if (!problems.empty()) return problems;
  return measured;
}

namespace {

std::string value_text(double value, int decimals) {
  return formatted("%.*f", decimals, value);
}
std::string value_text(Seconds value, int) {
  return formatted("\"%.4g us\"", value.value() * 1e6);
}
std::string value_text(Bytes value, int) {
  return formatted("\"%.4g KiB\"", value.value() / 1024);
}

}  // namespace

std::string network_fields_text(const NetworkParameters& parameters) {
  std::string out;
  for_each_constant(parameters,
                    [&](const std::string& name, const auto& constant, const NetworkConstant& row) {
                      out += name + " = " + value_text(constant, row.decimals) + '\n';
                    });
  return out;
}

}  // namespace headway
