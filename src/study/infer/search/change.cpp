#include "study/infer/search/change.hpp"

#include <algorithm>

#include "study/infer/parts.hpp"
#include "study/infer/search/smallest.hpp"

namespace headway {
namespace {

struct Asked {
  Serving serving;
  Load load;
};
using FlagOfOne = ChangedFlag<Asked>;

FlagOfOne degree_flag(const char* name, std::int64_t ServingSplit::*degree,
                      const Serving& serving) {
  FlagOfOne out{
      name, [=](const Asked& asked) { return std::to_string(asked.serving.*degree); }, {}};
  for (const std::int64_t d : higher_degrees(serving, degree)) {
    out.changes.emplace_back([=](Asked& asked) { asked.serving.*degree = d; });
  }
  return out;
}

// Fewer sequences at a time: as many as memory holds of these.
FlagOfOne batch_flag(const Serving& serving, const Load& load) {
  FlagOfOne out{"batch", [](const Asked& asked) { return std::to_string(asked.load.batch); }, {}};
  if (load.arrivals != Arrivals::together) return out;
  const double context = static_cast<double>(load.input + load.output);
  const double most = memory_of(serving, load).sequences_that_fit(context);
  if (!(most >= 1)) return out;
  const auto batch = static_cast<std::int64_t>(most);
  out.changes.emplace_back([batch](Asked& asked) { asked.load.batch = batch; });
  return out;
}

FlagOfOne cache_flag(const Serving& serving) {
  FlagOfOne out{"cache", [](const Asked& asked) { return asked.serving.cache->name; }, {}};
  for (const CacheFormat* format : smaller_caches(serving)) {
    out.changes.emplace_back([format](Asked& asked) { asked.serving.cache = format; });
  }
  return out;
}

FlagOfOne weights_flag(const Serving& serving) {
  FlagOfOne out{
      "weights", [](const Asked& asked) { return std::string(weights_name(asked.serving)); }, {}};
  for (const std::string& name : smaller_weights(serving)) {
    out.changes.emplace_back([name](Asked& asked) { set_weights(asked.serving, name); });
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> higher_degrees(const Serving& serving,
                                         std::int64_t ServingSplit::*degree) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = serving.*degree + 1; d <= serving.cluster.accelerators && d <= 64; ++d) {
    Serving more = serving;
    more.*degree = d;
    if (check(more).empty()) out.push_back(d);
  }
  return out;
}

std::vector<std::string> smaller_weights(const Serving& serving) {
  const auto bytes = [](const Serving& of) { return memory_of(of, 1).weights; };
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& name : weights_names()) {
    Serving other = serving;
    if (!set_weights(other, name) || !check(other).empty()) continue;
    if (other.stored != nullptr && other.stored->experts_only && !has_experts(serving.model)) {
      continue;
    }
    if (bytes(other) < bytes(serving)) found.emplace_back(-bytes(other).value(), name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [size, name] : found) out.push_back(std::move(name));
  return out;
}

std::vector<const CacheFormat*> smaller_caches(const Serving& serving) {
  std::vector<const CacheFormat*> out;
  for (const std::string& name : serving.engine.caches) {
    const CacheFormat* format = cache_format(name);
    if (format->bytes < serving.cache->bytes) out.push_back(format);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CacheFormat* a, const CacheFormat* b) { return a->bytes > b->bytes; });
  return out;
}

std::vector<ServingChange> smallest_changes(const Serving& serving,
                                            const ServingConstants& constants, const Load& load) {
  const std::vector<FlagOfOne> flags = {
      degree_flag("tp", &ServingSplit::tp, serving), degree_flag("pp", &ServingSplit::pp, serving),
      batch_flag(serving, load), cache_flag(serving), weights_flag(serving)};
  Load least = load;
  least.rate = std::min(load.rate, 1e-3);  // whether it fits does not hang on the rate
  const auto tried = [&](const Asked& asked) -> std::optional<ServingChange> {
    if (!check(asked.serving).empty()) return std::nullopt;
    const Served answer = served(asked.serving, constants, asked.load);
    if (!answer.fits) return std::nullopt;
    const std::int64_t ranks = asked.serving.ranks();
    return ServingChange{{}, answer.output_per_second / static_cast<double>(ranks), ranks};
  };
  return smallest_of(Asked{serving, least}, flags, tried);
}

std::string would_fit_text(std::span<const ServingChange> changes) {
  if (changes.empty()) {
    return "no other degree, format or number of sequences would make it, nor would two of them";
  }
  std::string out;
  for (const ServingChange& change : changes.first(std::min<std::size_t>(3, changes.size()))) {
    out += out.empty() ? "it would with" : ", or";
    for (const auto& [flag, value] : change.flags) out += " --" + flag + " " + value;
  }
  return out;
}

}  // namespace headway
