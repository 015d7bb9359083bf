#include "model/named.hpp"

#include <array>
#include <cctype>

#include "base/text.hpp"

namespace headway {
namespace {

// Beside a model's name they make another one's: parts of it, drafts of it, smaller ones.
constexpr std::array<std::string_view, 11> kOfOthers = {
    "embed", "embedding", "reranker", "multimodal", "vision", "vl",
    "eagle", "draft",     "flash",    "mini",       "lite"};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_of_word(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '+';
}

// In small letters, a space between words; none between a letter and a number behind it, which
// publishers set or leave out ("Llama 2", "Llama2").
std::string words_of(std::string_view name) {
  std::string out;
  for (const char c : lower(name)) {
    if (is_of_word(c)) {
      const bool joins = out.size() > 1 && out.back() == ' ' && is_letter(out[out.size() - 2]);
      if (is_digit(c) && joins) out.pop_back();
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool has_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

std::string built_in_of(std::string_view published, const std::vector<std::string>& names) {
  const std::string text = words_of(published);
  std::string best;
  for (const std::string& name : names) {
    if (name.size() > best.size() && has_words(text, words_of(name))) best = name;
  }
  for (const std::string_view other : kOfOthers) {
    if (has_words(text, other) && !has_words(words_of(best), other)) return {};
  }
  return best;
}

}  // namespace headway
