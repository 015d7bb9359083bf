#include "trace/recording/rank_names.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/natural_order.hpp"

namespace headway {
namespace {

std::string file_name(const std::string& label) {
  const std::size_t folder = label.rfind('/');
  return folder == std::string::npos ? label : label.substr(folder + 1);
}

// "runs/a/rank3.json.gz" -> "rank3"; what is no path stays.
std::string short_label(const std::string& label) {
  std::string out = file_name(label);
  for (const std::string_view ending : {".gz", ".json", ".jsonl", ".et", ".log", ".txt"}) {
    if (out.size() > ending.size() && out.ends_with(ending)) {
      out.resize(out.size() - ending.size());
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> rank_names(const Recording& recording) {
  std::map<std::int64_t, int> numbers;
  std::map<std::string, int> labels, files;
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.number) ++numbers[*rank.number];
    ++labels[short_label(rank.label)];
    ++files[file_name(rank.label)];
  }
  std::vector<std::string> out;
  for (const RecordedRank& rank : recording.ranks) {
    const std::string label = short_label(rank.label), file = file_name(rank.label);
    if (rank.number && numbers[*rank.number] == 1) {
      out.push_back("rank " + std::to_string(*rank.number));
    } else {
      out.push_back(labels[label] == 1 ? label : files[file] == 1 ? file : rank.label);
    }
  }
  return out;
}

std::optional<std::int64_t> rank_in_name(std::string_view name) {
  const std::size_t word = name.rfind("rank");
  if (word == std::string_view::npos) return std::nullopt;
  std::int64_t number = -1;
  for (const char c : name.substr(word + 4)) {
    if (c >= '0' && c <= '9' && number < 100'000'000) {
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    } else if (c != '_' || number >= 0) {
      break;
    }
  }
  return number < 0 ? std::nullopt : std::optional(number);
}

std::vector<std::uint32_t> rank_order(const Recording& recording) {
  std::vector<std::uint32_t> order(recording.ranks.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  constexpr std::int64_t kNoNumber = std::numeric_limits<std::int64_t>::max();
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const RecordedRank &first = recording.ranks[a], &second = recording.ranks[b];
    const std::int64_t x = first.number.value_or(kNoNumber), y = second.number.value_or(kNoNumber);
    return x != y ? x < y : natural_less(first.label, second.label);
  });
  return order;
}

}  // namespace headway
