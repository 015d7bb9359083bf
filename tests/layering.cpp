#include "layering.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace headway::testing {
namespace {

namespace fs = std::filesystem;

// The layers: what each folder of src/, and each folder in one, may include beside itself. A name
// stands for the files of that folder alone, not for those of the folders in it.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"base/document", {"base"}},
    {"base/draw", {"base"}},
    {"base/random", {"base"}},
    {"platform", {"base", "base/random", "base/document"}},
    {"model", {"base"}},
    {"model/template", {"base/document"}},
    {"model/reading", {"base", "base/document", "platform", "model", "model/template"}},
    {"cluster", {"base", "base/document", "platform"}},
    {"method", {"base", "base/document", "platform"}},
    {"layout/frameworks", {"base", "base/document", "platform"}},
    {"layout", {"base", "base/document", "method", "model", "cluster", "layout/frameworks"}},
    {"step/frameworks", {"base", "layout/frameworks", "layout"}},
    {"step/program", {"base", "model", "cluster", "layout"}},
    {"step/schedule", {"base", "layout"}},
    {"step/forward", {"model", "step/frameworks", "step/program"}},
    {"step/passes", {"model", "step/program", "step/forward"}},
    {"step/methods",
     {"base", "base/random", "platform", "method", "layout", "step/frameworks", "step/program",
      "step/forward", "step/passes"}},
    {"step/memory", {"step/program", "step/passes", "step/methods"}},
    {"step",
     {"base", "model", "cluster", "layout", "step/program", "step/schedule", "step/passes",
      "step/methods", "step/memory"}},
    {"run",
     {"base", "base/document", "platform", "method", "model", "model/reading", "cluster", "layout",
      "step/frameworks"}},
    {"launch/shell", {"base"}},
    {"launch", {"base", "platform", "step/frameworks", "run"}},
    {"launch/megatron", {"base", "platform", "step/frameworks", "launch/shell", "launch"}},
    {"launch/torchtitan",
     {"base", "platform", "model", "model/reading", "step/frameworks", "launch"}},
    {"launch/nanotron", {"base", "base/document", "step/frameworks", "launch"}},
    // Beside a configuration of DeepSpeed stands a command in Megatron's words.
    {"launch/deepspeed", {"base", "step/frameworks", "launch", "launch/megatron"}},
    {"cost/collective", {"base", "cluster", "layout", "step/program"}},
    {"cost/kernels", {"base", "cluster", "layout", "step/program"}},
    {"cost/calibration",
     {"base", "base/document", "platform", "cluster", "layout", "cost/collective", "cost/kernels"}},
    {"cost/serving",
     {"base", "base/document", "platform", "model", "cluster", "layout", "cost/kernels"}},
    {"forecast/schedule", {"base", "step/schedule"}},
    {"forecast",
     {"base", "method", "model", "cluster", "layout", "step/frameworks", "step/program",
      "step/schedule", "step/methods", "step", "cost/calibration", "forecast/schedule"}},
    {"forecast/intervals", {"base", "base/document", "platform", "model", "cluster", "forecast"}},
    {"forecast/predict",
     {"base", "base/random", "base/document", "platform", "method", "step/frameworks", "run",
      "cost/calibration", "forecast", "forecast/intervals"}},
    {"simulate/pipeline",
     {"base", "base/document", "layout", "step/schedule", "run", "forecast/schedule"}},
    {"simulate/step",
     {"base", "model", "layout", "step/frameworks", "step/program", "step/schedule", "step",
      "cost/calibration", "forecast"}},
    {"simulate/timeline",
     {"base", "step/memory", "step/schedule", "forecast", "simulate/step", "simulate/ranks"}},
    {"simulate/recorded",
     {"base", "cluster", "layout", "cost/collective", "cost/calibration", "trace/recording",
      "trace/analysis", "simulate/network", "simulate/topology", "simulate/collectives"}},
    {"simulate/workload",
     {"base", "cluster", "layout", "step/program", "step/schedule", "cost/calibration",
      "simulate/step"}},
    {"simulate/live",
     {"base", "base/document", "layout", "step/program", "trace/recording", "simulate/workload"}},
    {"simulate/replay", {"base", "base/document", "step/schedule"}},
    {"simulate/ranks",
     {"base", "base/random", "layout", "step/program", "run", "simulate/step", "simulate/replay"}},
    {"simulate/network", {"base", "base/document"}},
    {"simulate/topology", {"base", "base/random", "base/document", "simulate/network"}},
    {"simulate/collectives",
     {"base", "base/random", "base/document", "simulate/network", "simulate/topology"}},
    {"simulate/calls",
     {"base", "cluster", "layout", "step/program", "step", "cost/collective", "cost/calibration",
      "forecast", "simulate/topology", "simulate/collectives", "simulate/step"}},
    {"simulate/codesign",
     {"base", "cluster", "method", "layout", "step/frameworks", "step/program", "step/methods",
      "step", "run", "cost/calibration", "forecast", "simulate/step", "simulate/calls"}},
    {"limits/machine", {"base", "base/document", "cluster"}},
    {"limits/forms", {"base", "base/document", "method", "limits/machine"}},
    {"limits/search", {"base", "limits/machine", "limits/forms"}},
    {"limits", {"base", "base/document", "platform", "cluster", "limits/machine", "limits/forms"}},
    {"trace/recording", {"base", "base/document", "platform", "step/program"}},
    {"trace/io", {"base", "platform"}},
    {"trace/readers", {"base", "trace/recording", "trace/io"}},
    {"trace/readers/nccl", {"trace/recording", "trace/readers"}},
    {"trace/analysis", {"base", "trace/recording"}},
    {"trace",
     {"base", "platform", "trace/recording", "trace/io", "trace/readers", "trace/readers/nccl",
      "trace/analysis"}},
    {"study/lifetime",
     {"base", "base/document", "platform", "model", "cluster", "layout", "step/passes", "run",
      "forecast", "forecast/predict", "study/laws"}},
    {"study/plan/space",
     {"base", "base/document", "platform", "cluster", "layout/frameworks", "layout",
      "step/frameworks", "run"}},
    {"study/plan/networks",
     {"base", "platform", "model", "layout", "run", "step/forward", "forecast"}},
    {"study/plan",
     {"base", "platform", "method", "model", "cluster", "step/frameworks", "step/passes", "step",
      "run", "cost/calibration", "forecast", "forecast/predict", "study/plan/space",
      "study/plan/networks"}},
    {"study/plan/timing",
     {"base", "platform", "model", "model/reading", "cluster", "cost/calibration",
      "study/plan/space", "study/plan"}},
    {"study/sweep",
     {"base", "platform", "model", "model/reading", "cluster", "run", "cost/calibration",
      "forecast", "forecast/predict", "study/lifetime", "study/plan"}},
    {"study/traffic",
     {"base", "platform", "model", "model/reading", "cluster", "layout", "step/frameworks",
      "step/program", "step/schedule", "step", "run", "cost/calibration", "forecast",
      "forecast/predict"}},
    {"study/reconcile",
     {"base", "run", "step/program", "cost/calibration", "forecast", "trace/recording",
      "trace/analysis"}},
    {"study/live",
     {"base", "base/document", "step/program", "simulate/live", "trace/recording",
      "trace/analysis"}},
    {"study/advise",
     {"base", "run", "step/program", "step", "cost/calibration", "forecast", "forecast/predict",
      "simulate/recorded", "trace/recording", "trace/analysis", "study/reconcile", "study/plan",
      "study/plan/space"}},
    {"study/measured",
     {"base", "cluster", "step/program", "cost/collective", "cost/kernels", "cost/calibration",
      "simulate/recorded", "trace/recording", "trace/analysis", "trace"}},
    {"study/infer/load", {"base", "base/random", "base/document"}},
    {"study/infer",
     {"base", "base/random", "base/document", "platform", "model", "cluster", "layout",
      "step/frameworks", "step/program", "step/forward", "step/passes", "cost/collective",
      "cost/kernels", "cost/calibration", "cost/serving", "forecast", "study/infer/load"}},
    {"study/infer/pass",
     {"base", "platform", "model", "cluster", "layout", "step/program", "step/forward",
      "step/passes", "cost/collective", "cost/kernels", "cost/calibration", "cost/serving",
      "forecast", "study/infer"}},
    {"study/infer/intervals",
     {"base", "base/document", "platform", "model", "cluster", "layout", "step/program",
      "cost/calibration", "cost/serving", "study/infer/load", "study/infer"}},
    {"study/infer/search",
     {"base", "platform", "model", "cluster", "layout", "cost/calibration", "cost/serving",
      "study/bounds", "study/infer/load", "study/infer", "study/infer/intervals"}},
    {"study/infer/question",
     {"base", "base/document", "platform", "model", "model/reading", "cluster", "layout", "run",
      "study/infer", "study/infer/load", "study/infer/search"}},
    {"study/bounds", {"base", "cluster"}},
    {"study/design",
     {"base", "base/document", "platform", "model", "cluster", "layout", "step/program", "step",
      "run", "cost/kernels", "cost/collective", "cost/calibration", "cost/serving", "forecast",
      "study/bounds", "study/plan", "study/infer", "study/infer/search", "study/sweep"}},
    {"study/slim",
     {"base", "model", "cluster", "run", "cost/calibration", "study/laws", "study/design"}},
    {"study/phases", {"base", "base/document", "run", "forecast", "study/lifetime", "study/sweep"}},
    {"study/ramp", {"base"}},
    {"study/laws", {"base", "base/document", "platform"}},
    {"study/convergence",
     {"base", "method", "model", "layout", "run", "cost/calibration", "forecast",
      "forecast/predict", "study/laws", "study/lifetime", "study/traffic"}},
    {"study/jobs",
     {"base", "base/random", "base/document", "platform", "cluster", "cost/calibration", "run",
      "forecast", "forecast/predict", "simulate/network", "study/lifetime", "study/ramp"}},
    {"study/budget", {"base", "base/document", "platform", "limits/machine", "limits/search"}},
    {"study/limits",
     {"base", "base/document", "platform", "method", "cluster", "run", "cost/calibration",
      "forecast", "limits/machine", "limits/forms", "limits/search", "limits", "study/budget"}},
    {"fit", {"base"}},
    {"fit/corpus",
     {"base", "base/document", "platform", "model", "model/reading", "cluster", "layout",
      "step/frameworks", "cost/calibration", "forecast"}},
    {"fit/kernels",
     {"base", "base/random", "base/document", "base/draw", "cluster", "cost/kernels",
      "cost/calibration", "fit"}},
    {"fit/collectives",
     {"base", "base/document", "base/draw", "platform", "cluster", "layout", "step/program",
      "cost/collective", "cost/calibration", "trace/recording", "trace/analysis", "fit",
      "fit/corpus"}},
    {"fit/benchmarks",
     {"base", "base/document", "platform", "cluster", "layout", "step/program", "cost/kernels",
      "cost/collective", "cost/calibration", "cost/serving", "fit", "fit/collectives"}},
    {"fit/serving/words", {"base", "base/document", "platform", "study/infer"}},
    {"fit/serving",
     {"base", "base/document", "base/draw", "platform", "model", "model/reading", "cluster",
      "layout", "cost/calibration", "cost/serving", "study/infer", "study/infer/intervals",
      "study/infer/search", "fit", "fit/benchmarks"}},
    {"fit/serving/rows",
     {"base", "base/document", "platform", "model", "model/reading", "cluster", "study/infer",
      "fit/benchmarks", "fit/serving", "fit/serving/words"}},
    {"fit/workloads",
     {"base", "base/document", "platform", "model", "model/reading", "cluster", "layout",
      "cost/calibration", "forecast", "forecast/predict", "fit/benchmarks"}},
    {"fit/serving/aims",
     {"base", "base/document", "base/draw", "platform", "model", "model/reading", "cluster",
      "study/infer", "fit", "fit/benchmarks", "fit/serving"}},
    {"fit/steps", {"base", "base/draw", "platform", "cost/calibration", "fit", "fit/corpus"}},
    {"fit/intervals",
     {"base", "base/document", "base/draw", "platform", "forecast", "forecast/intervals", "fit",
      "fit/corpus", "fit/steps"}},
    {"fit/own",
     {"base", "base/random", "base/document", "base/draw", "platform", "layout", "step", "run",
      "cost/calibration", "forecast", "forecast/intervals", "fit", "fit/corpus", "fit/steps"}},
    {"fit/validation", {"base", "platform", "forecast", "fit", "fit/corpus", "fit/intervals"}},
    {"report",
     {"base",
      "base/document",
      "base/draw",
      "platform",
      "cluster",
      "layout",
      "run",
      "launch",
      "forecast",
      "limits/search",
      "study/lifetime",
      "study/plan",
      "study/infer/question",
      "study/plan/space",
      "study/plan/timing",
      "study/sweep",
      "study/traffic",
      "study/reconcile",
      "study/measured",
      "study/limits",
      "study/design",
      "fit/kernels",
      "fit/collectives",
      "fit/benchmarks",
      "fit/own",
      "fit/validation"}},
    {"report/json",
     {"base", "base/document", "method", "model", "cluster", "run", "forecast",
      "forecast/intervals", "limits/forms", "limits", "trace/analysis", "study/traffic",
      "fit/validation", "report"}},
    {"report/text",
     {"base", "base/draw", "method", "model", "model/reading", "cluster", "run", "limits/forms",
      "limits", "trace/recording", "trace/analysis", "study/plan", "study/plan/space",
      "study/traffic", "fit", "fit/workloads", "report"}},
    {"report/budget",
     {"base", "base/draw", "limits/search", "study/budget", "report", "report/json"}},
    {"report/shard", {"base", "platform", "study/plan"}},
    {"report/simulate",
     {"base", "base/draw", "layout", "forecast", "simulate/pipeline", "simulate/replay",
      "simulate/step", "simulate/ranks", "simulate/network", "simulate/topology",
      "simulate/collectives", "simulate/recorded", "trace/recording", "simulate/calls",
      "simulate/codesign", "report", "report/json"}},
    {"report/live",
     {"base", "base/document", "base/draw", "simulate/live", "study/live", "report/json"}},
    {"report/infer",
     {"base", "base/document", "base/draw", "model", "cluster", "layout", "study/bounds",
      "study/infer", "study/infer/intervals", "study/infer/search", "study/design", "fit",
      "fit/serving", "platform", "fit/serving/aims", "report", "report/json"}},
    {"report/design",
     {"base", "base/document", "base/draw", "platform", "cluster", "study/bounds", "study/design",
      "report/infer", "report/json"}},
    {"report/laws",
     {"base", "base/draw", "platform", "method", "layout", "study/laws", "study/convergence",
      "study/slim", "study/phases", "report", "report/json"}},
    {"report/jobs", {"base", "base/draw", "platform", "study/jobs", "report/json"}},
    {"report/comms",
     {"base", "base/document", "base/draw", "trace/recording", "trace/analysis", "study/measured",
      "study/advise", "report", "report/json", "report/text"}},
    {"report/csv", {"base", "base/document", "trace/analysis", "report"}},
    {"report/charts",
     {"base", "base/draw", "cluster", "trace/recording", "study/traffic", "study/measured", "fit",
      "fit/validation", "report"}},
    {"api",
     {"base",
      "base/document",
      "base/draw",
      "platform",
      "method",
      "model",
      "model/reading",
      "cluster",
      "layout",
      "run",
      "launch",
      "forecast/predict",
      "limits",
      "trace",
      "study/lifetime",
      "study/plan",
      "study/plan/space",
      "study/sweep",
      "study/budget",
      "study/limits",
      "fit/corpus",
      "fit/kernels",
      "fit/collectives",
      "fit/benchmarks",
      "fit/steps",
      "fit/intervals",
      "fit/own",
      "fit/validation",
      "report",
      "report/json",
      "report/shard",
      "study/plan/timing",
      "simulate/collectives",
      "study/infer",
      "fit/serving",
      "fit/workloads",
      "fit/serving/aims",
      "report/infer",
      "study/infer/question",
      "study/design",
      "cost/calibration",
      "study/infer/search"}},
    {"api/budget", {"study/budget", "report/budget", "api"}},
    {"api/forecasts",
     {"base", "base/document", "run", "forecast/predict", "study/plan", "report", "api"}},
    {"api/shard", {"base", "base/random", "base/document", "platform", "report/json"}},
    {"api/live",
     {"base", "platform", "forecast/predict", "simulate/live", "simulate/step", "simulate/workload",
      "study/live", "study/traffic", "trace", "report/live", "api"}},
    {"api/comms",
     {"base", "base/document", "platform", "cluster", "run", "trace", "trace/analysis",
      "study/measured", "study/advise", "fit/collectives", "fit/own", "report", "report/comms",
      "api"}},
    {"api/design",
     {"base", "platform", "study/design", "study/infer/question", "report/design", "api"}},
    {"api/laws",
     {"base", "base/document", "platform", "run", "study/laws", "study/lifetime",
      "study/convergence", "study/slim", "study/phases", "report/laws", "api"}},
    {"api/jobs",
     {"base", "base/document", "platform", "study/ramp", "study/jobs", "report/jobs", "api"}},
    {"api/simulate",
     {"base", "base/document", "platform", "forecast/predict", "simulate/pipeline",
      "simulate/replay", "simulate/step", "simulate/ranks", "simulate/timeline", "simulate/network",
      "simulate/calls", "simulate/workload", "simulate/collectives", "simulate/recorded", "cluster",
      "trace", "report/simulate", "api"}},
};
// Tests, and headers of tests alone, may include every leaf of their own folder, platform for files
// that they write, and these: that a configuration is read back as the same run is seen by its
// forecast.
const std::map<std::string, std::set<std::string>> kTestsMayInclude = {
    {"api", {"cost/calibration", "forecast", "layout", "limits/machine", "study/reconcile"}},
    {"model", {"base/document", "platform", "model/reading"}},
    {"layout", {"model/reading"}},
    {"forecast", {"cost/calibration", "model/reading", "run"}},
    {"simulate", {"forecast", "method", "platform", "run", "trace"}},
    {"report", {"base/document", "fit/corpus", "platform"}},
    {"launch", {"step", "forecast"}},
    {"step", {"base/document", "model/reading"}},
    {"limits", {"base/document", "platform"}},
    {"cost", {"cost/calibration"}},
    {"fit", {"base/document", "base/draw", "platform", "trace"}},
    {"study",
     {"base/document", "cost/calibration", "cost/collective", "cost/kernels", "platform", "trace",
      "model", "model/reading", "limits"}},
};
// apps are thin: they reach the library through its one door, and base for words.
const std::set<std::string> kAppsMayInclude = {"base/random", "api",  "api/forecasts", "api/live",
                                               "api/shard",   "base", "base/document", "platform"};
// What runs lists on a machine reads them.
constexpr std::string_view kReplayer = "apps/replay/";
constexpr std::string_view kOfReplayers = "simulate/live";
// What is loaded into programs of others needs nothing of the library but the form of its file; its
// tests read that, and include what is of tests.
constexpr std::array<std::string_view, 2> kRecorders = {"apps/recorder/",
                                                        "apps/python/python_test.cpp"};
constexpr std::string_view kOfRecorders = "src/trace/recording/record_file.hpp";

const std::set<std::string> kPureFolders = {"step", "cost", "forecast", "simulate", "limits"};
// What reaches the machine, only the port includes: the rest is the same in a browser.
const std::set<std::string> kHeadersOfThePort = {
    "fstream", "filesystem", "thread", "shared_mutex", "future", "condition_variable",
};
const std::set<std::string> kImpureHeaders = {
    "fstream", "iostream", "filesystem", "thread", "mutex",  "shared_mutex",
    "atomic",  "future",   "chrono",     "ctime",  "random", "condition_variable",
};

// A heavy header and the .cpp files that may include it; a folder stands for one file of it, or for
// any number where the header is only bound to its folder.
struct HeavyHeader {
  std::string_view pattern;  // what the include begins with
  std::vector<std::string> homes;
  bool one_file = true;
};
const std::array<HeavyHeader, 11> kHeavyHeaders = {{
    {"CLI/", {"apps/cli/"}},
    {"toml++/", {"src/base/document/parse_toml.cpp"}},
    {"nlohmann/",
     {"src/base/document/parse_json.cpp", "src/report/json/", "src/api/"},
     false},                         // reading; writing, by command
    {"nlopt", {"src/fit/"}, false},  // a short C header
    {"yaml.h", {"src/base/document/parse_yaml.cpp"}},
    {"tbb/", {"src/platform/workers_tbb.cpp"}},
    {"httplib", {"apps/server/"}},
    {"simdjson", {"src/trace/"}},
    {"protozero/", {"src/trace/", "src/simulate/timeline/", "src/simulate/workload/"}},
    // Reading a profile, writing a recording, files of the browser: a C header.
    {"sqlite3", {"src/trace/", "apps/wasm/sqlite_files.cpp"}, false},
    {"zlib", {"src/platform/gzip.cpp", "src/trace/"}},
}};

struct Include {
  std::string file;
  std::string name;
  int line;
  bool quoted;
};

bool is_test(const std::string& path) {
  return path.starts_with("tests/") || path.ends_with("_test.cpp") || path.ends_with("_bench.cpp");
}

std::vector<Include> includes_of(const std::string& path, const std::string& text) {
  static const std::regex directive(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<Include> out;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (line.find('#') == std::string::npos || !std::regex_search(line, match, directive)) continue;
    out.push_back({path, match[2], number, match[1] == "\""});
  }
  return out;
}

std::vector<Include> all_includes(const SourceTree& tree) {
  std::vector<Include> out;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".hpp") && !path.ends_with(".cpp")) continue;
    const std::vector<Include> found = includes_of(path, text);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

std::string at(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " ";
}

// "src/step/step.hpp" -> "step", "src/launch/shell/words.hpp" -> "launch/shell"; "" where the path
// is not inside a folder of src/.
std::string leaf_of(const std::string& path) {
  if (!path.starts_with("src/")) return {};
  const auto end = path.rfind('/');
  return end < 4 ? std::string() : path.substr(4, end - 4);
}

// The folder of src/ that a leaf is, or is in: "launch/shell" -> "launch".
std::string folder_of(const std::string& path) {
  const std::string leaf = leaf_of(path);
  return leaf.substr(0, leaf.find('/'));
}

// The file of the tree that a quoted include names, or "".
std::string target_of(const Include& include, const SourceTree& tree) {
  if (const std::string from_src = "src/" + include.name; tree.contains(from_src)) return from_src;
  const std::string beside =
      (fs::path(include.file).parent_path() / include.name).lexically_normal().string();
  return tree.contains(beside) ? beside : std::string();
}

// Whether the include is of a test library, in a header that only tests include.
bool is_support_of_tests(const Include& include, const std::vector<Include>& all,
                         const SourceTree& tree) {
  if (!include.name.starts_with("gtest/") && !include.name.starts_with("rapidcheck")) return false;
  return std::all_of(all.begin(), all.end(), [&](const Include& other) {
    return !other.quoted || is_test(other.file) || other.file.ends_with("_for_test.hpp") ||
           target_of(other, tree) != include.file;
  });
}

std::set<std::string> ids_in(const std::string& text) {
  static const std::regex id(R"(\[[A-Z]+-[0-9]+\])");
  std::set<std::string> out;
  for (std::sregex_iterator i(text.begin(), text.end(), id), end; i != end; ++i) {
    out.insert(i->str());
  }
  return out;
}

}  // namespace

bool is_of_tests(const std::string& path) {
  return is_test(path) || path.ends_with("_for_test.hpp");
}

SourceTree read_source_tree(const std::string& root) {
  SourceTree tree;
  for (const char* folder : {"src", "apps", "tests", "docs/models"}) {
    if (!fs::exists(fs::path(root) / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
      const std::string type = entry.path().extension().string();
      const bool document = type == ".md";
      if (type != ".hpp" && type != ".cpp" && !document) continue;
      if (document != (std::string_view(folder) == "docs/models")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      tree[fs::relative(entry.path(), root).generic_string()] = text.str();
    }
  }
  return tree;
}

Breaches layer_breaches(const SourceTree& tree) {
  Breaches out;
  const auto allows = [](const auto& table, const std::string& key, const std::string& value) {
    const auto found = table.find(key);
    return found != table.end() && found->second.contains(value);
  };
  for (const Include& include : all_includes(tree)) {
    if (!include.quoted || include.file.starts_with("tests/")) continue;
    const bool recorder =
        std::any_of(kRecorders.begin(), kRecorders.end(),
                    [&](std::string_view folder) { return include.file.starts_with(folder); });
    // Tables of what is called, and a recorder's header for programs in C.
    const bool tables = recorder || include.file.starts_with(kReplayer);
    if (tables && include.name.ends_with(".def")) continue;
    if (recorder && include.name.ends_with(".h")) continue;
    const std::string target = target_of(include, tree);
    if (target.empty()) {
      out.push_back(at(include) + "includes \"" + include.name + "\", which is no file of src/");
      continue;
    }
    const std::string to = leaf_of(target);
    if (recorder) {
      const bool tests =
          is_of_tests(include.file) && (folder_of(target) == "trace" || is_of_tests(target));
      if (!to.empty() && target != kOfRecorders && !tests) {
        out.push_back(at(include) + "a recorder may include record_file.hpp alone, not " +
                      include.name);
      }
      continue;
    }
    if (include.file.starts_with("apps/")) {
      const bool tests = is_of_tests(include.file) && folder_of(target) == "trace";
      const bool lists = include.file.starts_with(kReplayer) &&
                         (to == kOfReplayers || target == kOfRecorders || tests);
      if (!to.empty() && !lists && !kAppsMayInclude.contains(to)) {
        out.push_back(at(include) + "apps may include api and base, not " + include.name);
      }
      continue;
    }
    const std::string from = leaf_of(include.file), folder = folder_of(include.file);
    const bool testing = is_of_tests(include.file);
    if (!kMayInclude.contains(from)) {
      out.push_back(at(include) + "stands in src/" + from + ", which has no place in the layers");
    } else if (from != to && !allows(kMayInclude, from, to) &&
               !(testing &&
                 (folder_of(target) == folder || allows(kTestsMayInclude, folder, to)))) {
      out.push_back(at(include) + from + " may not include " + include.name);
    }
  }
  return out;
}

Breaches purity_breaches(const SourceTree& tree) {
  Breaches out;
  for (const Include& include : all_includes(tree)) {
    const std::string folder = folder_of(include.file);
    if (include.quoted || folder.empty() || is_test(include.file)) continue;
    if (kPureFolders.contains(folder) && kImpureHeaders.contains(include.name)) {
      out.push_back(at(include) + folder + " may not include <" + include.name + ">");
    } else if (kHeadersOfThePort.contains(include.name) && folder != "platform" &&
               !include.file.ends_with("_for_test.hpp")) {
      out.push_back(at(include) + "only platform may include <" + include.name + ">");
    } else if (include.name == "iostream") {
      out.push_back(at(include) + "the library does not print: no <iostream>");
    }
  }
  return out;
}

Breaches heavy_header_breaches(const SourceTree& tree) {
  Breaches out;
  const std::vector<Include> includes = all_includes(tree);
  std::map<std::string, std::string> user_of_home;  // header + home -> the file that includes it
  for (const Include& include : includes) {
    const auto heavy =
        std::find_if(kHeavyHeaders.begin(), kHeavyHeaders.end(), [&](const HeavyHeader& header) {
          return std::string_view(include.name).starts_with(header.pattern);
        });
    if (heavy != kHeavyHeaders.end()) {
      // A test may read JSON answers by other means than the code that writes them.
      if (is_of_tests(include.file) && heavy->pattern == "nlohmann/") continue;
      const auto home =
          std::find_if(heavy->homes.begin(), heavy->homes.end(),
                       [&](const std::string& path) { return include.file.starts_with(path); });
      // What several writers of documents share is in the form they write.
      const bool shared =
          heavy->pattern == "nlohmann/" && include.file.starts_with("src/report/json/");
      if (home == heavy->homes.end() || !(include.file.ends_with(".cpp") || shared)) {
        out.push_back(at(include) + "may not include the heavy header " + include.name);
        continue;
      }
      const std::string key = std::string(heavy->pattern) + " " + *home;
      const auto [first, is_first] = user_of_home.emplace(key, include.file);
      if (heavy->one_file && !is_first && first->second != include.file) {
        out.push_back(at(include) + include.name + " is included by " + first->second +
                      " already; one .cpp is its home");
      }
      continue;
    }
    // A name with a point or a slash is no header of the C++ standard library.
    if (!include.quoted && include.file.starts_with("src/") && include.file.ends_with(".hpp") &&
        include.name.find_first_of("./") != std::string::npos &&
        !is_support_of_tests(include, includes, tree)) {
      out.push_back(at(include) + "a header includes only std and src/, not <" + include.name +
                    ">");
    }
  }
  return out;
}

namespace {

// Behind the bracket that closes the first one from `at` on.
std::size_t end_of_call(std::string_view text, std::size_t at) {
  int open = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++open;
    if (text[at] == ')' && --open == 0) return at + 1;
  }
  return at;
}

}  // namespace

Breaches problem_breaches(const SourceTree& tree) {
  // What stands behind the text of a problem where it is searched or compared.
  static const std::regex searched(
      R"re(^\s*(\.(find|rfind|find_\w+|starts_with|ends_with|contains|compare|substr)\b|[=!]= *"))re");
  // What stands before a place.
  static const std::regex placed(
      R"re((\bProblem|roblems_?(\.|->)push_back\(|\bbad\(\{|roblems = \{)\s*\{\s*$)re");
  Breaches out;
  for (const auto& [path, text] : tree) {
    if (is_test(path) || path.ends_with("_for_test.hpp") ||
        !(path.starts_with("src/") || path.starts_with("apps/")))
      continue;
    const auto each = [&, &path = path, &text = text](std::string_view word, const char* what,
                                                      const auto& is_wrong) {
      for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        if (!is_wrong(at)) continue;
        const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
        out.push_back(path + ":" + std::to_string(line) + what);
      }
    };
    const auto is_searched = [&, &text = text](std::size_t end) {
      return std::regex_search(text.substr(end, 40), searched);
    };
    const char* const by_words = " searches the text of a problem; ask for its kind or fields";
    for (const std::string_view member : {".message", ".place.file"}) {
      each(member, by_words, [&](std::size_t at) { return is_searched(at + member.size()); });
    }
    each("where_text(", by_words,
         [&, &text = text](std::size_t at) { return is_searched(end_of_call(text, at)); });
    each("\"--", " writes a flag as a place; give a FieldName", [&, &text = text](std::size_t at) {
      const std::size_t from = at < 40 ? 0 : at - 40;
      return std::regex_search(text.substr(from, at - from), placed);
    });
  }
  return out;
}

Breaches formula_id_breaches(const SourceTree& tree) {
  enum Place { code, docs, tests };
  std::map<std::string, std::array<std::string, 3>> found;  // id -> one path for each place
  for (const auto& [path, text] : tree) {
    if (path.starts_with("tests/layering")) continue;
    const Place place = path.ends_with(".md") ? docs : is_test(path) ? tests : code;
    for (const std::string& id : ids_in(text)) found[id][place] = path;
  }
  Breaches out;
  for (const auto& [id, paths] : found) {
    std::string missing;
    if (paths[code].empty()) missing += " src/";
    if (paths[docs].empty()) missing += " docs/models/";
    if (paths[tests].empty()) missing += " *_test.cpp";
    const auto seen = std::find_if(paths.begin(), paths.end(),
                                   [](const std::string& path) { return !path.empty(); });
    if (!missing.empty()) out.push_back(*seen + " " + id + " does not stand in:" + missing);
  }
  return out;
}

}  // namespace headway::testing
