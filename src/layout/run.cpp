#include "layout/run.hpp"

#include <type_traits>

#include "layout/fields.hpp"

namespace headway {
namespace {

// What of a run a field's access reads or sets.
template <class AnyRun>
auto& part(AnyRun& run, const FieldAccess<Job>&) {
  return run.job;
}
template <class AnyRun>
auto& part(AnyRun& run, const FieldAccess<Layout>&) {
  return run.layout;
}
template <class AnyRun>
auto& part(AnyRun& run, const FieldAccess<AttentionFlops>&) {
  return run.convention;
}

}  // namespace

const OwnSetup* own_setup(const Run& run) {
  return run.own == nullptr ? nullptr : run.own->of(setup_of(run.cluster.accelerator, run.job));
}

std::optional<double> number_of(const Run& run, const FieldRow& row) {
  return std::visit(
      [&](const auto& access) -> std::optional<double> {
        if constexpr (std::is_same_v<decltype(access), const std::monostate&>) {
          return std::nullopt;
        } else {
          return access.get(part(run, access));
        }
      },
      row.access);
}

void spread_tables(const Model& model, const Cluster& cluster, Layout& layout) {
  if (model.is_network()) layout.node_ranks = replicas_on_node(layout, cluster);
  if (has_tables(model) || has_node_features(model)) layout.ep = layout.dp;
}

void set_number(Run& run, const FieldRow& row, double number) {
  std::visit(
      [&](const auto& access) {
        if constexpr (!std::is_same_v<decltype(access), const std::monostate&>) {
          if (access.set != nullptr) access.set(part(run, access), number);
        }
      },
      row.access);
}

}  // namespace headway
