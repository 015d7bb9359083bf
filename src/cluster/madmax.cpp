#include "cluster/madmax.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "cluster/load.hpp"

namespace headway {
namespace {

// A rate, size or share above 0.
double positive(Fields& fields, std::string_view key, double most) {
  const double value = fields.number(key);
  if (value > 0 && value <= most) return value;
  if (fields.has(key)) {
    fields.fail(key, "must be above 0 and at most " + formatted("%g", most));
  }
  return 1;
}
double share(Fields& fields, std::string_view key) {
  return positive(fields, key, 1);
}

std::string rate(const char* key, double per_second, const char* unit) {
  return std::string(key) + " = \"" + formatted("%.17g", per_second) + " " + unit + "\"\n";
}

}  // namespace

// Both directions of a link make its bandwidth there; an accelerator sends at half of it.
std::optional<Result<Cluster>> cluster_from_madmax(const Document& document,
                                                   const std::string& name) {
  if (document.root.find("num_devices") == nullptr || document.root.find("flops_util") == nullptr) {
    return std::nullopt;
  }
  Problems problems;
  Fields fields(document, problems);
  fields.text_or("name", "");
  if (fields.text_or("type", "GPU") != "GPU") fields.fail("type", "must be GPU");
  const std::int64_t devices = fields.count("num_devices"), nodes = fields.count("num_nodes");
  if (nodes > 0 && devices % nodes != 0) {
    fields.fail("num_devices", "must be a multiple of num_nodes, " + std::to_string(nodes));
  }
  constexpr double kFastest = 1e21, kWidest = 1e15;
  const double flops = share(fields, "flops_util");
  const double wide = positive(fields, "f32_flops", kFastest);
  const double narrow = positive(fields, "f16_flops", kFastest);
  for (const char* unread : {"f64_flops", "i8_ops"}) fields.number_or(unread, 0);  // of no recipe
  const double memory = positive(fields, "mem_cap", 1e15);
  const double reads = positive(fields, "mem_bw", kWidest) * share(fields, "mem_bw_util");
  const double links = positive(fields, "num_nvlinks", 1000);
  const double inside =
      links * positive(fields, "bw_per_nvlink", kWidest) / 2 * share(fields, "nvlink_util");
  const double ports = positive(fields, "num_ibroce_ports", 1000);
  const double across =
      ports * positive(fields, "ibroce_bw", kWidest) / 2 * share(fields, "ibroce_util");
  fields.number_or("ar_perc_intra", 0);  // of all-reduces: follows from the levels they cross here
  fields.reject_unknown();
  if (!problems.empty()) return problems;

  const std::int64_t node = devices / nodes;
  const std::string source =
      "source = \"the file: rates times the shares that it states\"\nkind = \"estimated\"\n"
      "date = \"2023\"\n";
  std::string text =
      "title = \"a system file of MAD-Max\"\n" + source + "\n[levels.node]\nnetwork = \"stated\"\n";
  text += "size = " + std::to_string(node > 1 ? node : 2) + "\nlatency = \"1e-12 s\"\n" +
          rate("bandwidth", inside, "B/s");
  text += "\n[levels.fabric]\nnetwork = \"stated\"\nsize = " +
          std::to_string(std::max<std::int64_t>(devices, 2 * node)) + "\nlatency = \"1e-12 s\"\n" +
          rate("bandwidth", across / static_cast<double>(node), "B/s");
  text += "\n[accelerator]\n" + source +
          "architecture = \"stated\"\ncompute_units = 1\ntdp = \"1 W\"\n"
          "idle_power = \"1 W\"\nlaunch_overhead = \"1e-12 s\"\nhost_bandwidth = \"32 GB/s\"\n"
          "cache = \"1 MiB\"\n";
  text += rate("memory", memory, "B") + rate("memory_bandwidth", reads, "B/s") +
          "\n[accelerator.peak]\n";
  for (const char* format : {"fp32", "tf32"}) text += rate(format, wide * flops, "FLOP/s");
  for (const char* format : {"fp16", "bf16"}) text += rate(format, narrow * flops, "FLOP/s");
  auto form = parse_toml(text, document.file);
  if (!form) return form.problems();
  return cluster_from_document(std::move(form).value(), name);
}

}  // namespace headway
