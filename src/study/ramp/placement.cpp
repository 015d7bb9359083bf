#include "study/ramp/placement.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace headway {
namespace {

using Block = std::vector<RampServer>;

struct Needs {
  std::vector<std::vector<std::size_t>> before, after;
};

Needs needs_of(const ModelProfile& profile) {
  Needs out{std::vector<std::vector<std::size_t>>(profile.ops.size()),
            std::vector<std::vector<std::size_t>>(profile.ops.size())};
  for (const ProfiledEdge& edge : profile.edges) {
    out.before[edge.to].push_back(edge.from);
    out.after[edge.from].push_back(edge.to);
  }
  return out;
}

RampServer server_at(int group, int rack, int place) {
  return {static_cast<std::uint8_t>(group), static_cast<std::uint8_t>(rack),
          static_cast<std::uint8_t>(place)};
}

// Every block of that shape from the origin on, in order.
void add_blocks(std::vector<Block>& out, const RampMachine& machine, RampExtent shape) {
  for (int i = 0; i + shape.groups <= machine.groups; ++i) {
    for (int j = 0; j + shape.racks <= machine.racks; ++j) {
      for (int k = 0; k + shape.places <= machine.places; ++k) {
        Block block;
        for (int c = 0; c < shape.groups; ++c) {
          for (int r = 0; r < shape.racks; ++r) {
            for (int s = 0; s < shape.places; ++s) block.push_back(server_at(i + c, j + r, k + s));
          }
        }
        out.push_back(std::move(block));
      }
    }
  }
}

// A server of each of `count` racks of as many groups. The published code tries one place more than
// there is, and the one over the last is the first.
void add_diagonals(std::vector<Block>& out, const RampMachine& machine, int count) {
  for (int i = 0; i + count <= machine.groups; ++i) {
    for (int j = 0; j + count <= machine.racks; ++j) {
      for (int k = 0; k < machine.places; ++k) {
        Block block;
        for (int n = 0; n < count; ++n) block.push_back(server_at(i + n, j + n, k));
        out.push_back(std::move(block));
      }
    }
  }
}

// Breadth first from what needs nothing.
std::vector<std::size_t> sequence_of(const Needs& needs) {
  std::vector<std::size_t> waits, out;
  for (std::size_t op = 0; op < needs.before.size(); ++op) {
    waits.push_back(needs.before[op].size());
    if (waits.back() == 0) out.push_back(op);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const std::size_t next : needs.after[out[i]]) {
      if (--waits[next] == 0) out.push_back(next);
    }
  }
  return out;
}

struct Placer {
  const RampMachine& machine;
  const ModelProfile& profile;
  const std::vector<int>& split;
  const std::vector<bool>& busy;
  std::vector<double> left;                       // memory of each server
  std::map<int, std::vector<Block>> blocks = {};  // by their sizes

  bool holds(const Block& block, double bytes_each) const {
    return std::all_of(block.begin(), block.end(), [&](RampServer at) {
      return !busy[machine.index(at)] && left[machine.index(at)] >= bytes_each;
    });
  }

  Block beside(std::size_t op, const std::vector<std::size_t>& before,
               const RampPlacement& placed) const {
    for (const std::size_t parent : before) {
      const Block& servers = placed.servers[parent];
      if (static_cast<int>(servers.size()) != split[op]) continue;
      double sum = 0;
      for (const RampServer server : servers) sum += left[machine.index(server)];
      if (sum >= profile.ops[op].memory().value()) return servers;
    }
    return {};
  }

  Block anywhere(std::size_t op) {
    const double each = profile.ops[op].memory().value() / split[op];
    std::vector<Block>& all = blocks[split[op]];
    if (all.empty()) all = candidate_blocks(machine, split[op]);
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Block& block) { return holds(block, each); });
    return at == all.end() ? Block() : *at;
  }
};

}  // namespace

std::vector<std::vector<RampServer>> candidate_blocks(const RampMachine& machine, int count) {
  std::vector<Block> out;
  for (const RampExtent shape : symmetric_blocks(machine, count)) add_blocks(out, machine, shape);
  add_diagonals(out, machine, count);
  add_blocks(out, machine, {count, 1, 1});
  return out;
}

std::vector<RampServer> RampPlacement::used() const {
  std::set<RampServer> out;
  for (const Block& block : servers) out.insert(block.begin(), block.end());
  return {out.begin(), out.end()};
}

std::optional<RampPlacement> place_first_fit(const RampMachine& machine,
                                             const ModelProfile& profile,
                                             const std::vector<int>& split,
                                             const std::vector<bool>& busy) {
  const Needs needs = needs_of(profile);
  RampPlacement out{std::vector<Block>(profile.ops.size()), sequence_of(needs)};
  Placer placer{machine, profile, split, busy,
                std::vector<double>(machine.servers(), machine.memory.value())};
  for (const std::size_t op : out.order) {
    Block block = placer.beside(op, needs.before[op], out);
    if (block.empty()) block = placer.anywhere(op);
    if (block.empty()) return std::nullopt;
    const double each = profile.ops[op].memory().value() / split[op];
    for (const RampServer server : block) placer.left[machine.index(server)] -= each;
    out.servers[op] = std::move(block);
  }
  return out;
}

}  // namespace headway
