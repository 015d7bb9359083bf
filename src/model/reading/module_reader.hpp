// A list of modules as a document has it, with the shapes that pass from one to the next. Internal
// to src/model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "model/modules.hpp"
#include "model/reading/graph.hpp"

namespace headway::reading {

/// What passes from one module to the next, of one sample.
struct Tensor {
  std::int64_t channels = 0;
  std::vector<std::int64_t> size;  // of each dimension; none: one position

  std::int64_t positions() const;  // of a tensor that is_plausible()
  double elements() const;
  bool is_plausible() const;  // positions and channels that can be counted with batches of them
};

class ModuleReader {
 public:
  explicit ModuleReader(Tensor input, std::optional<Graph> graph = std::nullopt)
      : at_(std::move(input)), graph_(std::move(graph)) {}

  /// The modules of a table's member `modules`, which must leave sizes that can be computed; what
  /// is wrong is told to the table. The table's block stands `repeat` times.
  std::vector<NetworkModule> read(Fields& table, std::int64_t repeat);
  /// Why modules that were read leave something of the graph unread; empty: they do not.
  std::string unread_of_graph() const;

 private:
  void read_list(Fields& table, std::string_view key);
  void read_module(Fields& module);
  void norm_and_activation(Fields& module);
  /// Takes the shape; one that is implausibly large is a problem, and a small one taken.
  bool become(Fields& module, Tensor next);

  void convolution(Fields& module, bool transposed);
  void projection(Fields& module);
  void expert_projection(Fields& module);
  void pool(Fields& module);
  void gather(Fields& module);
  void upsample(Fields& module);
  void attention(Fields& module);
  void core(Fields& module);
  void feed_forward(Fields& module);
  void recurrent(Fields& module, std::int64_t gates);
  void tables(Fields& module);
  void embedding(Fields& module);
  void values(Fields& module);
  void interaction(Fields& module);
  void cross(Fields& module);
  void fetch(Fields& module);
  void graph_attention(Fields& module);
  bool stands_once(Fields& module, std::string_view kind);
  void group(Fields& module);
  void residual(Fields& module);
  void branch(Fields& module);
  void take(Fields& module);
  void add_saved(Fields& module);
  void concat(Fields& module);
  void reshape(Fields& module);

  void pass(double values, double forward, double backward, double fused_forward,
            double fused_backward, double kept);
  void add();
  void push(ModuleShape shape, Half half = Half::alone);
  Tensor saved(Fields& module, std::string_view key);
  std::vector<std::int64_t> per_dimension(Fields& module, std::string_view one,
                                          std::string_view each, std::int64_t fallback);

  Tensor at_;
  std::optional<Graph> graph_;
  // Of nodes that layers of graph attention still have; nothing before they are fetched.
  std::optional<std::size_t> hops_left_;
  std::map<std::string, Tensor, std::less<>> saved_;
  std::vector<NetworkModule> out_;
  std::int64_t repeat_ = 1;        // within the block
  std::int64_t block_repeat_ = 1;  // of the block itself
  bool shares_weights_ = false;
  bool frozen_ = false;
  ModuleClass of_ = ModuleClass::other;  // of what is pushed
  int depth_ = 0;
};

}  // namespace headway::reading
