#include "report/launch.hpp"

#include "report/json/document.hpp"

namespace headway {

std::string launch_json(Launcher launcher, const std::vector<LaunchFile>& files) {
  Json texts = Json::array();
  for (const LaunchFile& file : files) {
    texts.push_back({{"name", file.name}, {"text", file.text}});
  }
  return document_text({{"framework", row_of(launcher).name},
                        {"version", row_of(launcher).version},
                        {"files", std::move(texts)}});
}

}  // namespace headway
