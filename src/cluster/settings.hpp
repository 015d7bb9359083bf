// What a run knows of its machine that differs from what is known of the cluster by its name: how
// boards are set, variants of one name, another network between nodes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

namespace headway {

/// A setting: its name, as the fields of a run have it, and what a text makes of a cluster; what is
/// wrong with the text, if anything, and then the cluster is as it was.
struct MachineSetting {
  std::string_view name;
  std::optional<std::string> (*set)(std::string_view text, Cluster& cluster);
};

/// board-power "500 W": what each accelerator may draw.
/// memory-bandwidth "2.04 TB/s": of each accelerator.
/// network "roce": the class of the network between nodes, with the latency that it has in the
///   built-in clusters; its bandwidth stays.
/// network-bandwidth "50 GB/s", of one accelerator and direction when all send, or "8 x 400 Gb/s",
///   the cards of a node; levels further out in proportion.
std::span<const MachineSetting> machine_settings();

}  // namespace headway
