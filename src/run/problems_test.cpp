// With some fields refused, what else is wrong: all that holds whatever those turn out to be, and
// the same under every name of the file.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "run/run.hpp"

namespace headway {
namespace {

// The problems of a run file of that name, without the name.
std::string problems_of(const std::string& text, const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.problems()[0].message;
  const auto request = run_request_from(document->root, file);
  std::string out;
  const auto run = request ? make_run(*request) : Result<RequestedRun>(request.problems());
  if (run) return "none";
  for (Problem problem : run.problems()) {
    if (problem.place.file == file) problem.place.file = "FILE";
    out += where_text(problem) + ": " + problem.message + "\n";
  }
  return out;
}

std::vector<std::string> file_names() {
  std::vector<std::string> out = {"run.toml",    "http.toml",        "stage.toml",   "a,b.toml",
                                  "pp",          "http/tp/pp.toml",  "x:3: tp.toml", "--tp.toml",
                                  "--pp, --vpp", "my gpus/seq.toml", "model",        "cluster"};
  for (const RunField& field : run_fields()) {
    out.push_back(std::string(field.name) + ".toml");
    out.push_back(std::string(field.name) + "/run.toml");
  }
  return out;
}

TEST(RunProblems, DoNotDependOnTheNameOfTheFile) {
  // Refused: micro-batch and the number of accelerators. tp, seq and ep are wrong besides.
  const std::string text =
      "model = 'llama-2-7b'\ncluster = 'dgx-h100'\ngpus = 7\ntp = 3\npp = 5\nseq = 4097\n"
      "global-batch = 7\nmicro-batch = 'x'\nep = 2\n";
  const std::string expected = problems_of(text, "run.toml");
  for (const char* field : {"micro-batch: ", "gpus: ", "--seq: ", "--tp: ", "--ep: "}) {
    EXPECT_NE(expected.find(field), std::string::npos) << field << " in\n" << expected;
  }
  for (const std::string& name : file_names()) EXPECT_EQ(problems_of(text, name), expected) << name;
}

TEST(RunProblems, NameFieldsThatNothingReads) {
  const std::string base =
      "model = 'llama-2-7b'\ncluster = 'dgx-h100'\ngpus = 8\nseq = 4096\nglobal-batch = 8\n";
  const auto said = [&](const std::string& fields) {
    return problems_of(base + fields, "run.toml");
  };
  EXPECT_EQ(said("recompute-every = 4\nrecompute-pieces = 'norm'\nlora-rank = 8\n"),
            "FILE:6: recompute-every: is read with recompute full alone; leave it out, or give "
            "that, too\n"
            "FILE:7: recompute-pieces: is read with recompute selective alone; leave it out, or "
            "give that, too\n"
            "FILE:8: lora-rank: is read with task lora alone; leave it out, or give that, too\n");
  EXPECT_EQ(said("recompute-every = 4\nrecompute = 'full'\n"), "none");
  EXPECT_EQ(said("recompute-pieces = 'norm'\nrecompute = 'selective'\n"), "none");
  EXPECT_EQ(said("recompute-every = 1\n"), "none");  // as it is
  EXPECT_EQ(said("shard = 4\nzero = 0\n"),
            "FILE:6: shard: is read with zero 1, 2 or 3 alone; leave it out, or give that, too\n");
}

RC_GTEST_PROP(RunProblems, AreTheSameWhateverTheNameOfTheFile, ()) {
  const auto part = rc::gen::oneOf(
      rc::gen::string<std::string>(),
      rc::gen::map(rc::gen::elementOf(file_names()), [](std::string name) { return name; }));
  const std::string name = *part + *part;
  RC_PRE(!name.empty());
  const std::string text =
      "model = 'llama-2-7b'\ncluster = 'dgx-h100'\ngpus = 7\ntp = 3\nseq = 4097\n"
      "global-batch = 7\nmicro-batch = 'x'\nep = 2\nbroken = 1\n";
  RC_ASSERT(problems_of(text, name) == problems_of(text, "run.toml"));
}

// Values of each field: some right, some wrong beside some others.
const std::map<std::string, std::vector<std::string>>& values() {
  static const std::map<std::string, std::vector<std::string>> out = {
      {"gpus", {"7", "8", "16", "1000000"}},
      {"dp", {"1", "3", "4"}},
      {"tp", {"1", "2", "3", "8"}},
      {"cp", {"1", "2", "3"}},
      {"pp", {"1", "2", "3", "4"}},
      {"vpp", {"1", "2", "3"}},
      {"ep", {"1", "2"}},
      {"micro-batch", {"1", "2", "5"}},
      {"seq", {"128", "4096", "4097"}},
      {"global-batch", {"1", "7", "64", "720"}},
      {"framework", {"megatron", "fsdp", "deepspeed", "nanotron"}},
      {"schedule", {"1f1b", "dual-pipe", "dual-pipe-v", "chimera"}},
      {"zero", {"0", "2", "3"}},
      {"offload", {"none", "optimizer", "parameters"}},
      {"first-stage-layers", {"1", "31", "100"}},
      {"last-stage-layers", {"1", "8"}},
      {"cp-exchange", {"ring", "all-to-all"}},
      {"not-causal", {"true", "false"}},
      {"no-sp", {"true", "false"}},
      {"document", {"128", "4000"}},
      {"lora-rank", {"8", "5000"}},
      {"param-dtype", {"bf16"}},
      {"reduce-dtype", {"fp32"}},
      {"precision", {"bf16", "fp8"}},
      {"embedding-slots", {"1", "33"}},
      {"bucket-size", {"25 MiB", "1 GB"}},
      {"quantized-weights", {"true"}},
      {"quantized-gradients", {"true"}},
      {"secondary-shard", {"2", "8", "100"}},
  };
  return out;
}

std::string text_of(const std::map<std::string, std::string>& fields) {
  std::string out = "model = 'llama-2-7b'\ncluster = 'dgx-a100'\n";
  for (const auto& [name, value] : fields) out += name + " = '" + value + "'\n";
  return out;
}

// The fields that problems are about, those of one problem together.
std::vector<FieldNames> fields_of(const std::map<std::string, std::string>& fields) {
  const auto document = parse_toml(text_of(fields), "f");
  const auto run = make_run(*run_request_from(document->root, "f"));
  std::vector<FieldNames> out;
  if (run) return out;
  for (const Problem& problem : run.problems()) out.push_back(problem.fields);
  return out;
}

// The rules that read a refused field are left out, so that no problem is gone once it is right.
RC_GTEST_PROP(RunProblems, BesideARefusedFieldHoldWhateverItTurnsOutToBe, ()) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, texts] : values()) {
    const bool given = name == "seq" || name == "global-batch" || *rc::gen::inRange(0, 3) == 0;
    if (given) fields[name] = *rc::gen::elementOf(texts);
  }
  std::vector<std::string> names;
  for (const auto& [name, texts] : values()) names.push_back(name);
  const std::string refused = *rc::gen::elementOf(names);
  fields[refused] = "x";
  const std::vector<FieldNames> said = fields_of(fields);
  for (const std::string& right : values().at(refused)) {
    fields[refused] = right;
    const std::vector<FieldNames> then = fields_of(fields);
    for (const FieldNames& wrong : said) {
      if (wrong == FieldNames{FieldName(refused)}) continue;
      if (std::find(then.begin(), then.end(), wrong) == then.end()) {
        RC_FAIL(where_text(wrong) + " is wrong no more with " + refused + " = " + right + " in\n" +
                text_of(fields));
      }
    }
  }
}

// [STEP-18] A size of buckets is read where gradients go out in buckets whose size is a setting.
TEST(RunProblems, NameFieldsOfTransformersOnNetworks) {
  const auto said = [](const std::string& fields) {
    return problems_of(
        "model = 'resnet-50'\ncluster = 'dgx-h100'\ngpus = 8\nglobal-batch = 64\n" + fields,
        "run.toml");
  };
  EXPECT_EQ(said(""), "none");
  EXPECT_EQ(said("dropout = 0.1\nexpert-imbalance = 2\n"),
            "FILE:5: dropout: is of transformers; leave it out\n"
            "FILE:6: expert-imbalance: is read of experts and of embedding tables; leave it out\n");
}
TEST(RunProblems, ASizeOfBucketsIsRefusedWhereNothingReadsIt) {
  const auto problems = [&](const std::string& fields) {
    return problems_of(
        "model = 'llama-2-7b'\ncluster = 'dgx-h100'\nseq = 4096\nglobal-batch = 8\n"
        "gpus = 8\nbucket-size = '25 MiB'\n" +
            fields,
        "run.toml");
  };
  for (const char* read :
       {"zero = 1", "framework = 'fsdp'\nzero = 0", "framework = 'deepspeed'\nzero = 3",
        "framework = 'nanotron'\nzero = 0"}) {
    EXPECT_EQ(problems(std::string(read) + "\n"), "none") << read;
  }
  for (const auto& [idle, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"overlap-gradients = 'off'",
            "is read by Megatron-LM with zero 0 or 1 and "
            "overlap-gradients on alone; leave it out, or give that"},
           {"zero = 3", "is read by Megatron-LM with zero 0 or 1 and overlap-gradients on alone"},
           {"framework = 'fsdp'", "is read by FSDP with zero 0 alone"},
           {"framework = 'deepspeed'\nzero = 0",
            "is read by DeepSpeed with zero 1 or 2 or 3 alone"},
           {"framework = 'deepspeed'\nzero = 3\ntask = 'lora'", "with zero 1 or 2 alone"},
           {"framework = 'nanotron'\nzero = 1", "is read by nanotron with zero 0 alone"},
           {"framework = 'jax'",
            "is a setting of Megatron-LM, FSDP, DeepSpeed, nanotron, DDP and Horovod, TensorFlow; "
            "leave"}}) {
    EXPECT_NE(problems(std::string(idle) + "\n").find(message), std::string::npos)
        << idle << "\n"
        << problems(std::string(idle) + "\n");
  }
  const std::string bare = problems_of(
      "model = 'llama-2-7b'\ncluster = 'dgx-h100'\nseq = 4096\n"
      "global-batch = 8\ngpus = 8\nbucket-size = 25\n",
      "run.toml");
  EXPECT_NE(bare.find("has no unit"), std::string::npos) << bare;
}

TEST(RunProblems, OfANumberThatIsNoMultipleNameThoseNextToIt) {
  const auto near = [](const char* gpus) {
    const auto run = make_run({{"model", "llama-2-7b"},
                               {"cluster", "dgx-h100"},
                               {"gpus", gpus},
                               {"tp", "4"},
                               {"pp", "16"},
                               {"seq", "4096"},
                               {"global-batch", "1024"}});
    return run ? std::vector<std::int64_t>{} : run.problems().front().near;
  };
  EXPECT_EQ(near("1030"), (std::vector<std::int64_t>{1'024, 1'088}));
  EXPECT_EQ(near("8"), (std::vector<std::int64_t>{64}));
}

// Where the name of one field stands within another's, the one does not hide the other.
TEST(RunProblems, AreSaidOfAFieldWhoseNameARefusedOneContains) {
  const std::string common = "model = 'llama-2-7b'\ncluster = 'dgx-h100'\nglobal-batch = 8\n";
  const auto says = [&](const std::string& fields, const std::string& place) {
    return problems_of(common + fields, "run.toml").find(place) != std::string::npos;
  };
  EXPECT_TRUE(says("seq = 4096\netp = 'x'\ntp = 3\n", "--tp: 3 does not divide"));
  EXPECT_TRUE(
      says("seq = 4096\nrecompute-pieces = 'x'\nep = 2\n", "--ep: model llama-2-7b has no"));
  EXPECT_TRUE(says("seq = 4097\ntp = 2\ncp = 'x'\n", "--seq: 4097 tokens"));
}

}  // namespace
}  // namespace headway
