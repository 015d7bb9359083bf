// The search of every curve of the limits study: from narrow models to wide ones, side by side on
// many threads, up to the first that ends the curve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "limits/machine/setting.hpp"
#include "limits/search/curve.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// Looks at places 0, 1, ... of rows with so many of them, low places of all rows first, on
/// `threads` threads. Of each row: how many places it has up to the first at which `ends`, which is
/// included. Places behind it may be looked at or not, as the threads have it. Nothing where
/// `progress` stopped it.
std::optional<std::vector<std::size_t>> up_to_the_end(
    const std::vector<std::size_t>& places, int threads, const Progress& progress,
    const std::function<bool(std::size_t row, std::size_t place)>& ends);

/// What `find` finds of each setting at its widths, narrow ones first, up to the first of which
/// `ends` says that it ends the curve. Nothing where `progress`, told of models, stopped it.
template <class Found, class Find, class Ends>
std::optional<std::vector<std::vector<Found>>> along_widths(
    const std::vector<limits::Setting>& settings, int threads, const Progress& progress,
    const Find& find, const Ends& ends) {
  std::vector<std::vector<std::int64_t>> widths;
  std::vector<std::vector<Found>> found;
  std::vector<std::size_t> places;
  for (const limits::Setting& setting : settings) {
    widths.push_back(limits::widths(setting));
    places.push_back(widths.back().size());
    found.emplace_back(places.back());
  }
  const auto ends_at = [&](std::size_t s, std::size_t i) {
    found[s][i] = find(s, widths[s][i]);
    return ends(s, found[s][i]);
  };
  const auto counts = up_to_the_end(places, threads, progress, ends_at);
  if (!counts) return std::nullopt;
  for (std::size_t s = 0; s < settings.size(); ++s) found[s].resize((*counts)[s]);
  return found;
}

}  // namespace headway
