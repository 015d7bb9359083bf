#include "platform/files.hpp"
#include "platform/memo.hpp"
#include "study/jobs/replay.hpp"

namespace headway {
namespace {

ModelProfile built_in_profile(const std::string& name) {
  const auto document = embedded_document("jobs/" + name + ".toml");
  if (!document) return {};
  Problems problems;
  Fields fields(*document, problems);
  auto profile = read_profile(fields.text("profile"), name);
  return profile ? std::move(profile).value() : ModelProfile{};
}

}  // namespace

const std::vector<ModelProfile>& built_in_profiles() {
  static Memo<std::vector<ModelProfile>> kept;
  return kept.of("", [] {
    std::vector<ModelProfile> out;
    for (const char* name : {"alexnet", "resnet18", "squeezenet1_0", "vgg16", "gnmt"}) {
      out.push_back(built_in_profile(name));
    }
    return out;
  });
}

}  // namespace headway
