
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

// The lines of the constants that one kind of measurement decides.
struct Lines {
  DecidedBy by;
  std::string text = {};

  template <class Q>
  void operator()(const std::string& name, const Q& constant, const KernelConstant& row) {
    if (row.by == by) text += field(name, constant);
  }
  template <class Walk>
  void table(const std::string&, Walk&& walk) {
    walk(*this);
  }
};
std::string fields_of(DecidedBy by, const KernelParameters& parameters) {
  Lines lines{by};
  for_each_constant(parameters, lines);
  return lines.text;
}

const ErrorSummary& errors_of_class(const FittedKernels& fitted, KernelClass kernel) {
  return fitted.errors[static_cast<std::size_t>(kernel)];
}

// Fitted: fit_entries moves a class of constants only with enough rows.
bool has(const FittedKernels& fitted, KernelClass kernel) {
  return fitted.moved[static_cast<std::size_t>(kernel)];
}

std::string residuals(const FittedKernels& fitted) {
  std::string text;
  for (std::size_t i = 0; i < kKernelClassNames.size(); ++i) {
    const ErrorSummary& errors = errors_of_class(fitted, static_cast<KernelClass>(i));
    if (!has(fitted, static_cast<KernelClass>(i))) continue;
    text += "\n[" + fitted.entry + ".residuals." + std::string(kKernelClassNames[i]) + "]\n" +
            "rows = " + std::to_string(errors.rows) + '\n' + field("median", errors.median) +
            field("p90", errors.p90) + field("bias", errors.bias);
  }
  return text;
}

std::string entry_text(const FittedKernels& fitted, const std::string& date) {
  const KernelParameters& p = fitted.parameters;
  std::string text = "\n[" + fitted.entry + "]\nkind = \"fitted\"\ndate = \"" + date +
                     "\"\nsource = \"data/measurements/kernels.csv: " + join(fitted.sources, ", ") +
                     "\"\naccelerators = " + toml_list(fitted.accelerators) + '\n';
  if (has(fitted, KernelClass::matmul)) text += fields_of(DecidedBy::products, p);
  if (has(fitted, KernelClass::grouped_matmul)) text += fields_of(DecidedBy::grouped_products, p);
  if (has(fitted, KernelClass::attention_forward)) {
    text += "\n[" + fitted.entry + ".flash_forward]\n" + fields_of(DecidedBy::attention_forward, p);
  }
  if (has(fitted, KernelClass::attention_backward)) {
    text +=
        "\n[" + fitted.entry + ".flash_backward]\n" + fields_of(DecidedBy::attention_backward, p);
  }
  return text + residuals(fitted);
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
