// Lists of replay: any text becomes lists that can be run, which are read back as they are written,
// or problems.
#include <cstdlib>

#include "simulate/live/check.hpp"
#include "simulate/live/file.hpp"
#include "simulate/live/single.hpp"
#include "targets.hpp"

void headway::fuzz::live_list(std::string_view text) {
  const auto list = read_list(text, "list.jsonl");
  if (!list) {
    if (list.problems().empty()) std::abort();
    return;
  }
  const auto again = read_list(list_text(*list), "again.jsonl");
  if (!again || !(again->ranks == list->ranks)) std::abort();
  if (!list_problems(single_calls(*list, true)).empty()) std::abort();
}
