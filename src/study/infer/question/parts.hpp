// Parts of what `infer` is asked, each read by itself. Internal to study/infer/question.
#pragma once

#include "study/infer/question/options.hpp"
#include "study/infer/question/question.hpp"

namespace headway {

/// How many at what lengths and when, of requests to so many copies.
Load asked_load(RequestReader& in, Problems& problems, const ServingAsked& asked,
                const ServingFiles& files, std::int64_t longest, std::int64_t copies);

/// "any", or "bf16,fp8/fp8": weights, and after a slash their cache; without one that of `base`.
std::vector<ServingFormats> asked_formats(RequestReader& in, const Serving& base,
                                          std::string_view text);

/// A split and copies, "tp=4,copies=2", given by the option of that name.
struct AskedPool {
  ServingSplit split;
  std::int64_t copies = 1;
  std::optional<std::int64_t> step_tokens;
};
AskedPool asked_pool(RequestReader& in, std::string_view option, std::string_view text);

}  // namespace headway
