// One step's calls against call lists that another program made: AICB's generator of workloads
// (github.com/aliyun/aicb), four of its files for 128 ranks. The files lie beside the project
// (../shared/traces/expected_calls) and may be absent; what they say in a step stands here, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "step/case_for_test.hpp"
#include "step/passes/buckets.hpp"

namespace headway::testing {
namespace {

using Key = std::tuple<std::string, std::string, std::int64_t>;  // operation, group, bytes
using Counts = std::map<Key, std::int64_t>;

constexpr const char* kGpt = "G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv";
constexpr const char* kLlama7 = "L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv";
constexpr const char* kZero2 = "L13B-D1-C03_Llama13B_zero2_mbs1.csv";
constexpr const char* kZero3 = "L13B-D1-C04_Llama13B_zero3_mbs1.csv";

// What the four files hold of one step (rows of `init` come before it).
const std::map<std::string, Counts> kLists = {
    {kGpt,
     {{{"all_reduce", "tp", 20'971'520}, 162},
      {{"all_reduce", "tp", 8'192}, 3},
      {{"broadcast", "tp", 40}, 1},
      {{"broadcast", "tp", 17'408}, 1},
      {{"all_reduce", "dp", 4}, 1},
      {{"reduce_scatter", "dp", 6'422'958'080}, 1},
      {{"all_gather", "dp", 3'211'479'040}, 1},
      {{"all_reduce", "tp", 0}, 1},
      {{"all_reduce", "tp", 4}, 1}}},
    {kLlama7,
     {{{"all_reduce", "tp", 16'777'216}, 130},
      {{"all_reduce", "tp", 8'192}, 3},
      {{"broadcast", "tp", 40}, 1},
      {{"broadcast", "tp", 17'408}, 1},
      {{"all_reduce", "dp", 4}, 1},
      {{"reduce_scatter", "dp", 10'366'697'472}, 1},
      {{"all_gather", "dp", 5'183'348'736}, 1},
      {{"all_reduce", "tp", 0}, 1},
      {{"all_reduce", "tp", 4}, 1}}},
    {kZero2,
     {{{"all_reduce", "dp", 1'879'623'680}, 1},
      {{"all_reduce", "dp", 1'903'226'880}, 12},
      {{"all_reduce", "dp", 1'313'382'400}, 1},
      {{"all_reduce", "dp", 1}, 1},
      {{"all_gather", "dp", 2'002'440'704}, 13}}},
    {kZero3,
     {{{"all_gather", "dp", 52'428'800}, 320},
      {{"all_gather", "dp", 141'557'760}, 240},
      {{"all_gather", "dp", 327'680'000}, 4},
      {{"all_gather", "dp", 10'240}, 243},
      {{"reduce_scatter", "dp", 1'879'623'680}, 1},
      {{"reduce_scatter", "dp", 1'903'226'880}, 12},
      {{"reduce_scatter", "dp", 1'313'382'400}, 1},
      {{"all_reduce", "dp", 8}, 1},
      {{"all_reduce", "dp", 1}, 1}}},
};

std::filesystem::path folder() {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv("HEADWAY_TRACES")) return fs::path(named) / "expected_calls";
  for (fs::path at = source_dir(); at.has_relative_path(); at = at.parent_path()) {
    const fs::path found = at.parent_path() / "shared" / "traces" / "expected_calls";
    if (fs::is_directory(found)) return found;
  }
  return {};
}

class ExpectedCalls : public ::testing::TestWithParam<const char*> {};

TEST_P(ExpectedCalls, OfTheFileAreThoseKeptHere) {
  std::ifstream file(folder() / GetParam());
  if (!file) GTEST_SKIP() << GetParam() << " is not here (see HEADWAY_TRACES)";
  std::string first;  // "[rank0 ~ rank127]"
  std::getline(file, first);
  std::stringstream rest;
  rest << file.rdbuf();
  const Result<Csv> csv = parse_csv(rest.str(), GetParam());
  ASSERT_TRUE(csv.ok());
  const auto cell = [&](const CsvRow& row, std::string_view column) {
    return row.cells[*csv->column(column)];
  };
  const auto word = [](const std::string& text, std::string_view prefix, std::string_view suffix) {
    return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  };
  Counts counts;
  for (const CsvRow& row : csv->rows) {
    const std::string group = cell(row, "comm_group");
    if (group == "None" || cell(row, "stage").starts_with("init")) continue;
    ++counts[{word(cell(row, "comm_type"), "CommType.", ""), word(group, "CommGroup.", "_group"),
              std::stoll(cell(row, "msg_size"))}];
  }
  EXPECT_EQ(counts, kLists.at(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Aicb, ExpectedCalls, ::testing::Values(kGpt, kLlama7, kZero2, kZero3));

// All calls of one rank in one step, where there is no pipeline. Shares of a block's calls must sum
// to whole numbers.
Counts counts_of(const Step& step) {
  std::map<Key, double> sums;
  const auto add = [&](const Call& call, double times) {
    const double bytes = call.bytes.value();
    EXPECT_EQ(bytes, std::round(bytes));
    sums[{std::string(to_name(call.op)), std::string(to_name(call.group)),
          static_cast<std::int64_t>(bytes)}] += call.count * times;
  };
  const StageClass& stage = step.stages.at(0);
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    const auto times = static_cast<double>(stage.counts[i] * step.micro_batches);
    if (times == 0) continue;
    for (const Call& call : only<Call>(step.blocks[i].items)) add(call, times);
  }
  for (const Call& call : only<Call>(stage.items)) add(call, 1);
  Counts out;
  for (const auto& [key, count] : sums) {
    EXPECT_NEAR(count, std::round(count), 1e-6) << std::get<0>(key) << " " << std::get<2>(key);
    out[key] = std::llround(count);
  }
  return out;
}

// Those of `a` that `b` has not, or has not so often.
Counts beyond(const Counts& a, const Counts& b) {
  Counts out;
  for (const auto& [key, count] : a) {
    const auto found = b.find(key);
    const std::int64_t more = count - (found == b.end() ? 0 : found->second);
    if (more > 0) out[key] = more;
  }
  return out;
}

// The generator's models for Megatron are GPTs of 32,000 words whatever their names say: one table
// for embedding and head, learned positions, biases, two matrices in the feed-forward part.
Case megatron(std::int64_t tp) {
  Case c = case_of("gpt3-13b");
  c.model.vocabulary = 32'000;
  c.job.software = 2023.5;  // it follows Megatron-LM of that time
  c.job.global_batch = 128 / tp;
  c.layout = {{.tp = tp}, {}, {.dp = 128 / tp, .zero = 1}};
  c.layout.sequence_parallel = false;
  c.layout.overlap_gradients = Choice::off;
  c.layout.overlap_parameters = Choice::off;
  return c;
}

// [STEP-18] [STEP-21] All equal but three. The batch: the generator adds one id for each rank of
// the run, Megatron-LM one for each sequence (a sequence and the token behind it). The sum over
// gradients of norms, which it lists with 0 bytes, is not made without sequence parallelism. The
// check of the gradients, over tp there, is one over all ranks with a distributed optimiser.
void expect_megatron(const Case& c, const char* file) {
  expect_legal(c);
  const Counts ours = counts_of(c.lowered()), theirs = kLists.at(file);
  EXPECT_EQ(beyond(ours, theirs),
            (Counts{{{"broadcast", "tp", 8 * 2049}, 1}, {{"all_reduce", "world", 4}, 1}}));
  EXPECT_EQ(beyond(theirs, ours), (Counts{{{"broadcast", "tp", 8 * (2048 + 128)}, 1},
                                          {{"all_reduce", "tp", 0}, 1},
                                          {{"all_reduce", "tp", 4}, 1}}));
}

TEST(CallsOfAStep, OfGpt13BOnMegatronAreThoseTheGeneratorLists) {
  expect_megatron(megatron(8), kGpt);
}

TEST(CallsOfAStep, OfLlama7BOnMegatronAreThoseTheGeneratorLists) {
  Case c = megatron(2);
  c.model.hidden = 4096;
  c.model.pattern.resize(32);
  Layer& layer = c.model.kinds.at(0);
  layer.attention->heads = layer.attention->kv_heads = 32;
  layer.feed_forward->width = 11'008;
  expect_megatron(c, kLlama7);
}

// Llama-13B tensor by tensor in the order of the forward pass, in parameters.
std::vector<double> llama_tensors() {
  const double h = 5120, f = 13'824, table = 32'000 * h;
  std::vector<double> out = {table};
  for (int layer = 0; layer < 40; ++layer) {
    for (const double tensor : {h, h * h, h * h, h * h, h * h, h, h * f, h * f, f * h}) {
      out.push_back(tensor);
    }
  }
  out.push_back(h);
  out.push_back(table);
  return out;
}

// Buckets of gradients by the letter of DeepSpeed's rule: reduced before a tensor that would not
// fit any more.
Counts counts_reduced(const char* op, double limit) {
  Counts out;
  double open = 0;
  const auto close = [&] {
    const auto bytes = static_cast<std::int64_t>(2 * open);
    ++out[{op, "dp", bytes}];
    open = 0;
  };
  std::vector<double> tensors = llama_tensors();
  std::reverse(tensors.begin(), tensors.end());
  for (const double tensor : tensors) {
    if (open + tensor > limit && open > 0) close();
    open += tensor;
  }
  close();
  return out;
}

Case deepspeed(int zero) {
  Case c = case_of("llama-13b");
  c.job.framework = framework_from("deepspeed").value();
  c.job.software = 2023.5;
  c.job.global_batch = 128;
  c.layout = {{}, {}, {.dp = 128, .zero = zero}};
  return c;
}

// [STEP-18] The generator's buckets hold up to 1e9 parameters, DeepSpeed's own default is 5e8.
TEST(CallsOfAStep, BucketsOfTheGeneratorsSizeAreThoseItLists) {
  Counts listed;
  for (const auto& [key, count] : kLists.at(kZero2)) {
    if (std::get<0>(key) == "all_reduce" && std::get<2>(key) > 1) listed[key] = count;
  }
  EXPECT_EQ(counts_reduced("all_reduce", 1e9), listed);
  BucketFiller filler(1e9, Closing::before);
  std::vector<double> tensors = llama_tensors();
  std::reverse(tensors.begin(), tensors.end());
  for (const double tensor : tensors) filler.add(tensor);
  Counts filled;
  for (const Bucket& bucket : filler.finish()) {
    filled[{"all_reduce", "dp", static_cast<std::int64_t>(2 * bucket.elements)}] =
        static_cast<std::int64_t>(bucket.count);
  }
  EXPECT_EQ(filled, listed);
}

// [STEP-18] [STEP-21] The overflow check, one byte in the list, is made in fp16 only; the norm of
// the gradients (4 B) is not in the list. Before 2024 DeepSpeed gathered the weights in pieces: 26
// of 5e8 parameters, of the generator's 1e9 13 (each filled up to a multiple of the ranks: 512 B
// more in all). Since then it is one call.
TEST(CallsOfAStep, OfLlama13BOnZero2AreThoseTheGeneratorListsInSmallerBuckets) {
  Case c = deepspeed(2);
  expect_legal(c);
  Counts expected = counts_reduced("all_reduce", 5e8);
  expected[{"all_reduce", "dp", 4}] = 1;
  Counts pieces = expected;
  const std::int64_t part = 13'015'864'320 / 128, piece = part / 26;  // even, as it must be
  pieces[{"all_gather", "dp", 2 * 128 * piece}] = 25;
  pieces[{"all_gather", "dp", 2 * 128 * (part - 25 * piece)}] = 1;
  EXPECT_EQ(counts_of(c.lowered()), pieces);
  c.job.software = 0;
  Counts whole = expected;
  whole[{"all_gather", "dp", 2 * 13'015'864'320}] = 1;
  EXPECT_EQ(counts_of(c.lowered()), whole);
  c.job.recipe = recipe_from("fp16");
  whole[{"all_reduce", "dp", 1}] = 1;
  EXPECT_EQ(counts_of(c.lowered()), whole);
}

// Fetches by the letter of DeepSpeed's rule: tensors ahead until there are 5e7 parameters.
void fetch(const std::vector<double>& tensors, Counts& out) {
  double open = 0;
  const auto close = [&] {
    if (open > 0) ++out[{"all_gather", "dp", static_cast<std::int64_t>(2 * open)}];
    open = 0;
  };
  for (const double tensor : tensors) {
    open += tensor;
    if (open >= 5e7) close();
  }
  close();
}

// [STEP-20] The generator lists a gather for each tensor forward and backward, and norms in both
// and after the step. DeepSpeed keeps norms and gathers them after the step only; takes tensors
// together until it has 5e7 parameters; and keeps what it needs again within 1e9 parameters: the
// head, the last layer, one matrix (down) of the layer before: 551.8 M parameters are not gathered
// again. Without these two habits the bytes are those of the list.
TEST(CallsOfAStep, OfLlama13BOnZero3AreThoseTheGeneratorListsTakenTogether) {
  const Case c = deepspeed(3);
  expect_legal(c);
  Counts expected = counts_reduced("reduce_scatter", 5e8);
  std::vector<double> matrices;
  for (const double tensor : llama_tensors()) {
    if (tensor > 1e5) matrices.push_back(tensor);
  }
  fetch(matrices, expected);
  std::vector<double> again, tensors = llama_tensors();
  double behind = 0, kept = 0;
  for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) {
    const bool fetched = *tensor > 1e5;
    if (fetched && behind >= 5e8) again.push_back(*tensor);
    if (fetched && behind < 5e8) kept += *tensor;
    behind += *tensor;
  }
  fetch(again, expected);
  EXPECT_EQ(kept, 163'840'000 + 4 * 26'214'400 + 4 * 70'778'880);
  expected[{"all_gather", "dp", 10'240}] = 81;
  expected[{"all_reduce", "dp", 4}] = 1;
  const Counts ours = counts_of(c.lowered());
  EXPECT_EQ(ours, expected);

  const auto bytes = [](const Counts& counts, std::string_view op, std::int64_t least) {
    std::int64_t sum = 0;
    for (const auto& [key, count] : counts) {
      if (std::get<0>(key) == op && std::get<2>(key) > least) sum += std::get<2>(key) * count;
    }
    return sum;
  };
  const Counts& theirs = kLists.at(kZero3);
  EXPECT_EQ(bytes(ours, "reduce_scatter", 0), bytes(theirs, "reduce_scatter", 0));
  EXPECT_EQ(bytes(ours, "all_gather", 10'240) + static_cast<std::int64_t>(2 * kept),
            bytes(theirs, "all_gather", 10'240));
}

}  // namespace
}  // namespace headway::testing
