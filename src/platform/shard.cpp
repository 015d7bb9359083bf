#include "platform/shard.hpp"

#include <charconv>
#include <cmath>

#include "base/random/random.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "17 what it came to".
std::string with_place(std::size_t place, const std::string& line) {
  return std::to_string(place) + " " + line;
}

// The lines of all parts in their places; nothing where one is missing, doubled or in a part that
// it does not belong to.
std::optional<std::vector<std::optional<std::string>>> gathered(const std::vector<PartLines>& parts,
                                                                const PieceWork& work) {
  std::vector<std::optional<std::string>> out(work.count);
  std::size_t found = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto lines = parts[part].find(work.name);
    if (lines == parts[part].end()) return std::nullopt;
    for (const std::string& line : lines->second) {
      const std::size_t space = line.find(' ');
      const auto place = exact_count(std::string_view(line).substr(0, space));
      if (space == std::string::npos || !place || *place >= work.count || out[*place] ||
          !Shard{part, parts.size()}.has(*place)) {
        return std::nullopt;
      }
      out[*place] = line.substr(space + 1);
      ++found;
    }
  }
  if (found != work.count) return std::nullopt;
  return out;
}

}  // namespace

// Mixed: each bit of the place moves all others.
bool Shard::has(std::uint64_t place) const {
  return of == 1 || split_mixed(place) % of == index;
}

Result<Shard> shard_from(std::string_view text) {
  const FieldName shard("shard", printable(std::string(text)));
  const std::size_t slash = text.find('/');
  const auto index = exact_count(text.substr(0, slash));
  const auto of =
      slash == std::string_view::npos ? std::nullopt : exact_count(text.substr(slash + 1));
  if (!index || !of) {
    return Problem{shard, "must be I/N, as 2/7: the second of seven parts", Trouble::malformed};
  }
  if (*of < 1 || *of > kMostShards) {
    return Problem{shard, "a work has from 1 to " + std::to_string(kMostShards) + " parts"};
  }
  if (*index < 1 || *index > *of) {
    const std::string n = std::to_string(*of);
    return Problem{shard, "is out of range: its parts are 1/" + n + " to " + n + "/" + n};
  }
  return Shard{*index - 1, *of};
}

std::string shard_text(const Shard& shard) {
  return std::to_string(shard.index + 1) + "/" + std::to_string(shard.of);
}

Result<std::vector<std::optional<std::string>>> divide(const Division& division,
                                                       const PieceWork& work, int threads,
                                                       const Progress& progress) {
  if (division.parts != nullptr && !division.only) {
    auto out = gathered(*division.parts, work);
    if (!out) {
      return Problem{"merge", "the parts do not hold what they should of " + work.name,
                     Trouble::malformed};
    }
    return std::move(*out);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < work.count; ++i) {
    if (!division.only || division.only->has(i)) places.push_back(i);
  }
  std::vector<std::optional<std::string>> out(work.count);
  const bool finished = for_each_index(
      places.size(), threads,
      [&](std::size_t i, std::size_t) { out[places[i]] = work.make(places[i]); }, progress, 1);
  if (!finished) return Problem{work.name, "was stopped", Trouble::stopped};
  if (division.into != nullptr) {
    std::vector<std::string>& lines = (*division.into)[work.name];
    for (const std::size_t place : places) {
      if (out[place]) lines.push_back(with_place(place, *out[place]));
    }
  }
  return out;
}

std::optional<double> exact_number(std::string_view text) {
  const auto out = whole_text_as<double>(text);
  return out && std::isfinite(*out) ? out : std::nullopt;
}

std::optional<std::uint64_t> exact_count(std::string_view text) {
  return whole_text_as<std::uint64_t>(text);
}

}  // namespace headway
