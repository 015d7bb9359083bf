// What `infer` was asked: a serving and a load, or everything that is wrong with them. Internal to
// src/api/infer.
#pragma once

#include <optional>

#include "api/command.hpp"
#include "api/commands.hpp"
#include "study/infer/apart.hpp"

namespace headway {

/// What numbers may be; the reader checks all of them, so that all problems are told at once.
namespace infer_ranges {
constexpr Range kDegree{1, 1'000'000}, kTokens{1, 10'000'000}, kSequences{1, 100'000},
    kGuesses{1, 64};
}  // namespace infer_ranges

struct InferQuestion {
  Serving serving;
  std::optional<ServingApart> apart;
  Load load;
};
Result<InferQuestion> infer_question(const InferRequest& request);

/// How many at what lengths and when, of requests to so many copies; what is wrong is added.
Load asked_load(const InferRequest& request, const Model& model, std::int64_t copies,
                Problems& problems);

/// The engine's habits, where others are asked for.
void ask_policy(const InferRequest& request, Policy& policy, Problems& problems);

/// A split and copies, "tp=4,copies=2", given by the option of that name.
struct AskedPool {
  ServingSplit split;
  std::int64_t copies = 1;
};
AskedPool asked_pool(std::string_view text, std::string_view option, Problems& problems);

}  // namespace headway
