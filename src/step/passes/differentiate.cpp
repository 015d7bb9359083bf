// The backward pass, derived from the forward pass.
#include <algorithm>
#include <cmath>

#include "step/passes/passes.hpp"

namespace headway {
namespace {

// dX = dY · W. Of a convolution the windows run over dY, and what they make is as large as X.
Matmul input_gradient(const Matmul& forward) {
  if (!(forward.image > 0)) return {forward.m, forward.k, forward.n, forward.batch};
  const std::int64_t channels = std::max<std::int64_t>(1, forward.k / forward.taps);
  const double all = static_cast<double>(forward.batch);
  const auto entering =
      std::max<std::int64_t>(1, std::llround(forward.image / all / static_cast<double>(channels)));
  const double multiplied = static_cast<double>(forward.m) * static_cast<double>(forward.n) *
                            static_cast<double>(forward.k);
  const double deep = multiplied / static_cast<double>(entering) / static_cast<double>(channels);
  return {.m = entering,
          .n = channels,
          .k = std::max<std::int64_t>(1, std::llround(deep)),
          .batch = forward.batch,
          .image = all * static_cast<double>(forward.m) * static_cast<double>(forward.n),
          .taps = forward.taps,
          .recurrent = forward.recurrent};
}

// Goes through the forward pass from its end.
class Backward {
 public:
  Backward(Program& program, const Share& share) : program_(program), share_(share) {
    // Each way of splitting added its own.
    std::sort(program.conjugates.begin(), program.conjugates.end(),
              [](const Conjugate& a, const Conjugate& b) {
                return std::pair(a.item, a.flow) < std::pair(b.item, b.flow);
              });
  }

  void run() {
    std::size_t product = program_.products.size(), conjugate = program_.conjugates.size();
    // Items keep in their order; what products keep of their inputs is added behind it.
    std::size_t kept = program_.kept.size();
    for (std::size_t i = program_.forward; i-- > 0;) {
      if (product > 0 && program_.products[product - 1].item == i) {
        add_product(program_.products[--product]);
      } else if (const auto* op = std::get_if<Op>(&program_.items[i].what)) {
        add(*op);
      }
      while (conjugate > 0 && program_.conjugates[conjugate - 1].item == i) {
        const Conjugate& here = program_.conjugates[--conjugate];
        if (here.flow != Flow::into_weights) add(here);
      }
      for (; kept > 0 && program_.kept[kept - 1].item == i; --kept) {
        program_.kept[kept - 1].freed = last();
      }
    }
  }

 private:
  std::uint32_t last() const { return static_cast<std::uint32_t>(program_.items.size()) - 1; }

  /// What is pushed, to be changed in its place.
  Op& push(const Op& op) {
    Op& out = std::get<Op>(program_.items.emplace_back(op).what);
    out.phase = Phase::backward;
    return out;
  }

  void add(const Conjugate& conjugate) {
    Call call = conjugate.call;
    call.phase = Phase::backward;
    program_.items.push_back({.what = call, .flow = conjugate.flow});
  }

  void add(Op op) {
    if (auto* pass = std::get_if<Pass>(&op.shape)) {
      if (!(pass->by_gradient > Bytes(0))) return;
      pass->moved = pass->by_gradient;
    } else {
      // Of attention: unfused twice the kernels of the forward pass.
      op.kernels = 2 * (share_.job.attention == AttentionKernel::unfused ? op.kernels : op.times);
    }
    push(op);
  }

  // The gradients of the input and of the weight, if it is trained.
  void add_product(const Product& product) {
    // Copied: items that are pushed may move the others.
    const Op op = std::get<Op>(program_.items[product.item].what);
    const Matmul& forward = std::get<Matmul>(op.shape);
    if (product.entry >= 0 && product.entry != gathered_) {
      gathered_ = product.entry;
      for (const Conjugate& conjugate : program_.conjugates) {
        const bool here = static_cast<std::int32_t>(conjugate.item) == product.entry;
        if (here && conjugate.flow == Flow::into_weights) add(conjugate);
      }
    }
    if (!product.enters) push(op).shape = input_gradient(forward);
    if (share_.trains_weights) add_weight_gradient(product, op, forward);
    keep_input(product, forward);
  }

  void add_weight_gradient(const Product& product, const Op& op, const Matmul& forward) {
    // The result is added to the resident gradients: by the product itself, which reads and writes
    // them, or by a pass that reads the product's own result, too.
    const bool fused = share_.habit.kernels.fused_weight_gradient;
    Op& of_weight = push(op);
    of_weight.shape = Matmul{.m = forward.n,
                             .n = forward.k,
                             .k = forward.m * static_cast<std::int64_t>(product.steps),
                             .batch = forward.batch,
                             .result_bytes = fused ? 2 * gradient_bytes(share_.job).value() : 0.0,
                             .by_columns = true,
                             .image = forward.image * product.steps,
                             .taps = forward.taps};
    of_weight.times /= product.steps;
    of_weight.kernels /= product.steps;
    of_weight.weight_gradient = true;
    if (!fused) add_weight_passes(product, forward, op.times / product.steps, op.routed);
  }

  // [STEP-15] What a framework that does not add in the product itself does with a weight's
  // gradient.
  void add_weight_passes(const Product& product, const Matmul& forward, double matrices,
                         bool routed) {
    const Job& job = share_.job;
    const double weights =
        matrices * static_cast<double>(forward.batch) * static_cast<double>(forward.k * forward.n);
    const Bytes gathered = gathered_bytes(job);
    const Bytes resident = gradient_bytes(job);
    Bytes bytes = share_.element + 2 * resident;  // read, and added to the resident one
    if (share_.habit.kernels.casts_gradient && resident > share_.element) {
      bytes += 2 * resident;  // the cast is written, and read by the sum
    }
    if (share_.habit.sharding.flat_gradients && share_.around.shards_weights) {
      // Copied into the block's flat tensor, cast to the format of the wire, divided by the ranks.
      const Bytes reduced = reduced_bytes(job);
      bytes = 2 * gathered + (reduced != gathered ? gathered + reduced : Bytes(0)) + 2 * reduced;
    }
    double kernels = matrices;
    if (autocast(job)) {  // cast to the weight's format
      if (weights > 0) bytes += share_.element + Bytes(4);
      kernels += matrices;
    }
    push({.shape = Pass{weights * bytes, !job.fused},
          .weight_gradient = true,
          .kernels = kernels,
          .routed = routed});
    if (!job.fused && product.bias) {  // the output's gradients summed over tokens
      const double outputs =
          static_cast<double>(forward.m * forward.batch) * static_cast<double>(forward.n);
      push({.shape = Pass{outputs * share_.element, true},
            .weight_gradient = true,
            .routed = routed});
    }
  }

  void keep_input(const Product& product, const Matmul& forward) {
    if (!product.keeps_input) return;
    const double rows = static_cast<double>(forward.m * forward.batch);
    const double times = std::get<Op>(program_.items[product.item].what).times;
    const double inputs =
        times * (forward.image > 0 ? forward.image : rows * static_cast<double>(forward.k));
    const auto pieces =
        static_cast<std::uint8_t>(program_.items[product.item].pieces | bit(product.input));
    if (share_.trains_weights) {
      const Bytes saved = product.quantised ? share_.saved_input : share_.element;
      program_.kept.push_back({inputs * saved, pieces, product.item, last()});
    } else if (has_adapters(share_.job, product.role)) {
      const double thin = rows * static_cast<double>(share_.job.lora_rank);
      program_.kept.push_back({(inputs + thin) * share_.element, pieces, product.item, last()});
    }
  }

  Program& program_;
  const Share& share_;
  std::int32_t gathered_ = -1;  // the entry that was last gathered for weights' gradients
};

}  // namespace

void differentiate(Program& program, const Share& share) {
  if (share.model.is_network() && !(program.held.trained > 0)) return;  // frozen
  Backward(program, share).run();
}

}  // namespace headway
