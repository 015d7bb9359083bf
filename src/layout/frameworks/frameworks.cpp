// What is asked of the list of frameworks.
#include <algorithm>

#include "layout/frameworks/read.hpp"

namespace headway {

const FrameworkFile& file_of(Framework framework) {
  static const std::vector<FrameworkFile>& all = frameworks();  // asked for in every forecast
  return all[static_cast<std::size_t>(framework)];
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

Framework base_of(Framework framework) {
  return framework_from(file_of(framework).base).value_or(framework);
}

Framework framework_of_networks() {
  const std::vector<FrameworkFile>& all = frameworks();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const FrameworkFile& each) { return each.of_networks; });
  return found == all.end() ? Framework{} : static_cast<Framework>(found - all.begin());
}

std::string_view told_of(Framework framework) {
  return file_of(framework).told;
}

std::string_view option_of_uneven_stages(Framework framework) {
  return file_of(framework).uneven_stages;
}

const Habits& habits(Framework framework, double software) {
  const std::vector<DatedHabits>& dated = file_of(framework).habits;
  if (software <= 0) return dated.back().habits;
  auto at = dated.end() - 1;
  while (software < at->since) --at;  // the first holds for any date
  return at->habits;
}

}  // namespace headway
