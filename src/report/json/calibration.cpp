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

}  // namespace headway
