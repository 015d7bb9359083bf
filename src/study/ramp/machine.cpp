#include "study/ramp/machine.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// Seconds of adding `parts` vectors of `bytes`: two bytes a number, bounded by memory, which reads
// all parts and writes one, or by arithmetic.
double addition_time(const RampMachine& machine, double bytes, double parts) {
  constexpr double kBytesOfNumber = 2;
  const double levels = std::ceil(std::log2(parts));
  const double operations = levels * bytes / kBytesOfNumber;
  const double intensity = levels / ((parts + 1) * kBytesOfNumber);
  return operations / std::min(machine.memory_rate * intensity, machine.compute_rate);
}

}  // namespace

Seconds one_to_one_time(const RampMachine& machine, Bytes bytes) {
  return machine.latency + 2 * machine.io_latency + bytes / machine.channel();
}

Seconds ramp_all_reduce_time(const RampMachine& machine, Bytes bytes, RampExtent over,
                             BytesPerSecond rate, int contending) {
  const int x = machine.groups;
  const std::array<int, 4> steps = {over.groups, std::min(over.groups, over.places), over.racks,
                                    (over.places + x - 1) / x};
  double communication = 0, sums = 0, message = bytes.value();
  for (const int parts : steps) {
    message = std::ceil(message / parts);
    if (parts <= 1) continue;
    const int transmitters = std::min(x / contending, x / (parts - 1));
    const double together = transmitters * (rate.value() / x);
    communication += machine.latency.value() + 2 * machine.io_latency.value() + message / together;
    sums += addition_time(machine, message, parts);
  }
  return Seconds(2 * communication + sums);
}

std::vector<RampExtent> symmetric_blocks(const RampMachine& machine, int count) {
  std::vector<RampExtent> out;
  for (int second = 1; second <= count; ++second) {
    if (count % second != 0) continue;
    const int first = count / second;
    const int side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(first))));
    if (side * side == first && side <= machine.groups && side <= machine.racks &&
        second <= machine.places) {
      out.push_back({side, side, second});
    }
    if (first <= machine.groups && first <= machine.racks && second <= machine.places) {
      out.push_back({first, 1, second});
      out.push_back({first, second, 1});
    }
  }
  return out;
}

}  // namespace headway
