// How many files stand in a room: a folder that grows beyond that holds two ideas.
#include "layering.hpp"

namespace headway::testing {
namespace {

constexpr int kMost = 25, kMostOfApi = 20;

}  // namespace

Breaches room_breaches(const SourceTree& tree) {
  std::map<std::string, int> files;
  for (const auto& [path, text] : tree) {
    if (path.starts_with("src/") && !is_of_tests(path)) ++files[path.substr(0, path.rfind('/'))];
  }
  Breaches out;
  for (const auto& [folder, count] : files) {
    const int most = folder == "src/api" ? kMostOfApi : kMost;
    if (count > most) {
      out.push_back(folder + ": " + std::to_string(count) + " files without tests, of at most " +
                    std::to_string(most));
    }
  }
  return out;
}

}  // namespace headway::testing
