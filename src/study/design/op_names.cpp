#include "study/design/op_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/quantity_text.hpp"
#include "study/design/technology.hpp"

namespace headway {
namespace {

// The sizes of a product in any order: those of its gradients have the same.
using Sizes = std::array<std::int64_t, 3>;
Sizes sizes_of(const Matmul& product) {
  Sizes out{product.m, product.n, product.k};
  std::sort(out.begin(), out.end());
  return out;
}

bool is_core(const Op& op) {
  return op.phase == Phase::forward && std::holds_alternative<AttentionShape>(op.shape);
}

// The modules of a layer's products: forward ones as far as the one behind the core of attention
// are attention's, what follows is the other half's; backward ones go by their sizes.
std::vector<std::string> modules_of_layer(std::span<const Op> ops) {
  std::vector<std::string> out(ops.size(), "layer");
  std::map<Sizes, std::set<std::string>> by_sizes;
  const auto core = std::find_if(ops.begin(), ops.end(), is_core);
  bool attention = core != ops.end();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto* product = std::get_if<Matmul>(&ops[i].shape);
    if (ops[i].routed) {
      out[i] = "experts";
    } else if (std::holds_alternative<AttentionShape>(ops[i].shape)) {
      out[i] = "attention";
    } else if (product != nullptr && ops[i].phase == Phase::forward && core != ops.end()) {
      out[i] = attention ? "attention" : "feed_forward";
      by_sizes[sizes_of(*product)].insert(out[i]);
      if (ops.begin() + static_cast<std::ptrdiff_t>(i) > core) attention = false;
    }
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto* product = std::get_if<Matmul>(&ops[i].shape);
    if (product == nullptr || out[i] != "layer") continue;
    // Products of both halves may have the same sizes: nobody can tell their gradients' apart.
    const auto found = by_sizes.find(sizes_of(*product));
    if (found != by_sizes.end() && found->second.size() == 1) out[i] = *found->second.begin();
  }
  return out;
}

std::string sizes(const Matmul& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

// Beyond the links, where it is not a call's, the level is known where there is one alone.
std::string level_of(const OpRow& row, const Cluster& cluster) {
  const std::optional<Rate> rate = row.times.rate();
  if (!rate || *rate == Rate::compute) return {};
  if (*rate == Rate::host_link) return "host";
  if (*rate != Rate::memory) {
    if (!row.network.empty()) return row.network;
    if (*rate == Rate::link) return cluster.levels.front().network;
    return cluster.levels.size() == 2 ? cluster.levels[1].network : "network";
  }
  const auto& known = technologies();
  const MachineParts* parts = known ? parts_of(*known, cluster.accelerator) : nullptr;
  return parts != nullptr ? parts->memory->name : "memory";
}

}  // namespace

std::string name_of(const Op& op) {
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    return product->batch > 1 ? std::to_string(product->batch) + " products " + sizes(*product)
                              : "product " + sizes(*product);
  }
  return std::holds_alternative<AttentionShape>(op.shape) ? "attention" : "passes over memory";
}

std::string name_of(const Call& call, std::int64_t ranks) {
  return std::string(to_name(call.op)) + " of " + to_text(call.bytes) + ", " +
         std::to_string(ranks) + " ranks";
}

std::vector<std::string> modules_of(BlockKind kind, std::span<const Op> ops) {
  switch (kind) {
    case BlockKind::layer:
    case BlockKind::prediction:
      return modules_of_layer(ops);
    case BlockKind::embedding:
      return std::vector<std::string>(ops.size(), "embedding");
    case BlockKind::head:
      return std::vector<std::string>(ops.size(), "head");
    case BlockKind::vocabulary:
      return std::vector<std::string>(ops.size(), "embedding and head");
  }
  return {};
}

OpTable merged_rows(std::vector<OpRow> rows, const std::vector<std::string>& parts,
                    const Cluster& cluster) {
  OpTable out;
  for (OpRow& row : rows) {
    if (row.time() == Seconds(0)) continue;
    const auto same = std::find_if(out.rows.begin(), out.rows.end(), [&](const OpRow& other) {
      return other.part == row.part && other.module == row.module && other.phase == row.phase &&
             other.name == row.name;
    });
    out.total += row.times;
    if (same == out.rows.end()) {
      out.rows.push_back(std::move(row));
      continue;
    }
    same->count += row.count;
    same->flops += row.flops;
    same->bytes += row.bytes;
    same->times += row.times;
  }
  for (OpRow& row : out.rows) row.level = level_of(row, cluster);
  const auto place = [&](const OpRow& row) {
    return std::find(parts.begin(), parts.end(), row.part) - parts.begin();
  };
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](const OpRow& a, const OpRow& b) {
    return place(a) != place(b) ? place(a) < place(b) : a.time() > b.time();
  });
  return out;
}

}  // namespace headway
