// What providers ask for an accelerator's hour: data/economics/providers.toml.
#pragma once

#include <string>
#include <vector>

#include "study/lifetime/run_cost.hpp"

namespace headway {

struct ProviderRate {
  std::string provider;
  double dollars = 0;  // an accelerator's hour
};

/// US dollars of a whole run, spare accelerators among it.
double price_at(const ProviderRate& provider, const RunCost& cost);

/// Of an accelerator, by its name; none where no provider's is known.
std::vector<ProviderRate> provider_rates(const std::string& accelerator);

}  // namespace headway
