// The best ways with prefill and decode apart, as text and as JSON.
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/infer/infer.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

// "2 x tp4 ep4".
std::string pool_text(const ServingSplit& split, std::int64_t copies) {
  std::string out = std::to_string(copies) + " x tp" + std::to_string(split.tp);
  const auto add = [&](const char* name, std::int64_t degree) {
    if (degree > 1) out += std::string(" ") + name + std::to_string(degree);
  };
  add("pp", split.pp);
  add("ep", split.ep);
  add("dp", split.dp);
  return out;
}

}  // namespace

std::string infer_best_apart_text(const Serving& base, const Load& asked, std::int64_t accelerators,
                                  const BestApart& best) {
  const std::string out = best_title(base, asked, accelerators, best.tried, "ways in closed form");
  if (best.front.empty()) {
    return out + (best.tried == 0 ? "no way fits\n" : "no way keeps to the limits\n");
  }
  TextTable rows = {
      {"prefill", "decode", "clients", "tokens/s", "tokens/s", "first", "each", "$ for a", "what"},
      {"", "", "of all", "of a user", "of a GPU", "token", "token", "million", "binds"}};
  for (const ApartOffer& offer : best.front) {
    const ServingApart& apart = offer.apart;
    const Served& by = offer.served.all;
    const double price = price_per_million(base.cluster, apart.ranks(), by);
    rows.push_back({pool_text(apart.prefill, apart.prefill_copies),
                    pool_text(apart.decode, apart.decode_copies), std::to_string(offer.load.batch),
                    formatted("%.1f", offer.of_user()), count_text(offer.of_accelerator()),
                    to_text(by.first_token), asked.output > 1 ? to_text(by.each_token) : "-",
                    price > 0 ? formatted("%.2f", price) : "-",
                    std::string(offer.served.binding())});
  }
  return out + aligned(rows);
}

std::string infer_best_apart_json(const Serving& base, const Load& asked, std::int64_t accelerators,
                                  const BestApart& best) {
  JsonWriter out;
  begin_front(out, base, asked, accelerators, best.tried);
  for (const ApartOffer& offer : best.front) {
    const Served& by = offer.served.all;
    out.begin_object();
    write_layout(out, "prefill", offer.apart.prefill);
    out.member("prefill_copies", offer.apart.prefill_copies);
    write_layout(out, "layout", offer.apart.decode);
    out.member("decode_copies", offer.apart.decode_copies);
    write_amount(out, 1, offer.load);
    write_gained(out, base.cluster, offer.apart.ranks(), offer.load, by);
    out.member("binds", offer.served.binding());
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
