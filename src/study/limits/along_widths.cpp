#include "study/limits/along_widths.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace headway {

std::optional<std::vector<std::size_t>> up_to_the_end(
    const std::vector<std::size_t>& places, int threads, const Progress& progress,
    const std::function<bool(std::size_t row, std::size_t place)>& ends) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // row, place
  const std::size_t rows = places.size();
  const std::size_t most = rows == 0 ? 0 : *std::max_element(places.begin(), places.end());
  for (std::size_t place = 0; place < most; ++place) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (place < places[row]) order.emplace_back(row, place);
    }
  }

  // Where each row ends, as far as is known: places behind it need not be looked at. Which of them
  // are nevertheless depends on the threads, the end does not.
  std::vector<std::atomic<std::size_t>> end(rows);
  for (std::size_t row = 0; row < rows; ++row) end[row] = places[row];
  const bool done = for_each_index(
      order.size(), threads,
      [&](std::size_t index, std::size_t) {
        const auto [row, place] = order[index];
        if (place > end[row].load() || !ends(row, place)) return;
        std::size_t known = end[row].load();
        while (place < known && !end[row].compare_exchange_weak(known, place)) {
        }
      },
      progress, 1);
  if (!done) return std::nullopt;
  std::vector<std::size_t> out;
  for (std::size_t row = 0; row < rows; ++row) {
    out.push_back(std::min(end[row].load() + 1, places[row]));
  }
  return out;
}

}  // namespace headway
