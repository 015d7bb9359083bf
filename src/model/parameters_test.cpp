// Parameters against those of transformers: tests/oracles/parameters.csv and networks.csv, which
// the scripts beside them write by building each network with that library.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "model/count.hpp"
#include "model/reading/families.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

struct Row {
  std::string name, source, config;
  std::int64_t parameters = 0;
};

void add_table(const std::string& file, std::vector<Row>& out) {
  const auto text = read_file(source_dir() + "/tests/oracles/" + file);
  if (!text) return;
  const Result<Csv> csv = parse_csv(*text, file);
  if (!csv) return;
  const std::size_t name = *csv->column("name"), source = *csv->column("source");
  const std::size_t parameters = *csv->column("parameters"), config = *csv->column("config");
  for (const CsvRow& row : csv->rows) {
    out.push_back(
        {row.cells[name], row.cells[source], row.cells[config], std::stoll(row.cells[parameters])});
  }
}

std::vector<Row> table() {
  std::vector<Row> out;
  for (const char* file : {"parameters.csv", "networks.csv"}) add_table(file, out);
  return out;
}

TEST(ParametersOfTransformers, EqualThoseCountedHereForEveryNetworkOfTheTable) {
  std::map<std::string, int> of_source;
  for (const Row& row : table()) {
    const std::string name = row.name + " (" + row.source + ")";
    ++of_source[row.source];
    const Result<Document> document = parse_json(row.config, name);
    ASSERT_TRUE(document.ok()) << name;
    const Result<Model> model = model_from_config(*document, row.name);
    if (!model) {
      ADD_FAILURE() << name << ": " << model.problems().front().message;
      continue;
    }
    EXPECT_EQ(parameters(*model).total, row.parameters) << name << " " << row.config;
  }
  EXPECT_GE(of_source["published"], 87);
  EXPECT_GE(of_source["random"], 330);
  EXPECT_GE(of_source["rewritten"], 50);
}

// Families that their makers publish with code of their own are no classes of the library: the
// element counts of their weights stand in count_test.cpp.
TEST(ParametersOfTransformers, CoverEveryFamilyButThoseTheLibraryDoesNotBuild) {
  const std::set<std::string> of_their_makers = {"chatglm", "internlm", "internlm2", "baichuan",
                                                 "aquila",  "exaone",   "mimo",      "bailing_moe",
                                                 "grok",    "arctic"};
  std::set<std::string> types;
  for (const Row& row : table()) {
    const Result<Document> document = parse_json(row.config, row.name);
    ASSERT_TRUE(document.ok());
    const Node* type = document->root.find("model_type");
    if (type != nullptr) types.insert(std::get<std::string>(type->value));
  }
  for (const reading::Family& family : reading::embedded_families()->families) {
    bool covered = of_their_makers.contains(family.name);
    for (const std::string& type : family.types) covered |= types.contains(type);
    EXPECT_TRUE(covered) << family.name;
  }
}

}  // namespace
}  // namespace headway
