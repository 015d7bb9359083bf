// What the writers and readers of launch configurations share. Internal to src/launch.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/launch.hpp"

namespace headway::launch {

// One writer and one reader for each framework.
Result<std::vector<LaunchFile>> write_megatron(const Run& run);
/// Also of Megatron-DeepSpeed, whose script names a configuration of DeepSpeed.
Result<LaunchRequest> read_megatron(std::string_view text, const std::string& file,
                                    std::int64_t accelerators, const LaunchOpener& open);
Result<std::vector<LaunchFile>> write_torchtitan(const Run& run);
Result<LaunchRequest> read_torchtitan(std::string_view text, const std::string& file,
                                      std::int64_t accelerators);
Result<std::vector<LaunchFile>> write_deepspeed(const Run& run);
/// `beside_script`: the script that names the configuration says whether layers are recomputed.
Result<LaunchRequest> read_deepspeed(std::string_view text, const std::string& file,
                                     bool beside_script);
/// What fields of a run of DeepSpeed mean together.
void settle_deepspeed(LaunchRequest& request);
Result<std::vector<LaunchFile>> write_nanotron(const Run& run);
Result<LaunchRequest> read_nanotron(std::string_view text, const std::string& file);

/// Gathers what a framework cannot express.
class Refusals {
 public:
  Refusals(Launcher launcher, Problems& problems) : launcher_(launcher), problems_(problems) {}
  /// "WHAT cannot be expressed in FRAMEWORK VERSION; HINT" of a field, or several, where `is`
  /// holds.
  void refuse(bool is, const char* field, const std::string& what, const std::string& hint = {}) {
    if (is) refuse(is, FieldNames{FieldName(field)}, what, hint);
  }
  void refuse(bool is, const FieldNames& fields, const std::string& what,
              const std::string& hint = {});

 private:
  Launcher launcher_;
  Problems& problems_;
};

/// Refuses what no framework's configuration has an option for: adapters, padding masks, metrics.
void refuse_common(Refusals& refusals, const Run& run);

/// The first comment line of every file: what it starts, and who wrote it for what.
std::string headline(const Run& run, Launcher launcher);

/// Nodes and the ranks of each that start `run`.
struct Nodes {
  std::int64_t count = 1;
  std::int64_t ranks = 1;
};
Nodes nodes_of(const Run& run);

/// Layers on each pipeline chunk of the run, in the order of the model.
std::vector<std::int64_t> layers_of_chunks(const Model& model, const Layout& layout);

/// A layout whose pipeline holds `layers` on its chunks as `counts` says; nothing where no fields
/// of a layout spread them so.
std::optional<Layout> spread_of(const std::vector<std::int64_t>& counts, std::int64_t layers,
                                std::int64_t pp);

/// Whether `model` has the same shape as `other`, whatever their names.
bool same_shape(const Model& model, const Model& other);

/// Builds the document of a model in Headway's own form; each member keeps the line it is from.
class ModelDocument {
 public:
  template <class Value>
  void set(std::string_view key, Value value, int line) {
    add(members_, key, Node{std::move(value), line});
  }
  template <class Value>
  void set(std::string_view table, std::string_view key, Value value, int line) {
    add(table == "latent" ? latent_ : experts_, key, Node{std::move(value), line});
  }
  /// The field "model": its text is the name of the model, after the file.
  GivenField field(const std::string& file, int line) &&;

 private:
  static void add(Node::Table& table, std::string_view key, Node node);

  Node::Table members_, latent_, experts_;
};

/// Elements of a MiB of nanotron's ddp_bucket_cap_mb, which counts 16-bit gradients.
constexpr double kBucketElements = 1048576.0 / 2;

/// Whether the order of the ranks is tp-cp-dp-pp.
bool usual_order(const Layout& layout);

/// The name of a model that a file describes: "runs/train-gpt.sh" -> "train-gpt".
std::string model_name_of(const std::string& file);

/// A number as a framework reads it back: "0.1", "128".
std::string number(double value);

}  // namespace headway::launch
