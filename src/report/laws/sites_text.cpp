#include <algorithm>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "method/methods.hpp"
#include "report/laws/sites.hpp"

namespace headway {
namespace {

std::string rate_text(BytesPerSecond rate) {
  return formatted("%.4g Gb/s", rate.value() * 8 / 1e9);
}

std::string time_text(const SiteTime& row) {
  return std::isfinite(row.tokens) ? duration_text(row.time) : "never";
}

std::string name_of(const SitesAnswer& answer, std::size_t method) {
  return text_of(answer.question.methods[method]);
}

std::string penalty_text(const SiteTime& row) {
  return row.penalty ? formatted("%+.2f %%", 100 * (*row.penalty - 1)) : "not known";
}

std::string rows_table(const SitesAnswer& answer) {
  std::vector<std::vector<std::string>> rows = {{"between sites", "sites", "method", "sent a step",
                                                 "exposed", "step", "loss", "tokens", "to it"}};
  for (const SiteTime& row : answer.rows) {
    rows.push_back({rate_text(row.bandwidth), std::to_string(row.sites),
                    name_of(answer, row.method), to_text(row.sent), to_text(row.exposed),
                    to_text(row.step), penalty_text(row),
                    std::isfinite(row.tokens) ? short_count_text(row.tokens) : "never",
                    time_text(row) + (row.penalty ? "" : " or more")});
  }
  return aligned(rows, 3);
}

std::string first_table(const SitesAnswer& answer) {
  std::vector<std::vector<std::string>> rows = {{"between sites", "first", "sites", "after"}};
  for (const SiteTime& row : answer.first) {
    rows.push_back({rate_text(row.bandwidth), name_of(answer, row.method),
                    std::to_string(row.sites), time_text(row)});
  }
  return aligned(rows, 2);
}

std::string pays_table(const SitesAnswer& answer) {
  if (answer.pays.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"method", "sites", "sooner than synchronous"}};
  for (const PaysBelow& each : answer.pays) {
    rows.push_back({name_of(answer, each.method), std::to_string(each.sites),
                    each.everywhere ? "at any bandwidth"
                    : each.nowhere  ? "at none"
                                    : "below " + rate_text(each.bandwidth)});
  }
  return "\n" + aligned(rows, 3);
}

// How fast neighbours come to agree, once for each method and number of sites.
std::string mixing_table(const SitesAnswer& answer) {
  std::vector<std::vector<std::string>> rows = {
      {"averaging", "sites", "spectral gap", "agree to 1 % after", "as fast as synchronous from"}};
  const auto steps = [](double count) {
    return short_count_text(std::ceil(count)) + (count > 1 ? " steps" : " step");
  };
  for (const SiteTime& row : answer.rows) {
    if (!row.mixing || row.bandwidth != answer.rows.front().bandwidth) continue;
    rows.push_back({name_of(answer, row.method), std::to_string(row.sites),
                    formatted("%.4f", row.mixing->gap), steps(row.mixing->agree),
                    steps(row.mixing->transient)});
  }
  return rows.size() == 1 ? "" : "\n" + aligned(rows, 2);
}

// What DiLoCo is best set to for the model.
std::string advice_table(const SitesAnswer& answer) {
  if (answer.advice.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"replicas", "best batch", "inner rate", "outer rate", "by the fit of"}};
  for (const LocalUpdateAdvice& each : answer.advice) {
    rows.push_back({std::to_string(each.replicas), formatted("%.2f x", each.batch_ratio),
                    formatted("%.3g", each.inner_rate),
                    each.outer_rate ? formatted("%.1f", *each.outer_rate) : "-",
                    each.joint ? "any number" : "that number"});
  }
  return "\nDiLoCo's best settings by published fits" +
         std::string(answer.advice_extrapolated ? ", beyond the sizes that were trained" : "") +
         " (batch: of data parallelism's best)\n" + aligned(rows, 0);
}

// Where the penalties are from, each once with the numbers of sites that it holds for.
std::string sources_text(const SitesAnswer& answer) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;
  for (const SiteTime& row : answer.rows) {
    if (row.method == 0) continue;
    const std::string what = name_of(answer, row.method) + ": " + row.penalty_from;
    auto at = std::find_if(said.begin(), said.end(),
                           [&](const auto& each) { return each.first == what; });
    if (at == said.end()) at = said.insert(said.end(), {what, {}});
    const std::string sites = std::to_string(row.sites);
    if (std::find(at->second.begin(), at->second.end(), sites) == at->second.end()) {
      at->second.push_back(sites);
    }
  }
  std::string out = said.empty() ? "" : "\nwhere penalties of the loss are from\n";
  for (const auto& [what, sites] : said) {
    out += wrapped(printable(what, 400) + " (" + join(sites, ", ") + " sites)", 2, 4);
  }
  return out;
}

}  // namespace

std::string sites_text(const SitesAnswer& answer) {
  const SitesQuestion& question = answer.question;
  std::string out = printable(question.run.model.name) + " to a loss of " +
                    formatted("%.3f", answer.loss) + " nats a token, that of " +
                    short_count_text(question.given.tokens) + " tokens synchronously (" +
                    question.given.loss.name + "); each site has " +
                    count_text(static_cast<double>(question.run.layout.ranks())) + " of " +
                    printable(question.run.cluster.name) + "\n\n";
  out += rows_table(answer);
  out += "\nof those whose penalty is known, first at the loss\n" + first_table(answer);
  out += pays_table(answer);
  out += mixing_table(answer);
  out += advice_table(answer);
  out += sources_text(answer);
  if (!answer.left_out.empty()) {
    out += "\n" + wrapped("left out: " + join(answer.left_out, "; "), 0, 2);
  }
  return out;
}

}  // namespace headway
