// data/architectures.toml.
#include <algorithm>

#include "base/document/document.hpp"
#include "cluster/load.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

struct Named {
  std::string name;
  Architecture traits;
};

Result<std::vector<Named>> read_architectures() {
  const auto document = embedded_document("architectures.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  std::vector<Named> out;
  for (const std::string& name : fields.keys()) {
    Fields row = fields.table(name);
    Architecture one;
    one.title = row.text_or("title", "");
    one.flash_attention = static_cast<int>(row.natural_or("flash_attention", one.flash_attention));
    one.before_flash_attention = row.flag_or("before_flash_attention", one.before_flash_attention);
    row.text("source");
    row.reject_unknown();
    out.push_back({name, one});
  }
  if (!problems.empty()) return problems;
  return out;
}

const std::vector<Named>& architectures() {
  static const std::vector<Named> kept = read_architectures().value();  // a test reads them
  return kept;
}

}  // namespace

const Architecture& architecture(const std::string& name) {
  static const Architecture unknown;
  const auto& all = architectures();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? unknown : found->traits;
}

const std::vector<std::string>& architecture_titles() {
  static const std::vector<std::string> kept = [] {
    std::vector<std::string> out;
    for (const Named& each : architectures()) {
      if (!each.traits.title.empty()) out.push_back(each.traits.title);
    }
    return out;
  }();
  return kept;
}

}  // namespace headway
