// inference_kernels.csv: kernels and calls of serving engines. What the program's shapes can say is
// predicted by them; the others are skipped, each with its reason.
#include <algorithm>
#include <cmath>

#include "base/whole_number.hpp"
#include "fit/benchmarks/predict.hpp"
#include "fit/collectives/collectives.hpp"

namespace headway::benchmarks {
namespace {

using Run = void (*)(BenchmarkRow&, Cells&, const Placed&, Bench&);

double real(std::int64_t count) {
  return static_cast<double>(count);
}

// The time has the quantisation of the operand in it [KERNEL-6].
void gemm(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("dtype", row, cells, bench);
  const Matmul product{cells.count("m"), cells.count("n"), cells.count("k")};
  row.size = rows_class(product.m);
  if (!cells.sound()) return;
  const Accelerator& accelerator = placed.on.accelerator;
  const KernelParameters& kernels = placed.on.kernels;
  if (format->stored != nullptr) {
    row.predicted =
        unpacked_product_time(product, *format->stored, accelerator, kernels, placed.on.formats);
    return;
  }
  const ProductFormat of = headway::format_of(format->precision, format->scaling);
  row.predicted =
      matmul_time(product, format->precision, accelerator, kernels, 2, format->scaling) +
      quantisation_time(real(product.m) * real(product.k),
                        quantised_bytes(format->precision, format->scaling), of, accelerator,
                        kernels);
}

void serving(BenchmarkRow& row, const Placed& placed, const ServingKernel& kernel) {
  row.serving = kernel;
  row.predicted = time_of(kernel, placed.on.accelerator, placed.on.kernels, placed.on.serving);
}

AttentionShape shape_of(Cells& cells, bool causal) {
  AttentionShape shape{};
  shape.batch = cells.count("batch");
  shape.queries = cells.count("seq_q");
  shape.keys = cells.count("seq_kv");
  shape.heads = cells.count("heads");
  shape.causal = causal;
  return shape;
}

void prefill(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("dtype", row, cells, bench);
  AttentionShape shape = shape_of(cells, true);
  shape.kv_heads = cells.count("kv_heads");
  shape.head_dim = shape.value_dim = cells.count("head_dim");
  row.size = rows_class(shape.queries);
  // XQA, a kernel of decoding, which vLLM calls for short prompts.
  if (cells.text("kernel").ends_with("trtllmdecode")) cells.skip("prompts by a kernel of decoding");
  if (cells.sound()) serving(row, placed, PromptAttention{shape, format->precision});
}

void cached(BenchmarkRow& row, const Placed& placed, const CachedAttention& shape, Bytes all) {
  row.size = all > Bytes(1e8) ? "> 100 MB" : all > Bytes(1e7) ? "10 to 100 MB" : "< 10 MB";
  serving(row, placed, shape);
}

// Keys and values in the format of the cache.
void decode(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("kv_dtype", row, cells, bench);
  const AttentionShape said = shape_of(cells, false);
  const std::int64_t kv_heads = cells.count("kv_heads"), width = cells.count("head_dim");
  if (!cells.sound()) return;
  CachedAttention shape;
  shape.sequences = said.batch;
  shape.keys = said.keys;
  shape.heads = said.heads;
  shape.width = 2 * width;
  shape.cached_of_token =
      Bytes(bytes_per_element(format->precision) * 2 * real(kv_heads) * real(width));
  cached(row, placed, shape, real(said.batch) * real(said.keys) * shape.cached_of_token);
}

// vLLM's kernels of latent attention take a tenth of a millisecond whatever they do, ten times
// TensorRT-LLM's.
void skip_launched(Cells& cells) {
  if (cells.text("kernel").starts_with("vllm_")) {
    cells.skip("a kernel that the host launches each time");
  }
}

// DeepSeek's latent cache: 512 and 64 for the positions.
void latent_decode(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  constexpr std::int64_t kRank = 512, kPositions = 64;
  const Format* format = format_of("kv_dtype", row, cells, bench);
  const AttentionShape said = shape_of(cells, false);
  skip_launched(cells);
  if (!cells.sound()) return;
  CachedAttention shape;
  shape.sequences = said.batch;
  shape.keys = said.keys;
  shape.heads = said.heads;
  shape.width = 2 * kRank + kPositions;
  shape.latent = true;
  shape.cached_of_token = Bytes(bytes_per_element(format->precision) * (kRank + kPositions));
  cached(row, placed, shape, real(said.batch) * real(said.keys) * shape.cached_of_token);
  row.assumed.emplace_back("key_value_rank=512, rope_dim=64");
}

// The cluster that an accelerator's calls are made on; none where none is known, and cells.reason
// says so.
const Joined* cluster_of(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const std::string& name = placed.said.cluster;
  const auto* const joined = name.empty() ? nullptr : &bench.machines.cluster(name);
  if (joined == nullptr || !*joined) {
    cells.skip("no cluster is known of this accelerator");
    return nullptr;
  }
  row.assumed.push_back("cluster=" + name);
  return &**joined;
}

// An engine's own, replayed by a graph.
void own_all_reduce(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  row.format.clear();
  const std::int64_t ranks = cells.count("ranks");
  const Bytes bytes(cells.number("bytes"));
  row.size = to_name(size_range_of(bytes));
  if (cells.text("kernel").ends_with("eager"))
    cells.skip("a call that the host launches each time");
  const Joined* const joined = cluster_of(row, cells, placed, bench);
  if (!cells.sound()) return;
  serving(row, placed, OwnAllReduce{bytes, ranks, joined->cluster.levels.front().bandwidth});
}

// DeepSeek's heads: 128 + 64 of keys, 128 of values.
void latent_prefill(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("dtype", row, cells, bench);
  AttentionShape shape = shape_of(cells, true);
  shape.kv_heads = shape.heads;
  shape.head_dim = 192;
  shape.value_dim = 128;
  row.size = rows_class(shape.queries);
  skip_launched(cells);
  if (!cells.sound()) return;
  serving(row, placed, PromptAttention{shape, format->precision});
  row.assumed.emplace_back("head_dim=192, value_dim=128");
}

// The engine whose kernels sort the tokens of experts (data/serving/engines.toml: sorts_tokens), as
// these benchmarks name it.
constexpr std::string_view kSorts = "trtllm";

// Experts of a gated network: one grouped product into both halves, one out of them, and passes
// over the routed tokens, counted.
void experts(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("dtype", row, cells, bench);
  const std::int64_t tokens = cells.count("tokens"), width = cells.count("hidden");
  const std::int64_t whole = cells.count("inter"), chosen = cells.count("topk");
  const std::int64_t all = cells.count("experts"), ranks = cells.count_or("ep", 1);
  const std::int64_t inner = std::max<std::int64_t>(1, whole / cells.count_or("moe_tp", 1));
  const bool even = cells.text("distribution") == "balanced";
  const double routed = real(tokens) * real(chosen) / real(ranks);
  const double held = std::max(1.0, real(all) / real(ranks));
  // As benchmarks spread tokens: over as many experts as there are.
  const auto busy = static_cast<std::int64_t>(std::clamp(std::round(routed), 1.0, held));
  const auto rows = static_cast<std::int64_t>(std::ceil(routed / real(busy)));
  row.size = rows_class(rows);
  if (cells.sound() && !even && ranks > 1) {
    cells.skip("tokens of the fullest rank are not stated");
  }
  if (!cells.sound()) return;
  const Accelerator& accelerator = placed.on.accelerator;
  const KernelParameters& kernels = placed.on.kernels;
  const RoutedPasses passes = routed_passes(routed, real(width), real(inner),
                                            quantised_bytes(format->precision, format->scaling));
  const Bytes passed = passes.before + passes.behind;
  const Matmul into{rows, 2 * inner, width, busy}, out{rows, width, inner, busy};
  row.assumed.emplace_back("passes=counted");
  if (!even) row.assumed.emplace_back("distribution=balanced");
  // What engines' kernels make of 16 bits and of blocks is fitted.
  const bool blocks = format_of(format->precision, format->scaling) == ProductFormat::bits_8_blocks;
  if (format->stored == nullptr && (blocks || format->precision < Precision::fp8)) {
    return serving(row, placed,
                   ExpertProducts{into, out, format->precision, format->scaling, passed,
                                  bench.words.experts_start, blocks && row.engine == kSorts});
  }
  const auto product = [&](const Matmul& shape) {
    return format->stored != nullptr ? unpacked_product_time(shape, *format->stored, accelerator,
                                                             kernels, placed.on.formats)
                                     : batched_matmul_time(shape, format->precision, accelerator,
                                                           kernels, format->scaling);
  };
  row.predicted = product(into) + product(out) + bench.words.experts_start +
                  pass_time(passed, accelerator, kernels);
}

// Bytes that each kernel of vidur's profile reads and writes for a token, in 16 bit.
void elementwise(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const Format* format = format_of("dtype", row, cells, bench);
  const std::string& kernel = cells.text("kernel");
  row.op = kernel;
  const std::int64_t tokens = cells.count("tokens");
  row.size = rows_class(tokens);
  double elements = 0;
  if (kernel == "mlp_act") {
    elements = 3 * real(cells.count("inter"));  // both halves read, their product written
  } else if (kernel == "add") {
    elements = 3 * real(cells.count("hidden"));
  } else if (kernel.ends_with("layernorm") || kernel == "emb") {
    elements = 2 * real(cells.count("hidden"));
  } else {
    cells.skip("no count of what this kernel moves: " + kernel);
  }
  if (!cells.sound()) return;
  row.predicted = pass_time(Bytes(real(tokens) * elements * bytes_per_element(format->precision)),
                            placed.on.accelerator, placed.on.kernels);
}

void call(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  row.format.clear();
  const std::string& said = cells.text("op");
  const auto op =
      said == "send_recv" ? std::optional(CollectiveOp::send_receive) : collective_named(said);
  if (op) row.op = std::string(to_name(*op));
  const std::int64_t ranks = cells.count("ranks"), nodes = cells.count_or("nodes", 1);
  const Bytes bytes(cells.number("bytes"));
  row.size = to_name(size_range_of(bytes));
  if (!op) cells.skip("no word for this operation: " + said);
  if (ranks < nodes) cells.skip("fewer ranks than nodes");
  const Joined* const joined = cluster_of(row, cells, placed, bench);
  if (!cells.sound()) return;
  row.predicted = collective_time(*op, bytes, benchmark_span(ranks, nodes, joined->cluster),
                                  joined->cluster, joined->levels);
}

// The units that copied, as "sms 12" in the notes; as many as usual where they do not say.
std::int64_t copying_units(const std::string& notes) {
  constexpr std::string_view kSays = "sms ";
  const std::size_t at = notes.find(kSays);
  if (at == notes.npos) return ExpertExchange{}.units;
  const std::size_t begin = at + kSays.size();
  const std::size_t end = std::min(notes.find_first_not_of("0123456789", begin), notes.size());
  return whole_number(std::string_view(notes).substr(begin, end - begin))
      .value_or(ExpertExchange{}.units);
}

// Kernels of an exchange of experts' tokens, whose two directions and two kinds the operation
// names.
void exchange(BenchmarkRow& row, Cells& cells, const Placed& placed, Bench& bench) {
  const std::string& said = cells.text("op");
  ExpertExchange shape;
  shape.combine = said.starts_with("ep_combine");
  shape.quick = said.ends_with("low_latency");
  shape.tokens = cells.count("tokens");
  shape.hidden = cells.count("hidden");
  shape.active = cells.count("topk");
  shape.ranks = cells.count("ranks");
  shape.units = copying_units(cells.text("notes"));
  row.op = said;
  row.format.clear();
  row.size = rows_class(shape.tokens);
  if (shape.units < 1) cells.skip("copied by no compute unit");
  const Joined* const joined = cluster_of(row, cells, placed, bench);
  if (!cells.sound()) return;
  const std::vector<Level>& levels = joined->cluster.levels;
  shape.ranks_of_node = levels.front().size;
  shape.bandwidth = levels.front().bandwidth;
  if (shape.ranks > shape.ranks_of_node) {
    if (levels.size() < 2) return cells.skip("no network is known of this cluster");
    shape.network = levels[1].bandwidth;
  }
  serving(row, placed, shape);
}

struct Kernel {
  std::string_view op;
  Run run;
};
constexpr Kernel kKernels[] = {
    {"gemm", gemm},
    {"attention_prefill_causal", prefill},
    {"attention_decode", decode},
    {"mla_prefill_causal", latent_prefill},
    {"mla_decode", latent_decode},
    {"moe_experts", experts},
    {"elementwise", elementwise},
    {"all_reduce", call},
    {"all_gather", call},
    {"alltoall", call},
    {"reduce_scatter", call},
    {"send_recv", call},
    {"all_reduce_custom", own_all_reduce},
    {"ep_dispatch_normal", exchange},
    {"ep_combine_normal", exchange},
    {"ep_dispatch_low_latency", exchange},
    {"ep_combine_low_latency", exchange},
};

}  // namespace

}  // namespace headway::benchmarks

namespace headway {

Seconds time_of(const ServingKernel& kernel, const Accelerator& accelerator,
                const KernelParameters& flash, const ServingKernels& kernels) {
  if (const auto* prompt = std::get_if<PromptAttention>(&kernel)) {
    return prompt_attention_time(*prompt, accelerator, flash, kernels);
  }
  if (const auto* attention = std::get_if<CachedAttention>(&kernel)) {
    return cached_attention_time(*attention, accelerator, kernels);
  }
  if (const auto* exchange = std::get_if<ExpertExchange>(&kernel)) {
    return expert_exchange_time(*exchange, kernels);
  }
  if (const auto* experts = std::get_if<ExpertProducts>(&kernel)) {
    return expert_products_time(*experts, accelerator, flash, kernels);
  }
  const auto& call = std::get<OwnAllReduce>(kernel);
  return own_all_reduce_time(call.bytes, call.ranks, call.bandwidth, kernels);
}

}  // namespace headway

namespace headway::benchmarks {

void predict_inference_kernel(BenchmarkRow& row, Cells& cells, Bench& bench) {
  const std::string& op = cells.text("op");
  row.op = op;
  row.engine = cells.text("engine");
  const Seconds time(cells.number("time_us") * 1e-6);
  if (cells.sound()) row.measured = time;
  const auto placed = accelerator_of(row, cells, bench);
  const auto* const kernel = std::find_if(std::begin(kKernels), std::end(kKernels),
                                          [&](const Kernel& each) { return each.op == op; });
  if (kernel == std::end(kKernels)) return cells.skip("no word for this operation: " + op);
  if (placed) kernel->run(row, cells, *placed, bench);
}

}  // namespace headway::benchmarks
