// The best ways with prefill and decode apart, as text and as JSON.
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/infer/infer.hpp"
#include "report/infer/parts.hpp"

namespace headway {

std::string infer_best_apart_text(const Serving& base, const Load& asked, const SearchSpace& space,
                                  std::int64_t accelerators, const BestApart& best,
                                  const ServedBeside& beside) {
  const Searched searched{base, asked, space, accelerators, best.tried, best.placed};
  const std::string out = best_title(searched);
  if (best.front.empty())
    return out + no_front_text(searched, best.would_fit) + notes_text(beside.notes);
  const bool formats = space.formats.size() > 1;
  TextTable rows = {{"prefill", "step", "decode", "step", "clients", "tokens/s", "tokens/s",
                     "first", "each", "$ for a", "what", "bound"},
                    {"", "tokens", "", "tokens", "of all", "of a user", "of a GPU", "token",
                     "token", "million", "binds", "by"}};
  if (formats) {
    rows[0].insert(rows[0].begin() + 4, "weights");
    rows[1].insert(rows[1].begin() + 4, "and cache");
  }
  std::vector<PointIntervals> told;
  for (const ApartOffer& offer : best.front) {
    const ServingApart& apart = offer.apart;
    const Served& by = offer.served.all;
    const double price = price_per_million(base.cluster, apart.ranks(), by);
    std::vector<std::string> row = {pool_text(apart.prefill, apart.prefill_copies),
                                    std::to_string(apart.prefill.engine.policy.most_tokens),
                                    pool_text(apart.decode, apart.decode_copies),
                                    std::to_string(apart.decode.engine.policy.most_tokens),
                                    std::to_string(offer.load.batch),
                                    formatted("%.1f", offer.of_user()),
                                    count_text(offer.of_accelerator()),
                                    to_text(by.first_token),
                                    asked.output > 1 ? to_text(by.each_token) : "-",
                                    price > 0 ? formatted("%.2f", price) : "-",
                                    std::string(offer.served.binding()),
                                    bound_text(offer.bounds)};
    if (formats) {
      row.insert(row.begin() + 4, std::string(weights_name(apart.decode)) + " " +
                                      std::string(cache_name(apart.decode)));
    }
    rows.push_back(std::move(row));
    told.push_back({pools_text(apart) + ", " + std::to_string(offer.load.batch), apart.ranks(),
                    offer.intervals});
  }
  return out + aligned(rows) + intervals_text(told) + notes_text(beside.notes);
}

std::string infer_best_apart_json(const Serving& base, const Load& asked, const SearchSpace& space,
                                  std::int64_t accelerators, const BestApart& best,
                                  const ServedBeside& beside) {
  JsonWriter out;
  begin_front(out, {base, asked, space, accelerators, best.tried, best.placed});
  for (const ApartOffer& offer : best.front) {
    const Served& by = offer.served.all;
    out.begin_object();
    write_layout(out, "prefill", offer.apart.prefill);
    out.member("prefill_copies", offer.apart.prefill_copies);
    out.member("prefill_step_tokens", offer.apart.prefill.engine.policy.most_tokens);
    write_layout(out, "layout", offer.apart.decode);
    out.member("decode_copies", offer.apart.decode_copies);
    out.member("step_tokens", offer.apart.decode.engine.policy.most_tokens);
    write_formats(out, offer.apart.decode);
    write_amount(out, 1, offer.load);
    write_gained(out, base.cluster, offer.apart.ranks(), offer.load, by);
    write_intervals(out, offer.intervals);
    out.member("binds", offer.served.binding());
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
