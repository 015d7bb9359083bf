// Work divided among machines that do not talk to each other: each works out one part, and what the
// parts came to is brought together later. Which part a piece of the work is in hangs on its place
// in the list of all pieces alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// More parts than machines have ever been asked.
constexpr std::uint64_t kMostShards = 1'000'000;

/// One of `of` parts.
struct Shard {
  std::uint64_t index = 0, of = 1;

  /// Neighbours are in different parts, and what is alike about every second or third piece, as its
  /// order of ranks, is spread over all.
  bool has(std::uint64_t place) const;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// "2/7" is the second of seven.
Result<Shard> shard_from(std::string_view text);
std::string shard_text(const Shard& shard);

/// What a part came to: lines of text, by what they are of.
using PartLines = std::map<std::string, std::vector<std::string>, std::less<>>;

/// How the work of a command is divided.
struct Division {
  std::optional<Shard> only = std::nullopt;       // no more than this part is worked out,
  PartLines* into = nullptr;                      // and there it is said what it came to;
  const std::vector<PartLines>* parts = nullptr;  // or these are all parts, worked out before
  // What the parts of one request share that one process works out: of whoever divides it.
  std::shared_ptr<void>* shared = nullptr;

  bool divided() const { return only.has_value() || parts != nullptr; }
};

/// Pieces of work that are apart from each other, each with a line that says what it came to: those
/// of the part are worked out and said, or those of all parts are what there is. Where nothing is
/// divided each is worked out. Nothing at the places of other parts; a problem where `progress`
/// stopped it, or where parts do not hold what they should.
struct PieceWork {
  std::string name;
  std::size_t count = 0;
  std::function<std::string(std::size_t place)> make;
};
Result<std::vector<std::optional<std::string>>> divide(const Division& division,
                                                       const PieceWork& work, int threads,
                                                       const Progress& progress);

/// Numbers as they stand in lines (shortest_text()).
std::optional<double> exact_number(std::string_view text);
std::optional<std::uint64_t> exact_count(std::string_view text);

}  // namespace headway
