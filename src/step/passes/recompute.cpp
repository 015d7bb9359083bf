// What of the forward pass runs again before the backward pass, and what is kept therefore.
#include "step/passes/passes.hpp"

namespace headway {
namespace {

// [STEP-16] Items of the forward pass that run again where the whole layer does: its result is not
// among what its backward pass reads, so that where recomputation stops early the last product and
// what follows it do not.
std::size_t end_of_recomputation(const Program& program, bool early) {
  if (!early) return program.forward;
  for (std::size_t i = program.forward; i-- > 0;) {
    const auto* op = std::get_if<Op>(&program.items[i].what);
    if (op != nullptr && std::holds_alternative<Matmul>(op->shape)) return i;
  }
  return 0;
}

// A crossing that nothing was split at, or a pass that its gradient alone needs.
bool is_nothing(const Item& item) {
  if (std::holds_alternative<Crossing>(item.what)) return true;
  const auto* op = std::get_if<Op>(&item.what);
  const auto* pass = op != nullptr ? std::get_if<Pass>(&op->shape) : nullptr;
  return pass != nullptr && !(pass->moved > Bytes(0));
}

bool runs_again_whole(const Program& program, const Recomputation& choice) {
  return is_layer(program.kind) && choice.recompute == Recompute::full;
}
// Where every second product does: of each item; else nothing.
std::vector<Repeated> repeated_by(const Program& program, const Share& share,
                                  const Recomputation& choice) {
  const bool repeats = is_layer(program.kind) && choice.recompute == Recompute::every_second;
  return repeats ? every_second(program, share) : std::vector<Repeated>();
}
// Of blocks that run again whole the share that does.
double share_again(const Program& program, const Recomputation& choice) {
  return runs_again_whole(program, choice) ? 1 / static_cast<double>(choice.recompute_one_in) : 1;
}
// Of others the pieces that do.
std::uint8_t pieces_again(const Program& program, const Recomputation& choice) {
  const bool some = is_layer(program.kind) && choice.recompute == Recompute::selective;
  return some ? choice.recompute_pieces & ~bit(Piece::other) : 0;
}

// What is kept from the forward to the backward pass; `repeated` as repeated_by() says.
Bytes kept_of(const Program& program, const Recomputation& choice,
              const std::vector<Repeated>& repeated) {
  if (!repeated.empty()) {
    Bytes kept = program.input;
    for (const Repeated& item : repeated) kept += item.kept;
    return kept;
  }
  Bytes out(0);
  const std::uint8_t pieces = pieces_again(program, choice);
  for (const Kept& kept : program.kept) {
    if ((kept.pieces & pieces) == 0) out += kept.bytes;
  }
  if (!runs_again_whole(program, choice)) return out;
  // Of several layers one: the others keep what they made.
  const double again = share_again(program, choice);
  return again / static_cast<double>(choice.recompute_every) * program.input + (1 - again) * out;
}

// Of a joint product those that are products of their own.
Item columns_again(Op op, std::int64_t columns) {
  std::get<Matmul>(op.shape).n = columns;
  op.phase = Phase::recompute;
  op.recomputed = true;
  return {.what = op};
}

// Calls that later passes add to a block: room for them.
constexpr std::size_t kRoom = 8;

}  // namespace

Bytes kept_between(const Program& program, const Share& share, const Recomputation& choice) {
  return kept_of(program, choice, repeated_by(program, share, choice));
}

Block recompute(Program program, const Share& share, const Recomputation& choice) {
  const bool full = runs_again_whole(program, choice);
  const std::uint8_t pieces = pieces_again(program, choice);
  const std::vector<Repeated> repeated = repeated_by(program, share, choice);
  Block out;
  out.kind = program.kind;
  out.held = program.held;
  out.host_transfer = program.from_host;
  out.working = program.working;
  out.again = share_again(program, choice);
  out.saved = kept_of(program, choice, repeated);
  for (const Kept& kept : program.kept) out.saved_if_kept += kept.bytes;
  for (const Repeated& item : repeated) out.saved_if_kept += item.read ? Bytes(0) : item.kept;
  if (!full && pieces == 0 && repeated.empty()) {
    out.items = std::move(program.items);
    std::erase_if(out.items, is_nothing);
    return out;
  }
  // The forward pass, what runs again, the backward pass.
  const bool early = stops_recompute_early(share.job, choice);
  const std::size_t end = pieces == 0 ? end_of_recomputation(program, early) : program.forward;
  const auto again_of = [&](std::size_t i) {
    if (i >= end) return Repeated::nothing;
    if (!repeated.empty()) return repeated[i].again;
    return full || (program.items[i].pieces & pieces) != 0 ? Repeated::all : Repeated::nothing;
  };
  std::vector<Item> again;
  std::size_t product = 0;  // the next one
  out.items.reserve(program.items.size() + kRoom);
  for (std::size_t i = 0; i < program.items.size(); ++i) {
    if (i == program.forward) {
      out.items.insert(out.items.end(), again.begin(), again.end());
    }
    Item& item = program.items[i];
    if (is_nothing(item)) continue;
    const auto repeats = again_of(i);
    if (auto* op = std::get_if<Op>(&item.what)) {
      op->recomputed = repeats == Repeated::all;
      while (product < program.products.size() && program.products[product].item < i) ++product;
      if (repeats == Repeated::columns) {
        again.push_back(columns_again(*op, program.products[product].second));
      }
    } else if (repeats == Repeated::all) {
      again.push_back(item);
      auto& call = std::get<Call>(again.back().what);
      call.phase = Phase::recompute;
      call.count *= out.again;
    }
    out.items.push_back(item);
  }
  return out;
}

}  // namespace headway
