#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/laws/slim.hpp"

namespace headway {
namespace {

std::string saved(double of, double whole) {
  return formatted("%.1f %%", 100 * (of / whole - 1));
}

std::string costs_table(const SlimAnswer& answer, SlimCost SlimRow::*which) {
  const SlimCost& whole = answer.rows.front().*which;
  std::vector<std::vector<std::string>> rows = {
      {"", "FLOP", "bytes", "time", "energy", "time less", "energy less"}};
  for (const SlimRow& row : answer.rows) {
    const SlimCost& cost = row.*which;
    rows.push_back({row.slimming.name, to_text(cost.flops), to_text(cost.bytes), to_text(cost.time),
                    formatted("%.3g mJ", 1e3 * cost.energy.value()),
                    saved(cost.time.value(), whole.time.value()),
                    saved(cost.energy.value(), whole.energy.value())});
  }
  return aligned(rows);
}

std::string vector_text(const Vector& of) {
  std::vector<std::string> parts;
  for (const double value : of) parts.push_back(formatted("%.6g", value));
  return join(parts, ", ");
}

}  // namespace

std::string slim_text(const SlimAnswer& answer) {
  return printable(answer.run.model.name) + " on " + printable(answer.run.cluster.name) +
         ", a sample on one accelerator's share of it; of what accuracy is left nothing is "
         "said\n\ntraining, mean of all samples of the whole\n" +
         costs_table(answer, &SlimRow::training) + "\ninference\n" +
         costs_table(answer, &SlimRow::inference) + "\n" +
         wrapped("energy: " + formatted("%.3g", answer.machine.joules_a_flop * 1e12) +
                     " pJ a FLOP, " + formatted("%.3g", answer.machine.joules_a_byte * 1e12 / 8) +
                     " pJ a bit of memory, " + to_text(answer.machine.idle) +
                     " idle; products at " + to_text(answer.machine.rate),
                 0, 2);
}

std::string subnetworks_text(const SubnetworkAnswer& answer) {
  return "independent subnetworks on quadratics, each worker one variable\n\n" +
         aligned({{"where the mean function is least", vector_text(answer.solution)},
                  {"where the mean iterate ends", vector_text(answer.limit)},
                  {"what it is above the least by", formatted("%.6g", answer.bias)},
                  {"eigenvalues of W", vector_text(answer.descent)},
                  {"largest curvature, preconditioned", formatted("%.6g", answer.most_curvature)}},
                 2) +
         "\n" +
         (answer.descends ? "W is positive definite: a step descends in the mean\n"
                          : "W is indefinite: some directions ascend in the mean\n");
}

}  // namespace headway
