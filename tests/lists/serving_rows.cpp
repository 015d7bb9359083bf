// What `infer` is asked, and one thing more, which sets what another sets in words of its own.
#define serving_options library_serving_options
#include "study/infer/question/option_rows.cpp"
#undef serving_options

namespace headway {

std::span<const ServingOption> serving_options();
std::span<const ServingOption> serving_options() {
  static const std::vector<ServingOption> out = [] {
    std::vector<ServingOption> all(library_serving_options().begin(),
                                   library_serving_options().end());
    all.push_back({{"talk", "N", "how long it goes on", whole(kMostTokensOfAny), kLoad},
                   fills<&ServingAsked::output>});
    return all;
  }();
  return out;
}

}  // namespace headway
