// Frameworks and architectures are data: their names stand in the code of the rooms that read and
// write what they call their own, and nowhere else in src/.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "layering.hpp"

namespace headway::testing {
namespace {

// Where they may be named.
constexpr std::string_view kRooms[] = {"src/layout/frameworks/", "src/step/frameworks/",
                                       "src/launch/"};

// Names that mean something else where they stand, and why.
struct Exception {
  std::string_view path, name, reason;
};
constexpr Exception kExceptions[] = {
    {"src/run/madmax.cpp", "fsdp", "a word of the strategies in these files"},
    {"src/trace/format_rows.cpp", "deepspeed", "the format of a log is called by who writes it"},
    {"src/trace/readers/readers.hpp", "deepspeed", "its reader"},
    {"src/trace/readers/deepspeed_log.cpp", "deepspeed", "its reader"},
    {"src/study/reconcile/groups.cpp", "fsdp", "a word of process groups in traces"},
    {"src/fit/validation/validation.cpp", "fsdp", "the technique: weights sharded over replicas"},
};

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Whether the name that is found at `at` is one: "read_deepspeed", "megatron-1t", but not "adapter"
// for "ada". Names of fewer than seven letters may be part of a word: they must stand alone.
bool stands_alone(std::string_view text, std::size_t at, std::string_view name) {
  if (name.size() >= 7) return true;
  const bool begins = at == 0 || !is_letter(text[at - 1]);
  return begins && (at + name.size() == text.size() || !is_letter(text[at + name.size()]));
}

bool is_excepted(std::string_view path, std::string_view name) {
  return std::any_of(std::begin(kExceptions), std::end(kExceptions), [&](const Exception& each) {
    return each.path == path && (each.name.empty() || each.name == name);
  });
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

// What the expression's group is wherever it stands in the files of a folder.
void add_found(const std::filesystem::path& folder, const char* expression,
               std::set<std::string>& names) {
  const std::regex pattern(expression);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) {
      names.insert((*i)[1]);
    }
  }
}

}  // namespace

std::set<std::string> names_in_data(const std::string& root) {
  const std::filesystem::path data = std::filesystem::path(root) / "data";
  // Those that data of their own do not name.
  std::set<std::string> found = {"nemo", "gpt-neox", "colossalai", "composer", "torchtune", "rdna"};
  for (const char* folder : {"frameworks", "launch"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
      found.insert(entry.path().stem().string());
    }
  }
  add_found(data / "frameworks", "(?:^|\n)title = \"([^\"]+)\"", found);
  add_found(data / "accelerators", "\narchitecture = \"([^\"]+)\"", found);
  std::set<std::string> out;
  for (std::string name : found) {
    std::transform(name.begin(), name.end(), name.begin(), lower);
    out.insert(name.substr(0, name.find('-') < 7 ? name.size() : name.find('-')));
  }
  out.erase("other");  // a framework that nothing is known of; a word like others
  return out;
}

std::string without_comments(std::string_view code) {
  std::string out;
  char quote = 0;  // of the text in which we are
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i], next = i + 1 < code.size() ? code[i + 1] : '\0';
    if (quote != 0) {
      out += c;
      if (c == '\\' && next != '\0') {
        out += next;
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '/' && next == '/') {
      i = std::min(code.find('\n', i), code.size()) - 1;
    } else if (c == '/' && next == '*') {
      const std::size_t end = std::min(code.find("*/", i + 2), code.size());
      out.append(static_cast<std::size_t>(
                     std::count(code.begin() + static_cast<std::ptrdiff_t>(i),
                                code.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                 '\n');
      i = end + 1;
    } else {
      // An apostrophe behind a digit parts a number: 1'000.
      const bool digits =
          c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(code[i - 1]));
      if ((c == '"' || c == '\'') && !digits) quote = c;
      out += c;
    }
  }
  return out;
}

Breaches name_breaches(const SourceTree& tree, const std::set<std::string>& names) {
  Breaches out;
  for (const auto& [path, text] : tree) {
    if (!path.starts_with("src/") || is_of_tests(path)) continue;
    if (std::any_of(std::begin(kRooms), std::end(kRooms),
                    [&path = path](std::string_view room) { return path.starts_with(room); })) {
      continue;
    }
    std::string code = without_comments(text);
    std::transform(code.begin(), code.end(), code.begin(), lower);
    for (const std::string& name : names) {
      for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
        if (!stands_alone(code, at, name) || is_excepted(path, name)) continue;
        const auto line = 1 + std::count(code.begin(), code.begin() + std::ptrdiff_t(at), '\n');
        out.push_back(path + ":" + std::to_string(line) + " names '" + name +
                      "'; what follows from a framework or an architecture is data");
      }
    }
  }
  return out;
}

}  // namespace headway::testing
