// What is asked of the limits study, and the settings that it asks about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "limits/load.hpp"

namespace headway {

struct LimitsQuestion {
  std::vector<std::string> files;    // settings (.toml)
  std::vector<std::string> presets;  // published comparisons; none of all four: grand_dense
  std::vector<std::string> gpus;     // machines, by name or .toml, in the study's default setting
  std::vector<Document> settings;    // settings described in place; they open no files
  bool sparse = false;
  bool as_published = false;
  bool real = false;          // transformers by the prediction of their steps beside each setting
  std::string cluster;        // of `real`, a name or .toml; empty: what the machine stands for
  std::int64_t sequence = 0;  // tokens, in every setting; 0: as the setting has it
  // Edits of every setting, each shown beside the setting as it was; unset: none.
  std::string relax;  // a method of data/methods
  std::optional<double> sync_every, compression, sample_penalty;
  std::optional<std::int64_t> blocks, submodels;
  std::optional<std::string> loose_level;
  std::optional<double> months;  // in which a run must end, in every setting
  std::string sites;             // "4", or the shares of unlike ones, "4,2,1"; empty: one place
  std::string site_bandwidth;    // one for all of them, or "1 GB/s,500 MB/s,500 MB/s"
  double site_distance_km = 0;
};

/// What `relax` may be.
std::vector<std::string> relaxation_methods();

/// The settings that are asked about, without the edits; or everything that is wrong with them.
Result<limits::Comparison> limits_settings(const LimitsQuestion& question);

}  // namespace headway
