// What the words of files of measured serving mean: data/corpus/inference.toml.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway::serving_words {

/// Releases of an engine before one of a number; where a row says no number, what was measured
/// before a day, "2026 02" (empty: nothing).
struct Releases {
  std::string before, until, is;
};
/// What a cell that has `has` in it stands for, or why its rows are skipped. Of engines earlier
/// releases have a name of their own, and start in ways of their own (AskedServing::start): the
/// first that holds stands.
struct Word {
  std::string has, name, skip;
  std::vector<Releases> earlier, starts;
};
/// An accelerator that a source names in part: what the name stands for elsewhere, and what there.
struct OtherMachine {
  std::string source, said, is;
};
struct Format {
  std::string name, block;  // block: of models trained so; empty: the same
  std::string experts;      // of models whose experts alone are so; empty: the same
  std::string cache;        // beside such weights where none is said
};

/// So many inputs, outputs, batches of all copies and clients of one, and so many more, but `least`
/// at least; none of them: as the engine has it.
struct Most {
  double inputs = 0, outputs = 0, batches = 0, clients = 0, more = 0, least = 0;
};

/// How a source ran an engine, where that is not the engine's habit. `polls`: by the least batch
/// that they hold for.
struct Recipe {
  std::string source;                   // what its key begins with
  std::string engine;                   // empty: any
  std::string has;                      // in the notes
  std::string since, until;             // measured from this day on, before that; empty: any
  std::string accelerator;              // what the name begins with; empty: any
  std::vector<std::string> weights;     // as the row has them; empty: any
  std::vector<std::string> models;      // empty: any
  std::optional<bool> experts, copies;  // of attention; nothing: either
  Most tokens, sequences;               // of a step, at a time
  std::map<std::int64_t, std::int64_t> polls;
  std::int64_t gathers = 0;  // Policy::gathers
  double gathered = 1;
  std::string cache;  // its format; empty: as the row has it
  double memory = 0;  // share that the engine takes; 0: as its habit is
  /// Tokens that are guessed and checked, each right by this chance.
  std::int64_t guesses = 0;
  double acceptance = 0;
  // Of these lengths alone (empty: any), on so many ranks at most (0: any).
  std::vector<std::int64_t> lengths;
  std::int64_t most_ranks = 0;
  std::int64_t least_batch = 0, most_batch = 0;  // of all copies; 0: any
  bool alike = false;    // every sequence has the same prompt: all choose the same experts
  bool sized = false;    // steps by the lengths and memory (trtllm-bench)
  bool cuts = false;     // prompts over steps
  bool library = false;  // results of ranks are summed by the library, not by kernels of the engine
};

/// An engine whose copies apart send tokens to each other's experts by kernels of their own, on
/// accelerators whose name begins so (empty: all).
struct Exchanging {
  std::string engine, accelerator;
  std::int64_t redundant = 0;  // experts in two copies and more
};

/// A source whose rows of an engine are of one sequence, over accelerators that share its layers:
/// their batch is what its prompt is cut into (llama-bench -b). On several of some accelerators
/// (`alone`) they are not.
struct CutPrompts {
  std::string source, engine;
  std::vector<std::string> alone;
};

/// How many requests of such lengths a source asks in all.
struct Requests {
  std::string source;  // what its key begins with
  std::int64_t input = 0, output = 0, count = 0;
};

/// What a benchmark's requests keep to.
struct Limits {
  Seconds first_token, each_token;
};
/// A benchmark by the beginning of its rows' notes: the mean lengths of its data, log-normal about
/// them with these deviations over the mean, and its limits where requests come at random.
struct Benchmark {
  std::string has;
  std::int64_t input = 0, output = 0;
  double input_spread = 0, output_spread = 0;
  std::int64_t longest = 0;  // tokens of a sequence
  std::optional<Limits> server, interactive;
};
/// What whoever tunes a run takes on an architecture.
struct TunedBy {
  std::string architecture, engine, weights;
};
/// How its engine is set: its share of memory, tokens of a step that are tried; requests are taken
/// in with room for their prompts, which are cut over steps.
struct TunedPolicy {
  double memory = 0;
  std::vector<std::int64_t> most_tokens;
};
/// Sources of tuned runs, whose rows tell neither lengths nor split nor formats.
struct TunedRows {
  std::string source;                // what their keys begin with
  std::string offline, interactive;  // in the notes: as many as memory holds; the tighter limits
  double share = 0;                  // of random requests that keep to the limits
  TunedPolicy policy;
  std::vector<TunedBy> by;
  std::vector<Benchmark> benchmarks;
};

struct Words {
  static const Result<Words>& embedded();

  std::vector<Word> models, engines, notes;
  std::map<std::string, Format, std::less<>> formats, caches;  // by what the cell says
  std::vector<std::string> block_scaled, experts_alone, batches;
  std::map<std::string, double, std::less<>> shortest;  // of lengths, by source
  std::map<std::string, double, std::less<>> cold;      // AskedServing::cold, by source
  // Rows of prefill and decode apart have this in their notes, and before the copies of each that.
  std::string apart, apart_prefill, apart_decode;
  std::vector<Exchanging> exchanging;
  /// Rows of a source that others measured by their notes, without its lengths and recipes, but
  /// those of such lengths.
  std::string others;
  std::vector<std::pair<std::int64_t, std::int64_t>> but;
  std::vector<Recipe> recipes;
  std::vector<CutPrompts> cut;
  std::vector<Requests> requests;
  TunedRows tuned;
  std::vector<std::string> blocks;    // in the notes of rows whose weights are scaled by blocks
  std::vector<std::string> unfitted;  // in the notes of rows that are predicted, and not fitted on
  std::vector<std::string> pooled;    // in the notes of rows whose memory is the engine's share
  std::vector<OtherMachine> machines;
  std::vector<std::string> gibibytes;                     // sources whose memory is in these
  std::map<std::string, std::string, std::less<>> dates;  // of sources whose rows state none
};

/// The first that is in the text; null: none.
const Word* word_in(const std::vector<Word>& words, std::string_view text);

}  // namespace headway::serving_words
