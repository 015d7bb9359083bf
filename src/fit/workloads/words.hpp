// What the words of files of measured workloads mean: data/corpus/workloads.toml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"

namespace headway::workloads {

/// What a row's `model` says, in lower case and with spaces for _ and -. The first that holds.
struct Network {
  std::string is, model;  // the cell; the built-in name
  std::string sample;     // what `seq_or_image` has in it, where it says something
  std::string source;     // what `source` has in it; empty: anything
  std::string note;       // what `notes` have in them; empty: anything
  std::string skip;       // why rows of it are not predicted; empty: they are
};

/// What a row's `notes` say of its other cells: of the first that they have in them.
struct Note {
  std::string has;
  std::string skip;                // why such rows are not predicted; empty: they are
  const Recipe* recipe = nullptr;  // what the recipe is, whatever the cell says
};

/// What entries of a source do with one network, by their own configurations, of some alone: on
/// accelerators of an architecture or a name, in rounds (in the order of texts), on so many and
/// more, or so many at most. What one says holds over what those before it say; what none says is
/// left as it is.
struct Habit {
  std::string source, model;  // how the source_key begins; built-in name
  std::string architecture;   // how the accelerator's begins
  std::string accelerator;    // its name; empty: any
  std::string since, before;  // rounds
  std::int64_t from_accelerators = 0;
  std::int64_t to_accelerators = 0;        // 0: any more
  std::optional<Choice> gradients;         // reduced under the backward pass
  std::optional<std::int64_t> copy_below;  // rows
  std::optional<Optimizer> optimizer;
  std::optional<AttentionKernel> attention;
  std::optional<bool> attention_8_bit;
  std::optional<Bytes> bucket;         // of gradients that are reduced together
  std::optional<Framework> framework;  // whose hosts issue its kernels
  std::optional<Graphs> graphs;
  std::optional<double> table_cache;  // share of rows that the accelerators hold
};

/// How runs of a source are made, where the row does not say.
struct Setup {
  std::string source;   // how the row's source_key begins
  std::string library;  // how its `framework` begins; empty: anything
  Framework framework{};
  Graphs graphs = Graphs::none;
  WireFormat reduced = WireFormat::framework;
  int zero = 0;
  bool fused = true;
};

/// The recipe of a row: the first whose conditions all hold. Empty conditions always do.
struct Precision {
  std::string said;          // the cell
  std::string model;         // built-in
  std::string architecture;  // how the accelerator's begins
  std::string since;         // round, in the order of texts
  std::int64_t from_accelerators = 0;
  const Recipe* recipe = nullptr;
  bool assumed = false;
};

/// When the software of a round of entries is of.
struct Round {
  std::string is;
  double software = 0;  // in years
};

struct Words {
  std::vector<Round> rounds;
  std::vector<Network> networks;
  std::vector<Note> notes;
  std::vector<Habit> habits;
  std::vector<Setup> setups;
  std::vector<Precision> precisions;

  static const Result<Words>& embedded();
};

}  // namespace headway::workloads
