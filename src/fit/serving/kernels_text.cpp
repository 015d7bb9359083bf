// What was fitted on kernels of serving: as a table, and as data/serving/kernels.toml.
#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/serving/kernels.hpp"

namespace headway {
namespace {

// Three digits: more would pretend to know them.
struct ConstantLines {
  std::string text = {};
  void operator()(const char* name, const Seconds& start) {
    text += formatted("%s = \"%.3g us\"\n", name, start.value() * 1e6);
  }
  void operator()(const char* name, const BytesPerSecond& rate) {
    text += formatted("%s = \"%.3g GB/s\"\n", name, rate.value() / 1e9);
  }
  void operator()(const char* name, const double& share) {
    text += formatted("%s = %.3g\n", name, share);
  }
};

constexpr const char* kAbout =
    "# Kernels of serving engines that training has not, by architecture (`architecture` in "
    "data/accelerators/*.toml; `default` for others) [INFER-1] [INFER-2] [INFER-32] [INFER-33]:\n"
    "# attention that reads a cache (decode_*), the same of latent attention (latent_*), attention "
    "of prompts (prompt_*; passes: over queries, keys and values;\n"
    "# rate: the ceiling of [KERNEL-2]; eight: of that in 8 bits), the exchange of experts' "
    "tokens by kernels of its own (dispatch_*, combine_*; unit: what one compute unit\n"
    "# copies; quick_*: the kernels of few tokens, far: of the bandwidth to other nodes), and the "
    "engines' own all-reduce, in which each rank reads its peers' memory\n"
    "# (once_*: all of it; twice_*: a part, and the sums). start: of a kernel that has hardly "
    "anything to do; memory, rate: of the data sheet's bandwidth and 16-bit peak;\n"
    "# share: of the bandwidth of one accelerator to its peers.\n"
    "#\n"
    "# Written by `headway calibrate serving --kernels FILE --write`, which tells the errors, too "
    "(--left-out). Kernels of aiconfigurator@095f58a (Apache-2.0: TensorRT-LLM, vLLM\n"
    "# and SGLang, replayed by CUDA graphs).\n";

std::vector<std::string> cells_of(const ErrorSummary& error) {
  if (error.rows == 0) return {"", "", ""};
  return {in_percent(error.median), in_percent(error.p90), in_percent(error.bias, "%+.1f")};
}

}  // namespace

UnitTable kernel_table(const ServingKernelFit& fit) {
  UnitTable table = {{"kernels", "accelerator", "engine", "size", "rows", "median", "p90", "bias",
                      "no accelerator", "p90", "bias", "no size", "p90", "bias"},
                     {"", "", "", "", "", "%", "%", "%", "%", "%", "%", "%", "%", "%"}};
  for (const ServingKernelLine& line : fit.lines) {
    std::vector<std::string> row = {line.op, line.machine, line.engine, line.size,
                                    std::to_string(line.fitted.rows)};
    for (const ErrorSummary* error : {&line.fitted, &line.without_machine, &line.without_size}) {
      const auto cells = cells_of(*error);
      row.insert(row.end(), cells.begin(), cells.end());
    }
    table.push_back(std::move(row));
  }
  return table;
}

std::string to_text(const ServingKernelFit& fit) {
  return aligned(kernel_table(fit), 4);
}

std::string to_toml(const ServingKernelFit& fit, const std::string& date) {
  std::string out = kAbout;
  for (const auto& [name, constants] : fit.entries) {
    ConstantLines lines;
    for_each_constant(constants, lines);
    const bool rest = name == "default";
    out += "\n[" + name + "]\n" + lines.text + "source = " +
           toml_text((rest ? "all of them together: " : "aiconfigurator@095f58a systems/data: ") +
                     join(fit.machines.at(name), ", ")) +
           "\nkind = \"" + (rest ? "estimated" : "fitted") + "\"\ndate = \"" + date + "\"\n";
  }
  return out;
}

}  // namespace headway
