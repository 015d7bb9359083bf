#include "step/memory/over_time.hpp"

#include "step/passes/passes.hpp"

namespace headway {

std::vector<Bytes> kept_over_time(const Program& program, const Share& share,
                                  const Recomputation& recomputation) {
  std::vector<Bytes> out(program.items.size(), Bytes(0));
  if (out.empty()) return out;
  for (const Kept& kept : program.kept) {
    out[kept.item] += kept.bytes;
    if (kept.freed + 1 < out.size()) out[kept.freed + 1] += -1.0 * kept.bytes;
  }
  for (std::size_t i = 1; i < out.size(); ++i) out[i] += out[i - 1];
  // Between the passes.
  if (program.forward > 0) out[program.forward - 1] = kept_between(program, share, recomputation);
  return out;
}

}  // namespace headway
