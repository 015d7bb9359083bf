#include "report/infer/infer.hpp"

#include <algorithm>
#include <utility>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"
#include "report/predict.hpp"

namespace headway {
namespace {

// What most of a decode pass goes into.
std::string_view binding(const PassTime& pass) {
  const auto most = std::max_element(pass.parts.begin(), pass.parts.end());
  return kServingPartNames[static_cast<std::size_t>(most - pass.parts.begin())];
}

}  // namespace

std::string infer_text(const Serving& serving, const Load& load, const Served& served,
                       const ServedBeside& beside) {
  std::string out = printable(serving.model.name) + " on " + std::to_string(serving.ranks()) + " " +
                    printable(serving.cluster.accelerator.title) + ", " + words_of(serving) + "\n" +
                    count_text(static_cast<double>(load.input)) + " tokens in, " +
                    count_text(static_cast<double>(load.output)) + " out, " + words_of(load) +
                    (serving.dp > 1 ? " of each copy" : "") + "\n\n";
  const ServingMemory& memory = served.memory;
  const TextTable held = memory_rows(memory);
  if (!served.fits) {
    return out + aligned(held) + "\ndoes not fit: " + std::string(too_large(memory)) + "; " +
           would_fit_text(beside.changes) + "\n";
  }
  if (!served.stable()) {
    return out + aligned(held) + not_stable_text(served);
  }
  out += aligned(served_rows(served, load, serving.ranks(), serving.cluster)) + "\n" +
         intervals_text(beside.intervals);
  out += aligned(pass_rows(served)) + "\n";
  if (beside.ops != nullptr) {
    out += "ops of a prefill pass, the longest first\n" + op_table_text(beside.ops->prefill) +
           "\nops of a decode pass, the longest first\n" + op_table_text(beside.ops->decode) + "\n";
  }
  return out + aligned(held) + notes_text(beside.notes);
}

std::string infer_json(const Serving& serving, const Load& load, const Served& served,
                       const ServedBeside& beside) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, serving, load, serving.ranks());
  write_layout(out, "layout", serving);
  write_amount(out, serving.dp, load);
  out.member("fits", served.fits);
  if (served.fits) out.member("stable", served.stable());
  if (served.capacity) out.member("capacity_requests_per_s", *served.capacity);
  if (served.fits && served.stable()) {
    write_gained(out, serving.cluster, serving.ranks(), load, served);
    write_intervals(out, beside.intervals);
    write_passes(out, served);
    if (beside.ops != nullptr) {
      out.key("ops");
      out.begin_object();
      out.key("prefill");
      write_op_table(out, beside.ops->prefill);
      out.key("decode");
      write_op_table(out, beside.ops->decode);
      out.end_object();
    }
  }
  if (!served.fits) write_would_fit(out, beside.changes);
  write_memory(out, served.memory);
  write_notes(out, beside.notes);
  out.end_object();
  return out.take();
}

std::string infer_best_text(const Serving& base, const Load& asked, const SearchSpace& space,
                            std::int64_t accelerators, const BestOffers& best,
                            const ServedBeside& beside) {
  const Searched searched{base, asked, space, accelerators, best.tried, best.placed};
  const std::string out = best_title(searched);
  if (best.front.empty())
    return out + no_front_text(searched, best.would_fit) + notes_text(beside.notes);
  const bool formats = space.formats.size() > 1;
  TextTable rows = {
      {"split", "step", "clients", "tokens/s", "tokens/s", "first", "each", "$ for a", "most",
       "bound"},
      {"", "tokens", "of each", "of a user", "of a GPU", "token", "token", "million", "in", "by"}};
  if (formats) {
    rows[0].insert(rows[0].begin() + 1, "weights");
    rows[1].insert(rows[1].begin() + 1, "and cache");
  }
  std::vector<PointIntervals> told;
  for (const Offer& offer : best.front) {
    const Serving& way = offer.serving;
    const double price = price_per_million(base.cluster, way.ranks(), offer.served);
    std::vector<std::string> row = {split_text(way),
                                    std::to_string(way.engine.policy.most_tokens),
                                    std::to_string(offer.load.batch),
                                    formatted("%.1f", offer.of_user()),
                                    count_text(offer.of_accelerator()),
                                    to_text(offer.served.first_token),
                                    asked.output > 1 ? to_text(offer.served.each_token) : "-",
                                    price > 0 ? formatted("%.2f", price) : "-",
                                    std::string(binding(offer.served.decode)),
                                    bound_text(offer.bounds)};
    if (formats) {
      row.insert(row.begin() + 1,
                 std::string(weights_name(way)) + " " + std::string(cache_name(way)));
    }
    rows.push_back(std::move(row));
    told.push_back(
        {split_text(way) + ", " + std::to_string(offer.load.batch), way.ranks(), offer.intervals});
  }
  return out + aligned(rows) + intervals_text(told) + notes_text(beside.notes);
}

std::string infer_best_json(const Serving& base, const Load& asked, const SearchSpace& space,
                            std::int64_t accelerators, const BestOffers& best,
                            const ServedBeside& beside) {
  JsonWriter out;
  begin_front(out, {base, asked, space, accelerators, best.tried, best.placed});
  for (const Offer& offer : best.front) {
    out.begin_object();
    write_layout(out, "layout", offer.serving);
    write_formats(out, offer.serving);
    out.member("step_tokens", offer.serving.engine.policy.most_tokens);
    write_amount(out, offer.serving.dp, offer.load);
    write_gained(out, base.cluster, offer.serving.ranks(), offer.load, offer.served);
    write_intervals(out, offer.intervals);
    out.member("binds", binding(offer.served.decode));
    write_bounds(out, offer.bounds);
    out.end_object();
  }
  out.end_array();
  if (best.would_fit) out.member("would_fit_gpus", *best.would_fit);
  write_notes(out, beside.notes);
  out.end_object();
  return out.take();
}

}  // namespace headway
