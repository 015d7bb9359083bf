
#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "cost/calibration/kernel_constants.hpp"
#include "fit/kernels/kernels.hpp"

namespace headway {
namespace {

// Three significant digits: more would pretend to know them.
std::string number(double x) {
  return formatted("%.3g", x);
}

std::string field(const std::string& key, double x) {
  return key + " = " + number(x) + '\n';
}
std::string field(const std::string& key, Seconds t) {
  return key + " = \"" + number(t.value() * 1e6) + " us\"\n";
}

// The lines of the constants that were fitted: of the entry itself, and of each of its tables.
struct Lines {
  const FittedKernels& fitted;
  std::string name;  // of the entry or of the table in it
  std::string own = {}, tables = {};

  template <class Q>
  void operator()(const std::string& key, const Q& constant, const KernelConstant& row) {
    for (std::size_t i = 0; i < kKernelClasses; ++i) {
      const auto kernel = static_cast<KernelClass>(i);
      if (fitted.has(kernel) && decided_by(kernel) == row.by) own += field(key, constant);
    }
  }
  template <class Walk>
  void table(const std::string& key, Walk&& walk) {
    Lines inner{fitted, name + "." + key};
    walk(inner);
    if (!inner.own.empty()) tables += "\n[" + inner.name + "]\n" + inner.own;
  }
};

std::string residuals(const FittedKernels& fitted) {
  std::string text;
  for (std::size_t i = 0; i < kKernelClasses; ++i) {
    const ErrorSummary& errors = fitted.errors[i];
    if (!fitted.moved[i]) continue;
    text += "\n[" + fitted.entry + ".residuals." + std::string(kKernelClassNames[i]) + "]\n" +
            "rows = " + std::to_string(errors.rows) + '\n' + field("median", errors.median) +
            field("p90", errors.p90) + field("bias", errors.bias);
  }
  return text;
}

std::string entry_text(const FittedKernels& fitted, const std::string& date) {
  Lines lines{fitted, fitted.entry};
  for_each_constant(fitted.parameters, lines);
  return "\n[" + fitted.entry + "]\nkind = \"fitted\"\ndate = \"" + date +
         "\"\nsource = \"data/measurements/kernels.csv: " + join(fitted.sources, ", ") +
         "\"\naccelerators = " + toml_list(fitted.accelerators) + '\n' + lines.own + lines.tables +
         residuals(fitted);
}

}  // namespace

std::string to_toml(const KernelFit& fit, const std::string& date) {
  std::string text =
      "# Constants of the kernel models (docs/models/kernels.md), fitted on\n"
      "# data/measurements/kernels.csv by `headway calibrate kernels --write`, which writes this "
      "file\n"
      "# anew. What is not fitted stands in kernels-estimated.toml. residuals: |predicted/measured "
      "- 1|\n"
      "# of the rows fitted; bias: the median of the signed error, > 0: predicted too slow.\n"
      "\n[default.tile_efficiency]  # fitted on all architectures together\n";
  for (int i = 0; i < kTiles; ++i) {
    text += field(tile_name(kTileShapes[i]), fit.tile_efficiency[i]);
  }
  for (const FittedKernels& fitted : fit.entries) text += entry_text(fitted, date);
  return text;
}

}  // namespace headway
