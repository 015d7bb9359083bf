// Recomputation by operator: the results of some are kept, every second product's are not.
#include "step/passes/passes.hpp"

namespace headway {
namespace {

Repeated of_product(const Matmul& shape, std::int64_t second, const Share& share) {
  const double rows = static_cast<double>(shape.m * shape.batch);
  return {second == 0        ? Repeated::nothing
          : second < shape.n ? Repeated::columns
                             : Repeated::all,
          rows * static_cast<double>(shape.n - second) * share.element};
}

// A library's one operator keeps its result and the logarithm of its sums; unfused attention is
// made of products of a group and passes, which are not among the operators that are kept.
Repeated of_core(const AttentionShape& shape, const Share& share) {
  if (share.job.attention == AttentionKernel::unfused) return {};
  const double rows = static_cast<double>(shape.batch * shape.queries * shape.heads);
  return {Repeated::nothing,
          rows * (static_cast<double>(shape.value_dim) * share.element + Bytes(4))};
}

// Sums that are scattered and exchanges are kept. Rings are inside attention. Gathers and other
// sums are made again.
Repeated of_call(const Call& call, bool in_expert, const Share& share) {
  const LayerSplit& split = share.split;
  switch (call.op) {
    case CollectiveOp::reduce_scatter:
      return {Repeated::nothing,
              call.bytes / static_cast<double>(in_expert ? split.etp : split.tp)};
    case CollectiveOp::all_to_all:
      return {Repeated::nothing, call.bytes};
    case CollectiveOp::send_receive:
      return {Repeated::nothing};
    default:
      return {};
  }
}

}  // namespace

// [STEP-28] torchtitan's list of operators (activation_checkpoint.py, `op`): matrix products,
// counted from 1 in their order, of which the odd ones are kept; attention; reduce-scatter;
// all-to-all. The last product's result nothing reads: eager code keeps it all the same, a compiler
// does not; what follows it neither.
std::vector<Repeated> every_second(const Program& program, const Share& share) {
  std::vector<Repeated> out(program.forward);
  for (std::size_t i = 0; i < program.forward; ++i) {
    const Item& item = program.items[i];
    if (const auto* call = std::get_if<Call>(&item.what)) {
      out[i] = of_call(*call, (item.pieces & bit(Piece::experts)) != 0, share);
    } else if (const auto* op = std::get_if<Op>(&item.what)) {
      const auto* core = std::get_if<AttentionShape>(&op->shape);
      if (core != nullptr) out[i] = of_core(*core, share);
    }
  }
  for (const Product& product : program.products) {
    const Op& op = std::get<Op>(program.items[product.item].what);
    out[product.item] = of_product(std::get<Matmul>(op.shape), product.second, share);
  }
  const std::size_t last = program.products.empty() ? 0 : program.products.back().item;
  for (std::size_t i = last; i < out.size(); ++i) {
    const auto* call = std::get_if<Call>(&program.items[i].what);
    if (call != nullptr && call->op == CollectiveOp::all_to_all) continue;  // weighed by the router
    out[i].read = false;
    if (share.job.fused) out[i].kept = Bytes(0);
  }
  return out;
}

}  // namespace headway
