#include "layering.hpp"

#include <gtest/gtest.h>

#include "base/source_dir_for_test.hpp"

namespace headway::testing {
namespace {

const SourceTree& repository() {
  static const SourceTree tree = read_source_tree(source_dir());
  return tree;
}

std::string listed(const Breaches& breaches) {
  std::string out;
  for (const std::string& breach : breaches) out += breach + "\n";
  return out;
}

// ---- the repository as it stands ----

TEST(Layering, TheRepositoryIsRead) {
  EXPECT_TRUE(repository().contains("src/base/quantity.hpp"));
  EXPECT_TRUE(repository().contains("src/step/program/call.hpp"));
  EXPECT_TRUE(repository().contains("apps/cli/main.cpp"));
}

TEST(Layering, FoldersIncludeOnlyWhatStandsBeforeThem) {
  const Breaches found = layer_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Layering, StepCostForecastSimulateAndLimitsTouchNoFileClockOrThread) {
  const Breaches found = purity_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Layering, HeavyHeadersLiveInOneSourceFileEach) {
  const Breaches found = heavy_header_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Problems, AreToldApartByWhatTheyAreNotByTheirWords) {
  const Breaches found = problem_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Rooms, HoldAFewFilesEach) {
  const Breaches found = room_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Names, OfFrameworksAndArchitecturesStandInDataAlone) {
  const Breaches found = name_breaches(repository(), names_in_data(source_dir()));
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Names, OfTypesStandForOneEach) {
  const Breaches found = type_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(FormulaIds, StandInCodeDocumentsAndTests) {
  const Breaches found = formula_id_breaches(repository());
  EXPECT_TRUE(found.empty()) << listed(found);
}

// ---- the checks find what they are for ----

SourceTree sound() {
  return {{"src/base/text.hpp", "#include <string>\n"},
          {"src/model/model.hpp", "#include \"base/text.hpp\"\n"},
          {"src/cluster/cluster.hpp", "#include \"base/text.hpp\"\n"},
          {"src/step/program/call.hpp", "#include \"cluster/cluster.hpp\"\n"},
          {"src/step/program/op.hpp", "#include \"model/model.hpp\"\n"},
          {"src/step/step.hpp", "#include \"step/program/op.hpp\"\n"},
          {"src/trace/recording/read.cpp", "#include \"step/program/call.hpp\"\n"},
          {"src/step/frameworks/habits.hpp", "#include \"base/text.hpp\"\n"},
          {"src/run/run.hpp", "#include \"step/frameworks/habits.hpp\"\n"},
          {"src/launch/launch.hpp", "#include \"run/run.hpp\"\n"},
          {"src/launch/shell/words.hpp", "#include \"base/text.hpp\"\n"},
          {"src/launch/megatron/read.hpp",
           "#include \"launch/shell/words.hpp\"\n#include \"launch/launch.hpp\"\n"},
          {"src/launch/nanotron/read.cpp", "#include \"launch/launch.hpp\"\n"},
          {"src/forecast/case_for_test.hpp", "#include \"step/step.hpp\"\n"},
          {"src/limits/run.hpp", "#include \"cluster/cluster.hpp\"\n"},
          {"src/api/api.hpp", "#include \"limits/run.hpp\"\n"},
          {"apps/cli/main.cpp", "#include \"api/api.hpp\"\n#include <CLI/CLI.hpp>\n"}};
}

SourceTree with(const std::string& path, const std::string& text) {
  SourceTree tree = sound();
  tree[path] = text;
  return tree;
}

TEST(LayeringCheck, ASoundTreeHasNoBreach) {
  EXPECT_EQ(listed(layer_breaches(sound())), "");
  EXPECT_EQ(listed(purity_breaches(sound())), "");
  EXPECT_EQ(listed(heavy_header_breaches(sound())), "");
}

TEST(LayeringCheck, FindsEachForbiddenDirection) {
  const std::pair<const char*, const char*> forbidden[] = {
      {"src/base/x.cpp", "model/model.hpp"},
      {"src/model/x.hpp", "cluster/cluster.hpp"},
      {"src/cluster/x.cpp", "model/model.hpp"},
      {"src/limits/x.cpp", "model/model.hpp"},
      {"src/limits/x.hpp", "step/program/call.hpp"},
      {"src/cluster/x.hpp", "step/program/call.hpp"},
      {"src/trace/x.cpp", "step/step.hpp"},
      {"src/trace/x.cpp", "model/model.hpp"},
      {"src/step/x.cpp", "api/api.hpp"},
      {"apps/cli/x.cpp", "step/program/call.hpp"},
      {"apps/recorder/mpi/x.cpp", "base/text.hpp"},
      {"src/fit/x.cpp", "api/api.hpp"},
      {"src/else/x.cpp", "base/text.hpp"},
      {"src/base/x_test.cpp", "model/model.hpp"}};
  for (const auto& [file, include] : forbidden) {
    const std::string line = "// a comment\n  #  include \"" + std::string(include) + "\"\n";
    const Breaches found = layer_breaches(with(file, line));
    ASSERT_EQ(found.size(), 1u) << file << " -> " << include;
    EXPECT_TRUE(found[0].starts_with(std::string(file) + ":2 ")) << found[0];
  }
}

TEST(LayeringCheck, FindsEachForbiddenDirectionBetweenFoldersInAFolder) {
  const std::pair<const char*, const char*> forbidden[] = {
      {"src/launch/shell/x.cpp", "launch/launch.hpp"},   // the shell knows no runs
      {"src/launch/shell/x.hpp", "run/run.hpp"},         //
      {"src/launch/x.cpp", "launch/shell/words.hpp"},    // what is shared is above no framework
      {"src/launch/x.cpp", "launch/megatron/read.hpp"},  //
      {"src/launch/nanotron/x.cpp", "launch/shell/words.hpp"},
      {"src/launch/nanotron/x.cpp", "launch/megatron/read.hpp"},
      {"src/launch/megatron/x.cpp", "forecast/case_for_test.hpp"},
      {"src/launch/megatron/x.cpp", "step/step.hpp"},  // of step its habits alone
      {"src/launch/megatron/x_test.cpp", "api/api.hpp"},
      {"src/run/x.cpp", "step/step.hpp"},
      {"src/run/x.cpp", "launch/launch.hpp"},
      {"src/study/x.cpp", "run/run.hpp"},
      {"src/api/x.cpp", "launch/megatron/read.hpp"},  // by the one door of launch
      {"src/api/part/x.cpp", "base/text.hpp"},        // a folder that nobody has placed
      {"apps/cli/x.cpp", "launch/launch.hpp"}};
  for (const auto& [file, include] : forbidden) {
    const Breaches found =
        layer_breaches(with(file, "#include \"" + std::string(include) + "\"\n"));
    ASSERT_EQ(found.size(), 1u) << file << " -> " << include;
    EXPECT_TRUE(found[0].starts_with(std::string(file) + ":1 ")) << found[0];
  }
}

TEST(LayeringCheck, TestsOfLaunchMayPriceTheRunsTheyReadBack) {
  for (const char* file : {"src/launch/nanotron/x_test.cpp", "src/launch/x_for_test.hpp"}) {
    EXPECT_EQ(listed(layer_breaches(with(file, "#include \"forecast/case_for_test.hpp\"\n"))), "");
  }
}

TEST(LayeringCheck, FindsAnIncludeThatNamesNoFile) {
  EXPECT_EQ(layer_breaches(with("src/step/x.hpp", "#include \"step/none.hpp\"\n")).size(), 1u);
  EXPECT_EQ(layer_breaches(with("src/step/x.hpp", "#include \"step.hpp\"\n")).size(), 0u);
}

TEST(LayeringCheck, OfAStepTracesSeeItsProgramAlone) {
  const auto breaches = [](const std::string& include) {
    return layer_breaches(with("src/trace/recording/x.cpp", "#include \"" + include + "\"\n"))
        .size();
  };
  EXPECT_EQ(breaches("step/program/call.hpp"), 0u);
  EXPECT_EQ(breaches("step/step.hpp"), 1u);
  EXPECT_EQ(breaches("cluster/cluster.hpp"), 1u);
}

TEST(LayeringCheck, FindsFilesClocksThreadsAndRandomnessInPureFolders) {
  for (const char* header : {"fstream", "iostream", "filesystem", "thread", "chrono", "random"}) {
    for (const char* folder : {"step", "cost", "forecast", "limits"}) {
      const std::string text = "#include <" + std::string(header) + ">\n";
      const std::string path = "src/" + std::string(folder) + "/x";
      EXPECT_EQ(purity_breaches(with(path + ".cpp", text)).size(), 1u) << folder << header;
      EXPECT_EQ(purity_breaches(with(path + ".hpp", text)).size(), 1u) << folder << header;
      EXPECT_EQ(purity_breaches(with(path + "_test.cpp", text)).size(), 0u) << folder << header;
    }
  }
  EXPECT_EQ(purity_breaches(with("src/base/x.cpp", "#include <fstream>\n")).size(), 1u);
  EXPECT_EQ(purity_breaches(with("src/platform/x.cpp", "#include <fstream>\n")).size(), 0u);
  EXPECT_EQ(purity_breaches(with("src/base/x.cpp", "#include <iostream>\n")).size(), 1u);
}

TEST(LayeringCheck, FindsHeavyHeadersAwayFromHomeOrTwice) {
  const auto breaches = [](const std::string& path, const std::string& header) {
    return heavy_header_breaches(with(path, "#include <" + header + ">\n")).size();
  };
  EXPECT_EQ(breaches("src/base/document/parse_toml.cpp", "toml++/toml.h"), 0u);
  EXPECT_EQ(breaches("src/model/reading/load.cpp", "toml++/toml.h"), 1u);
  EXPECT_EQ(breaches("src/api/write.cpp", "nlohmann/json.hpp"), 0u);
  EXPECT_EQ(breaches("src/api/write.hpp", "nlohmann/json.hpp"), 1u);
  EXPECT_EQ(breaches("src/report/json/write.hpp", "nlohmann/json.hpp"), 0u);
  EXPECT_EQ(breaches("src/fit/fit.cpp", "nlopt.hpp"), 0u);
  EXPECT_EQ(breaches("src/cost/fit.cpp", "nlopt.h"), 1u);
  EXPECT_EQ(breaches("src/fit/fit.hpp", "nlopt.h"), 1u);
  EXPECT_EQ(breaches("apps/cli/second.cpp", "CLI/App.hpp"), 1u);  // main.cpp is its home already
  EXPECT_EQ(breaches("apps/server/serve.cpp", "httplib.h"), 0u);
  EXPECT_EQ(breaches("src/trace/x.cpp", "simdjson.h"), 0u);
  EXPECT_EQ(breaches("src/step/x.cpp", "protozero/pbf_reader.hpp"), 1u);
  EXPECT_EQ(breaches("tests/x_test.cpp", "nlohmann/json.hpp"), 0u);
  EXPECT_EQ(breaches("tests/x_test.cpp", "toml++/toml.h"), 1u);
}

TEST(LayeringCheck, FindsAHeaderThatIncludesMoreThanStd) {
  EXPECT_EQ(heavy_header_breaches(with("src/fit/x.hpp", "#include <tbb/tbb.h>\n")).size(), 1u);
  EXPECT_EQ(heavy_header_breaches(with("src/fit/x.hpp", "#include <math.h>\n")).size(), 1u);
  EXPECT_EQ(heavy_header_breaches(with("src/fit/x.hpp", "#include <cmath>\n")).size(), 0u);
  SourceTree support = with("src/fit/case.hpp", "#include <gtest/gtest.h>\n");
  support["src/fit/x_test.cpp"] = "#include \"fit/case.hpp\"\n";
  EXPECT_EQ(heavy_header_breaches(support).size(), 0u);
  support["src/fit/x.cpp"] = "#include \"fit/case.hpp\"\n";
  EXPECT_EQ(heavy_header_breaches(support).size(), 1u);
}

TEST(ProblemCheck, FindsASearchForWordsAndAFlagAsAPlace) {
  for (const char* line :
       {"if (problem.message.starts_with(\"is no\")) return;",
        "return problems.back().message.find(name) != npos;", "other.place.file.ends_with(\".sh\")",
        "where_text(problems[0]).find(\"tp\")", "where_text(problem) == \"--tp\"",
        "problem.message != \"was stopped\"", "return Problem{\"--tp\", \"is 0\"};",
        "problems_.push_back( {\"--tp\", \"is 0\"});"}) {
    const Breaches found = problem_breaches(with("src/api/x.cpp", "int a;\n" + std::string(line)));
    ASSERT_EQ(found.size(), 1u) << line;
    EXPECT_TRUE(found[0].starts_with("src/api/x.cpp:2 ")) << found[0];
    EXPECT_EQ(problem_breaches(with("src/api/x_test.cpp", line)).size(), 0u) << line;
  }
  for (const char* line : {"problem.message += \" (a file)\";", "other.place.file == name",
                           "out += where_text(problem) + problem.message;"}) {
    EXPECT_EQ(listed(problem_breaches(with("src/api/x.cpp", line))), "") << line;
  }
}

TEST(RoomCheck, FindsAFolderThatHoldsTooMuchAndCountsNoTests) {
  for (const auto& [folder, most] : {std::pair("src/step", 25), std::pair("src/api", 20)}) {
    SourceTree tree;
    for (int i = 0; i < most; ++i) {
      const std::string file = std::string(folder) + "/" + std::to_string(i);
      for (const char* end : {".cpp", "_test.cpp", "_bench.cpp", "_for_test.hpp"}) tree[file + end];
    }
    EXPECT_EQ(listed(room_breaches(tree)), "");
    tree[std::string(folder) + "/inner/x.hpp"];  // a room of its own
    EXPECT_EQ(listed(room_breaches(tree)), "");
    tree[std::string(folder) + "/x.hpp"];
    ASSERT_EQ(room_breaches(tree).size(), 1u);
    EXPECT_TRUE(room_breaches(tree)[0].starts_with(folder));
  }
}

TEST(NameCheck, ReadsTheNamesOffTheData) {
  const std::set<std::string> names = names_in_data(source_dir());
  for (const char* name : {"megatron", "torchtitan", "maxtext", "hopper", "cdna3"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(NameCheck, FindsANameInWordsIdentifiersAndLiterals) {
  const std::set<std::string> names = {"deepspeed", "ada", "jax"};
  const auto found = [&](const std::string& path, const std::string& line) {
    return name_breaches(with(path, "int a;\n" + line), names).size();
  };
  for (const char* line : {"f(\"deepspeed\");", "void read_deepspeed();", "class DeepSpeedReader;",
                           "f(\"ada\");", "f('\"', \"jax-on\");", "f(\"// jax\");"}) {
    EXPECT_EQ(found("src/step/x.cpp", line), 1u) << line;
    EXPECT_EQ(found("src/launch/deepspeed/x.cpp", line), 0u) << line;
    EXPECT_EQ(found("src/step/x_test.cpp", line), 0u) << line;
  }
  for (const char* line :
       {"// by DeepSpeed", "int b;  // jax", "/* ada\n jax */", "f(\"adapter\");", "ajax();"}) {
    EXPECT_EQ(found("src/step/x.cpp", line), 0u) << line;
  }
  EXPECT_TRUE(
      name_breaches(with("src/step/x.cpp", "int a;\n/* \n */ f(\"jax\");"), names)[0].starts_with(
          "src/step/x.cpp:3 "));
}

TEST(NameCheck, FindsATypeThatStandsTwice) {
  const std::string one = "namespace headway {\nstruct Plan : Base {\n  struct Part {};\n};\n}\n";
  const auto found = [&](const std::string& path, const std::string& text) {
    return type_breaches({{"src/study/a.hpp", one}, {path, text}}).size();
  };
  EXPECT_EQ(found("src/report/b.hpp", one), 1U);
  EXPECT_EQ(found("src/report/b.hpp", "namespace headway {\nclass Plan {};\n}\n"), 1U);
  for (const char* other : {"namespace headway {\nstruct Plan;\n}\n",
                            "namespace headway::launch {\nstruct Plan {};\n}\n",
                            "namespace headway {\nstruct Part {};\n}\n",
                            "namespace headway {\n// struct Plan {\n}\n"}) {
    EXPECT_EQ(found("src/report/b.hpp", other), 0U) << other;
  }
  EXPECT_EQ(found("src/report/b_test.hpp", "namespace headway {\nint a;\n}\n"), 0U);
}

TEST(FormulaIdCheck, FindsAnIdThatIsMissingInAnyOfTheThree) {
  const SourceTree all = {{"src/cost/a.cpp", "// [COLL-3] ring\n"},
                          {"docs/models/a.md", "## [COLL-3] Ring\n"},
                          {"src/cost/a_test.cpp", "// [COLL-3]\n"}};
  EXPECT_EQ(listed(formula_id_breaches(all)), "");
  for (const auto& [path, text] : all) {
    SourceTree tree = all;
    tree[path] = "// [not an id], [COLL-], COLL-3\n";
    EXPECT_EQ(formula_id_breaches(tree).size(), 1u) << path;
  }
  SourceTree golden = all;
  golden.erase("src/cost/a_test.cpp");
  golden["tests/golden/a_test.cpp"] = "// [COLL-3]\n";
  EXPECT_EQ(listed(formula_id_breaches(golden)), "");
}

}  // namespace
}  // namespace headway::testing
