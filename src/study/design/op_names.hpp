// The words for kernels and calls in a table of them. Internal to src/study/design.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "step/program/program.hpp"
#include "study/design/op_table.hpp"

namespace headway {

/// "product 8192 x 1280 x 8192", "4 products 64 x 2048 x 7168", "attention", "pass".
std::string name_of(const Op& op);
/// "all_reduce of 16.0 MiB, 8 ranks".
std::string name_of(const Call& call, std::int64_t ranks);

/// The part of the model that each op of a block is for, in their order: by the block where that is
/// no layer; of a layer's products by where they stand about the core of attention. Its passes are
/// of the layer.
std::vector<std::string> modules_of(BlockKind kind, std::span<const Op> ops);

/// Rows alike become one, whose level is one of the cluster; parts in the order of `parts`, within
/// each the longest row first.
OpTable merged_rows(std::vector<OpRow> rows, const std::vector<std::string>& parts,
                    const Cluster& cluster);

}  // namespace headway
