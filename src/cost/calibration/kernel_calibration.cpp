#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/entries.hpp"
#include "cost/calibration/kernel_constants.hpp"
#include "cost/calibration/kernel_entries.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway {
namespace {

// The names to look for, the most special first: "a40", then "ampere"; for "tpu-v5p" and "cdna3"
// also their family, "tpu" and "cdna".
std::vector<std::string> candidates(const Accelerator& accelerator) {
  std::vector<std::string> names = {accelerator.name, accelerator.architecture};
  const std::string& architecture = accelerator.architecture;
  const auto end = std::find_if(architecture.begin(), architecture.end(),
                                [](unsigned char c) { return std::isalpha(c) == 0; });
  names.emplace_back(architecture.begin(), end);
  names.emplace_back("default");
  return names;
}

}  // namespace

std::string tile_name(Tile tile) {
  return "t" + std::to_string(tile.m) + "x" + std::to_string(tile.n);
}

std::string product_table(ProductFormat format) {
  return "products_" + std::string(kProductFormatNames[static_cast<std::size_t>(format)]);
}

std::string kernel_entry_for(const Document& document, const Accelerator& accelerator) {
  for (const std::string& name : candidates(accelerator)) {
    if (!name.empty() && document.root.find(name)) return name;
  }
  return "default";
}

Result<Document> estimated_kernel_entries() {
  return embedded_document(kKernelFiles.estimated);
}

Result<KernelParameters> kernel_parameters_from(const Document& estimated, const Document* fitted,
                                                const Accelerator& accelerator) {
  Document merged = estimated;
  if (fitted) overlay(merged.root, fitted->root);
  return entry_of<KernelParameters>(merged, kernel_entry_for(merged, accelerator));
}

bool kernels_measured(const Accelerator& accelerator) {
  static const Result<Document> fitted = embedded_document(kKernelFiles.fitted);
  return fitted && (fitted->root.find(accelerator.name) != nullptr ||
                    fitted->root.find(accelerator.architecture) != nullptr);
}

Result<KernelParameters> kernel_parameters_for(const Accelerator& accelerator) {
  static const Result<Document> entries = embedded_entries(kKernelFiles);
  if (!entries) return entries.problems();
  static Memo<Result<KernelParameters>> kept;  // by entry
  const std::string name = kernel_entry_for(*entries, accelerator);
  return kept.of(name, [&] { return entry_of<KernelParameters>(*entries, name); });
}

}  // namespace headway
