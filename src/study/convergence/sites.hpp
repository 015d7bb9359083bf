// A loss reached on several sites: methods that communicate less beside synchronous training, by
// the bandwidth between the sites and how many there are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "run/run.hpp"
#include "study/lifetime/assumptions.hpp"

namespace headway {

enum class SiteMethod : std::uint8_t {
  data_parallel,
  compressed,
  gossip,
  ad_psgd,
  diloco,
  streaming,
  eager
};
constexpr std::array<std::string_view, 7> kSiteMethods = {
    "data-parallel", "compressed", "gossip", "ad-psgd", "diloco", "streaming", "eager"};
constexpr std::string_view to_name(SiteMethod method) {
  return kSiteMethods[static_cast<std::size_t>(method)];
}

/// Each site has the accelerators of the run; the batch of a step is that of the run, shared by the
/// sites.
struct SitesQuestion {
  RequestedRun run;
  GivenAssumptions given;
  std::vector<std::int64_t> sites;
  std::vector<BytesPerSecond> bandwidths;  // of a site, each way
  Seconds latency;                         // of one exchange
  double sync_every = 30;                  // steps, of diloco, streaming and eager
  double bits = 16;                        // of an exchanged value
  double compression = 16;                 // compressed: bytes are divided by it
  std::map<SiteMethod, double> penalties;  // the user's: loss over that of synchronous training
  std::optional<double> data_exponent;     // of loss by data, instead of the loss law
  bool extrapolate = false;  // DiLoCo outside of what is published, by its fitted laws
};

/// As it was written; everything that is wrong with it at once.
struct SitesGiven {
  RunRequest fields;                                      // of the run and of scale_run_fields()
  std::vector<std::string> sites, bandwidths, penalties;  // penalties: "gossip=1.02"
  std::string latency;
  std::optional<double> sync_every, bits, compression, data_exponent;
  bool extrapolate = false;
};
Result<SitesQuestion> read_sites_question(const SitesGiven& given);

/// One method on a number of sites at a bandwidth.
struct SiteTime {
  SiteMethod method = SiteMethod::data_parallel;
  std::int64_t sites = 1;
  BytesPerSecond bandwidth = {};
  Seconds step = {};     // of a site alone
  Seconds exposed = {};  // of exchanges between sites, the mean of a step [LAW-20]
  Bytes sent = {};       // between sites, by each, the mean of a step
  std::optional<double> penalty =
      {};  // loss over that of synchronous training; none: not published
  std::string penalty_from = {};
  double tokens = 0;  // to the loss [LAW-21]; infinite: it never comes to it
  Seconds time = {};  // of training alone, to the loss; without a penalty as if it were 1
};

/// Where a method is sooner at the loss than data parallelism on as many sites.
struct PaysBelow {
  SiteMethod method = SiteMethod::data_parallel;
  std::int64_t sites = 1;
  bool everywhere = false, nowhere = false;
  BytesPerSecond bandwidth = {};  // below it
};

struct SitesAnswer {
  SitesQuestion question;
  double loss = 0, parameters = 0;
  std::vector<SiteTime> rows = {};   // by bandwidth, sites, method
  std::vector<PaysBelow> pays = {};  // of methods whose penalty is known
  std::vector<SiteTime> first =
      {};  // for each bandwidth the soonest of those whose penalty is known
  std::vector<std::string> left_out = {};  // numbers of sites, and why
};
Result<SitesAnswer> answer_sites(SitesQuestion question);

/// Seconds of exchange that a step is longer for, and bytes that a site sends, means of a step
/// [LAW-20]. `step`: of a site alone; `layers`: of the model.
struct SiteExchange {
  Seconds exposed;
  Bytes sent;
};
SiteExchange site_exchange(SiteMethod method, const SitesQuestion& question, Bytes parameters,
                           std::int64_t layers, std::int64_t sites, BytesPerSecond bandwidth,
                           Seconds step, double hidden_share);

}  // namespace headway
