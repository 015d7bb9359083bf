// The frameworks of the binary and one more: the first under another name, with another habit.
#define frameworks library_frameworks
#include "layout/frameworks/framework_rows.cpp"
#undef frameworks

namespace headway {

const std::vector<FrameworkFile>& frameworks();
const std::vector<FrameworkFile>& frameworks() {
  static const std::vector<FrameworkFile> out = [] {
    std::vector<FrameworkFile> all = library_frameworks();
    all.push_back(all.front());
    all.back().name = "homespun";
    all.back().title = "Homespun";
    for (DatedHabits& dated : all.back().habits) dated.habits.sharding.zero = 3;
    return all;
  }();
  return out;
}

}  // namespace headway
