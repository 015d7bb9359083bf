// What of many ways of serving is worth showing. Internal to src/study/infer/search.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/shard.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// The fastest for a user first, of equals what makes most of an accelerator; each makes more of an
/// accelerator than the one before. `user`, `accelerator`: tokens/s.
template <class Way, class User, class Accelerator>
std::vector<Way> front_of(std::vector<Way> all, const User& user, const Accelerator& accelerator) {
  std::stable_sort(all.begin(), all.end(), [&](const Way& a, const Way& b) {
    return user(a) != user(b) ? user(a) > user(b) : accelerator(a) > accelerator(b);
  });
  std::vector<Way> out;
  double most = 0;
  for (Way& each : all) {
    if (accelerator(each) <= most) continue;
    most = accelerator(each);
    out.push_back(std::move(each));
  }
  return out;
}

/// Of offers, which know both.
template <class Offer>
std::vector<Offer> front_of(std::vector<Offer> all) {
  return front_of(
      std::move(all), [](const Offer& offer) { return offer.of_user(); },
      [](const Offer& offer) { return offer.of_accelerator(); });
}

/// What is to be known of an offer to tell the front of all, as a line of a part; nothing of one
/// that is none.
struct PlacedOffer {
  std::size_t place = 0;
  double user = 0, accelerator = 0;  // tokens/s
};
std::string line_of_placed(const std::optional<PlacedOffer>& placed);
/// The places of the front among lines of all offers; a problem where one is no such line.
Result<std::vector<std::size_t>> places_of_front(
    const std::vector<std::optional<std::string>>& lines);

/// The offers of a front, where the work may be divided: `offer(i)` places the i-th in time,
/// nothing where it is none. Nothing of a part alone.
template <class Offer, class Place>
Result<std::vector<Offer>> placed_front(std::size_t count, const Place& offer,
                                        const Division& division, int threads,
                                        const Progress& progress) {
  std::vector<std::optional<Offer>> kept(division.divided() ? 0 : count);  // not placed twice
  const PieceWork work{
      .name = "offers", .count = count, .make = [&](std::size_t i) {
        std::optional<Offer> placed = offer(i);
        std::string line = line_of_placed(
            placed ? std::optional(PlacedOffer{i, placed->of_user(), placed->of_accelerator()})
                   : std::nullopt);
        if (!kept.empty()) kept[i] = std::move(placed);
        return line;
      }};
  const auto lines = divide(division, work, threads, progress);
  if (!lines) return lines.problems();
  std::vector<Offer> out;
  if (division.only) return out;
  const auto places = places_of_front(*lines);
  if (!places) return places.problems();
  for (const std::size_t place : *places) {
    std::optional<Offer> placed = kept.empty() ? offer(place) : std::move(kept[place]);
    if (!placed) return Problem{"merge", "the parts hold an offer that is none"};
    out.push_back(std::move(*placed));
  }
  return out;
}

/// Whether what was placed in time keeps to the limits: in the mean, and of as many answers as are
/// asked for.
inline bool keeps_to_limits(const Load& asked, const Served& served) {
  return asked.keeps_to_limits(served.first_token, served.each_token) &&
         (asked.good_share == 0 || served.good.value_or(0) >= asked.good_share);
}

/// Whether half of them at least are inside: who waits outside makes nothing faster.
inline bool are_held(const Served& served, std::int64_t sequences) {
  return served.fits && served.sequences >= static_cast<double>(sequences) / 2;
}

}  // namespace headway
