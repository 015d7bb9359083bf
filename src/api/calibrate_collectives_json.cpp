#include "api/calibrate_collectives.hpp"
#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {

std::string calibrated_json(const Document& cluster, const std::vector<ClassError>& errors,
                            const std::vector<std::string>& notes) {
  Json document = node_json(cluster.root);
  Json list = Json::array(), said = Json::array();
  for (const ClassError& error : errors) {
    list.push_back({{"level", error.level},
                    {"op", error.op},
                    {"size", error.size},
                    {"sizes", error.sizes},
                    {"before", error.before},
                    {"after", error.after},
                    {"bias", error.bias},
                    {"worse", error.worse}});
  }
  for (const std::string& note : notes) said.push_back(printable(note, 2000));
  document["errors"] = std::move(list);
  document["notes"] = std::move(said);
  return document_text(document);
}

}  // namespace headway
