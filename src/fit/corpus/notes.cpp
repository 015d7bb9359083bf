#include "fit/corpus/notes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "fit/corpus/rules.hpp"
#include "layout/layout.hpp"

namespace headway {
namespace {

// "26.02.01" as 2026-02.
std::optional<double> release_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + words.size());
  const auto digit = [&](std::size_t i) {
    return i < rest.size() && std::isdigit(static_cast<unsigned char>(rest[i])) != 0;
  };
  if (!digit(0) || !digit(1) || rest.size() < 5 || rest[2] != '.' || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  return years_of("20" + std::string(rest.substr(0, 2)) + "-" + std::string(rest.substr(3, 2)));
}

std::uint8_t bit_of(std::string_view piece) {
  const auto found = std::find(kPieceNames.begin(), kPieceNames.end(), piece);
  return found == kPieceNames.end() ? std::uint8_t{0}
                                    : bit(static_cast<Piece>(found - kPieceNames.begin()));
}

}  // namespace

std::optional<std::int64_t> number_after(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const char* const begin = text.data() + at + words.size();
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(begin, text.data() + text.size(), value);
    if (status == std::errc() && value > 0 && value < 1'000'000'000) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> noted_number(const CorpusRow& row, std::string_view name) {
  const auto words = corpus_rules().numbers.find(name);
  if (words == corpus_rules().numbers.end()) return std::nullopt;
  return number_after(row.notes, words->second);
}

std::optional<double> software_of(const CorpusRow& row) {
  for (const std::string& words : corpus_rules().releases) {
    if (const auto release = release_after(row.notes, words)) return release;
    if (const auto release = release_after(row.framework, words)) return release;
  }
  return years_of(row.date);
}

std::optional<std::uint8_t> pieces_of(std::string_view notes) {
  const auto& rules = corpus_rules().pieces;
  std::uint8_t out = 0;
  for (const auto& [phrase, pieces] : rules.phrases) {
    if (notes.find(phrase) == std::string_view::npos) continue;
    for (const std::string& piece : pieces) out = static_cast<std::uint8_t>(out | bit_of(piece));
    return out;
  }
  const std::size_t at = notes.find(rules.listed_after);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = notes.substr(at + rules.listed_after.size());
  const std::string_view listed = rest.substr(0, rest.find(rules.listed_until));
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find_first_of(" ,+()", begin), listed.size());
    const std::string_view word = listed.substr(begin, end - begin);
    begin = end + 1;
    for (const auto& [name, piece] : rules.words) {
      if (word == name) out = static_cast<std::uint8_t>(out | bit_of(piece));
    }
  }
  return out;
}

}  // namespace headway
