// What of many ways of serving is worth showing. Internal to src/study/infer/search.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

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

/// Whether half of them at least are inside: who waits outside makes nothing faster.
inline bool are_held(const Served& served, std::int64_t sequences) {
  return served.fits && served.sequences >= static_cast<double>(sequences) / 2;
}

}  // namespace headway
