#include "report/launch.hpp"

#include "report/json/document.hpp"

namespace headway {

std::string launch_json(Launcher launcher, const std::vector<LaunchFile>& files) {
  const auto index = static_cast<std::size_t>(launcher);
  Json texts = Json::array();
  for (const LaunchFile& file : files) {
    texts.push_back({{"name", file.name}, {"text", file.text}});
  }
  return document_text({{"framework", kLauncherNames[index]},
                        {"version", kLauncherVersions[index]},
                        {"files", std::move(texts)}});
}

}  // namespace headway
