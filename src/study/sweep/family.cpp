#include "study/sweep/family.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<std::vector<std::string>> studied_models() {
  const auto studies = embedded_document("runs/studies.toml");
  if (!studies) return studies.problems();
  Problems problems;
  Fields scaling = Fields(*studies, problems).table("scaling", /*required=*/true);
  std::vector<std::string> out = scaling.texts_or_empty("models");
  if (!problems.empty()) return problems;
  return out;
}

bool is_size(std::string_view text) {
  return text.size() >= 2 && (text.back() == 'b' || text.back() == 'm') &&
         text.find_first_not_of("0123456789.") == text.size() - 1;
}

void sort_by_size(std::vector<std::string>& names) {
  const auto size = [](const std::string& name) {
    const auto model = load_model(name);
    return model ? parameters(*model).total : 0;
  };
  std::vector<std::pair<std::int64_t, std::string>> sized;
  for (const std::string& name : names) sized.emplace_back(size(name), name);
  std::stable_sort(sized.begin(), sized.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = sized[i].second;
}

}  // namespace

Result<std::vector<std::string>> family_of(const RequestedRun& base) {
  const auto given = std::find_if(base.given.rbegin(), base.given.rend(),
                                  [](const GivenField& field) { return field.name == "model"; });
  const std::string name = lower(given->text);
  auto studied = studied_models();
  if (!studied || holds(*studied, name)) return studied;

  std::vector<std::string> out;
  const std::size_t dash = name.rfind('-');
  if (dash != std::string::npos && is_size(std::string_view(name).substr(dash + 1))) {
    const std::string family = name.substr(0, dash + 1);
    for (const std::string& other : model_names()) {
      if (other.starts_with(family) && is_size(std::string_view(other).substr(family.size()))) {
        out.push_back(other);
      }
    }
  }
  if (!holds(out, name)) out.push_back(name);
  sort_by_size(out);
  return out;
}

}  // namespace headway
