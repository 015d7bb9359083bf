// How rows of a corpus are read whose cells do not say it in Headway's words: data/corpus, a list
// of rules for each column. What a source's words mean stands there, with where it is from; here is
// only how such rules are read and asked.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "fit/corpus/corpus.hpp"

namespace headway {

struct CorpusRun;

/// What a rule asks of one fact; everything that is stated must hold.
struct Condition {
  std::string fact;
  bool is_number = false;
  bool in_lower_case = false;
  std::vector<std::string> is, not_is, has, lacks, begins;  // of a text
  std::optional<std::string> before, not_before;            // in the order of texts
  std::optional<double> equals, above, below, since;        // of a number
  std::string of;     // the fact that `above` and `below` are multiples of
  std::string times;  // the fact that the number is multiplied by
  std::optional<bool> stated;
};

struct Rule {
  std::vector<Condition> when;
  std::string is;           // the value
  std::string from;         // the number that is the value, where it is there
  bool assumed = false;     // a guess, which the row names
  bool family = false;      // of a model: it gives habits, the row gives the shape
  std::string unsupported;  // of a model: why it cannot be predicted
};

/// How a cell that the source leaves empty is filled, in words. Each filled cell is named in
/// CorpusRun::assumed.
struct FillingRule {
  std::string cell, rule;
};

struct CorpusRules {
  std::map<std::string, std::vector<Rule>, std::less<>> columns;
  std::map<std::string, std::string, std::less<>> numbers;  // fact -> words of the notes before it
  std::vector<std::string> releases;                        // words of the notes before a release
  struct {
    std::vector<std::pair<std::string, std::vector<std::string>>> phrases;
    std::string listed_after, listed_until;
    std::vector<std::pair<std::string, std::string>> words;
  } pieces;  // recomputed, in words of the notes
  std::vector<FillingRule> policy;
  struct {
    std::vector<std::string> memory, batch, split, work;
  } decisive;                      // cells that decide a result, by what of it
  std::vector<std::string> tuned;  // sources whose tables hold their vendor's best layouts
};

Result<CorpusRules> read_corpus_rules(const Document& document);
/// Those of data/corpus/training.toml.
const CorpusRules& corpus_rules();

/// A row, and what was decided of its run so far, where there is one.
struct RowFacts {
  const CorpusRow& row;
  const CorpusRun* run = nullptr;
};

/// What a rule gave.
struct Decision {
  std::string value;
  const Rule* rule = nullptr;
};

/// The first rule of the column that holds, or nothing.
std::optional<Decision> decide(std::string_view column, const RowFacts& facts);

/// The number of a fact: a column, of the run, or what stands in the notes ([numbers]).
std::optional<double> number_fact(std::string_view name, const RowFacts& facts);
/// The text of a fact, likewise; empty where it is not stated.
std::string text_fact(std::string_view name, const RowFacts& facts);
/// Whether there is such a fact; those of [numbers] come to them.
bool is_number_fact(std::string_view name);
bool is_text_fact(std::string_view name);

}  // namespace headway
