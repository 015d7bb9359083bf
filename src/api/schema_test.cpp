#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "api/answer.hpp"
#include "base/source_dir_for_test.hpp"
#include "layout/any_field_for_test.hpp"
#include "report/json/document.hpp"
#include "report/validation.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

JsonTree schema_of(std::string_view command, const char* which) {
  return JsonTree::parse(*schema_json(command))[which];
}

// A schema that documents are held against. What is used of JSON Schema is the same in its drafts
// 7, which the library knows, and 2020-12.
class Schema {
 public:
  explicit Schema(const JsonTree& text) {
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(text), schema_);
  }
  /// What is wrong with the document; empty: nothing.
  std::string complaints(const JsonTree& document) const {
    valijson::ValidationResults results;
    valijson::Validator().validate(schema_, Adapter(document), &results);
    std::string out;
    for (const auto& error : results) {
      for (const std::string& place : error.context) out += place;
      out += ": " + error.description + "\n";
    }
    return out;
  }

 private:
  valijson::Schema schema_;
};

const std::string kAnyRun =
    R"("model": "llama-2-7b", "cluster": "dgx-h100", "gpus": 16, "seq": 4096, "global-batch": 64)";

// The request of the run above with more members, which override it.
std::string with(const std::string& more) {
  JsonTree out = JsonTree::parse("{" + kAnyRun + "}");
  out.update(JsonTree::parse("{" + more + "}"));
  return out.dump();
}

// What serves a model, with more members.
std::string served(const std::string& more) {
  JsonTree out = JsonTree::parse(R"({"model": "llama-3-70b", "cluster": "dgx-h100", "tp": 8,
                                     "input-len": 500, "output-len": 200})");
  out.update(JsonTree::parse("{" + more + "}"));
  return out.dump();
}

struct Question {
  const char* command;
  std::string request;
};

// Requests of every command, in each of the forms that its documents have.
std::vector<Question> questions() {
  std::vector<Question> out = {
      {"predict", with("")},
      {"predict", with(R"("cluster": {"base": "dgx-h100"}, "tp": 8, "no-sp": true)")},
      {"predict", with(R"("zero": 3, "framework": "fsdp", "dropout": 0.1)")},
      {"predict", with(R"("model": "llama-3.1-405b")")},  // does not fit
      {"predict", with(R"("emit": "megatron")")},
      {"predict", with(R"("pp": 2, "schedule": "dual-pipe", "timeline": true)")},
      {"predict", with(R"("timeline": true)")},  // no pipeline
      {"plan", with(R"("fix": {"tp": 4}, "max-pp": 2, "top": 2)")},
      {"plan", with(R"("objective": "money", "headroom": "5%", "fix": {"pp": 1})")},
      {"plan", with(R"("model": "llama-3.1-405b", "fix": {"tp": 8})")},  // nothing fits
      {"plan", with(R"("emit": "megatron", "fix": {"tp": 4})")},
      {"comms", with(R"("tp": 4, "small": "16 KiB")")},
      {"comms", with(R"("tp": 4, "clusters": ["dgx-a100-80gb", "tpu-v5p"])")},
      {"scale", with(R"("sweep": "run", "tokens": "2T", "step-noise": 0.01)")},
      {"scale", with(R"("sweep": "run", "tokens": "2T", "mtbf": "10 min")")},  // hopeless
      {"scale", R"({"sweep": "published"})"},
      {"scale", with(R"("sweep": "convergence", "tokens": "40B", "sites": "2,4", "bandwidth":
                       ["1 Gb/s"], "penalty": ["gossip=1.01"], "model": "tinyllama-1.1b")")},
      {"scale", R"({"sweep": "batch"})"},
      {"scale", R"({"sweep": "batch", "name": "bert", "batch": "256", "throughput": 1000,
                    "density": 0.5, "sparsity": "2:4", "masks-sent": true})"},
      {"scale", with(R"("sweep": "slimming", "width": 0.5, "tokens-kept": 0.5)")},
      {"scale", R"({"sweep": "subnetworks", "functions": {"function": [{"matrix": [[2]], "offset":
                    [1]}]}})"},
      {"scale", with(R"("sweep": "run", "phases": {"phase": [{"tokens": "1B"}, {"tokens": "1B",
                       "global-batch": 128, "tp": 2}]})")},
      {"limits", R"({"gpu": ["h100-sxm"], "sparse": true})"},
      {"limits", R"({"preset": "grand_dense"})"},
      {"limits", R"({"gpu": "h100-sxm", "relax": "diloco", "sync-every": 100})"},
      {"limits", R"({"gpu": "h100-sxm", "sensitivity": true})"},
      {"limits", R"({"gpu": "h100-sxm", "real": true})"},
      {"limits", R"({"gpu": "h100-sxm", "width": 12288, "domain": ["8"], "fabric": ["50 GB/s"]})"},
      {"limits", R"({"gpu": "h100-sxm", "budget": 2e8, "months": 2, "domain": ["8"]})"},
      {"limits", R"({"gpu": "h100-sxm", "sites": "3,1", "site-bandwidth": "1 GB/s"})"},
      {"validate", R"({"by": "framework", "rows": true})"},
      {"scale", with(R"("sweep": "weak", "at": [8, 16, 32])")},
      {"scale", with(R"("sweep": "strong", "at": [8, 16, 32])")},
      {"scale", with(R"("sweep": "model", "at": ["llama-2-7b", "llama-2-13b"])")},
      {"simulate", with("")},
      {"simulate", with(R"("tp": 2, "pp": 4)")},
      {"simulate", with(R"("tp": 2, "algorithm": ["tp.all_gather=ring", "dp.all_gather=best"])")},
      {"simulate", with(R"("simulate": "codesign", "choice": ["priority", "schedule=gpipe",
                            "compression=8-bit"])")},
      {"simulate", with(R"("tp": 2, "pp": 2, "slow-ranks": [1, 3], "slot-noise": 0.02, "seeds": 3,
                           "what-if": true)")},
      {"simulate", with(R"("tp": 4, "mtbf": "1000 h", "interval": "1 h", "pause": "10 ms",
                           "pause-every": 2)")},
      {"simulate", with(R"("tp": 2, "pp": 4, "vpp": 2, "timeline": true)")},
      {"simulate", R"({"simulate": "pipeline", "schedule": "interleaved", "vpp": 2, "pp": 4,
                       "micro-batches": 8, "forward": "1 ms", "backward": "1 ms",
                       "weight": "0 ms"})"},
      {"simulate", R"({"simulate": "replay", "ops": "step,dp_rank,stage,micro_batch,F_s,B_s\n)"
                   R"(0,0,0,0,0.1,0.2\n0,0,1,0,0.1,0.2\n", "transfer": "1 ms"})"},
      {"simulate", R"({"simulate": "network", "network": {
                       "links": [{"name": "a", "capacity": "1 GB/s"}],
                       "flows": [{"name": "f", "bytes": "1 GB", "route": ["a"]}]}})"},
      {"simulate", R"({"simulate": "collective", "op": "all_reduce", "bytes": "1 MB",
                       "topology": "torus:4x4"})"},
      {"simulate", R"({"simulate": "collective", "op": "all_gather", "bytes": "1 MB", "topology": {
                       "ranks": ["x", "y"], "links": [{"name": "a", "capacity": "1 GB/s",
                       "from": "x", "to": "y", "both_ways": true}]}})"},
      {"predict", with(R"("tp": 4, "ops": true)")},
      {"predict", with(R"("method": "diloco:every=30,replicas=2,bandwidth=10Gb/s")")},
      {"plan", R"({"model": "llama-2-7b", "cluster": "dgx-h100", "gpus": 8, "seq": 4096,
                   "global-batch": 32, "method": "top-k:share=0.01", "top": 2})"},
      {"simulate", with(R"("method": "streaming-diloco")")},
      {"design",
       with(R"("tp": 4, "vary": ["memory=hbm3,hbm4", "network-bandwidth=1GB/s..1TB/s:4"])")},
      {"design", R"({"model": "llama-3-70b", "cluster": "dgx-h100", "tp": 8, "input-len": 1000,
                     "output-len": 500, "batch": 16, "vary": ["memory=hbm2,hbm4,sram", "node=n3"]})"},
      {"jobs",
       R"({"stream": {"arrivals": {"jobs": 20}, "seeds": 2, "policies": ["max", "cheapest"]}})"},
      {"jobs", R"({"stream": {"arrivals": {"jobs": 3}, "limits": {"least": 0.001, "most": 0.002,
                   "step": 0.001}}, "seeds": 1, "policy": ["none", "max"]})"},
      {"jobs", R"({"stream": {"arrivals": {"jobs": 5}, "seeds": 1, "policies": ["max"],
                   "machine": {"cluster": "dgx-h100", "nodes": 8, "leaf": 2, "oversubscription": 16},
                   "job": [{"name": "small", "steps": 100, "nodes": [4], "run": {"model":
                   "llama-2-7b", "seq": 4096, "global-batch": 128}}]}})"},
      {"infer", served(R"("batch": 16)")},
      {"infer", served(R"("batch": 16, "ops": true)")},
      {"infer", served(R"("rate": 4, "ttft": "1 s", "weights": "fp8", "cache": "fp8")")},
      {"infer", served(R"("rate": 1e6)")},           // not stable
      {"infer", served(R"("tp": 1, "batch": 16)")},  // does not fit
      {"infer", served(R"("curve": "rate", "tpot": "20 ms")")},
      {"infer", served(R"("curve": "concurrency")")},
      {"infer", served(R"("curve": "batch")")},
      {"infer", R"({"model": "llama-2-7b", "cluster": "dgx-h100", "input-len": 500,
                    "output-len": 50, "concurrency": 4, "prefill": "tp=1,copies=2",
                    "decode": "tp=2,step-tokens=512"})"},
      {"infer", R"({"model": "llama-2-7b", "cluster": "dgx-h100", "input-len": 500,
                    "output-len": 50, "gpus": 2, "best": true, "disaggregate": true,
                    "formats": "bf16,fp8/fp8"})"},
      {"infer", R"({"model": "llama-2-7b", "cluster": {"base": "dgx-h100"}, "gpus": 2, "best": true,
                    "input-len": 200, "output-len": 1})"},
      {"list", R"({"what": "models"})"},
      {"list", R"({"what": "clusters"})"},
      {"list", R"({"what": "accelerators"})"},
      {"list", R"({"what": "machines"})"},
      {"list", R"({"what": "methods"})"},
      {"list", R"({"what": "clusters"})"},
      {"list", R"({"what": "schemas"})"},
      {"list", R"({"what": "fields", "of": "model = \"gpt2\"\ngpus = 8\n"})"},
  };
  for (const char* axis : {"context", "hardware", "network", "layout"}) {
    out.push_back({"scale", with(R"("sweep": ")" + std::string(axis) + "\"")});
  }
  return out;
}

// Members of the document that the schema does not describe.
void find_undescribed(const JsonTree& document, JsonTree schema, const JsonTree& root,
                      const std::string& at, std::vector<std::string>& out) {
  if (schema.contains("$ref")) {
    const std::string ref = schema["$ref"];
    schema = root.at(JsonTree::json_pointer(ref.substr(1)));
  }
  if (schema.contains("anyOf")) {  // the form that describes most of it
    std::vector<std::string> best;
    bool first = true;
    for (const JsonTree& form : schema["anyOf"]) {
      std::vector<std::string> found;
      find_undescribed(document, form, root, at, found);
      if (first || found.size() < best.size()) best = found;
      first = false;
    }
    out.insert(out.end(), best.begin(), best.end());
  } else if (document.is_object()) {
    for (const auto& [name, member] : document.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) {
        find_undescribed(member, schema["properties"][name], root, at + "/" + name, out);
      } else if (schema.contains("additionalProperties")) {
        find_undescribed(member, schema["additionalProperties"], root, at + "/" + name, out);
      } else {
        out.push_back(at + "/" + name);
      }
    }
  } else if (document.is_array()) {
    for (const JsonTree& element : document) {
      find_undescribed(element, schema.value("items", JsonTree::object()), root, at + "[]", out);
    }
  }
}

TEST(Schema, RealRequestsAndTheirAnswersAreAsDescribed) {
  const AnswerOptions options;
  for (const auto& [command, request] : questions()) {
    const std::string asked = std::string(command) + " " + request;
    EXPECT_EQ(Schema(schema_of(command, "request")).complaints(JsonTree::parse(request)), "")
        << asked;
    const CommandOutput output = answer(command, request, options);
    ASSERT_TRUE(output.problems.empty()) << asked << "\n" << problems_text(output.problems);
    const JsonTree document = JsonTree::parse(output.text),
                   response = schema_of(command, "response");
    EXPECT_EQ(Schema(response).complaints(document), "") << asked;
    std::vector<std::string> undescribed;
    find_undescribed(document, response, response, "", undescribed);
    EXPECT_TRUE(undescribed.empty()) << asked << "\n" << undescribed.front();
  }
}

TEST(Schema, TracesAndWhatIsExpectedOfThemAreAsDescribed) {
  const JsonTree response = schema_of("comms", "response");
  for (const bool compared : {false, true}) {
    AnswerOptions options;
    options.traces = {source_dir() + "/examples/traces/small-llama-ddp"};
    CommandOutput output = answer("comms", "{}", options);
    if (compared) {
      CommsRequest request;
      request.files = {source_dir() + "/examples/small-llama-ddp.toml"};
      request.traces = options.traces;
      request.json = true;
      output = run_comms(request);
    }
    ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
    const JsonTree document = JsonTree::parse(output.text);
    EXPECT_EQ(Schema(response).complaints(document), "");
    std::vector<std::string> undescribed;
    find_undescribed(document, response, response, "", undescribed);
    EXPECT_TRUE(undescribed.empty()) << undescribed.front();
  }
}

TEST(Schema, WhatAnswerRefusesTheSchemaRefusesToo) {
  const std::vector<Question> wrong = {
      {"predict", with(R"("sequence": 1)")},
      {"predict", with(R"("tp": "eight")")},
      {"predict", with(R"("zero": 4)")},
      {"predict", with(R"("model": "/etc/passwd")")},
      {"predict", with(R"("framework": "megatronic")")},
      {"predict", with(R"("no-sp": "perhaps")")},
      {"predict", R"({"model": "llama-2-7b"})"},
      {"predict", with(R"("save": "x.toml")")},
      {"plan", with(R"("top": 1000)")},
      {"plan", with(R"("objective": "beauty")")},
      {"scale", with(R"("sweep": "sideways")")},
      {"scale", with("")},
      {"limits", R"({"gpu": "h1000"})"},
      {"limits", R"({"rows": "x.csv"})"},
      {"validate", R"({"by": "weekday"})"},
      {"simulate", R"({"simulate": "pipeline", "schedule": "1f2b"})"},
      {"simulate", R"({"simulate": "weather"})"},
      {"simulate", with(R"("perfetto": "x")")},
      {"simulate", with(R"("slot-noise": 0.7)")},
      {"simulate", with(R"("neighbour-placement": "beside")")},
      {"infer", served(R"("batch": 0)")},
      {"infer", served(R"("batch": 1, "weights": "int3")")},
      {"infer", served(R"("batch": 1, "engine": "vim")")},
      {"infer", served(R"("rate": 0)")},
      {"infer", served(R"("curve": "sideways")")},
      {"infer", R"({"model": "llama-3-70b", "cluster": "dgx-h100", "batch": 1})"},
      {"list", R"({"what": "animals"})"},
      {"list", "{}"},
  };
  for (const auto& [command, request] : wrong) {
    EXPECT_FALSE(answer(command, request).problems.empty()) << command << request;
    EXPECT_NE(Schema(schema_of(command, "request")).complaints(JsonTree::parse(request)), "")
        << command << request;
  }
}

// A value that the schema allows.
JsonTree example_of(const JsonTree& schema) {
  if (schema.contains("enum")) return schema["enum"].front();
  if (schema.contains("anyOf")) return example_of(schema["anyOf"].front());
  const JsonTree type = schema["type"].is_array() ? schema["type"].front() : schema["type"];
  if (type == "boolean") return true;
  if (type == "integer" || type == "number") return schema.value("minimum", JsonTree(1));
  return type == "object" ? JsonTree::object() : JsonTree("x");
}

JsonTree json_from(const Node& value) {
  return JsonTree::parse(node_json(value).dump());
}

// Values of fields as members of a request: the schema allows them, they are read, and the answer's
// layout says what was given.
RC_GTEST_PROP(Schema, FieldsOfARequestComeBackInTheLayoutOfTheAnswer, ()) {
  static const Schema asked(schema_of("predict", "request"));
  static const Schema told(schema_of("predict", "response"));
  JsonTree request = JsonTree::parse(with(R"("model": "mixtral-8x7b")"));
  std::vector<std::pair<const FieldRow*, JsonTree>> given;
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row) || *rc::gen::inRange(0, 20) != 0) continue;
    const double number = testing::any_number(row.field.form);
    const Node value = value_of(row.field.form, number);
    if (value.is_null()) continue;
    request[std::string(row.field.name)] = json_from(value);
    if (row.member.empty() || row.shown != nullptr) continue;
    const bool off = row.field.form.kind == FieldForm::Kind::flag;
    given.emplace_back(&row, off ? JsonTree(number != 0) : json_from(value));
  }
  const std::string complaints = asked.complaints(request);
  if (!complaints.empty()) RC_FAIL(complaints + request.dump());
  const CommandOutput output = answer("predict", request.dump());
  for (const Problem& problem : output.problems) {  // what is illegal together, not how it is said
    RC_ASSERT(problem.kind != Trouble::unknown && problem.kind != Trouble::malformed);
  }
  if (!output.problems.empty()) return;
  const JsonTree document = JsonTree::parse(output.text);
  if (const std::string wrong = told.complaints(document); !wrong.empty()) RC_FAIL(wrong);
  for (const auto& [row, value] : given) {
    RC_ASSERT(document["layout"][std::string(row->member)] == value);
  }
}

// Files are the command line's alone: its answer of benchmarks is held against the schema here.
TEST(Schema, DescribesTheAnswerOfBenchmarks) {
  JsonTree whole = schema_of("validate", "response");
  const JsonTree of_benchmarks = {{"$defs", whole["$defs"]}, {"$ref", "#/$defs/benchmarks"}};
  BenchmarkRow row;
  row.id = "2";
  row.outcome = "ok";
  row.machine = "h100-sxm";
  row.measured = Seconds(1e-6);
  std::vector<BenchmarkRow> rows = {row, row};
  rows[0].predicted = Seconds(2e-6);
  rows[1].skipped_reason = "why";
  for (const CorpusKind kind : {CorpusKind::products, CorpusKind::collectives}) {
    const JsonTree document = JsonTree::parse(benchmarks_json(summarise(kind, rows), true));
    EXPECT_EQ(Schema(of_benchmarks).complaints(document), "");
    std::vector<std::string> undescribed;
    find_undescribed(document, of_benchmarks, of_benchmarks, "", undescribed);
    EXPECT_EQ(undescribed, std::vector<std::string>());
  }
}

TEST(Schema, OfAnAnswerHasEveryFieldOfALayout) {
  for (const char* command : {"predict", "plan", "comms", "scale"}) {
    const JsonTree layout = schema_of(command, "response")["$defs"]["layout"]["properties"];
    for (const FieldRow& row : field_rows()) {
      const bool of_layout = std::holds_alternative<FieldAccess<Layout>>(row.access);
      EXPECT_EQ(layout.contains(row.member), of_layout) << command << " " << row.field.name;
    }
  }
}

TEST(Schema, EveryFieldThatItNamesIsKnownAndEveryKnownFieldStandsInIt) {
  const JsonTree run = schema_of("predict", "request")["properties"];
  for (const RunField& field : run_fields()) EXPECT_TRUE(run.contains(field.name)) << field.name;
  for (const char* command : {"predict", "plan", "comms", "limits", "validate", "list"}) {
    const JsonTree properties = schema_of(command, "request")["properties"];
    for (const auto& [name, schema] : properties.items()) {
      JsonTree request = {{name, example_of(schema)}};
      if (name == "study") continue;  // takes seconds and nothing beside it
      AnswerOptions options;
      options.progress = [](std::size_t, std::size_t) { return false; };
      const CommandOutput output = answer(command, request.dump(), options);
      for (const Problem& problem : output.problems) {
        EXPECT_EQ(problem.message.find("is not a known field"), std::string::npos)
            << command << " " << where_text(problem) << " " << problem.message;
      }
    }
  }
}

TEST(Schema, NamesThatAFieldMayHaveAreThoseThatItTakes) {
  const JsonTree run = schema_of("predict", "request")["properties"];
  int choices = 0;
  for (const auto& [name, schema] : run.items()) {
    if (!schema.contains("enum")) continue;
    ++choices;
    for (const JsonTree& value : schema["enum"]) {
      const CommandOutput output = answer("predict", with("\"" + name + "\": " + value.dump()));
      for (const Problem& problem : output.problems) {
        EXPECT_EQ(problem.message.find("is not known"), std::string::npos)
            << name << " " << value << " " << problem.message;
      }
    }
    const auto refused = answer("predict", with("\"" + name + "\": \"no-such-thing\""));
    EXPECT_FALSE(refused.problems.empty()) << name;
  }
  EXPECT_GE(choices, 15);
}

TEST(Schema, AllSchemasAreOneDocumentByCommand) {
  const JsonTree all = JsonTree::parse(schemas_json());
  for (const std::string& command : answered_names()) {
    const JsonTree& own = all["commands"][std::string(command)];
    EXPECT_EQ(own, JsonTree::parse(*schema_json(command)));
    for (const char* which : {"request", "response"}) {
      EXPECT_EQ(own[which]["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
  }
  EXPECT_FALSE(schema_json("remove").has_value());
}

}  // namespace
}  // namespace headway
