// Drives one of the fuzz targets where no libFuzzer is at hand: runs each seed file, then mutations
// of them. Mutation i is a pure function of the seeds and i, so that a failure can be run again
// alone:
//
//   fuzz_driver TARGET [--iterations N] [--only I] FILE_OR_FOLDER...
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"

// Present where a sanitizer is linked in; it calls the function before it ends the program.
extern "C" void __attribute__((weak)) __sanitizer_set_death_callback(void (*)());
// The sanitizer of undefined behaviour calls no such function; but it aborts where it is told to.
extern "C" const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestInput = 64 * 1024;
constexpr std::string_view kTokens[] = {"[",
                                        "]",
                                        "[[",
                                        "]]",
                                        "{",
                                        "}",
                                        "\"",
                                        "'",
                                        "\"\"\"",
                                        "'''",
                                        "=",
                                        ".",
                                        ",",
                                        ":",
                                        "#",
                                        "\\",
                                        "\\u00",
                                        "\n",
                                        "\r\n",
                                        "\r",
                                        "null",
                                        "true",
                                        "nan",
                                        "inf",
                                        "-0",
                                        "1e400",
                                        "9223372036854775808",
                                        "0x10",
                                        "1e-400",
                                        "-1",
                                        "0",
                                        "GB/s",
                                        " TFLOP/s",
                                        "µs",
                                        "\xff",
                                        "\xc3",
                                        "\xed\xa0\x80",
                                        "\xef\xbb\xbf",
                                        "a.b",
                                        "1979-05-27T07:32:00Z",
                                        std::string_view("\0", 1)};

std::string label = "seed";  // what runs now, for the last words
std::size_t index_now = 0;

void say_last_words() {
  char text[300];
  const int length =
      std::snprintf(text, sizeof text, "\nfuzz: failed at %s %zu\n", label.c_str(), index_now);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

void die(int signal) {
  say_last_words();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t index)
      : seeds_(seeds), random_(index * 0x9e3779b97f4a7c15u + 1) {}

  std::string operator()() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t edits = 1 + below(6); edits > 0; --edits) edit(text);
    if (text.size() > kLongestInput) text.resize(kLongestInput);
    return text;
  }

 private:
  // Distributions of the standard library differ between implementations; the remainder does not.
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void edit(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(below(40), text.size() - at);
    switch (below(8)) {
      case 0:  // change one bit
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:  // put in any byte
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:  // say a piece again, up to 100 times: nesting, long keys
        text.insert(at, repeated(text.substr(at, length), 1 + below(100)));
        break;
      case 4:
        text.insert(at, repeated(kTokens[below(std::size(kTokens))], 1 + below(3)));
        break;
      case 5:
        text.insert(at, repeated(kTokens[below(std::size(kTokens))], 1 + below(300)));
        break;
      case 6: {  // a piece of another seed
        const std::string& other = seeds_[below(seeds_.size())];
        text.insert(at, other.substr(below(other.size()), below(200)));
        break;
      }
      default:  // cut off
        text.resize(at);
    }
  }

  static std::string repeated(std::string_view piece, std::size_t times) {
    std::string out;
    for (; times > 0 && out.size() < kLongestInput; --times) out += piece;
    return out;
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

void add_seeds(const fs::path& path, std::vector<fs::path>& out) {
  if (!fs::is_directory(path)) return out.push_back(path);
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
}

void run(const headway::fuzz::Target& target, const std::string& text) {
  // An exact copy on the heap: the sanitizer sees a read past its end.
  const std::vector<char> bytes(text.begin(), text.end());
  target.run({bytes.data(), bytes.size()});
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view name = count > 1 ? arguments[1] : "";
  const std::optional<headway::fuzz::Target> target = headway::fuzz::target_named(name);
  if (!target) {
    std::fprintf(stderr, "fuzz: no target is named '%s'; there are: %s\n",
                 std::string(name).c_str(), headway::fuzz::target_names().c_str());
    return 2;
  }
  std::size_t first = 0;
  std::size_t last = 20000;
  std::vector<fs::path> files;
  for (int i = 2; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool has_value = i + 1 < count;
    if (argument == "--iterations" && has_value) {
      last = std::strtoull(arguments[++i], nullptr, 10);
    } else if (argument == "--only" && has_value) {
      first = std::strtoull(arguments[++i], nullptr, 10);
      last = first + 1;
    } else {
      add_seeds(argument, files);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) return std::fprintf(stderr, "fuzz: no seeds given\n"), 2;

  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) {
    // A sanitizer says more about a bad access than this handler; it has its own.
    if (__sanitizer_set_death_callback == nullptr || signal == SIGABRT) std::signal(signal, die);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_last_words);

  if (first == 0) {
    for (index_now = 0; index_now < seeds.size(); ++index_now) run(*target, seeds[index_now]);
  }
  label = "mutation (run it again with --only)";
  for (index_now = first; index_now < last; ++index_now) {
    run(*target, Mutator(seeds, index_now)());
  }
  std::printf("%zu seeds and %zu mutations ran\n", seeds.size(), last - first);
}
