// gemm.csv: matrix products, groups of them and attention, by latency or by TFLOP/s.
#include <map>

#include "base/text.hpp"
#include "fit/benchmarks/predict.hpp"

namespace headway::benchmarks {
namespace {

// The values of notes like "...; key: a=1, b=2".
std::map<std::string, std::string> keys_of(const std::string& notes) {
  std::map<std::string, std::string> keys;
  const std::size_t begin = notes.find("key: ");
  if (begin == notes.npos) return keys;
  std::size_t at = begin + 5;
  while (at < notes.size()) {
    const std::size_t end = std::min(notes.find(", ", at), notes.size());
    const std::string pair = notes.substr(at, end - at);
    const std::size_t sign = pair.find('=');
    if (sign != pair.npos) keys[pair.substr(0, sign)] = pair.substr(sign + 1);
    at = end + 2;
  }
  return keys;
}

std::int64_t key_count(const std::map<std::string, std::string>& keys, const char* name,
                       Cells& cells) {
  const auto found = keys.find(name);
  std::int64_t value = 0;
  if (found != keys.end()) {
    for (const char c : found->second) {
      if (c < '0' || c > '9' || value > 100'000'000) {
        value = 0;
        break;
      }
      value = 10 * value + (c - '0');
    }
  }
  if (value < 1) {
    cells.skip("shape missing: " + std::string(name),
               "notes have no 'key: " + std::string(name) + "=...'");
    return 1;
  }
  return value;
}

// Bytes moved for each element of a result that is added to a gradient: read and written; 0: no.
double accumulated(std::map<std::string, std::string>& keys) {
  if (keys["accumulate"] != "True") return 0;
  const std::string& type =
      keys.contains("main_grad_dtype") ? keys["main_grad_dtype"] : keys["out_dtype"];
  return type.find("32") != type.npos ? 8 : 4;
}

// The measured time: as said, or from TFLOP/s of `flops`.
void set_measured(BenchmarkRow& row, Cells& cells, Flops flops) {
  if (!cells.text("latency_ms").empty()) {
    row.measured = Seconds(cells.number("latency_ms") * 1e-3);
  } else if (!cells.text("tflops").empty()) {
    row.measured = flops / FlopsPerSecond(cells.number("tflops") * 1e12);
  } else {
    cells.skip("cell missing: latency_ms or tflops");
  }
  if (!cells.sound()) row.measured.reset();
}

// SimuMax's sdp_fwd and sdp_bwd: TFLOP/s of the whole rectangle, causal kernels.
void predict_attention(BenchmarkRow& row, Cells& cells, bool backward, const Format* format,
                       const std::optional<Placed>& placed) {
  row.op = backward ? "attention backward" : "attention forward";
  const auto keys = keys_of(cells.text("notes"));
  AttentionShape shape{};
  shape.batch = key_count(keys, "batch", cells);
  shape.heads = key_count(keys, "head_num", cells);
  shape.kv_heads = key_count(keys, "kv_head_num", cells);
  shape.queries = shape.keys = key_count(keys, "seq_len", cells);
  shape.head_dim = key_count(keys, "qk_head_dim", cells);
  shape.value_dim = key_count(keys, "v_head_dim", cells);
  if (!cells.sound()) return;
  row.size = rows_class(shape.queries);
  const auto scores = static_cast<double>(shape.batch * shape.heads) *
                      static_cast<double>(shape.queries) * static_cast<double>(shape.keys);
  set_measured(
      row, cells,
      Flops((backward ? 5 : 2) * scores * static_cast<double>(shape.head_dim + shape.value_dim)));
  if (!placed || !format) return;
  const auto time = backward ? attention_backward_time : attention_forward_time;
  row.predicted = time(shape, AttentionKernel::flash2, format->precision, placed->on.accelerator,
                       placed->on.kernels);
  row.assumed.emplace_back("attention=causal, flash2");
}

}  // namespace

void predict_product(BenchmarkRow& row, Cells& cells, Bench& bench) {
  const auto placed = accelerator_of(row, cells, bench);
  const Format* format = format_of("dtype", row, cells, bench);
  const std::string& op = cells.text("op");
  if (op.starts_with("sdp_")) {
    return predict_attention(row, cells, op.starts_with("sdp_bwd"), format, placed);
  }
  Matmul product{cells.count("m"), cells.count("n"), cells.count("k"), cells.count_or("batch", 1)};
  row.size = rows_class(product.m);
  const bool grouped = op.starts_with("group");
  row.op = grouped ? "grouped gemm" : product.batch > 1 ? "batched gemm" : "gemm";
  set_measured(row, cells,
               Flops(2 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                     static_cast<double>(product.k) * static_cast<double>(product.batch)));
  if (!cells.sound()) return;
  auto keys = keys_of(cells.text("notes"));
  if (grouped) {  // m, n, k are the forward product's
    const std::int64_t m = product.m, n = product.n, k = product.k, batch = product.batch;
    if (op.ends_with("bwd_grad_act")) product = {m, k, n, batch};
    if (op.ends_with("bwd_grad_w")) product = {n, k, m, batch};
  }
  product.m *= placed->said.parts;
  const double result_bytes = accumulated(keys);
  const Accelerator& accelerator = placed->on.accelerator;
  const KernelParameters& kernels = placed->on.kernels;
  row.predicted =
      grouped || product.batch == 1
          ? matmul_time(product, format->precision, accelerator, kernels, result_bytes,
                        format->scaling)
          : batched_matmul_time(product, format->precision, accelerator, kernels, format->scaling);
}

}  // namespace headway::benchmarks
