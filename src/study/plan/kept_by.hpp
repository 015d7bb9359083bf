// What is made of a key alone, and kept for it. Internal to the planner.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace headway {

/// Values by their keys, which compare by == and have a hash(). Each has one place: who comes later
/// to a place that is taken takes it, and the room of what was there. There are as many places as
/// are needed, and never more than `most`, a power of two.
template <class Key, class Value>
class KeptBy {
 public:
  explicit KeptBy(std::size_t most) : most_(most) {}

  /// The value of a key; where it is not there, make(key, value) makes it, of the key alone. It
  /// stands until the next call.
  template <class Make>
  Value& of(const Key& key, const Make& make) {
    if (last_ != nullptr && last_->key == key) return last_->value;
    if (2 * taken_ >= places_.size() && places_.size() < most_) grow();
    Place& place = places_[at(key)];
    if (!place.taken || place.key != key) {
      last_ = nullptr;
      taken_ += place.taken ? 0 : 1;
      place.taken = false;  // until it is made
      make(key, place.value);
      place.key = key;
      place.taken = true;
    }
    last_ = &place;
    return place.value;
  }

 private:
  struct Place {
    bool taken = false;
    Key key{};
    Value value{};
  };

  std::size_t at(const Key& key) const {
    return static_cast<std::size_t>(hash(key) >> (64 - std::bit_width(places_.size() - 1)));
  }
  void grow() {
    constexpr std::size_t kFirst = 64;
    last_ = nullptr;
    std::vector<Place> old(places_.empty() ? kFirst : 2 * places_.size());
    old.swap(places_);
    taken_ = 0;
    for (Place& place : old) {
      if (!place.taken) continue;
      Place& to = places_[at(place.key)];
      taken_ += to.taken ? 0 : 1;
      to = std::move(place);
    }
  }

  std::size_t most_, taken_ = 0;
  std::vector<Place> places_;
  Place* last_ = nullptr;  // that was asked for
};

/// Numbers mixed into one, of which the upper bits tell most.
template <class... T>
constexpr std::uint64_t mixed(std::uint64_t into, T... values) {
  ((into = (into ^ static_cast<std::uint64_t>(values)) * 0x9E3779B97F4A7C15),
   ...);  // 2^64 / golden
  return into;
}

}  // namespace headway
