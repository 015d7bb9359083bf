#include "study/infer/search/front.hpp"

#include "base/formatted.hpp"

namespace headway {

std::string line_of_placed(const std::optional<PlacedOffer>& placed) {
  if (!placed) return "-";
  return shortest_text(placed->user) + " " + shortest_text(placed->accelerator);
}

Result<std::vector<std::size_t>> places_of_front(
    const std::vector<std::optional<std::string>>& lines) {
  std::vector<PlacedOffer> all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = *lines[i];
    if (line == "-") continue;
    const std::size_t space = line.find(' ');
    const auto user = exact_number(std::string_view(line).substr(0, space));
    const auto accelerator =
        space == line.npos ? std::nullopt : exact_number(std::string_view(line).substr(space + 1));
    if (!user || !accelerator) {
      return Problem{"merge", "the parts hold offers that are no numbers", Trouble::malformed};
    }
    all.push_back({i, *user, *accelerator});
  }
  const auto user = [](const PlacedOffer& of) { return of.user; };
  const auto accelerator = [](const PlacedOffer& of) { return of.accelerator; };
  std::vector<std::size_t> out;
  for (const PlacedOffer& each : front_of(all, user, accelerator)) out.push_back(each.place);
  return out;
}

}  // namespace headway
