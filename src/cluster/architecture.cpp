// data/architectures.toml.
#include <map>

#include "base/document/document.hpp"
#include "cluster/load.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

using Architectures = std::map<std::string, Architecture>;

Architectures embedded_architectures() {
  constexpr std::string_view kFile = "architectures.toml";
  const Document document = parse_toml(*embedded_file(kFile), "data/architectures.toml").value();
  Problems problems;
  Fields fields(document, problems);
  Architectures out;
  for (const std::string& name : fields.keys()) {
    Fields row = fields.table(name);
    Architecture& one = out[name];
    one.title = row.text_or("title", "");
    one.flash_attention = static_cast<int>(row.natural_or("flash_attention", one.flash_attention));
    one.before_flash_attention = row.flag_or("before_flash_attention", one.before_flash_attention);
    row.text("source");
    row.reject_unknown();
  }
  return problems.empty() ? out : Result<Architectures>(problems).value();  // tests read them
}

}  // namespace

const Architecture& architecture(const std::string& name) {
  static const Architectures kept = embedded_architectures();
  static const Architecture unknown;
  const auto found = kept.find(name);
  return found == kept.end() ? unknown : found->second;
}

}  // namespace headway
