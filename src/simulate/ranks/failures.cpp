#include "simulate/ranks/failures.hpp"

#include <cmath>

namespace headway {

// [SIM-38] t / ((M + R)(e^((t + d)/M) - 1)): M mean time between interruptions, t between
// checkpoints, d of one, R detection and restart. An interruption loses what was done since the
// checkpoint before, and R. Valid for interruptions that come at random at a constant rate; none
// comes in a restart, which [SCALE-2] counts, too (0.3 % less of the time where R is M/12).
double useful_share(const Failures& failures) {
  const double m = failures.every.value();
  const double lost = (failures.detection + failures.restart).value();
  const double pass = (failures.checkpoint_every + failures.checkpoint).value();
  return failures.checkpoint_every.value() / ((m + lost) * std::expm1(pass / m));
}

}  // namespace headway
