#include "asked.hpp"

#include <filesystem>
#include <fstream>

#include "base/whole_number.hpp"
#include "simulate/live/file.hpp"

namespace headway::replay {
namespace {

bool read_count(std::string_view text, int least, int& out) {
  const auto value = whole_number(text);
  if (!value || *value < least || *value > 1'000'000) return false;
  out = static_cast<int>(*value);
  return true;
}

}  // namespace

bool read_arguments(int count, char** words, Asked& out,
                    std::initializer_list<std::pair<std::string_view, std::string*>> more) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    std::string* text = word == "--times" ? &out.times : nullptr;
    for (const auto& [flag, target] : more) {
      if (word == flag) text = target;
    }
    const bool takes_value = text != nullptr || word == "--repeat" || word == "--warm";
    if (takes_value && i + 1 == count) return false;
    if (text != nullptr) {
      *text = words[++i];
    } else if (word == "--repeat") {
      if (!read_count(words[++i], 1, out.repeat)) return false;
    } else if (word == "--warm") {
      if (!read_count(words[++i], 0, out.warm)) return false;
    } else if (word == "--single") {
      out.single = true;
    } else if (word == "--gemm") {
      out.multiplies = true;
    } else if (!word.starts_with("-") && out.list.empty()) {
      out.list = word;
    } else {
      return false;
    }
  }
  return !out.list.empty();
}

bool write_times(const Asked& asked, int ranks, const std::string& library,
                 const std::vector<double>& seconds) {
  std::error_code there;
  std::filesystem::create_directories(std::filesystem::path(asked.times).parent_path(), there);
  std::ofstream file(asked.times);
  file.precision(9);
  file << "{\"headway_replay\": 1, \"mode\": \"" << (asked.single ? "single" : "step")
       << "\", \"compute\": \"" << (asked.multiplies ? "gemm" : "spin")
       << "\", \"ranks\": " << ranks << ", \"library\": " << json_text(library)
       << ", \"warm\": " << asked.warm << ", \"step_s\": [";
  for (std::size_t i = 0; i < seconds.size(); ++i) file << (i > 0 ? ", " : "") << seconds[i];
  file << "]}\n";
  file.flush();
  return static_cast<bool>(file);
}

}  // namespace headway::replay
