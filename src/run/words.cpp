#include "run/words.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

struct OtherWord {
  std::string said, means, more, of;
};
struct OtherWords {
  std::vector<OtherWord> fields, values;
};

std::vector<OtherWord> words_in(std::vector<Fields> tables) {
  std::vector<OtherWord> out;
  for (Fields& word : tables) {
    const std::string means = word.text("means"), more = word.text_or("more", "");
    const std::string of = word.text_or("of", "");
    for (std::string& said : word.texts_or_empty("said")) {
      out.push_back({std::move(said), means, more, of});
    }
  }
  return out;
}

// data/words.toml; a test reads that it has no problems.
const OtherWords& other_words() {
  static const OtherWords all = [] {
    const auto document = embedded_document("words.toml");
    if (!document) return OtherWords();
    Problems problems;
    Fields fields(*document, problems);
    return OtherWords{words_in(fields.tables("word")), words_in(fields.tables("value"))};
  }();
  return all;
}

// As flags are written: "--Seq_Length" is "seq-length".
std::string plain(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  std::string out = lower(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

std::string hint(std::string_view name, std::span<const std::string> known,
                 std::string_view before) {
  const std::string said = plain(name);
  const auto is_known = [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  };
  const std::string quoted = "'" + std::string(before);
  // Our own name, but for case and underscores.
  if (is_known(said)) return "; did you mean " + quoted + said + "'?";
  for (const OtherWord& word : other_words().fields) {
    if (word.said != said || !is_known(word.means)) continue;
    return "; here it is " + quoted + word.means + "'" +
           (word.more.empty() ? "" : " (" + word.more + ")");
  }
  const std::string near = nearest(said, known);
  if (!near.empty()) return "; did you mean " + quoted + near + "'?";
  // A name of which it is the beginning, or a word.
  std::vector<std::string> alike;
  for (const std::string& other : known) {
    if (said.size() > 1 && (other.starts_with(said + "-") || said.starts_with(other + "-")) &&
        alike.size() < 3) {
      alike.push_back(quoted + other + "'");
    }
  }
  return alike.empty() ? std::string() : "; did you mean " + join(alike, " or ") + "?";
}

std::string value_hint(std::string_view field, std::string_view said,
                       std::span<const std::string_view> legal) {
  const std::string name = plain(said);
  for (const OtherWord& word : other_words().values) {
    const bool is_legal = std::find(legal.begin(), legal.end(), word.means) != legal.end();
    if (word.of == field && word.said == name && is_legal)
      return "; here it is '" + word.means + "'";
  }
  return {};
}

}  // namespace headway
