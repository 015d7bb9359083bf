#include "cost/serving/formats.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "cost/kernels/product_compute.hpp"
#include "cost/kernels/traffic.hpp"
#include "cost/serving/serving.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

const Result<Document>& formats_document() {
  static const Result<Document> document = embedded_document("serving/formats.toml");
  return document;
}

WeightFormat read_format(const std::string& name, Fields fields) {
  WeightFormat out;
  out.name = name;
  out.bits = fields.number("bits");
  const std::int64_t group = fields.natural("group");
  const double scale = fields.number("scale_bits");
  out.scales = group > 0 ? scale / static_cast<double>(group) : 0;
  out.recipe = fields.text("recipe");
  out.arithmetic = fields.text_or("arithmetic", out.recipe);
  for (const auto& [key, of] :
       {std::pair{"recipe", out.recipe}, std::pair{"arithmetic", out.arithmetic}}) {
    if (recipe_from(of) == nullptr) fields.fail(key, "is no recipe of training");
  }
  out.experts_only = fields.flag_or("experts_only", false);
  out.integer = fields.flag_or("integer", false);
  out.dense = fields.text_or("dense", "dense");
  out.experts = fields.text_or("experts", "experts");
  fields.text("source");
  fields.reject_unknown();
  return out;
}

Result<std::vector<WeightFormat>> read_formats() {
  if (!formats_document()) return formats_document().problems();
  Problems problems;
  Fields formats = Fields(*formats_document(), problems).table("formats", /*required=*/true);
  std::vector<WeightFormat> out;
  for (const std::string& name : formats.keys()) {
    out.push_back(read_format(name, formats.table(name)));
  }
  if (!problems.empty()) return problems;
  return out;
}

Result<std::vector<CacheFormat>> read_caches() {
  if (!formats_document()) return formats_document().problems();
  Problems problems;
  Fields caches = Fields(*formats_document(), problems).table("caches", /*required=*/true);
  std::vector<CacheFormat> out;
  for (const std::string& name : caches.keys()) {
    Fields fields = caches.table(name);
    const double bits = fields.number("bits"), scale = fields.number_or("scale_bits", 0);
    const auto group = static_cast<double>(fields.count_or("group", 1));
    fields.reject_unknown();
    out.push_back({name, (bits + scale / group) / 8});
  }
  if (!problems.empty()) return problems;
  return out;
}

UnpackedProducts read_products(Fields fields) {
  UnpackedProducts out;
  out.start = fields.quantity_or<Seconds>("start", Seconds(0));
  out.depth = fields.quantity_or<Seconds>("depth", Seconds(0));
  out.memory = fields.number("memory");
  out.ceiling = fields.number("ceiling");
  out.measured = fields.text("kind") != "estimated";
  for (const char* said : {"source", "date"}) fields.text(said);
  fields.reject_unknown();
  return out;
}

}  // namespace

const Result<std::vector<WeightFormat>>& weight_formats() {
  static const Result<std::vector<WeightFormat>> read = read_formats();
  return read;
}

const WeightFormat* weight_format(std::string_view name) {
  if (!weight_formats()) return nullptr;
  for (const WeightFormat& format : *weight_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

const Result<std::vector<CacheFormat>>& cache_formats() {
  static const Result<std::vector<CacheFormat>> read = read_caches();
  return read;
}

const CacheFormat* cache_format(std::string_view name) {
  if (!cache_formats()) return nullptr;
  for (const CacheFormat& format : *cache_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

Result<FormatKernels> format_kernels_for(const Accelerator& accelerator) {
  if (!formats_document()) return formats_document().problems();
  Problems problems;
  Fields root(*formats_document(), problems);
  Fields kernels = root.table("kernels", /*required=*/true);
  Fields own = kernels.table(accelerator.architecture);
  Fields usual = kernels.table("default", /*required=*/true);
  FormatKernels out;
  for (const std::string& kind : usual.keys()) {
    out.products[kind] = read_products((own.has(kind) ? own : usual).table(kind));
  }
  out.integer_rate = root.table("integer_rates", /*required=*/true)
                         .quantity_or<FlopsPerSecond>(accelerator.name, FlopsPerSecond(0));
  if (!problems.empty()) return problems;
  return out;
}

FlopsPerSecond peak_of(const WeightFormat& format, const Accelerator& accelerator,
                       const FormatKernels& kernels) {
  if (format.integer) return kernels.integer_rate;
  const Precision arithmetic = recipe_from(format.arithmetic)->matmul;
  return arithmetic >= Precision::fp8 ? accelerator.peak_of(arithmetic)
                                      : peak_of_16_bits(accelerator);
}

// [INFER-20] t = start + k · depth + max(compute, memory)
//   compute = [KERNEL-1]'s of the units alone at peak · ceiling, for a few rows in steps of 16
//   memory  = (inputs, results in 16 bit, weights as they lie) / (bandwidth · memory)
// Unpacking costs latency in the loop over k (depth) and a little of the rate (ceiling); the units
// that unpack are not those that multiply, so that no time of theirs is added. Source:
// data/serving/formats.toml. Known error: libraries switch kernels between 4 and 32 rows.
Seconds unpacked_product_time(const Matmul& shape, const WeightFormat& format,
                              const Accelerator& accelerator, const KernelParameters& parameters,
                              const FormatKernels& kernels) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0 || shape.batch <= 0) return Seconds(0);
  constexpr std::int64_t kSmallestTile = 64, kRowStep = 16;
  const UnpackedProducts& constants =
      kernels.products.at(shape.batch > 1 ? format.experts : format.dense);
  const FlopsPerSecond peak = peak_of(format, accelerator, kernels);
  ProductParameters tiles = parameters.of(ProductFormat::bits_16);
  tiles.loop_step = Seconds(0);
  Matmul whole = shape;
  whole.m = std::max(shape.m, kSmallestTile);
  Seconds compute = product_compute_time(whole, peak * constants.ceiling * parameters.sustained,
                                         accelerator, tiles, parameters);
  if (shape.m < kSmallestTile) {
    const std::int64_t rows = (shape.m + kRowStep - 1) / kRowStep * kRowStep;
    compute *= static_cast<double>(rows) / static_cast<double>(kSmallestTile);
  }
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k), batch = static_cast<double>(shape.batch);
  const double input = bytes_per_element(recipe_from(format.arithmetic)->matmul);
  const double least = std::min(input, format.bytes());
  const Bytes once(batch * (m * k * input + 2 * m * n + k * n * format.bytes()));
  const Bytes moved = std::max(once, least_traffic_of(shape, least, accelerator.cache));
  return constants.start + k * constants.depth +
         std::max(compute, moved / (accelerator.memory_bandwidth * constants.memory));
}

}  // namespace headway
