#include "study/lifetime/providers.hpp"

#include <map>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

using Rates = std::map<std::string, std::vector<ProviderRate>>;

Rates read() {
  Rates out;
  const auto document = embedded_document("economics/providers.toml");
  if (!document) return out;
  Problems problems;
  Fields root(*document, problems);
  for (Fields& fields : root.tables("rates")) {
    std::vector<ProviderRate>& rates = out[fields.text("accelerator")];
    for (const std::string& key : fields.keys()) {
      if (key != "accelerator") rates.push_back({key, fields.number(key)});
    }
  }
  return out;
}

}  // namespace

double price_at(const ProviderRate& provider, const RunCost& cost) {
  constexpr double kHour = 3600;
  return provider.dollars * (cost.accelerator_time + cost.spare_time).value() / kHour;
}

std::vector<ProviderRate> provider_rates(const std::string& accelerator) {
  static const Rates rates = read();
  const auto found = rates.find(accelerator);
  return found != rates.end() ? found->second : std::vector<ProviderRate>();
}

}  // namespace headway
