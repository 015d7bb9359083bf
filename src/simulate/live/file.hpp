// Lists as a file: a line of JSON that says what it is, then a line for each item, rank by rank.
//
//   {"headway_list": 1, "ranks": 2, "source": "...", "groups": [{"name": "tp", "ranks": [0, 1]}]}
//   {"rank": 0}
//   {"mark": "step", "number": 0}
//   {"call": "all_reduce", "group": 0, "bytes": 4096, "type": "bf16", "stream": 2, "after": [0]}
//   {"call": "send", "group": 0, "bytes": 64, "type": "fp32", "stream": "beside", "peer": 1,
//    "tag": 3}
//   {"compute": 0.00125, "product": [512, 512, 128, 1]}
//   {"wait": 0}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "simulate/live/list.hpp"

namespace headway {

inline constexpr int kLiveListVersion = 1;
inline constexpr std::size_t kLargestLiveList = std::size_t{1} << 30;  // bytes of its file

std::string list_text(const LiveList& list);

/// What is wrong with it: by line. What it asks for can be run (list_problems).
Result<LiveList> read_list(std::string_view text, const std::string& file);

/// A text in quotes, and a list of whole numbers, as the lines of lists and recordings have them.
std::string json_text(std::string_view text);
template <class Numbers>
std::string json_list(const Numbers& numbers) {
  std::string out = "[";
  for (const auto& number : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  return out + "]";
}

}  // namespace headway
