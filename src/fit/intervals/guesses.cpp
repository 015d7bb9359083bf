#include "fit/intervals/guesses.hpp"

#include <algorithm>

#include "fit/corpus/rules.hpp"

namespace headway {

Guesses guesses_of(const CorpusRun& run) {
  const auto guessed = [&](const std::vector<std::string>& cells) {
    return std::any_of(run.assumed.begin(), run.assumed.end(), [&](const std::string& each) {
      const std::string cell = each.substr(0, each.find('='));
      return !run.derived.contains(cell) &&
             std::find(cells.begin(), cells.end(), cell) != cells.end();
    });
  };
  const auto& decisive = corpus_rules().decisive;
  return {guessed({"framework"}), guessed(decisive.memory), guessed(decisive.batch),
          guessed(decisive.split), guessed(decisive.work)};
}

}  // namespace headway
