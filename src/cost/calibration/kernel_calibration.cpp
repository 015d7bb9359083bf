#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/kernel_entries.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway {
namespace {

constexpr int kMostBorrowings = 8;

double fraction(Fields& fields, std::string_view key, double fallback) {
  const double value = fields.number_or(key, fallback);
  if (value <= 0 || value > 1) fields.fail(key, "must be above 0 and at most 1");
  return value;
}

double share(Fields& fields, std::string_view key, double fallback) {
  const double value = fields.number_or(key, fallback);
  if (value < 0 || value > 1) fields.fail(key, "must be between 0 and 1");
  return value;
}

double not_negative(Fields& fields, std::string_view key, double fallback) {
  const double value = fields.number_or(key, fallback);
  if (value < 0) fields.fail(key, "must not be negative");
  return value;
}

FlashParameters flash_from(Fields fields, FlashParameters flash) {
  constexpr std::array<std::string_view, 4> keys = {"flash1", "flash2", "flash3", "triton"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    flash.ceiling[i] = fraction(fields, keys[i], flash.ceiling[i]);
    flash.wide[i] = fraction(fields, std::string(keys[i]) + "_wide", flash.wide[i]);
  }
  flash.block_rows = static_cast<double>(
      fields.count_or("block_rows", static_cast<std::int64_t>(flash.block_rows)));
  flash.tail = share(fields, "tail", flash.tail);
  flash.unequal_dims = fraction(fields, "unequal_dims", flash.unequal_dims);
  fields.reject_unknown();
  return flash;
}

// What only people read: where the numbers of an entry come from.
void skip_provenance(Fields& fields) {
  for (const auto key : {"kind", "source", "date", "from"}) fields.text_or(key, "");
  for (const auto key : {"accelerators", "estimated"}) fields.texts_or_empty(key);
  fields.table("residuals");
}

KernelParameters parameters_from(Fields& fields, KernelParameters p) {
  p.memory_efficiency = fraction(fields, "memory_efficiency", p.memory_efficiency);
  p.shortest_kernel = fields.quantity_or("shortest_kernel", p.shortest_kernel);
  p.matmul_start = fields.quantity_or("matmul_start", p.matmul_start);
  p.sustained = fraction(fields, "sustained", p.sustained);
  p.matmul_ceiling = fraction(fields, "matmul_ceiling", p.matmul_ceiling);
  p.loop_prologue = not_negative(fields, "loop_prologue", p.loop_prologue);
  p.wave_loss = share(fields, "wave_loss", p.wave_loss);
  p.memory_overlap_loss = share(fields, "memory_overlap_loss", p.memory_overlap_loss);
  p.misaligned_efficiency = fraction(fields, "misaligned_efficiency", p.misaligned_efficiency);
  Fields tiles = fields.table("tile_efficiency");
  for (int i = 0; i < kTiles; ++i) {
    p.tile_efficiency[i] = fraction(tiles, tile_name(kTileShapes[i]), p.tile_efficiency[i]);
  }
  tiles.reject_unknown();
  p.grouped_efficiency = fraction(fields, "grouped_efficiency", p.grouped_efficiency);
  p.grouped_start = fields.quantity_or("grouped_start", p.grouped_start);
  p.fp8_ceiling = fraction(fields, "fp8_ceiling", p.fp8_ceiling);
  p.fp4_ceiling = fraction(fields, "fp4_ceiling", p.fp4_ceiling);
  p.block_scaled = fraction(fields, "block_scaled", p.block_scaled);
  p.flash_forward = flash_from(fields.table("flash_forward"), p.flash_forward);
  p.flash_backward = flash_from(fields.table("flash_backward"), p.flash_backward);
  p.softmax_width = not_negative(fields, "softmax_width", p.softmax_width);
  skip_provenance(fields);
  fields.reject_unknown();
  return p;
}

// The entry `name` upon those that it borrows from.
KernelParameters entry(const Document& document, const std::string& name, int depth,
                       Problems& problems) {
  const Node* node = document.root.find(name);
  if (!node || depth > kMostBorrowings) {
    problems.push_back(
        {document.file, "no entry '" + name + "' to borrow from, or a circle", Trouble::unknown});
    return {};
  }
  Fields fields(*node, document.file, name, problems);
  const std::string from = fields.text_or("from", "");
  const KernelParameters base =
      from.empty() ? KernelParameters() : entry(document, from, depth + 1, problems);
  return parameters_from(fields, base);
}

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

Result<KernelParameters> parameters_in(const Document& document, const Accelerator& accelerator) {
  Problems problems;
  const std::string name = kernel_entry_for(document, accelerator);
  const KernelParameters parameters = entry(document, name, 0, problems);
  if (!problems.empty()) return problems;
  return parameters;
}

}  // namespace

std::string tile_name(Tile tile) {
  return "t" + std::to_string(tile.m) + "x" + std::to_string(tile.n);
}

std::string kernel_entry_for(const Document& document, const Accelerator& accelerator) {
  for (const std::string& name : candidates(accelerator)) {
    if (!name.empty() && document.root.find(name)) return name;
  }
  return "default";
}

Result<Document> estimated_kernel_entries() {
  return embedded_document("calibration/kernels-estimated.toml");
}

Result<KernelParameters> kernel_parameters_from(const Document& estimated, const Document* fitted,
                                                const Accelerator& accelerator) {
  Document merged = estimated;
  if (fitted) overlay(merged.root, fitted->root);
  return parameters_in(merged, accelerator);
}

namespace {

Result<Document> embedded_entries() {
  auto estimated = estimated_kernel_entries();
  const auto fitted = embedded_document("calibration/kernels.toml");
  if (!estimated) return estimated.problems();
  if (!fitted) return fitted.problems();
  overlay(estimated.value().root, fitted->root);
  return estimated;
}

}  // namespace

Result<KernelParameters> kernel_parameters_for(const Accelerator& accelerator) {
  static const Result<Document> entries = embedded_entries();
  if (!entries) return entries.problems();
  static Memo<Result<KernelParameters>> kept;  // by entry
  return kept.of(kernel_entry_for(*entries, accelerator),
                 [&] { return parameters_in(*entries, accelerator); });
}

}  // namespace headway
