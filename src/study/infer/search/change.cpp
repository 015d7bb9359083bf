#include "study/infer/search/change.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "study/infer/parts.hpp"

namespace headway {
namespace {

struct Asked {
  Serving serving;
  Load load;
};

// A value of a flag; those of one flag from little to much.
struct Move {
  std::string flag, value;
  std::function<void(Asked&)> apply;
};
using Moves = std::vector<Move>;

Moves degrees(const char* flag, std::int64_t ServingSplit::*degree, const Serving& serving) {
  Moves out;
  for (std::int64_t d = serving.*degree + 1; d <= serving.cluster.accelerators && d <= 64; ++d) {
    Serving more = serving;
    more.*degree = d;
    if (!check(more).empty()) continue;
    out.push_back({flag, std::to_string(d), [=](Asked& asked) { asked.serving.*degree = d; }});
  }
  return out;
}

// Formats of fewer bytes, the widest first.
Moves smaller_weights(const Serving& serving) {
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
  Moves out;
  for (const auto& [size, name] : found) {
    out.push_back({"weights", name, [name](Asked& asked) { set_weights(asked.serving, name); }});
  }
  return out;
}

// Formats of the engine of fewer bytes, the widest first.
Moves smaller_cache(const Serving& serving) {
  std::vector<const CacheFormat*> found;
  for (const std::string& name : serving.engine.caches) {
    const CacheFormat* format = cache_format(name);
    if (format->bytes < serving.cache->bytes) found.push_back(format);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const CacheFormat* a, const CacheFormat* b) { return a->bytes > b->bytes; });
  Moves out;
  for (const CacheFormat* format : found) {
    out.push_back(
        {"cache", format->name, [format](Asked& asked) { asked.serving.cache = format; }});
  }
  return out;
}

// Fewer sequences at a time: as many as memory holds of these.
Moves fewer_sequences(const Serving& serving, const Load& load) {
  if (load.arrivals != Arrivals::together) return {};
  const double context = static_cast<double>(load.input + load.output);
  const double most = memory_of(serving, load).sequences_that_fit(context);
  if (!(most >= 1)) return {};
  const auto batch = static_cast<std::int64_t>(most);
  return {{"batch", std::to_string(batch), [batch](Asked& asked) { asked.load.batch = batch; }}};
}

// What the moves make, where it is legal and fits.
std::optional<ServingChange> tried(const Serving& serving, const ServingConstants& constants,
                                   const Load& load, std::span<const Move* const> moves) {
  Asked asked{serving, load};
  ServingChange out;
  for (const Move* move : moves) {
    move->apply(asked);
    out.flags.emplace_back(move->flag, move->value);
  }
  if (!check(asked.serving).empty()) return std::nullopt;
  asked.load.rate = std::min(asked.load.rate, 1e-3);  // whether it fits does not hang on the rate
  const Served answer = served(asked.serving, constants, asked.load);
  if (!answer.fits) return std::nullopt;
  out.output_per_second = answer.output_per_second / static_cast<double>(asked.serving.ranks());
  return out;
}

}  // namespace

std::vector<ServingChange> smallest_changes(const Serving& serving,
                                            const ServingConstants& constants, const Load& load) {
  const std::vector<Moves> flags = {
      degrees("tp", &ServingSplit::tp, serving), degrees("pp", &ServingSplit::pp, serving),
      fewer_sequences(serving, load), smaller_cache(serving), smaller_weights(serving)};
  std::vector<ServingChange> out;
  const auto keep = [&](std::initializer_list<const Move*> moves) {
    auto found = tried(serving, constants, load, std::span(moves.begin(), moves.size()));
    if (found) out.push_back(std::move(*found));
    return found.has_value();
  };
  const auto first_of = [&](const Moves& moves, const Move* other) {
    return std::any_of(moves.begin(), moves.end(), [&](const Move& move) {
      return other == nullptr ? keep({&move}) : keep({other, &move});
    });
  };
  for (const Moves& moves : flags) first_of(moves, nullptr);
  // Two flags: of each pair the first that fits, one of them as little as can be.
  for (std::size_t i = 0; out.empty() && i < flags.size(); ++i) {
    for (std::size_t j = i + 1; j < flags.size(); ++j) {
      for (const Move& first : flags[i]) {
        if (first_of(flags[j], &first)) break;
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const ServingChange& a, const ServingChange& b) {
    return a.output_per_second > b.output_per_second;
  });
  return out;
}

}  // namespace headway
