// One row of a file of measured serving, while it is read. Internal to src/fit/serving.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fit/benchmarks/cells.hpp"
#include "fit/benchmarks/words.hpp"
#include "fit/serving/asked.hpp"
#include "fit/serving/words/words.hpp"
#include "study/infer/engines.hpp"

namespace headway::serving_rows {

/// What rows share, loaded once.
struct Loaded {
  const serving_words::Words& words;
  const benchmarks::Words& machines;
  const std::vector<Engine>& engines;
  std::vector<std::string> models;                // built in
  std::map<std::string, std::string> named = {};  // of each cell, the model that it names
  std::map<std::string, Result<Model>> model = {};
  std::map<std::string, Result<Cluster>> cluster = {};
  std::map<std::string, Result<std::shared_ptr<const ServingConstants>>> constants = {};
  std::map<std::string, std::shared_ptr<const TunedServing>> tuned = {};  // by all they ask
};

template <class T, class Load>
const Result<T>& loaded_once(std::map<std::string, Result<T>>& all, const std::string& name,
                             const Load& load) {
  const auto found = all.find(name);
  return found != all.end() ? found->second : all.emplace(name, load(name)).first->second;
}

/// What the row says in cells, and in its notes; what was taken from it, and why it is skipped.
struct RowText {
  ServedRow& row;
  benchmarks::Cells& cells;
  std::string said;           // by its notes, in plain words
  std::string measured = {};  // "2025 11 10", as far as the row or its source says
  std::string start{kUsual};  // AskedServing::start

  /// What is said last of a cell stands.
  void assume(std::string_view cell, const std::string& value) {
    const std::string named = std::string(cell) + "=";
    std::erase_if(row.assumed, [&](const std::string& each) { return each.starts_with(named); });
    row.assumed.push_back(named + value);
  }
  bool says(std::string_view word) const { return said.find(word) != std::string::npos; }
  bool says_any(const std::vector<std::string>& words) const;
};

/// The benchmark that a row of tuned runs is of; null: of none.
const serving_words::Benchmark* benchmark_of(const RowText& text,
                                             const serving_words::Words& words);
/// What whoever tunes a run takes on the accelerator; null: nothing is known.
const serving_words::TunedBy* tuned_by(const serving_words::Words& words,
                                       const Accelerator& accelerator);
/// What such a row asks. Nothing where it is skipped.
std::shared_ptr<const TunedServing> tuned_of(RowText& text, Loaded& loaded, Serving serving,
                                             const serving_words::Benchmark& benchmark);

/// Whether its batch is what the prompt of one sequence is cut into; null: it is a batch.
const serving_words::CutPrompts* cut_of(const RowText& text, const serving_words::Words& words);

/// What served: model, accelerators, engine, formats, degrees.
Serving serving_of(RowText& text, Loaded& loaded);
/// Of its cluster; null where the row is skipped.
std::shared_ptr<const ServingConstants> constants_of(RowText& text, Loaded& loaded,
                                                     const Cluster& cluster);
/// Prefill and decode on accelerators of their own; nothing where the row does not say so.
std::optional<ServingApart> apart_of(RowText& text, const Loaded& loaded, const Serving& serving);

/// The first recipe that holds for the row, `batch` of all copies of attention; null: none.
const serving_words::Recipe* recipe_of(const RowText& text, const serving_words::Words& words,
                                       const Serving& serving, const Load& load,
                                       std::int64_t batch);
/// Steps by lengths and memory (Recipe::sized), of a serving that is legal.
void size_steps(const Load& load, Serving& serving);
/// The serving as by the recipe, but for its sizes.
void run_by(const serving_words::Recipe& recipe, const Load& load, std::int64_t batch,
            RowText& text, Serving& serving);

/// What it was asked, on one copy of attention; the engine's schedule becomes that of the source.
/// Nothing where the row is skipped.
std::optional<AskedServing> asked_of(RowText& text, Loaded& loaded, Serving serving);

}  // namespace headway::serving_rows
