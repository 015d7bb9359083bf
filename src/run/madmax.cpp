#include "run/madmax.hpp"

#include <numeric>

#include "base/text.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "platform/paths.hpp"

namespace headway {
namespace {

// One class's strategy, from within a node outwards, and the samples of a rank.
struct Stated {
  bool given = false;
  std::vector<std::string> parallel;
  std::vector<std::int64_t> degree;
  std::int64_t local = 1;

  std::int64_t ranks() const {
    return std::accumulate(degree.begin(), degree.end(), std::int64_t{1}, std::multiplies<>());
  }
  /// Copies and shards each have samples of their own.
  std::int64_t batch() const {
    std::int64_t out = local;
    for (std::size_t i = 0; i < parallel.size(); ++i) {
      if (parallel[i] == "ddp" || parallel[i] == "fsdp") out *= degree[i];
    }
    return out;
  }
};

// A list, or one alone.
std::vector<std::string> texts(const Document& document, Fields& fields, const std::string& key) {
  const Node* node = document.root.find(key);
  if (node != nullptr && node->array() == nullptr) return {fields.text(key)};
  return fields.texts_or_empty(key);
}
std::vector<std::int64_t> counts(const Document& document, Fields& fields, const std::string& key) {
  const Node* node = document.root.find(key);
  if (node != nullptr && node->array() == nullptr) return {fields.count(key)};
  return fields.naturals_or_empty(key);
}

Stated stated(const Document& document, Fields& fields, const std::string& name) {
  constexpr std::int64_t kMost = 1'000'000;
  Stated out;
  const std::string key = name + "_parallel", degree = key + "_degree";
  const std::string batch = "local_" + name + "_bs";
  out.given = fields.has(key);
  out.parallel = texts(document, fields, key);
  out.degree = counts(document, fields, degree);
  out.local = fields.count_or(batch, 1);
  if (!out.given) return out;
  if (out.parallel.empty() || out.parallel.size() > 2 || out.parallel.size() != out.degree.size()) {
    fields.fail(degree, "must hold a number for each of the one or two strategies of " + key);
    out.degree.resize(out.parallel.size(), 2);
  }
  for (std::int64_t& each : out.degree) {
    if (each >= 2 && each <= kMost) continue;
    fields.fail(degree, "must hold numbers from 2 to " + std::to_string(kMost));
    each = 2;
  }
  return out;
}

// The strategy of a class of layers; empty: none is known.
std::string strategy_of(const Stated& class_of) {
  const std::string said = join(class_of.parallel, "+");
  if (said == "ddp") return "data";
  if (said == "fsdp") return "sharded";
  if (said == "tp") return "tensor";
  if (said == "fsdp+ddp") return "sharded-in-node";
  if (said == "tp+ddp") return "tensor-in-node";
  return {};
}

class Reader {
 public:
  Reader(const Document& document, const RunRequest& flags)
      : document_(document), flags_(flags), fields_(document, problems_) {}

  Result<RunRequest> read() {
    fields_.text_or("name", "");
    const std::string type = fields_.text("type");
    if (type == "inference") {
      fields_.fail(
          "type",
          "is inference; `headway infer` reads language models alone, and networks are trained",
          Trouble::unsupported);
    } else if (type != "pretrain" && type != "finetune") {
      fields_.fail("type", "is '" + printable(type) + "'; legal: pretrain, finetune");
    }
    for (const char* frozen : {"freeze_top_mlp", "freeze_bot_mlp", "freeze_emb"}) {
      if (fields_.flag_or(frozen, false)) {
        fields_.fail(frozen, "freezes layers behind trained ones, which no block here may",
                     Trouble::unsupported);
      }
    }
    const Stated mlp = stated(document_, fields_, "mlp"), emb = stated(document_, fields_, "emb"),
                 transformer = stated(document_, fields_, "transformer");
    fields_.reject_unknown();
    const Model* model = network();
    const Stated& main = mlp.given ? mlp : transformer;
    if (!main.given)
      fields_.fail("mlp_parallel", "is missing, and so is transformer_parallel: no strategy");
    agree(main, {&mlp, &emb, &transformer});
    add("gpus", std::to_string(main.ranks()));
    add("global-batch", std::to_string(main.batch()));
    add("framework", "fsdp");
    add("optimizer", "sgd");
    add("graphs", "step");
    recipe();
    if (model != nullptr && !model->is_network()) {
      language(transformer);
    } else if (model != nullptr) {
      add("zero", "0");  // the classes say who holds what
      classes(*model, mlp, emb, transformer);
    }
    if (!problems_.empty()) return problems_;
    return out_;
  }

 private:
  void add(const std::string& name, const std::string& text) {
    out_.push_back(GivenField(name, text, {document_.file, 0, FieldName(name)}));
  }

  std::string said(std::string_view name) const {
    std::string out;
    for (const GivenField& field : flags_) {
      if (field.name == name) out = field.text;
    }
    return out;
  }

  const Model* network() {
    const std::string name = said("model");
    if (name.empty()) {
      problems_.push_back({FieldName("model"),
                           "is missing: a task of MAD-Max names none; write --model M.json "
                           "--cluster S.json",
                           Trouble::missing});
      return nullptr;
    }
    auto model = load_model(name);
    if (!model) {
      append(problems_, model.problems());
      return nullptr;
    }
    model_ = std::move(model).value();
    return &*model_;
  }

  // tf32 of weights in four bytes, else fp16.
  void recipe() {
    const std::string name = said("model");
    const bool file = name.ends_with(".json") && exists(name);
    const auto document = file ? read_document(name) : Result<Document>(Problems{});
    if (document && madmax_weight_bytes(*document) == 4) {
      add("precision", "tf32");
    } else if (document && madmax_weight_bytes(*document) == 2) {
      add("precision", "fp16");
    }
  }

  void agree(const Stated& main, const std::vector<const Stated*>& all) {
    for (const Stated* each : all) {
      if (!each->given || each->ranks() == main.ranks()) continue;
      fields_.fail("mlp_parallel", "its classes of layers lie on unlike numbers of devices, " +
                                       std::to_string(main.ranks()) + " and " +
                                       std::to_string(each->ranks()));
      return;
    }
    for (const Stated* each : all) {
      if (!each->given || each->parallel == std::vector<std::string>{"mp"}) continue;
      if (each->batch() == main.batch()) continue;
      fields_.fail("mlp_parallel", "its classes of layers have unlike batches, " +
                                       std::to_string(main.batch()) + " and " +
                                       std::to_string(each->batch()));
      return;
    }
  }

  void strategy(const std::string& field, const Stated& of, const std::string& key) {
    const std::string how = strategy_of(of);
    how.empty() ? no_strategy(of, key) : add(field, how);
  }
  void no_strategy(const Stated& of, const std::string& key) {
    fields_.fail(key,
                 "is " + join(of.parallel, " within a node and ") +
                     " across; legal: ddp, fsdp, tp, and fsdp or tp within a node with ddp across",
                 Trouble::unsupported);
  }

  void classes(const Model& model, const Stated& mlp, const Stated& emb,
               const Stated& transformer) {
    if (mlp.given && has_tables(model)) {
      if (has_class(model, ModuleClass::bottom)) strategy("bottom-mlp", mlp, "mlp_parallel");
      if (has_class(model, ModuleClass::top)) strategy("top-mlp", mlp, "mlp_parallel");
      if (has_class(model, ModuleClass::experts)) strategy("expert-mlp", mlp, "mlp_parallel");
    }
    if (transformer.given && has_class(model, ModuleClass::attention)) {
      strategy("attentions", transformer, "transformer_parallel");
      strategy("feed-forwards", transformer, "transformer_parallel");
    }
    if (!emb.given || !has_tables(model)) return;
    const std::string how = join(emb.parallel, "+");
    if (how == "ddp") {
      add("tables", "data-parallel");
    } else if (how != "mp") {
      fields_.fail("emb_parallel", "is " + how + "; legal: mp, ddp", Trouble::unsupported);
    }
  }

  // Copies, shards, or tensors within a node with copies across.
  void language(const Stated& of) {
    const std::string how = strategy_of(of);
    if (how == "data") return add("zero", "0");
    if (how == "sharded") return add("zero", "3");
    if (how == "tensor" || how == "tensor-in-node") {
      add("zero", "0");
      return add("tp", std::to_string(of.degree.front()));
    }
    if (how == "sharded-in-node") {
      add("zero", "3");
      return add("shard", std::to_string(of.degree.front()));
    }
    no_strategy(of, "transformer_parallel");
  }

  const Document& document_;
  const RunRequest& flags_;
  Problems problems_;
  Fields fields_;
  std::optional<Model> model_;
  RunRequest out_;
};

}  // namespace

bool is_madmax_task(const Document& document) {
  for (const char* key : {"mlp_parallel", "emb_parallel", "transformer_parallel"}) {
    if (document.root.find(key) != nullptr) return true;
  }
  return false;
}

Result<RunRequest> run_request_from_madmax(const Document& document, const RunRequest& flags) {
  return Reader(document, flags).read();
}

}  // namespace headway
