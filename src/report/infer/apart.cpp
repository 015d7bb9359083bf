// Prefill and decode on accelerators of their own, as text and as JSON.
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/infer.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

std::string rate_text(double rate) {
  return std::isfinite(rate) ? formatted("%.4g requests/s", rate) : "any";
}

}  // namespace

std::string infer_apart_text(const ServingApart& apart, const Load& load, const ServedApart& served,
                             const ServedBeside& beside) {
  const Serving& part = apart.decode;
  std::string out = words_of(apart) + count_text(static_cast<double>(load.input)) + " tokens in, " +
                    count_text(static_cast<double>(load.output)) + " out, " + words_of(load) +
                    "\n\n";
  // Both columns side by side.
  TextTable held = memory_rows(served.prefill);
  const TextTable decoding = memory_rows(served.all.memory);
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i].resize(3);
    held[i].insert(held[i].begin() + 2, decoding[i][1]);
  }
  held.insert(held.begin(), {"", "prefill", "decode"});
  if (!served.all.fits) {
    return out + aligned(held) + "\ndoes not fit: " + why_not_text(served) + "; " +
           would_fit_text(beside.changes) + "\n";
  }
  if (!served.all.stable()) return out + aligned(held) + not_stable_text(served.all);
  out += aligned(served_rows(served.all, load, apart.ranks(), part.cluster)) + "\n" +
         intervals_text(beside.intervals);
  const TextTable rates = {
      {"prefill answers", rate_text(served.rates.prefill)},
      {"the cache moves", rate_text(served.rates.move), to_text(served.moving) + " a prompt"},
      {"decode answers", rate_text(served.rates.decode)},
      {"what binds", std::string(served.binding())}};
  return out + aligned(rates) + "\n" + aligned(pass_rows(served.all)) + "\n" + aligned(held) +
         notes_text(beside.notes);
}

std::string infer_apart_json(const ServingApart& apart, const Load& load, const ServedApart& served,
                             const ServedBeside& beside) {
  const Serving& part = apart.decode;
  JsonWriter out;
  out.begin_object();
  write_asked(out, part, load, apart.ranks());
  write_layout(out, "layout", part);
  write_amount(out, 1, load);
  write_pools(out, apart, served);
  out.member("fits", served.all.fits);
  if (served.all.fits) {
    out.member("stable", served.all.stable());
    out.member("cache_move_s", served.moving.value());
    if (std::isfinite(served.rates.move)) {
      out.member("cache_move_requests_per_s", served.rates.move);
    }
    out.member("capacity_requests_per_s", served.rates.least());
    out.member("binds", served.binding());
  }
  if (served.all.fits && served.all.stable()) {
    write_gained(out, part.cluster, apart.ranks(), load, served.all);
    write_intervals(out, beside.intervals);
    write_passes(out, served.all);
  }
  if (!served.all.fits) write_would_fit(out, beside.changes);
  write_memory(out, served.all.memory);
  write_notes(out, beside.notes);
  out.end_object();
  return out.take();
}

}  // namespace headway
