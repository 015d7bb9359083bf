// Formats that a search of the best may choose among.
#include <algorithm>

#include "base/text.hpp"
#include "study/infer/question/parts.hpp"

namespace headway {
namespace {

// What keeps a serving from having its formats.
std::optional<std::string> refusal(const Serving& serving) {
  for (const Problem& problem : check(serving)) {
    for (const FieldName& field : problem.fields) {
      if (field.name == "weights" || field.name == "cache") return problem.message;
    }
  }
  return std::nullopt;
}

// Whether it differs from its recipe in what this model has, and is of 16 bits at most: more are of
// training.
bool is_of_serving(const Serving& serving) {
  const WeightFormat* stored = serving.stored;
  if (stored != nullptr) return !stored->experts_only || has_experts(serving.model);
  return bytes_per_element(serving.weights->matmul) <= 2;
}

// Every format of weights that the accelerator can do, that of the serving first.
std::vector<ServingFormats> any_format(const Serving& base,
                                       const std::vector<std::string>& caches) {
  std::vector<std::string> names = weights_names();
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == weights_name(base); });
  std::vector<ServingFormats> out;
  Serving each = base;
  for (const std::string& name : names) {
    if (!set_weights(each, name) || !is_of_serving(each)) continue;
    for (const std::string& cache : caches) {
      each.cache = cache_format(cache);
      if (!refusal(each)) out.push_back(formats_of(each));
    }
  }
  return out;
}

}  // namespace

std::vector<ServingFormats> asked_formats(RequestReader& in, const Serving& base,
                                          std::string_view text) {
  if (text == "any") {
    const bool cached = in.has("cache");
    return any_format(base, cached ? std::vector{base.cache->name} : base.engine.caches);
  }
  std::vector<ServingFormats> out;
  const std::vector<std::string> weights = weights_names();
  std::vector<std::string> caches;
  if (const auto& known = cache_formats(); known) {
    for (const CacheFormat& each : *known) caches.push_back(each.name);
  }
  bool all_name_caches = true;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part(text.substr(begin, end - begin));
    begin = end + 1;
    const std::size_t slash = std::min(part.find('/'), part.size());
    all_name_caches = all_name_caches && slash < part.size();
    Serving each = base;
    const std::string name = part.substr(0, slash);
    if (!set_weights(each, name)) {
      in.fail("formats", "'" + printable(name) + "' is no format of weights" +
                             suggestion(name, weights) + "; or any");
      continue;
    }
    if (slash < part.size()) {
      const std::string cache = part.substr(slash + 1);
      each.cache = cache_format(cache);
      if (each.cache == nullptr) {
        in.fail("formats",
                "'" + printable(cache) + "' is no format of a cache" + suggestion(cache, caches));
        continue;
      }
    }
    if (const auto why = refusal(each)) {
      in.fail("formats", printable(part) + ": " + *why);
      continue;
    }
    out.push_back(formats_of(each));
  }
  if (all_name_caches && in.has("cache")) {
    in.fail("cache", "is of formats that name none; all of these say theirs behind a slash");
  }
  return out;
}

}  // namespace headway
