#include "report/calibration.hpp"

#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {

std::string calibrated_json(const Document& cluster, const LoggedFit& fit) {
  Json document = node_json(cluster.root);
  Json list = Json::array(), said = Json::array();
  for (const LoggedError& error : fit.errors) {
    list.push_back({{"level", error.level},
                    {"op", to_name(error.op)},
                    {"size", kLoggedSizeNames[static_cast<std::size_t>(error.size)]},
                    {"sizes", error.after.rows},
                    {"before", error.before.median},
                    {"after", error.after.median},
                    {"bias", error.after.bias},
                    {"worse", error.worse()}});
  }
  for (const std::string& warning : fit.warnings) said.push_back(printable(warning, 2000));
  document["errors"] = std::move(list);
  document["notes"] = std::move(said);
  return document_text(document);
}

std::string own_json(const Document& written, const OwnFit& fit) {
  Json document = node_json(written.root);
  Json fits = Json::array(), unused = Json::array();
  for (const OwnSetupFit& setup : fit.setups) {
    Json runs = Json::array(), explanations = Json::array();
    for (std::size_t i = 0; i < setup.names.size(); ++i) {
      runs.push_back({{"name", printable(setup.names[i], 2000)},
                      {"measured_s", setup.measured[i].value()},
                      {"predicted_s", setup.predicted[i].value()},
                      {"residual", setup.residuals[i]}});
    }
    for (const OwnExplanation& each : setup.explanations) {
      explanations.push_back({{"field", each.field},
                              {"says", std::string(each.says)},
                              {"residuals", each.residuals},
                              {"gain", each.gain}});
    }
    fits.push_back({{"runs", std::move(runs)},
                    {"mean", setup.shrunk.mean},
                    {"within", setup.shrunk.within},
                    {"explanations", std::move(explanations)}});
  }
  for (const Problem& problem : fit.unused) {
    unused.push_back(printable(where_text(problem) + ": " + problem.message, 2000));
  }
  document["fits"] = std::move(fits);
  document["unused"] = std::move(unused);
  return document_text(document);
}

}  // namespace headway
