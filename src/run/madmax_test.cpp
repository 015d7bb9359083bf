// Files of MAD-Max: what is read of them, and what of its equations is physics in common. Its own
// figures (../shared/workloads/madmax_*.csv) are compared with where they lie beside the project;
// without them these tests are skipped.
#include "run/madmax.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "cluster/madmax.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr const char* kSmall = R"({"name": "small", "type": "DLRM", "bytes_per_nonemb_param": 4,
  "bytes_per_emb_param": 2, "num_bot_mlp_layers": 3, "num_top_mlp_layers": 4, "mlp_dim": 100,
  "num_tables": 8, "entries_per_table": 1000, "emb_dim": 16, "pooling_size": 5})";
constexpr const char* kSystem = R"({"name": "s", "type": "GPU", "num_devices": 16, "num_nodes": 2,
  "f64_flops": 1e13, "f32_flops": 1e14, "f16_flops": 2e14, "i8_ops": 4e14, "flops_util": 0.5,
  "mem_cap": 8e10, "mem_bw": 1e12, "mem_bw_util": 0.8, "num_nvlinks": 12, "bw_per_nvlink": 5e10,
  "nvlink_util": 0.7, "num_ibroce_ports": 8, "ibroce_bw": 5e10, "ibroce_util": 0.6,
  "ar_perc_intra": 0.25})";

Document document(const std::string& json) {
  auto out = parse_json(json, "given.json");
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

std::string problems(const Problems& all) {
  std::string out;
  for (const Problem& problem : all) out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

// 7 square layers of 100 and 8 tables of 1,000 x 16; of a sample 40 rows of 16 values in 2 bytes.
TEST(MadMax, ModelsAreReadWithTheirLayersAndTables) {
  const auto model = model_from_madmax(document(kSmall), "small");
  ASSERT_TRUE(model && model->ok()) << (model ? problems(model->problems()) : "");
  EXPECT_EQ(parameters(**model).total, 7 * 100 * 100 + 8 * 1000 * 16);
  EXPECT_EQ(forward_flops(**model, 1, AttentionFlops::full).value(), 2.0 * 7 * 100 * 100);
  EXPECT_TRUE(has_tables(**model));
}

TEST(MadMax, SystemsHaveTheRatesThatAreReached) {
  const auto cluster = cluster_from_madmax(document(kSystem), "s");
  ASSERT_TRUE(cluster && cluster->ok()) << (cluster ? problems(cluster->problems()) : "");
  const Cluster& c = **cluster;
  EXPECT_NEAR(c.accelerator.peak_of(Precision::tf32).value(), 0.5e14, 1);
  EXPECT_NEAR(c.accelerator.peak_of(Precision::fp16).value(), 1e14, 1);
  EXPECT_NEAR(c.accelerator.memory_bandwidth.value(), 0.8e12, 1);
  EXPECT_NEAR(c.levels[0].bandwidth.value(), 12 * 5e10 / 2 * 0.7, 1);
  EXPECT_NEAR(c.levels[1].bandwidth.value(), 8 * 5e10 / 2 * 0.6 / 8, 1);
  EXPECT_EQ(c.levels[0].size, 8);
  EXPECT_EQ(c.accelerators, 16);
}

TEST(MadMax, FilesThatAreWrongTellEveryProblem) {
  const auto model = model_from_madmax(
      document(R"({"type": "DLRM", "bytes_per_nonemb_param": 3, "bytes_per_emb_param": 2,
      "num_bot_mlp_layers": 1, "num_top_mlp_layers": 1, "mlp_dim": 8, "num_tables": 1,
      "entries_per_table": 0, "emb_dim": 4, "pooling_size": 0, "colour": 1})"),
      "m");
  ASSERT_TRUE(model && !model->ok());
  const std::string said = problems(model->problems());
  for (const char* part :
       {"bytes_per_nonemb_param", "entries_per_table", "pooling_size", "colour"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
  const auto system = cluster_from_madmax(
      document(R"({"num_devices": 9, "num_nodes": 2, "flops_util": 1.5})"), "s");
  ASSERT_TRUE(system && !system->ok());
  const std::string of_system = problems(system->problems());
  EXPECT_NE(of_system.find("multiple of num_nodes"), std::string::npos) << of_system;
  EXPECT_NE(of_system.find("flops_util"), std::string::npos) << of_system;
}

TEST(MadMax, TasksBecomeStrategiesByClass) {
  const RunRequest flags = {{"model", "dlrm-a-experts"}, {"cluster", "dgx-a100-80gb"}};
  const auto request =
      run_request_from_madmax(document(R"({"type": "pretrain", "mlp_parallel": ["fsdp", "ddp"],
      "mlp_parallel_degree": [8, 16], "emb_parallel": ["mp"], "emb_parallel_degree": [128],
      "local_mlp_bs": 512, "local_emb_bs": 512})"),
                              flags);
  ASSERT_TRUE(request.ok()) << problems(request.problems());
  std::map<std::string, std::string> said;
  for (const GivenField& field : *request) said[std::string(field.name)] = field.text;
  EXPECT_EQ(said["gpus"], "128");
  EXPECT_EQ(said["global-batch"], "65536");
  EXPECT_EQ(said["bottom-mlp"], "sharded-in-node");
  EXPECT_EQ(said["expert-mlp"], "sharded-in-node");
  const auto wrong =
      run_request_from_madmax(document(R"({"type": "inference", "mlp_parallel": ["ddp", "tp"],
      "mlp_parallel_degree": [8, 16], "local_mlp_bs": 512, "freeze_emb": true})"),
                              flags);
  ASSERT_FALSE(wrong.ok());
  const std::string all = problems(wrong.problems());
  for (const char* part : {"inference", "freezes layers", "legal: ddp, fsdp, tp"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  }
}

// What figures lie beside the project.
std::optional<Csv> figures(const std::string& file) {
  namespace fs = std::filesystem;
  for (fs::path at = source_dir(); at.has_relative_path(); at = at.parent_path()) {
    const auto text = read_file((at.parent_path() / "shared" / "workloads" / file).string());
    if (!text) continue;
    auto csv = parse_csv(*text, file);
    if (csv) return std::move(csv).value();
  }
  return std::nullopt;
}

class Table {
 public:
  explicit Table(const Csv& csv) : csv_(csv) {}
  std::string text(const CsvRow& row, const std::string& column) const {
    return row.cells[*csv_.column(column)];
  }
  double number(const CsvRow& row, const std::string& column) const {
    const std::string cell = text(row, column);
    return cell.empty() ? 0 : std::stod(cell);
  }

 private:
  const Csv& csv_;
};

// The model that a row of the definitions states, by its file.
std::optional<Result<Model>> model_of(const Csv& csv, const CsvRow& row) {
  std::string json = "{";
  for (const auto* column :
       {"type", "bytes_per_nonemb_param", "bytes_per_emb_param", "num_bot_mlp_layers",
        "num_top_mlp_layers", "mlp_dim", "num_tables", "entries_per_table", "emb_dim",
        "pooling_size", "num_experts", "num_active_experts", "num_transformer_layers",
        "num_transformer_heads", "attention_dim", "transformer_fc_dim", "transformer_seq_len",
        "image_size", "patch_dim"}) {
    const std::string cell = row.cells[*csv.column(column)];
    if (cell.empty()) continue;
    const bool text = std::string(column) == "type";
    json += (json.size() > 1 ? ", \"" : "\"") + std::string(column) +
            "\": " + (text ? "\"" + cell + "\"" : cell);
  }
  return model_from_madmax(document(json + "}"), "m");
}

// Products with weights, without those of patches: what its FLOPs count.
double counted(const Model& model) {
  double out = 0;
  for (const std::uint8_t kind : model.pattern) {
    for (const NetworkModule& module : model.kinds[kind].modules) {
      const bool of_weights = std::holds_alternative<Projection>(module.shape) ||
                              std::holds_alternative<ExpertProjection>(module.shape);
      if (of_weights) out += module_forward_flops(module).value();
    }
  }
  return out;
}

double look_up_bytes(const Model& model) {
  for (const Layer& layer : model.kinds) {
    for (const NetworkModule& module : layer.modules) {
      if (const auto* bags = std::get_if<EmbeddingBags>(&module.shape)) {
        return bags->look_ups() * static_cast<double>(bags->width * bags->value_bytes);
      }
    }
  }
  return 0;
}

TEST(MadMax, DefinitionsHaveItsParametersFlopsAndLookUps) {
  const auto csv = figures("madmax_models.csv");
  if (!csv) GTEST_SKIP() << "../shared/workloads is not there";
  const Table table(*csv);
  int compared = 0;
  for (const CsvRow& row : csv->rows) {
    if (table.text(row, "type").starts_with("LLM")) continue;  // norms and heads are counted here
    const auto model = model_of(*csv, row);
    ASSERT_TRUE(model && model->ok()) << table.text(row, "name");
    const double total = table.number(row, "total_params");
    EXPECT_NEAR(static_cast<double>(parameters(**model).total), total, 1e-9 * total)
        << table.text(row, "name");
    EXPECT_EQ(counted(**model), table.number(row, "flops_per_sample")) << table.text(row, "name");
    if (has_tables(**model)) {
      EXPECT_EQ(look_up_bytes(**model), table.number(row, "lookup_bytes_per_sample"));
    }
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

// Of each system the first row of a quantity gives its rate, which all others have to nine digits:
// GEMM seconds follow the FLOPs counted here, look-ups and all-to-alls their bytes before pooling,
// gathers and scatters of sharded layers their weights.
TEST(MadMax, PhysicsInCommonIsEqualAtItsUtilisations) {
  const auto models = figures("madmax_models.csv");
  const auto csv = figures("madmax_oracle.csv");
  if (!models || !csv) GTEST_SKIP() << "../shared/workloads is not there";
  const Table definitions(*models), table(*csv);
  std::map<std::string, Model> known;
  for (const CsvRow& row : models->rows) {
    if (definitions.text(row, "type").starts_with("LLM")) continue;
    known[definitions.text(row, "name")] = **model_of(*models, row);
  }
  std::map<std::string, double> rates;
  int compared = 0;
  const auto compare = [&](const std::string& quantity, double work, double ms) {
    if (!(work > 0) || !(ms > 0)) return;
    const auto [rate, first] = rates.emplace(quantity, work / ms);
    if (first) return;
    EXPECT_NEAR(work / rate->second / ms, 1, 1.1e-8) << quantity;  // of two numbers of nine digits
    ++compared;
  };
  for (const CsvRow& row : csv->rows) {
    const std::string name = table.text(row, "model"), system = table.text(row, "system");
    if (!known.contains(name) || !table.text(row, "frozen").empty()) continue;
    const Model& model = known[name];
    const bool trained = table.text(row, "task") != "inference";
    const double devices = table.number(row, "n_accel");
    const double samples = table.number(row, "global_bs") / devices;
    compare(system + " gemm", counted(model) * samples * (trained ? 3 : 1),
            table.number(row, "gemm_ms"));
    if (!has_tables(model)) continue;
    const double read = look_up_bytes(model) * samples;
    compare(system + " emb", read * (trained ? 2 : 1), table.number(row, "emb_ms"));
    const std::string mlp = table.text(row, "mlp"), transformer = table.text(row, "transformer");
    const bool own_calls = name.find("MoE") != name.npos && mlp.find("tp") != mlp.npos;
    if (!own_calls) {
      compare(system + " a2a", 2 * read / devices * (trained ? 2 : 1), table.number(row, "a2a_ms"));
    }
    const std::string all = "fsdp" + table.text(row, "n_accel");
    if (mlp != all || (!transformer.empty() && transformer != all)) continue;
    double weights = 0;
    for (const std::uint8_t kind : model.pattern) {
      for (const NetworkModule& module : model.kinds[kind].modules)
        weights += module_weights(module);
    }
    compare(system + " gathers", weights * (trained ? 2 : 1), table.number(row, "ag_ms"));
    if (trained) compare(system + " scatters", weights, table.number(row, "rs_ms"));
  }
  EXPECT_GE(compared, 400);
}

}  // namespace
}  // namespace headway
