// predict of a framework's own files, as --emit writes them.
#include <gtest/gtest.h>

#include "api/commands.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

TEST(LaunchDeepspeed, TheFilesThatEmitWritesAreForecastAsTheRun) {
  const auto flags = [](std::initializer_list<std::pair<const char*, const char*>> given) {
    RunRequest out;
    for (const auto& [name, text] : given) out.push_back({name, text, std::string("--") + name});
    return out;
  };
  PredictRequest request;
  request.fields = flags({{"model", "llama-3-70b"},
                          {"cluster", "dgx-h100"},
                          {"gpus", "64"},
                          {"seq", "4096"},
                          {"global-batch", "128"},
                          {"tp", "4"},
                          {"zero", "2"},
                          {"recompute", "full"},
                          {"offload", "optimizer"},
                          {"framework", "deepspeed"},
                          {"attention", "flash2"}});
  const std::string expected = run_predict(request).text;
  request.emit = "deepspeed";
  const std::string both = run_predict(request).text;
  const testing::TemporaryFolder folder;
  const std::size_t script = both.find("==> train.sh <==\n");
  folder.write("both.txt", both);
  folder.write("train.sh", both.substr(both.find('\n', script) + 1));
  folder.write("ds_config.json", both.substr(both.find('{'), script - both.find('{')));
  for (const char* name : {"both.txt", "train.sh"}) {
    PredictRequest again;
    again.run_file = folder.of(name);
    again.fields = flags({{"cluster", "dgx-h100"}});
    const CommandOutput output = run_predict(again);
    ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
    // But for the name of the network, which is the file's.
    EXPECT_EQ(output.text.substr(output.text.find(" on dgx-h100")),
              expected.substr(expected.find(" on dgx-h100")));
  }
  // What splits kept activations over tensor ranks is a problem where there are such.
  folder.write("ds_config.json",
               "{\"train_batch_size\": 128, \"zero_optimization\": {\"stage\": 2},\n"
               "\"activation_checkpointing\": {\"partition_activations\": true}}");
  PredictRequest split;
  split.run_file = folder.of("train.sh");
  split.fields = flags({{"cluster", "dgx-h100"}});
  const CommandOutput refused = run_predict(split);
  ASSERT_EQ(refused.problems.size(), 1u) << problems_text(refused.problems);
  EXPECT_EQ(where_text(refused.problems[0]),
            "ds_config.json:2: activation_checkpointing.partition_activations");
  split.fields.push_back({"tp", "1"});
  EXPECT_TRUE(run_predict(split).problems.empty());
}

}  // namespace
}  // namespace headway
