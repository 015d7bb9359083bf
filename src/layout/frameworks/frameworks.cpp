// The frameworks that the binary carries, read once.
#include <algorithm>

#include "layout/frameworks/read.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

std::vector<FrameworkFile> embedded_frameworks() {
  std::vector<Document> documents;
  for (const std::string& path : embedded_files("frameworks")) {
    documents.push_back(embedded_document(path).value());
  }
  return read_frameworks(documents).value();  // a test reads them: there is no problem
}

}  // namespace

const std::vector<FrameworkFile>& frameworks() {
  static const std::vector<FrameworkFile> kept = embedded_frameworks();
  return kept;
}

const FrameworkFile& file_of(Framework framework) {
  return frameworks()[static_cast<std::size_t>(framework)];
}

std::span<const std::string_view> framework_names() {
  static const std::vector<std::string_view> kept = [] {
    std::vector<std::string_view> out;
    for (const FrameworkFile& each : frameworks()) out.emplace_back(each.name);
    return out;
  }();
  return kept;
}

std::optional<Framework> framework_from(std::string_view name) {
  const auto names = framework_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Framework>(found - names.begin());
}

std::string_view name_of(Framework framework) {
  return file_of(framework).name;
}

std::string_view title_of(Framework framework) {
  return file_of(framework).title;
}

const Habits& habits(Framework framework, double software) {
  const std::vector<DatedHabits>& dated = file_of(framework).habits;
  std::size_t at = dated.size() - 1;
  while (software > 0 && software < dated[at].since) --at;  // the first holds for any date
  return dated[at].habits;
}

}  // namespace headway
