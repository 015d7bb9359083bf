#include <string>

#include "base/document/sources.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "cluster/read.hpp"

namespace headway {
namespace {

// Far above any machine: larger values are slips of the unit.
constexpr FlopsPerSecond kFastest{1e21};
constexpr Bytes kLargest{1e15};
constexpr BytesPerSecond kWidest{1e16};
constexpr Watts kHottest{1e6};
constexpr Seconds kSlowest{1};

template <class Q>
Q bounded(Fields& fields, std::string_view key, Q most) {
  const Q value = fields.quantity<Q>(key);
  if (value <= most) return value;
  fields.fail(key, "is beyond any machine (more than " + to_text(most) + "); is the unit right?");
  return Q();
}

}  // namespace

Result<Accelerator> read_accelerator(const Document& document, const std::string& name) {
  Problems problems;
  Fields fields(document, problems);
  Accelerator out;
  out.name = fields.text_or("name", name);
  out.title = fields.text_or("title", out.name);
  out.architecture = fields.text("architecture");
  out.traits = architecture(out.architecture);
  out.previous = fields.text_or("previous", "");

  Fields peak = fields.table("peak", true);
  bool any = false;
  for (int i = 0; i < kPrecisions; ++i) {
    if (!peak.has(kPrecisionNames[i])) {
      peak.text_or(kPrecisionNames[i], "");
      continue;
    }
    out.peak[i] = bounded(peak, kPrecisionNames[i], kFastest);
    any = true;
  }
  peak.reject_unknown();
  if (!any && fields.has("peak")) {
    fields.fail("peak", "states no precision; give at least one, e.g. bf16 = \"312 TFLOP/s\"");
  }

  out.memory = bounded(fields, "memory", kLargest);
  out.memory_bandwidth = bounded(fields, "memory_bandwidth", kWidest);
  out.cache = bounded(fields, "cache", kLargest);
  out.compute_units = fields.count("compute_units");
  if (out.compute_units > 1'000'000) fields.fail("compute_units", "is beyond any machine");
  out.tdp = bounded(fields, "tdp", kHottest);
  out.idle_power = bounded(fields, "idle_power", kHottest);
  if (out.idle_power > out.tdp) fields.fail("idle_power", "is more than tdp");
  out.board_power = fields.quantity_or<Watts>("board_power", Watts());
  if (fields.has("board_power") &&
      (out.board_power < out.idle_power || out.board_power > kHottest)) {
    fields.fail("board_power", "must be from idle_power on, what its boards are set to");
  }
  out.launch_overhead = bounded(fields, "launch_overhead", kSlowest);
  out.host_bandwidth = bounded(fields, "host_bandwidth", kWidest);

  out.source = read_sources(fields, document, problems);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
