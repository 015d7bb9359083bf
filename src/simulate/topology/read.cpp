#include "simulate/topology/read.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace headway::network {
namespace {

using Numbers = std::vector<std::uint32_t>;

struct Asked {
  Numbers sizes;            // "8x8"
  std::uint32_t ratio = 0;  // ":2"
  std::uint32_t ranks = 0;
  std::uint64_t seed = 0;
  const Speeds& speeds;
};

struct Kind {
  TopologyForm form;
  std::string_view name;
  std::size_t fewest, most;  // numbers behind the name; 0: ranks say how large it is
  std::string_view (*wrong)(const Asked&);
  std::uint64_t (*links)(const Asked&);
  Topology (*make)(const Asked&);
};

std::uint64_t product(const Numbers& sizes) {
  std::uint64_t out = 1;
  for (const std::uint32_t each : sizes) {
    out *= each;
    if (out > kMostTopologyRanks) return kMostTopologyRanks + 1;
  }
  return out;
}

std::string_view nothing(const Asked&) {
  return {};
}

std::uint32_t uplinks(const Asked& a) {
  return a.sizes[1] / std::max(1U, a.ratio);
}

const std::array kKinds = {
    Kind{{"switch", "all ranks on one switch"},
         "switch",
         0,
         0,
         nothing,
         [](const Asked& a) { return std::uint64_t{2} * a.ranks; },
         [](const Asked& a) { return one_switch(a.ranks, a.speeds); }},
    Kind{{"full", "a link between each two ranks"},
         "full",
         0,
         0,
         nothing,
         [](const Asked& a) { return std::uint64_t{a.ranks} * a.ranks; },
         [](const Asked& a) { return full_mesh(a.ranks, a.speeds); }},
    Kind{{"torus:8x8x8", "one to four sides, each line a ring"},
         "torus",
         1,
         4,
         nothing,
         [](const Asked& a) { return product(a.sizes) * 2 * a.sizes.size(); },
         [](const Asked& a) { return grid(a.sizes, true, a.speeds); }},
    Kind{{"mesh:5x5", "the same without the links that close the rings"},
         "mesh",
         1,
         4,
         nothing,
         [](const Asked& a) { return product(a.sizes) * 2 * a.sizes.size(); },
         [](const Asked& a) { return grid(a.sizes, false, a.speeds); }},
    Kind{{"cubes:4x4x8", "a torus where each side is a multiple of 4, else a mesh"},
         "cubes",
         3,
         3,
         nothing,
         [](const Asked& a) { return product(a.sizes) * 6; },
         [](const Asked& a) { return cube_slice(a.sizes, a.speeds); }},
    Kind{{"switches:8x8", "a grid each of whose lines is a switch"},
         "switches",
         2,
         4,
         nothing,
         [](const Asked& a) { return product(a.sizes) * 2 * a.sizes.size(); },
         [](const Asked& a) { return switched_grid(a.sizes, a.speeds); }},
    Kind{{"fat-tree:4x8:2", "leaves x hosts of each; 2: half as many uplinks"},
         "fat-tree",
         2,
         2,
         [](const Asked& a) -> std::string_view {
           return a.sizes[1] % std::max(1U, a.ratio) == 0
                      ? ""
                      : "needs hosts of a leaf that the oversubscription divides";
         },
         [](const Asked& a) {
           return 2 * (product(a.sizes) + std::uint64_t{a.sizes[0]} * uplinks(a));
         },
         [](const Asked& a) {
           return leaf_spine(a.sizes[0], a.sizes[1], uplinks(a), a.seed, a.speeds);
         }},
    Kind{{"clos:16", "three levels of switches of 16 ports"},
         "clos",
         1,
         1,
         [](const Asked& a) -> std::string_view {
           return a.sizes[0] % 2 == 0 && a.sizes[0] <= 80 ? "" : "needs an even number up to 80";
         },
         [](const Asked& a) {
           const std::uint64_t k = a.sizes[0];
           return 6 * k * k * k / 4;
         },
         [](const Asked& a) { return fat_tree(a.sizes[0], a.seed, a.speeds); }},
    Kind{{"rails:32x8", "nodes x ranks of each; a rail for each place in a node"},
         "rails",
         2,
         2,
         nothing,
         [](const Asked& a) { return product(a.sizes) * 4; },
         [](const Asked& a) { return rails(a.sizes[0], a.sizes[1], a.speeds); }},
    Kind{{"dragonfly:2x4x2", "hosts of a router x routers of a group x global links of a router"},
         "dragonfly",
         3,
         3,
         nothing,
         [](const Asked& a) {
           const std::uint64_t groups = std::uint64_t{a.sizes[1]} * a.sizes[2] + 1;
           return groups * a.sizes[1] * (std::uint64_t{2} * a.sizes[0] + a.sizes[1] + a.sizes[2]);
         },
         [](const Asked& a) { return dragonfly(a.sizes[0], a.sizes[1], a.sizes[2], a.speeds); }},
    Kind{{"sites:4x16", "sites x ranks of each, a line between each two sites"},
         "sites",
         2,
         2,
         nothing,
         [](const Asked& a) {
           return 2 * product(a.sizes) + std::uint64_t{a.sizes[0]} * a.sizes[0];
         },
         [](const Asked& a) { return sites(a.sizes[0], a.sizes[1], a.speeds); }},
};

// "8x8" as numbers; nothing where it is something else.
std::optional<Numbers> numbers(std::string_view text) {
  Numbers out;
  for (;;) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value == 0 || value > kMostTopologyRanks) return std::nullopt;
    out.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return out;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

Problem problem(std::string message, Trouble kind = Trouble::illegal) {
  return {FieldName("topology"), std::move(message), kind};
}

}  // namespace

std::span<const TopologyForm> topology_forms() {
  static const std::vector<TopologyForm> out = [] {
    std::vector<TopologyForm> forms;
    for (const Kind& kind : kKinds) forms.push_back(kind.form);
    return forms;
  }();
  return out;
}

Result<Topology> read_topology(std::string_view text, std::uint32_t ranks, std::uint64_t seed,
                               const Speeds& speeds) {
  const std::string written = lower(text);
  const std::string_view name = std::string_view(written).substr(0, written.find(':'));
  std::string_view rest = std::string_view(written).substr(name.size());
  const Kind* kind = nullptr;
  std::vector<std::string> known;
  for (const Kind& each : kKinds) {
    known.emplace_back(each.form.text);
    if (each.name == name) kind = &each;
  }
  if (kind == nullptr) return problem(not_known(text, known), Trouble::unknown);
  const std::string form = "; as " + std::string(kind->form.text);
  Asked asked{{}, 0, ranks, seed, speeds};
  if (kind->most > 0) {
    const bool has_ratio = name == "fat-tree";
    if (!rest.empty()) rest.remove_prefix(1);
    const std::size_t colon = rest.find(':');
    const auto sizes = numbers(rest.substr(0, colon));
    const auto ratio =
        colon == rest.npos ? std::optional(Numbers{1}) : numbers(rest.substr(colon + 1));
    const bool fits = sizes && sizes->size() >= kind->fewest && sizes->size() <= kind->most &&
                      ratio && ratio->size() == 1 && (has_ratio || colon == rest.npos);
    if (!fits) return problem("'" + printable(text) + "' is no size" + form, Trouble::malformed);
    asked.sizes = *sizes;
    asked.ratio = ratio->front();
    if (const std::string_view wrong = kind->wrong(asked); !wrong.empty()) {
      return problem(std::string(wrong) + form);
    }
  } else if (!rest.empty()) {
    return problem("'" + printable(text) + "' has no size; --ranks says it", Trouble::malformed);
  } else if (ranks == 0) {
    return Problem{FieldName("ranks"), "are missing", Trouble::missing};
  }
  const bool large = kind->most > 1 && product(asked.sizes) > kMostTopologyRanks;
  if (large || kind->links(asked) > kMostTopologyLinks) {
    return problem("is too large: at most " + std::to_string(kMostTopologyRanks) + " ranks and " +
                   std::to_string(kMostTopologyLinks) + " links");
  }
  Topology out = kind->make(asked);
  if (out.ranks < 2) return problem("has fewer than two ranks");
  if (ranks != 0 && ranks != out.ranks) {
    return Problem{FieldName("ranks"), "are " + std::to_string(ranks) + "; " + written + " has " +
                                           std::to_string(out.ranks)};
  }
  out.name = written;
  return out;
}

}  // namespace headway::network
