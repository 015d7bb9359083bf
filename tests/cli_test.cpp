// The program as a user meets it: exit codes, what goes to which stream, examples that run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/source_dir_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct Output {
  int code;
  std::string out;
  std::string err;
};

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) /
              ("headway_cli_" + std::string(test->name()) + "_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  // The sanitized twin where its tests run (headway_test in cmake/headway.cmake).
  static std::string program() {
    const char* twin = std::getenv("HEADWAY_TWIN");
    return HEADWAY_PROGRAM + std::string(twin ? twin : "");
  }
  // Runs `headway ARGUMENTS` in a shell, in the source folder or another.
  Output run(const std::string& arguments, const fs::path& where = source_dir()) const {
    const fs::path out = folder_ / "stdout";
    const fs::path err = folder_ / "stderr";
    const std::string command = "cd '" + where.string() + "' && '" + program() + "' " + arguments +
                                " >'" + out.string() + "' 2>'" + err.string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }
  // Bad input: exit code 2, nothing on stdout, and each of `said` on stderr.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& said) const {
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 2) << arguments;
    EXPECT_EQ(output.out, "") << arguments;
    for (const std::string& text : said) {
      EXPECT_NE(output.err.find(text), std::string::npos)
          << arguments << "\nshould say: " << text << "\nsaid: " << output.err;
    }
  }

  const std::string small_ =
      "predict --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 4096 "
      "--global-batch 8 --tp 8 ";
  fs::path folder_;
};

TEST_F(Cli, PredictAnswersWithExitCodeZeroAndNothingOnStderr) {
  const Output output = run(small_);
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_NE(output.out.find("step time"), std::string::npos);
}

TEST_F(Cli, JsonIsOneDocumentWithTheFieldsOtherProgramsRead) {
  const Output output = run(small_ + "--json");
  const auto document = nlohmann::json::parse(output.out);
  for (const char* field : {"step_time_s", "parts_s", "tokens_per_s", "tokens_per_s_per_gpu",
                            "model_flops_per_s_per_gpu", "mfu", "hfu", "memory_bytes", "fits",
                            "energy_j", "interval_step_time_s", "layout", "calls", "notes"}) {
    EXPECT_TRUE(document.contains(field)) << field;
  }
  double sum = 0;
  for (const char* part :
       {"compute", "tp", "cp", "ep", "pp", "dp", "bubble", "optimizer", "other"}) {
    sum += document["parts_s"][part].get<double>();
  }
  EXPECT_NEAR(sum, document["step_time_s"].get<double>(), 1e-12 * sum);
  double memory = 0;
  for (const char* kind :
       {"parameters", "gradients", "optimizer", "activations", "buffers", "other"}) {
    memory += document["memory_bytes"][kind].get<double>();
  }
  EXPECT_NEAR(memory, document["memory_bytes"]["total"].get<double>(), 1e-9 * memory);
  EXPECT_NEAR(document["tokens_per_s"].get<double>(),
              8 * 4096 / document["step_time_s"].get<double>(), 1e-6);
  for (const auto& call : document["calls"]) {
    for (const char* field : {"group", "op", "bytes", "count", "dtype", "phase", "ranks", "level",
                              "seconds_each", "exposed_s"}) {
      EXPECT_TRUE(call.contains(field)) << field;
    }
  }
}

TEST_F(Cli, ALayoutThatDoesNotFitIsShownAndExitsWithOne) {
  const Output output =
      run("predict --model llama-3-70b --cluster dgx-h100 --gpus 8 --seq 8192 --global-batch 8");
  EXPECT_EQ(output.code, 1);
  EXPECT_NE(output.out.find("DOES NOT FIT"), std::string::npos);
  EXPECT_NE(output.out.find("more than the"), std::string::npos);
}

TEST_F(Cli, TheSameInputGivesTheSameBytesWhateverTheThreads) {
  EXPECT_EQ(run(small_ + "--json --threads 1").out, run(small_ + "--json --threads 2").out);
}

TEST_F(Cli, EveryProblemOfARunIsReportedAtOnce) {
  expect_refused(
      "predict --model llama-2-7b --cluster dgx-h100 --gpus 7 --seq 4097 "
      "--global-batch 9 --micro-batch 2 --tp 3",
      {"--gpus: 7 is not a multiple", "--global-batch: 9 sequences", "--seq: 4097 tokens",
       "--tp: 3 does not divide the attention heads (32)"});
  expect_refused("predict --model llama-2-7b --cluster dgx-h100 --seq 0 --global-batch -4 --tp x",
                 {"--seq: is 0", "--global-batch: is -4", "--tp: 'x' is not a whole number"});
}

TEST_F(Cli, UnknownNamesAreAnsweredWithTheNearest) {
  expect_refused("predict --model lama-2-7b --cluster dgx-h10 --seq 1 --global-batch 1",
                 {"did you mean 'llama-2-7b'", "did you mean 'dgx-h100'"});
  expect_refused(small_ + "--precision bf61", {"--precision", "bf16"});
  expect_refused(small_ + "--framework megatorn", {"--framework", "megatron"});
  expect_refused(small_ + "--micro-bach 2", {"--micro-bach", "--micro-batch"});
  expect_refused("predcit", {"predcit"});
  expect_refused("list modles", {"models, clusters, accelerators"});
}

TEST_F(Cli, MissingFieldsAreNamed) {
  expect_refused("predict", {"--model: is missing", "--cluster: is missing", "--seq: is missing",
                             "--global-batch: is missing"});
}

TEST_F(Cli, BrokenFilesAreNamedWithTheirLine) {
  const std::string rest = " --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch 8";
  expect_refused("predict --model '" +
                     file("truncated.json", "{\"model_type\": \"llama\",\n \"hid") + "'" + rest,
                 {"truncated.json:2"});
  expect_refused(
      "predict --model '" + file("field.json", "{\n\"model_type\": \"llama\"}") + "'" + rest,
      {"hidden_size", "is missing"});
  expect_refused("predict --model /nowhere/config.json" + rest, {"/nowhere/config.json"});
  expect_refused("predict --model '" + folder_.string() + "'" + rest, {"config.json"});
  const std::string cluster =
      file("bare.toml", "base = \"dgx-h100\"\n[levels.fabric]\nlatency = 4\n");
  expect_refused(
      "predict --model llama-2-7b --gpus 8 --seq 4096 --global-batch 8 --cluster '" + cluster + "'",
      {"bare.toml:3", "unit"});
  expect_refused("predict '" + file("run.toml", "model = \"llama-2-7b\"\nsequence = 12\n") + "'",
                 {"run.toml:2: sequence: is not a known field"});
}

TEST_F(Cli, HostileTextDoesNotReachTheTerminalRaw) {
  const Output output =
      run("predict --model \"$(printf 'a\\033[31mb')\" --cluster dgx-h100 --seq 1 "
          "--global-batch 1");
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err.find('\033'), std::string::npos);
}

TEST_F(Cli, ASavedRunPredictsTheSame) {
  const std::string saved = (folder_ / "saved.toml").string();
  const Output first = run(small_ + "--json --recompute full --no-sp --save '" + saved + "'");
  EXPECT_EQ(first.code, 0);
  EXPECT_EQ(run("predict --json '" + saved + "'").out, first.out);
  // Flags override the file.
  EXPECT_NE(run("predict --json '" + saved + "' --recompute none").out, first.out);
}

TEST_F(Cli, NothingIsLeftWhereSavingFails) {
  expect_refused(small_ + "--save '" + (folder_ / "missing" / "run.toml").string() + "'",
                 {"cannot be written"});
  EXPECT_FALSE(fs::exists(folder_ / "missing"));
}

// By links of its own, so that a mistake replaces a link and not a device.
TEST_F(Cli, ADeviceIsWrittenToAndNotReplaced) {
  for (const char* device : {"null", "full"}) {
    fs::create_symlink(std::string("/dev/") + device, folder_ / device);
  }
  EXPECT_EQ(run(small_ + "--save '" + (folder_ / "null").string() + "'").code, 0);
  expect_refused(small_ + "--save '" + (folder_ / "full").string() + "'", {"cannot be written"});
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "full"));
}

TEST_F(Cli, AFullDiskIsAnError) {
  const std::string command = "'" + program() + "' " + small_ + ">/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Cli, ARealConfigFileGivesTheNumbersOfTheBuiltInModel) {
  const auto built_in = nlohmann::json::parse(run(small_ + "--json").out);
  const auto from_file = nlohmann::json::parse(
      run("predict --model data/models/llama-2-7b.json --cluster dgx-h100 --gpus 8 --seq 4096 "
          "--global-batch 8 --tp 8 --json")
          .out);
  EXPECT_EQ(built_in["step_time_s"], from_file["step_time_s"]);
  EXPECT_EQ(built_in["parameters"], 6738415616);
}

bool is_of_serving(const std::string& run_file) {
  return run_file.starts_with("# headway infer");
}

TEST_F(Cli, EveryExampleRuns) {
  int runs = 0;
  for (const auto& entry : fs::directory_iterator(source_dir() + "/examples")) {
    const std::string text = read(entry.path());
    if (entry.path().extension() != ".toml" || text.find("\nmodel = ") == std::string::npos)
      continue;
    // A run without a layout is there to be planned; of serving its head says so.
    const std::string head = text.substr(0, text.find("\nmodel"));
    const std::string command = head.find("headway plan") != std::string::npos ? "plan"
                                : is_of_serving(text)                          ? "infer"
                                                                               : "predict";
    const Output output = run(command + " '" + entry.path().string() + "'");
    EXPECT_EQ(output.code, 0) << entry.path() << "\n" << output.err << output.out;
    ++runs;
  }
  EXPECT_GE(runs, 5);
}

// Configurations of frameworks say at their head how they are asked.
TEST_F(Cli, EveryConfigurationAmongTheExamplesAnswers) {
  int configurations = 0;
  for (const auto& entry : fs::directory_iterator(source_dir() + "/examples")) {
    const std::string text = read(entry.path());
    const std::string name = "examples/" + entry.path().filename().string();
    const std::size_t at = text.find("# headway predict " + name);
    if (at == std::string::npos) continue;
    const std::string flags =
        text.substr(at + 18 + name.size(), text.find('\n', at) - at - 18 - name.size());
    const Output output = run("predict '" + entry.path().string() + "'" + flags);
    EXPECT_EQ(output.code, 0) << name << "\n" << output.err << output.out;
    ++configurations;
  }
  EXPECT_GE(configurations, 1);
}

TEST_F(Cli, TheExampleInTheHelpOfEachCommandRunsAsItStands) {
  for (const char* command : {"predict",
                              "plan",
                              "comms",
                              "advise",
                              "limits",
                              "scale run",
                              "scale published",
                              "scale weak",
                              "scale strong",
                              "scale model",
                              "scale context",
                              "scale hardware",
                              "scale network",
                              "scale layout",
                              "scale convergence",
                              "scale batch",
                              "scale slimming",
                              "list",
                              "bench",
                              "validate",
                              "calibrate",
                              "simulate codesign",
                              "infer",
                              "jobs",
                              "design"}) {
    const Output help = run(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    const std::size_t at = help.out.find("\n  headway ");
    ASSERT_NE(at, std::string::npos) << help.out;
    std::string example = help.out.substr(at + 11);
    example.erase(example.find_last_not_of('\n') + 1);
    if (std::string(command) == "calibrate") continue;  // some ten seconds: run by its own tests
    EXPECT_EQ(run(example).code, 0) << example;
  }
}

TEST_F(Cli, BashCompletesCommandsTheirFlagsAndTheirNames) {
  const std::string script = file("completion", run("completion bash").out);
  const auto completed = [&](const std::string& words) {  // the last one is begun
    const std::string ask = file("ask", "source '" + script + "'; COMP_WORDS=(headway " + words +
                                            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headway; "
                                            "echo \"${COMPREPLY[*]}\"");
    const fs::path out = folder_ / "completed";
    EXPECT_EQ(std::system(("bash '" + ask + "' >'" + out.string() + "'").c_str()), 0);
    return read(out);
  };
  EXPECT_EQ(completed("pre"), "predict\n");
  EXPECT_EQ(completed("scale we"), "weak\n");
  EXPECT_EQ(completed("plan --headr"), "--headroom\n");
  EXPECT_EQ(completed("scale weak --thres"), "--threshold\n");
  EXPECT_EQ(completed("list mach"), "machines\n");
  EXPECT_EQ(completed("serve --por"), "--port\n");
  EXPECT_EQ(completed("predict --hedroom"), "\n");
  expect_refused("completion fish", {"completion", "legal: bash, zsh"});
}

TEST_F(Cli, ZshIsToldTheSameWords) {
  const std::string script = run("completion zsh").out;
  EXPECT_TRUE(script.starts_with("#compdef headway\n"));
  for (const char* line : {"    'scale weak '*) known=(", "--threshold", "    'list '*) known=(",
                           "    *) known=(predict plan ", "compadd -- $known"}) {
    EXPECT_NE(script.find(line), std::string::npos) << line;
  }
  if (std::system("command -v zsh >/dev/null") == 0) {
    const std::string path = file("_headway", script);
    EXPECT_EQ(std::system(("zsh -n '" + path + "'").c_str()), 0);
  }
}

TEST_F(Cli, HelpAndVersionAreCommandsToo) {
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help predict").out, run("predict --help").out);
  EXPECT_EQ(run("help scale weak").out, run("scale weak --help").out);
  EXPECT_EQ(run("version").out, run("--version").out);
  expect_refused("help predit", {"'predit' is not a command", "predict"});
  expect_refused("help scale weka", {"'weka' is not a command of scale", "weak"});
}

// man -l reads it; roff says nothing of it.
TEST_F(Cli, TheManualPageIsOneThatManReads) {
  const std::string page = file("headway.1", run("help --man").out);
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "no groff";
  const std::string said = (folder_ / "said").string();
  EXPECT_EQ(std::system(("groff -man -Tascii -ww -P-cbou '" + page + "' >'" + said + "' 2>'" +
                         said + ".err'")
                            .c_str()),
            0);
  EXPECT_EQ(read(said + ".err"), "");
  EXPECT_NE(read(said).find("EXIT STATUS"), std::string::npos);
}

TEST_F(Cli, WordsOfOtherProgramsAreAnsweredWithOurs) {
  expect_refused("predict --seq-length 4096",
                 {"'--seq-length' is not known of predict; here it is '--seq'"});
  expect_refused("predict --tensor-parallel 8", {"here it is '--tp'"});
  expect_refused("plan --mbs 4", {"here it is '--micro-batch'"});
  expect_refused("infer --max-concurrency 4 --isl 100",
                 {"; here it is '--concurrency' (clients of each copy of attention)\n",
                  "; here it is '--input-len'\n"});
  // Neither known flags nor what stands behind one are named.
  const Output parts = run("validate --shard 1/2 --threads 2 --bogus x");
  EXPECT_EQ(parts.err.substr(0, parts.err.find('\n')),
            "headway: '--bogus' is not known of validate");
  EXPECT_EQ(parts.err.find("--shard"), std::string::npos);
  expect_refused("predict --nodes 4", {"here it is '--gpus' (of all nodes together)"});
  expect_refused("predict -tp 8", {"'-tp' is not known of predict; did you mean '--tp'?"});
  const std::string run_file = file("run.toml", "model = \"llama-2-7b\"\nseq_length = 4096\n");
  expect_refused("predict " + run_file, {"seq_length: is not a known field; here it is 'seq'"});
}

// What another command takes is no hint.
TEST_F(Cli, HintsComeFromTheCommandsOwnOptions) {
  const Output output = run("list models --hedroom 3");
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err.find("headroom"), std::string::npos) << output.err;
  expect_refused("plan --hedroom 3", {"did you mean '--headroom'?"});
}

TEST_F(Cli, OfARepeatedFlagTheLastCounts) {
  EXPECT_EQ(run(small_ + "--tp 2 --tp 8 --json").out, run(small_ + "--json").out);
  EXPECT_EQ(run("plan --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch 8 "
                "--top 3 --top 1 --json --json")
                .out,
            run("plan --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch 8 "
                "--top 1 --json")
                .out);
}

TEST_F(Cli, CountsAndNamesAreReadAsPeopleWriteThemAtEveryDoor) {
  const std::string plain =
      run("predict --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 8192 --global-batch 1024 "
          "--precision bf16 --json")
          .out;
  ASSERT_FALSE(plain.empty());
  EXPECT_EQ(run("predict --model Llama-2-7B --cluster DGX-H100 --gpus 8 --seq 8k --global-batch "
                "1,024 --precision BF16 --json")
                .out,
            plain);
  const std::string run_file =
      file("run.toml",
           "model = \"llama-2-7b\"\ncluster = \"dgx-h100\"\ngpus = 8\nseq = \"8K\"\n"
           "global-batch = \"1k\"\nprecision = \"BF16\"\n");
  EXPECT_EQ(run("predict " + run_file + " --json").out, plain);
  expect_refused(small_ + "--seq 8kb", {"--seq", "'8kb' is not a whole number"});
}

TEST_F(Cli, ADashIsTheStandardInput) {
  const std::string run_file =
      file("run.toml",
           "model = \"llama-2-7b\"\ncluster = \"dgx-h100\"\ngpus = 8\nseq = 4096\n"
           "global-batch = 8\ntp = 8\n");
  const std::string named = run("predict " + run_file + " --json").out;
  ASSERT_FALSE(named.empty());
  EXPECT_EQ(run("predict - --json < " + run_file).out, named);
  EXPECT_EQ(run("comms - --json < " + run_file).out, run("comms " + run_file + " --json").out);
  const std::string log = "src/trace/testdata/nccl/nccl_tests_allreduce.log";
  if (fs::exists(source_dir() + "/" + log)) {
    EXPECT_EQ(run("comms - --json < " + log).code, 0);
  }
  const Output wrong = run("predict - < /dev/null");
  EXPECT_EQ(wrong.code, 2);
}

TEST_F(Cli, AnAcceleratorGivenAsAClusterIsToldWhichClustersHaveIt) {
  expect_refused(
      "predict --model llama-2-7b --cluster h100-sxm --gpus 8 --seq 4096 "
      "--global-batch 8",
      {"--cluster: 'h100-sxm' is an accelerator; clusters with it: ", "dgx-h100"});
}

TEST_F(Cli, AcceleratorsThatNobodyNamedAreMissing) {
  expect_refused("predict --model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 8",
                 {"--gpus: is missing", "degrees (dp, tp, cp, pp)"});
  EXPECT_EQ(
      run("predict --model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 8 --tp 8").code,
      0);
}

// A tokenizer's vocabulary given for a model.
TEST_F(Cli, OfAWrongFileTenProblemsAreToldAndTheOthersCounted) {
  const std::string vocabulary = file("vocab.toml", [] {
    std::string out;
    for (int i = 0; i < 300; ++i) out += "word" + std::to_string(i) + " = 1\n";
    return out;
  }());
  const Output output = run("predict " + vocabulary);
  EXPECT_EQ(output.code, 2);
  EXPECT_LT(std::count(output.err.begin(), output.err.end(), '\n'), 20) << output.err;
  EXPECT_NE(output.err.find(" more problems\n"), std::string::npos) << output.err;
}

// The measurements travel in the binary.
TEST_F(Cli, WhatReadsMeasurementsAnswersFromAnyFolder) {
  const fs::path empty = folder_ / "empty";
  fs::create_directories(empty);
  for (const std::string command :
       {"validate", "validate --json", "bench kernels", "bench collectives", "calibrate kernels"}) {
    const Output here = run(command, empty);
    EXPECT_EQ(here.code, 0) << command << here.err;
    EXPECT_EQ(here.err, "") << command;
    EXPECT_GT(here.out.size(), 500U) << command;
    EXPECT_EQ(here.out, run(command).out) << command;
    EXPECT_TRUE(fs::is_empty(empty)) << command;
  }
  const auto document = nlohmann::json::parse(run("validate --json", empty).out);
  EXPECT_EQ(document["all"]["rows"], 5846);  // as tests of the corpus count them
}

TEST_F(Cli, BenchPrintsOneDocumentWhereItIsAsked) {
  const Output digest = run("bench --signature"), json = run("bench --signature --json");
  EXPECT_EQ(nlohmann::json::parse(json.out)["signature"].get<std::string>() + "\n", digest.out);
  const auto kernels = nlohmann::json::parse(run("bench kernels --json").out);
  ASSERT_FALSE(kernels["lines"].empty());
  for (const char* field :
       {"source", "accelerator", "kernel", "rows", "median_error", "held_out"}) {
    EXPECT_TRUE(kernels["lines"][0].contains(field)) << field;
  }
  const auto collectives = nlohmann::json::parse(run("bench collectives --json").out);
  EXPECT_GT(collectives["rows"].get<int>(), 1000);
  EXPECT_EQ(collectives["sizes"].size(), 3U);
  EXPECT_TRUE(collectives["lines"][0]["left_out"].is_null()) << "takes a minute: only where asked";
  EXPECT_FALSE(collectives["lines"].empty());
}

TEST_F(Cli, WhatIsOfTheErrorsOfCollectivesIsRefusedElsewhere) {
  expect_refused("bench kernels --left-out", {"--left-out: is of the errors of collectives"});
  expect_refused("bench --signature --report docs", {"--report: is of the errors of collectives"});
}

TEST_F(Cli, TheCollectivesAreCalibratedFromAnyFolder) {
  if (std::getenv("HEADWAY_TWIN")) GTEST_SKIP() << "takes minutes under the sanitizers";
  const fs::path empty = folder_ / "empty";
  fs::create_directories(empty);
  const Output output = run("calibrate collectives --json", empty);
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(nlohmann::json::parse(output.out).contains("ib-ndr"));
  EXPECT_TRUE(fs::is_empty(empty));
}

TEST_F(Cli, MeasurementsOfOnesOwnStandInForThoseOfTheBinary) {
  const fs::path own = folder_ / "own";
  fs::create_directories(own / "measurements");
  const fs::path few = fs::path(source_dir()) / "tests/fuzz/seeds/corpus/a-row-of-each-source.csv";
  fs::copy_file(few, own / "measurements" / "training.csv");
  const auto rows = [&](const std::string& more) {
    return nlohmann::json::parse(run("validate --json " + more, folder_).out)["all"]["rows"];
  };
  EXPECT_EQ(rows("--data own"), 18);
  EXPECT_EQ(rows("--corpus '" + few.string() + "'"), 18);
  expect_refused("validate --data '" + (folder_ / "none").string() + "'",
                 {"none/measurements/training.csv: cannot be opened"});
}

TEST_F(Cli, WhatRenewsACheckoutSaysElsewhereThatItNeedsOneAndWritesNothing) {
  const fs::path empty = folder_ / "empty";
  fs::create_directories(empty);
  for (const auto& [command, said] : std::map<std::string, std::string>{
           {"calibrate --write", "there is no folder data/calibration"},
           {"calibrate kernels --write", "there is no folder data/calibration"},
           {"calibrate collectives --write --data x", "there is no folder x/calibration"},
           {"validate --report docs", "there is no page docs/validation.md"},
           {"bench collectives --report docs", "there is no page docs/models/collectives.md"},
           {"limits --report docs", "there is no page docs/limits.md"},
           {"comms --report docs", "there is no page docs/communication.md"},
           {"scale published --report docs", "there is no page docs/scaling.md"}}) {
    const Output output = run(command, empty);
    EXPECT_EQ(output.code, 2) << command;
    EXPECT_EQ(output.out, "") << command;
    EXPECT_NE(output.err.find(said), std::string::npos) << command << output.err;
    EXPECT_NE(output.err.find("checkout"), std::string::npos) << command << output.err;
    EXPECT_TRUE(fs::is_empty(empty)) << command;
  }
}

TEST_F(Cli, CalibrationRenewsTheFolderThatIsNamedFromTheMeasurementsThere) {
  const fs::path data = folder_ / "data";
  fs::create_directories(data / "calibration");
  fs::create_directories(data / "measurements");
  // The kernels of one architecture alone.
  std::istringstream all(read(fs::path(source_dir()) / "data/measurements/kernels.csv"));
  std::ofstream few(data / "measurements" / "kernels.csv");
  std::string line;
  for (int i = 0; std::getline(all, line); ++i) {
    if (i == 0 || line.find(",a100") != std::string::npos) few << line << "\n";
  }
  few.close();
  const Output output = run("calibrate kernels --write", folder_);
  EXPECT_EQ(output.code, 0) << output.err;
  const std::string written = read(data / "calibration" / "kernels.toml");
  EXPECT_NE(written.find("ampere"), std::string::npos) << written.substr(0, 1000);
  EXPECT_EQ(written.find("hopper"), std::string::npos);
}

TEST_F(Cli, ServePrintsItsAddressAndEndsWithASignal) {
  const Output output = run("serve --help");
  EXPECT_EQ(output.code, 0);
  EXPECT_NE(output.out.find("Example:\n  headway serve"), std::string::npos);
  const std::string address = (folder_ / "address").string();
  // In the background of a shell, which then asks it to end.
  const std::string script = "'" + program() + "' serve --port 0 >'" + address +
                             "' & server=$!; for i in $(seq 100); do [ -s '" + address +
                             "' ] && break; sleep 0.1; done; kill -TERM $server; wait $server";
  EXPECT_EQ(std::system(script.c_str()), 0);
  EXPECT_EQ(read(address).rfind("http://127.0.0.1:", 0), 0U) << read(address);
  expect_refused("serve --port 70000", {"--port"});
  expect_refused("serve --host 203.0.113.7 --port 0", {"203.0.113.7", "not this machine's"});
}

// What the README, and the pages that it leads to first, show of a command is what it prints.
TEST_F(Cli, TheReadmeAndFirstPagesShowWhatTheirCommandsSay) {
  for (const std::string page : {"README.md", "docs/predict.md", "docs/plan.md",
                                 "docs/communication.md", "docs/traces.md"}) {
    const std::string text = read(fs::path(source_dir()) / page);
    const std::size_t at = text.find("$ headway ");
    ASSERT_NE(at, std::string::npos) << page;
    EXPECT_EQ(text.find("$ headway ", at + 1), std::string::npos) << page << ": one is compared";
    const std::size_t line = text.find('\n', at);
    const Output output = run(text.substr(at + 10, line - at - 10));
    EXPECT_EQ(output.code, 0) << page;
    EXPECT_EQ(output.err, "") << page;
    EXPECT_EQ(text.substr(line + 1, text.find("```", line) - line - 1), output.out) << page;
  }
}

// The same of the pages of simulate, whose commands are flags alone.
TEST_F(Cli, ThePagesOfSimulateShowWhatTheirCommandsSay) {
  const std::string page = read(fs::path(source_dir()) / "docs/simulate.md") +
                           read(fs::path(source_dir()) / "docs/simulate_network.md") +
                           read(fs::path(source_dir()) / "docs/record.md") +
                           read(fs::path(source_dir()) / "docs/infer.md") +
                           read(fs::path(source_dir()) / "docs/methods.md") +
                           read(fs::path(source_dir()) / "docs/laws.md") +
                           read(fs::path(source_dir()) / "docs/limits.md") +
                           read(fs::path(source_dir()) / "docs/design.md");
  int shown = 0;
  for (std::size_t at = 0; (at = page.find("$ headway ", at)) != std::string::npos; ++shown) {
    const std::size_t line = page.find('\n', at);
    const std::string command = page.substr(at + 10, line - at - 10);
    const Output output = run(command);
    const bool fits = output.out.find("does not fit: ") == std::string::npos &&
                      output.out.find("no way fits") == std::string::npos;
    EXPECT_EQ(output.code, fits ? 0 : 1) << command << output.err;
    EXPECT_EQ(page.substr(line + 1, page.find("```", line) - line - 1), output.out) << command;
    at = line;
  }
  EXPECT_GT(shown, 0);
  const std::string svg = (folder_ / "zero-bubble.svg").string();
  EXPECT_EQ(run("simulate pipeline --schedule zero-bubble --pp 4 --micro-batches 8 --forward "
                "'10 ms' --backward '10 ms' --weight '8 ms' --svg '" +
                svg + "'")
                .code,
            0);
  EXPECT_EQ(read(svg), read(fs::path(source_dir()) / "docs/simulate/zero-bubble.svg"));
}

// The same of the page of jobs, whose commands name examples.
TEST_F(Cli, ThePageOfJobsShowsWhatItsCommandsSay) {
  const std::string page = read(fs::path(source_dir()) / "docs/jobs.md");
  int shown = 0;
  for (std::size_t at = 0; (at = page.find("$ headway jobs ", at)) != std::string::npos; ++shown) {
    const std::size_t line = page.find('\n', at);
    std::string command = page.substr(at + 10, line - at - 10);
    if (const std::size_t file = command.find("examples/"); file != std::string::npos) {
      command.insert(file, source_dir() + "/");
    }
    const Output output = run(command);
    EXPECT_EQ(output.code, 0) << command << output.err;
    EXPECT_EQ(page.substr(line + 1, page.find("```", line) - line - 1), output.out) << command;
    at = line;
  }
  EXPECT_GE(shown, 2);
}

TEST_F(Cli, JobsComeAsATableSays) {
  const Output output =
      run("jobs --policy cheapest --arrivals '" + source_dir() + "/examples/jobs/arrivals.csv'");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.out.find("cheapest"), std::string::npos);
  expect_refused("jobs --replay x.csv --arrivals y.csv", {"--arrivals"});
}

// The drawings of the page of design come of the commands that it shows.
TEST_F(Cli, TheDrawingsOfDesignAreWhatItsCommandsDraw) {
  const std::string page = read(fs::path(source_dir()) / "docs/design.md");
  int drawn = 0;
  for (std::size_t at = 0; (at = page.find("headway design ", at)) != std::string::npos;) {
    const std::size_t line = page.find('\n', at), plot = page.find("--plot docs/design/", at);
    if (plot < line) {
      const std::size_t name = plot + 19;
      const std::string folder = page.substr(name, page.find_first_of(" \n", name) - name);
      const fs::path made = folder_ / folder;
      const Output output =
          run(page.substr(at + 8, plot - at - 8) + "--plot '" + made.string() + "'");
      EXPECT_EQ(output.code, 0) << output.err;
      for (const auto& entry : fs::directory_iterator(made)) {
        EXPECT_EQ(read(entry.path()),
                  read(fs::path(source_dir()) / "docs/design" / folder / entry.path().filename()))
            << entry.path();
        ++drawn;
      }
    }
    at = line;
  }
  EXPECT_GE(drawn, 2);
}

TEST_F(Cli, TheExampleOfDesignIsServed) {
  const Output output = run("design '" + source_dir() +
                            "/examples/design/llama-3-70b-served.toml' --vary memory=hbm3,hbm4");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.out.find("each token"), std::string::npos);
}

// --bytes names its unit.
TEST_F(Cli, ACollectivesBytesNeedNoUnit) {
  const std::string asked =
      "simulate collective --op all_gather --topology torus:4x4 --json --bytes ";
  const Output bare = run(asked + "1048576");
  EXPECT_EQ(bare.code, 0) << bare.err;
  EXPECT_EQ(bare.out, run(asked + "'1 MiB'").out);
}

TEST_F(Cli, WhatCannotBeSimulatedIsRefusedWithEveryProblem) {
  expect_refused(
      "simulate pipeline --schedule chimera --pp 0 --micro-batches 6 --forward '-1 ms' --backward "
      "3 --transfer '-1 s'",
      {"--pp: is 0", "--forward: is negative", "--backward: ", "--weight: is missing",
       "--transfer: is negative"});
  const std::string stages =
      file("stages.csv", "stage,forward,backward,weight\n0,1 s,1 s,-1 s\n0,0 s,1 s,1 s\n");
  expect_refused(
      "simulate pipeline --schedule 1f1b --pp 2 --micro-batches 4 --stages '" + stages + "'",
      {"stages.csv:2: weight: is negative", "stages.csv:3: forward: must be greater than zero",
       "stages.csv:3: stage: 0 stands in line 2 already"});
  const std::string ops =
      file("ops.csv", "step,dp_rank,stage,micro_batch,F_s,B_s\n1,0,0,0,-1,1\n1,0,0,1,1,\n");
  expect_refused("simulate replay --transfer 3 '" + ops + "'",
                 {"--transfer: ", "ops.csv:2: F_s: '-1' is not", "ops.csv:3: B_s: is missing"});
  expect_refused("simulate replay", {"needs a file"});
  const std::string flows = file("flows.toml",
                                 "links = [{name = 'a', capacity = '0 GB/s'}]\n"
                                 "flows = [{name = 'f', bytes = '-1 B', route = ['b'], after = "
                                 "['f']}]\n");
  expect_refused("simulate network '" + flows + "'",
                 {"flows.toml:1: links[0].capacity: must be greater than zero",
                  "flows.toml:2: flows[0].bytes: must be greater than zero", "'b' is no link",
                  "wait for each other and never start: f -> f"});
  expect_refused("simulate network", {"needs a file"});
  expect_refused(
      "simulate collective --op sum --bytes 0 --ranks 1 --topology torus:8y8 --bandwidth '0 B/s' "
      "--algorithm rong --chunks 0",
      {"--op: 'sum' is not known", "--bytes: ", "--ranks: is 1", "--topology: '",
       "--bandwidth: ", "--algorithm: 'rong' is not known", "--chunks: is 0"});
  expect_refused("simulate weather", {"weather: cannot be opened"});
  const std::string of_run =
      " --model llama-2-7b --cluster dgx-h100 --gpus 32 --seq 4096 --global-batch 32";
  expect_refused("simulate" + of_run + " --algorithm tp.all_reduce=rnig --algorithm cq.sum=ring",
                 {"'rnig' is not known; legal: ring", "'cq' is not known", "'sum' is not known"});
  expect_refused("simulate" + of_run + " --algorithm cp.all_gather=ring",
                 {"the step makes no cp.all_gather; it makes"});
  expect_refused("simulate codesign" + of_run +
                     " --tp 3 --choice compression=powersdg --choice bucket=1 --algorithm ring",
                 {"powersgd", "bucket-size", "tp.all_reduce=ring", "tp"});
  expect_refused(
      "simulate --model llama-2-7b --cluster dgx-h100 --gpus 7 --seq 4097 --global-batch 9",
      {"--global-batch: 9 sequences"});
  expect_refused("simulate recording --bandwidth '1 GB/s'",
                 {"--bandwidth: describes a --topology", "needs traces of a run"});
  expect_refused("simulate recording '" + ops + "' --topology torus:3 --cluster nowhere",
                 {"ops.csv: ", "--cluster: stands beside --topology"});
  const std::string written = (folder_ / "timeline").string();
  expect_refused(
      "simulate --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch 8000 "
      "--chakra '" +
          written + "'",
      {"--chakra: would have"});
  EXPECT_FALSE(fs::exists(written));
  expect_refused(
      "simulate --model llama-2-7b --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch "
      "1000000 --perfetto '" +
          written + "'",
      {"--perfetto: would have"});
  EXPECT_FALSE(fs::exists(written));
}

// A trace of each rank, and what ASTRA-sim reads beside them; read back they take the step's time.
TEST_F(Cli, AWorkloadIsWrittenAndReadBack) {
  const std::string folder = (folder_ / "workload").string();
  const Output step =
      run("simulate --model llama-2-7b --cluster dgx-h100 --gpus 16 --seq 4096 --global-batch 16 "
          "--tp 2 "
          "--pp 2 --json --chakra '" +
          folder + "'");
  ASSERT_EQ(step.code, 0) << step.err;
  EXPECT_EQ(step.err, "");
  for (int rank = 0; rank < 16; ++rank) {
    EXPECT_TRUE(fs::exists(folder + "/step." + std::to_string(rank) + ".et"));
  }
  for (const char* name : {"groups.json", "network.yml", "system.json", "memory.json"}) {
    EXPECT_TRUE(fs::exists(folder + "/" + name)) << name;
  }
  const Output again = run("simulate recording --json '" + folder + "'");
  ASSERT_EQ(again.code, 0) << again.err;
  const auto asked = nlohmann::json::parse(step.out), answered = nlohmann::json::parse(again.out);
  EXPECT_EQ(answered["ranks"], 16);
  EXPECT_NEAR(answered["own_network_s"].get<double>() / asked["step_time_s"].get<double>(), 1,
              0.002);
}

TEST_F(Cli, CommsAnswersEveryExampleAndNamesUnknownFlags) {
  for (const auto& entry : fs::directory_iterator(source_dir() + "/examples")) {
    const std::string text = read(entry.path());
    if (entry.path().extension() != ".toml" || text.find("\nmodel = ") == std::string::npos ||
        is_of_serving(text))
      continue;
    const Output output = run("comms '" + entry.path().string() + "' --json");
    EXPECT_EQ(output.code, 0) << entry.path() << "\n" << output.err;
    EXPECT_FALSE(nlohmann::json::parse(output.out)["classes"].empty());
  }
  expect_refused("comms --studdy", {"--studdy", "--study"});
  expect_refused("comms", {"needs a run"});
}

TEST_F(Cli, WhatATraceCouldNotSayIsAWarningBesideTheDocument) {
  const std::string trace = read(fs::path(source_dir()) / "examples/ddp-rank0.json");
  const std::string cut = file("cut.json", trace.substr(0, trace.size() - 100));
  const Output output = run("comms --json '" + cut + "' '" + (folder_ / "absent").string() + "'");
  EXPECT_EQ(output.code, 0);
  const auto document = nlohmann::json::parse(output.out);
  EXPECT_EQ(document["source"].size(), 1U);
  EXPECT_EQ(document["unread"].size(), 1U);
  EXPECT_NE(output.err.find("headway: warning: " + cut), std::string::npos) << output.err;
  EXPECT_NE(output.err.find("absent: cannot be opened"), std::string::npos) << output.err;
}

TEST_F(Cli, FilesThatAreNoTracesAreRefusedWithWhatTheyLookLikeAndWhatIsKnown) {
  expect_refused("comms data/models/llama-2-7b.json README.md",
                 {"llama-2-7b.json: is no trace", "JSON with '", "README.md: is no trace",
                  "begins with '# Headway'", "Kineto", "nccl-tests"});
  expect_refused("comms '" + folder_.string() + "/nothing'", {"cannot be opened"});
  expect_refused("comms examples/ddp-rank0.json --save README.md", {"no database that Headway"});
}

TEST_F(Cli, CalibratingOnLogsNamesEveryClassOfSizesThatGetsWorseInTextAndJson) {
  // An all-gather that lasts as long as eight A100 take, and a reduce-scatter, the same ring, that
  // lasts five times as long: the fit cannot serve both.
  const auto log = [&](const std::string& program, double factor) {
    std::string text = "# Collective test starting: " + program + "_perf\n# nThread 1 nGpus 8\n";
    for (int rank = 0; rank < 8; ++rank) {
      text += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host device 0 [0x00] A100\n";
    }
    text += "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
    for (double bytes = 1024; bytes <= 8e9; bytes *= 2) {
      const double us = factor * (25 + bytes / 230e3);
      std::ostringstream row;
      row << static_cast<long long>(bytes) << " " << static_cast<long long>(bytes / 32)
          << " float none -1 " << us << " " << bytes / us / 1e3 << " " << bytes / us / 1e3 * 7 / 8
          << " 0 N/A N/A N/A N/A\n";
      text += row.str();
    }
    return " '" + file(program + ".log", text) + "'";
  };
  const std::string logs = "calibrate --cluster dgx-a100-40gb --collectives" +
                           log("all_gather", 1) + log("reduce_scatter", 5) + log("broadcast", 5);
  const Output text = run(logs), json = run(logs + " --json");
  ASSERT_EQ(text.code, 0) << text.err;
  ASSERT_EQ(json.code, 0) << json.err;
  const auto document = nlohmann::json::parse(json.out);
  int worse = 0;
  for (const auto& error : document["errors"]) {
    const double before = error["before"], after = error["after"];
    EXPECT_EQ(error["worse"].get<bool>(), std::round(1000 * after) > std::round(1000 * before));
    if (!error["worse"].get<bool>()) continue;
    ++worse;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "worse: median error from %.1f to %.1f %%", 100 * before,
                  100 * after);
    const std::string said = "the fit makes " + error["op"].get<std::string>() + " of " +
                             error["size"].get<std::string>() + " across the level " +
                             error["level"].get<std::string>() + " " + numbers;
    EXPECT_NE(text.out.find(said), std::string::npos) << said << text.out;
    EXPECT_NE(document["notes"].dump().find(said), std::string::npos) << said;
  }
  EXPECT_GE(worse, 1) << text.out;
}

TEST_F(Cli, AFolderOfLogsIsCalibratedAlthoughOneOfItsFilesIsNoLog) {
  std::string text = "# Collective test starting: all_gather_perf\n# nThread 1 nGpus 8\n";
  for (int rank = 0; rank < 8; ++rank) {
    text += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host device 0 [0x00] A100\n";
  }
  text += "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (double bytes = 1024; bytes <= 8e9; bytes *= 2) {
    std::ostringstream row;
    row << static_cast<long long>(bytes) << " " << static_cast<long long>(bytes / 32)
        << " float none -1 " << 25 + bytes / 230e3 << " 1 1 0 N/A N/A N/A N/A\n";
    text += row.str();
  }
  fs::create_directories(folder_ / "logs");
  file("logs/all_gather.log", text);
  file("logs/README.md", "# Logs of one node\n");
  const std::string command = "calibrate --cluster dgx-a100-40gb --json --collectives '";
  const Output output = run(command + (folder_ / "logs").string() + "'");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.err.find("README.md"), std::string::npos) << output.err;
  EXPECT_FALSE(nlohmann::json::parse(output.out)["errors"].empty());
  const Output none = run(command + file("logs/README.md", "# Logs of one node\n") + "'");
  EXPECT_EQ(none.code, 2);
  // Where nothing can be used, it is told that two recordings of a rank are not one run.
  fs::create_directories(folder_ / "ranks");
  for (const char* world : {"8", "16"}) {
    file(std::string("ranks/") + world + ".json",
         std::string(R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": )") +
             world + R"(}, "traceEvents": [{"ph": "X", "cat": "kernel", "ts": 1, "dur": 5,)" +
             R"("name": "ncclKernel_AllReduce", "args": {"stream": 3}}]})");
  }
  const Output twice = run(command + (folder_ / "ranks").string() + "'");
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("rank 0: recorded in several files"), std::string::npos) << twice.err;
}

TEST_F(Cli, ScaleRunAnswersForAWholeRunInTextJsonTableAndDrawings) {
  const std::string fields =
      "scale run --tokens 1T --model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 "
      "--global-batch 256 --framework fsdp ";
  const Output text = run(fields);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("expected time"), std::string::npos);
  const std::string folder = (folder_ / "plots").string(), csv = (folder_ / "runs.csv").string();
  const Output output = run(fields + "--json --csv '" + csv + "' --plot '" + folder + "'");
  EXPECT_EQ(output.code, 0) << output.err;
  const auto document = nlohmann::json::parse(output.out);
  double sum = 0;
  for (const auto& [name, part] : document["time_s"].items()) {
    if (name != "total") sum += part.get<double>();
  }
  EXPECT_NEAR(sum / document["time_s"]["total"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(document["gpu_hours"].get<double>(),
              document["time_s"]["total"].get<double>() * 64 / 3600, 1e-3);
  for (const char* field : {"goodput", "energy_j", "co2_kg", "price_usd", "interval_time_s",
                            "checkpoint", "loss_nats_per_token", "by_gpus", "assumptions"}) {
    EXPECT_TRUE(document.contains(field)) << field;
  }
  EXPECT_TRUE(read(csv).starts_with("gpus,global_batch_tokens,"));
  EXPECT_TRUE(read(fs::path(folder) / "goodput.svg").starts_with("<svg "));
  EXPECT_TRUE(read(fs::path(folder) / "days.svg").starts_with("<svg "));
}

TEST_F(Cli, ScaleRunRefusesWhatItCannotReadAndSaysWhereNothingCanBeReached) {
  const std::string fields =
      "scale run --model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 --global-batch 256 ";
  expect_refused(fields, {"--tokens: is missing"});
  expect_refused(
      fields + "--tokens 0 --mtbf 3 --carbon x --csv '" + (folder_ / "none.csv").string() + "'",
      {"--tokens", "--mtbf", "--carbon"});
  EXPECT_FALSE(fs::exists(folder_ / "none.csv"));
  expect_refused("scale", {"subcommand"});
  const Output hopeless = run(fields + "--tokens 1T --mtbf '10 min'");
  EXPECT_EQ(hopeless.code, 1);
  EXPECT_NE(hopeless.out.find("no checkpoint is reached"), std::string::npos);
}

TEST_F(Cli, ScaleSweepsAnswerInTextJsonTableAndDrawings) {
  const std::string fields =
      "--model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 --global-batch 128 "
      "--framework fsdp ";
  for (const std::string axis :
       {"weak", "strong", "model", "context", "hardware", "network", "layout"}) {
    const std::string csv = (folder_ / (axis + ".csv")).string(), plots = folder_.string();
    const std::string command = "scale " + axis + " " + fields;
    const Output output =
        run(command + "--json --threads 2 --csv '" + csv + "' --plot '" + plots + "'");
    EXPECT_EQ(output.code, 0) << output.err;
    const auto document = nlohmann::json::parse(output.out);
    EXPECT_EQ(document["axis"], axis);
    ASSERT_FALSE(document["series"].empty());
    for (const auto& series : document["series"]) {
      for (const auto& point : series["points"]) {
        for (const char* field :
             {"tokens_per_s", "tokens_per_s_per_gpu", "mfu", "step_time_s", "communication_s",
              "exposed_communication_s", "power_w_per_gpu", "tokens_per_j", "gpu_hours", "energy_j",
              "price_usd", "co2_kg", "marginal_tokens_per_s_per_gpu"}) {
          EXPECT_TRUE(point.contains(field)) << field;
        }
        EXPECT_NEAR(point["tokens_per_s"].get<double>() * point["step_time_s"].get<double>(),
                    point["global_batch"].get<double>() * point["seq"].get<double>(), 1e-3);
      }
    }
    EXPECT_EQ(document.contains("crossover"), axis == "layout");
    EXPECT_TRUE(read(csv).starts_with("axis,series,label,"));
    for (const char* plot : {"-throughput.svg", "-parts.svg"}) {
      EXPECT_TRUE(read(folder_ / (axis + plot)).starts_with("<svg ")) << axis << plot;
    }
    EXPECT_EQ(run(command + "--json --threads 1").out, output.out);
    EXPECT_NE(run(command).out.find("tokens/s"), std::string::npos);
  }
}

TEST_F(Cli, ScaleSweepsRefuseWhatTheyCannotReadAndSayWhereNoPointIsLeft) {
  const std::string fields =
      "--model llama-2-70b --cluster dgx-h100 --gpus 8 --seq 4096 --global-batch 8 ";
  expect_refused("scale weak " + fields + "--at 8,sixteen --threshold 3 --csv '" +
                     (folder_ / "none.csv").string() + "'",
                 {"--at: 'sixteen'", "--threshold"});
  EXPECT_FALSE(fs::exists(folder_ / "none.csv"));
  expect_refused("scale week " + fields, {"week", "weak"});
  expect_refused("scale weak " + fields + "--bandwidth 2", {"--bandwidth"});
  const Output none = run("scale weak " + fields + "--zero 0 --at 8");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.out.find("left out: 8: does not fit"), std::string::npos) << none.out;
}

// docs/scaling.md is what this program writes; renew it by `headway scale published --report docs`.
TEST_F(Cli, ThePageOfScalingIsUpToDate) {
  const fs::path source = fs::path(source_dir()) / "docs", copy = folder_ / "docs";
  fs::create_directories(copy / "scaling");
  fs::copy_file(source / "scaling.md", copy / "scaling.md");
  const Output output = run("scale published --report '" + copy.string() + "'");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(read(copy / "scaling.md"), read(source / "scaling.md"));
  int drawings = 0;
  for (const auto& entry : fs::directory_iterator(copy / "scaling")) {
    EXPECT_EQ(read(entry.path()), read(source / "scaling" / entry.path().filename()))
        << entry.path().filename();
    ++drawings;
  }
  EXPECT_EQ(drawings, 14);
}

// A folder with the page whose generated parts `validate --report` renews.
class CliReport : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    fs::create_directories(docs());
    write_page(read(fs::path(source_dir()) / "docs/validation.md"));
    // A few rows of every source, so that it is quick.
    corpus_ = source_dir() + "/tests/fuzz/seeds/corpus/a-row-of-each-source.csv";
  }
  fs::path docs() const { return folder_ / "docs"; }
  void write_page(const std::string& text) const {
    std::ofstream(docs() / "validation.md", std::ios::binary) << text;
  }
  Output report(const std::string& more = {}) const {
    return run("validate --corpus '" + corpus_ + "' --report '" + docs().string() + "' " + more);
  }
  // All files of the folder with their bytes, by name.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(docs())) {
      if (entry.is_regular_file()) out[entry.path().filename().string()] = read(entry.path());
    }
    return out;
  }
  std::string corpus_;
};

TEST_F(CliReport, RenewsThePageAndItsPlotsToTheSameBytesWhateverTheThreads) {
  const Output output = report("--threads 1");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.err, "");
  const auto once = files();
  EXPECT_EQ(once.size(), 6U);  // the page and five plots
  for (const auto& [name, text] : once) {
    EXPECT_TRUE(name == "validation.md" || text.starts_with("<svg ")) << name;
  }
  const std::string& page = once.at("validation.md");
  EXPECT_NE(page.find("| tuned rows | step time, median error | at most 6 % | 5 |"),
            std::string::npos);
  EXPECT_NE(page.find("## How it is counted"), std::string::npos);
  EXPECT_EQ(report("--threads 8").code, 0);
  EXPECT_EQ(files(), once);
}

TEST_F(CliReport, WritesNothingWhereThePageOrOneFileCannotBeWritten) {
  write_page("# A page without blocks\n<!-- end -->\n");
  const std::string rows = (folder_ / "rows.csv").string();
  const Output unmarked = report("--rows '" + rows + "'");
  EXPECT_EQ(unmarked.code, 2);
  EXPECT_NE(unmarked.err.find("validation.md:2: closes a block"), std::string::npos)
      << unmarked.err;
  EXPECT_NE(unmarked.err.find("has no block 'aims'"), std::string::npos);
  EXPECT_EQ(files().size(), 1U);
  EXPECT_FALSE(fs::exists(rows));
  // A folder stands where a plot belongs.
  const std::string page = read(fs::path(source_dir()) / "docs/validation.md");
  write_page(page);
  fs::create_directories(docs() / "validation" / "memory.svg");
  EXPECT_EQ(report("--rows '" + rows + "'").code, 2);
  EXPECT_EQ(files(), (std::map<std::string, std::string>{{"validation.md", page}}));
  EXPECT_FALSE(fs::exists(rows));
}

TEST_F(CliReport, SeveralCorporaAreReportedTogether) {
  const auto one = nlohmann::json::parse(run("validate --json --corpus '" + corpus_ + "'").out);
  const auto two = nlohmann::json::parse(
      run("validate --json --corpus '" + corpus_ + "' --corpus '" + corpus_ + "'").out);
  EXPECT_EQ(one["all"]["rows"], 18);
  EXPECT_EQ(two["all"]["rows"], 36);
  EXPECT_EQ(one["all"]["step_time_error"]["median_share"],
            two["all"]["step_time_error"]["median_share"]);
}

TEST_F(CliReport, JsonHasEveryFieldThatThePageNames) {
  const auto document =
      nlohmann::json::parse(run("validate --json --by scale --corpus '" + corpus_ + "'").out);
  EXPECT_EQ(document["by"], "scale");
  const std::string page = read(docs() / "validation.md");
  const auto named = [&](const nlohmann::json& fields, const std::string& within) {
    for (const auto& [name, value] : fields.items()) {
      EXPECT_NE(page.find(name), std::string::npos) << within << "." << name;
    }
  };
  named(document["all"], "group");
  named(document["aims"][0], "aim");
  for (const char* field : {"step_time_error", "memory_error", "fits", "ranking", "interval"}) {
    ASSERT_TRUE(document["all"].contains(field)) << field;
    named(document["all"][field], field);
  }
}

TEST_F(CliReport, EveryBadCorpusIsNamedWithItsLineAtOnce) {
  std::string garbage =
      "\x7f"
      "ELF";
  for (int i = 0; i < 5000; ++i) garbage += static_cast<char>(i * 131 % 256);
  const std::string open = file("open.csv", "id,outcome\na,\"ok\n");
  expect_refused("validate --corpus '" + file("garbage.csv", garbage) + "' --corpus '" + open +
                     "' --corpus '" + (folder_ / "absent.csv").string() + "' --corpus '" +
                     folder_.string() + "' --corpus '" + file("short.csv", "id\na\n") +
                     "' --by nonsense",
                 {"garbage.csv:", "open.csv:2: opens a quote", "absent.csv: cannot be opened",
                  "short.csv:1: has no column 'source_key'", "--by: 'nonsense' is not known"});
}

TEST_F(CliReport, WhatACorpusHoldsIsToldByItsColumns) {
  const std::string kernels =
      file("kernels.csv",
           "source,date,accelerator,dtype,op,m,n,k,batch,layout,latency_ms,tflops,"
           "peak_tflops_assumed,notes\n"
           "a,,H100,fp8,gemm,4096,4096,4096,,,0.15,,,\na,,Abacus,fp8,gemm,1,1,1,,,1,,,\n");
  const std::string calls = file("calls.csv",
                                 "source,hardware,network,nodes,ranks,op,bytes,time_us\n"
                                 "b,Abacus,Ropes,1,8,all_reduce,134217728,600\n");
  const fs::path rows = folder_ / "rows.csv";
  const Output output =
      run("validate --json --corpus '" + kernels + "' --rows '" + rows.string() + "'");
  ASSERT_EQ(output.code, 0) << output.err;
  const auto document = nlohmann::json::parse(output.out);
  EXPECT_EQ(document["kind"], "products");
  EXPECT_EQ(document["all"]["rows"], 2);
  EXPECT_EQ(document["all"]["predicted"], 1);
  EXPECT_EQ(document["skipped"]["no data sheet of this accelerator"], 1);
  const std::string written = read(rows);
  EXPECT_EQ(written.substr(0, written.find('\n')),
            "id,source_key,outcome,measured_time_us,predicted_time_us,error,assumed,skipped_reason,"
            "machine,format,op,size");
  EXPECT_NE(written.find("\n2,a,ok,150,"), std::string::npos) << written;

  // On a cluster of one's own every row of a collective is predicted.
  const std::string cluster = file("mine.toml", "base = \"dgx-h100\"\n");
  const auto joined = nlohmann::json::parse(
      run("validate --json --corpus '" + calls + "' --cluster '" + cluster + "'").out);
  EXPECT_EQ(joined["kind"], "collectives");
  EXPECT_EQ(joined["all"]["predicted"], 1);
  EXPECT_EQ(joined["groups"][0]["size"], "> 64 MiB");
  EXPECT_EQ(nlohmann::json::parse(
                run("validate --json --corpus '" + calls + "'").out)["all"]["predicted"],
            0);

  fs::remove(rows);
  expect_refused("validate --corpus '" + kernels + "' --corpus '" + calls +
                     "' --cluster dgx-h100 --by framework --rows '" + rows.string() + "'",
                 {"calls.csv: holds collectives", "--cluster: is of measured collectives alone",
                  "--by: is of measured runs"});
  EXPECT_FALSE(fs::exists(rows)) << "nothing is written where something is wrong";
  expect_refused("validate --cluster dgx-h100", {"--cluster: is of measured collectives alone"});
  expect_refused("validate --corpus '" + file("few.csv", "op,latency_ms,tflops\n") + "'",
                 {"few.csv:1: has no column 'source'", "has no column 'accelerator'"});
}

TEST_F(CliReport, ACorpusOfAnotherProgramIsReadAllTheSame) {
  // A byte-order mark, CRLF, and a huge cell of any bytes: the notes of the first row, in quotes.
  std::string text = read(corpus_);
  text.resize(text.find('\n', text.find('\n') + 1) + 1);
  text.insert(text.size() - 2, std::string(100'000, 'x') + std::string("\0\xff\x1b", 3));
  std::string other = "\xEF\xBB\xBF";
  for (const char c : text) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Output output = run("validate --corpus '" + file("other.csv", other) + "'");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.out.find('\x1b'), std::string::npos);
}

TEST_F(Cli, PlanFindsALayoutThatPredictsTheSameTimeAndWritesItsDrawing) {
  const std::string asked = "--model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 32 ";
  const fs::path drawings = folder_ / "drawings", saved = folder_ / "best.toml";
  const Output output = run("plan " + asked + "--gpus 16 --json --plot '" + drawings.string() +
                            "' --save '" + saved.string() + "'");
  ASSERT_EQ(output.code, 0) << output.err;
  const auto document = nlohmann::json::parse(output.out);
  EXPECT_TRUE(document["proven"].get<bool>());
  const auto& best = document["best"][0];
  const double time = best["step_time_s"].get<double>();
  const Output flags = run("predict " + asked + best["flags"].get<std::string>() + " --json");
  EXPECT_EQ(nlohmann::json::parse(flags.out)["step_time_s"].get<double>(), time);
  const Output again = run("predict '" + saved.string() + "' --json");
  EXPECT_EQ(nlohmann::json::parse(again.out)["step_time_s"].get<double>(), time);
  EXPECT_NE(read(drawings / "plan.svg").find("</svg>"), std::string::npos);
  const Output all = run("plan " + asked + "--gpus 16 --json --exhaustive --threads 2");
  EXPECT_EQ(nlohmann::json::parse(all.out)["best"], document["best"]);
}

TEST_F(Cli, PlanTellsEverythingThatIsWrongAndWhatWouldFitWhereNothingDoes) {
  expect_refused(
      "plan --model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 32 --fix tq=1 "
      "--max-pp x --objective best --headroom 120% --top 0",
      {"--gpus", "--objective", "--headroom", "--top"});
  expect_refused(
      "plan --model llama-2-7b --cluster dgx-h100 --gpus 16 --seq 4096 --global-batch 32 "
      "--fix tq=1 --max-pp x",
      {"--fix tq=1", "--max-pp x"});
  const Output output =
      run("plan --model llama-3.1-405b --cluster dgx-h100 --gpus 8 --seq 4096 "
          "--global-batch 32");
  EXPECT_EQ(output.code, 1);
  EXPECT_NE(output.out.find("NOTHING FITS"), std::string::npos);
  EXPECT_NE(output.out.find("accelerators:"), std::string::npos) << output.out;
}

TEST_F(Cli, ListsNameWhatPredictTakes) {
  const auto models = nlohmann::json::parse(run("list models --json").out)["models"];
  EXPECT_GE(models.size(), 40u);
  for (const char* name : {"llama-2-7b", "llama-3.1-405b", "gpt3-175b", "megatron-1t",
                           "mt-nlg-530b", "mixtral-8x7b", "deepseek-v3", "gpt-neox-1.3b"}) {
    EXPECT_NE(std::find(models.begin(), models.end(), name), models.end()) << name;
  }
  const std::string clusters = run("list clusters").out;
  for (const char* name : {"dgx-v100", "dgx-a100-40gb", "dgx-a100-80gb", "dgx-h100", "dgx-h200",
                           "dgx-b200", "gb200-nvl72", "perlmutter", "frontier", "p5", "tpu-v5p"}) {
    EXPECT_NE(clusters.find(name), std::string::npos) << name;
  }
}

TEST_F(Cli, MergeSaysOfAllPartsInAnyOrderWhatTheCommandSays) {
  const std::string plan =
      "plan --model llama-2-7b --cluster dgx-h100 --gpus 4 --seq 4096 --global-batch 8 ";
  const std::string parts = file("a", run(plan + "--threads 1 --shard 1/2").out) + " " +
                            file("b", run(plan + "--shard=2/2 --quiet").out);
  const std::string turned = (folder_ / "b").string() + " " + (folder_ / "a").string();
  EXPECT_EQ(run("merge " + parts).out, run(plan).out);
  EXPECT_EQ(run("merge --json " + turned).out, run(plan + "--json").out);
  const fs::path answer = folder_ / "answer", saved = folder_ / "run.toml";
  EXPECT_EQ(run("merge " + turned + " -o " + answer.string() + " --save " + saved.string()).out,
            "");
  EXPECT_EQ(read(answer), run(plan).out);
  EXPECT_NE(read(saved).find("llama-2-7b"), std::string::npos);
  // A run's field of the same name stays one.
  expect_refused(small_ + "--shard x", {"--shard", "is not a whole number"});
}

TEST_F(Cli, MergeRefusesPartsThatAreNoneMissingDoubledOrOfAnotherRequest) {
  const std::string plan =
      "plan --model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 8 ";
  const std::string a = file("a", run(plan + "--gpus 4 --shard 1/2").out);
  const std::string b = file("b", run(plan + "--gpus 4 --shard 2/2").out);
  const std::string other = file("c", run(plan + "--gpus 8 --shard 2/2").out);
  expect_refused("merge " + a, {"a part is missing: 2/2"});
  expect_refused("merge " + a + " " + b + " " + a, {"is part 1/2 again"});
  expect_refused("merge " + a + " " + other, {"is of another request", "missing"});
  expect_refused("merge " + file("cut", read(a).substr(0, 900)) + " " + b, {"cut"});
  expect_refused("merge " + file("none", "{}"), {"is no part of a command's work"});
  expect_refused("merge " + a + " " + b + " --csv x.csv", {"--csv"});
  expect_refused(plan + "--gpus 4 --shard 3/2", {"1/2 to 2/2"});
  expect_refused(plan + "--gpus 4 --shard 1/2 --save x.toml", {"--save"});
  expect_refused("plan - --shard 1/2 </dev/null", {"standard input"});
  expect_refused(small_ + "--shard 1/2", {"the work of predict has no parts"});
  // Parts of a run file that is another since.
  const std::string run_file = file("run.toml",
                                    "model = \"llama-2-7b\"\ncluster = \"dgx-h100\"\ngpus = 4\n"
                                    "seq = 4096\nglobal-batch = 8\n");
  const std::string part = file("d", run("plan " + run_file + " --shard 1/1").out);
  EXPECT_EQ(run("merge " + part).out, run("plan " + run_file).out);
  file("run.toml", read(run_file) + "\n");
  expect_refused("merge " + part, {"run.toml: is not what the parts read"});
}

}  // namespace
}  // namespace headway
