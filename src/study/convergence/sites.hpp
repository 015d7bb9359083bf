// A loss reached on several sites: methods that communicate less beside synchronous training, by
// the bandwidth between the sites and how many there are. What a step takes is asked of forecasts
// by method; what a method costs in loss, of what is published.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "method/method.hpp"
#include "run/run.hpp"
#include "study/lifetime/assumptions.hpp"

namespace headway {

/// Each site has the accelerators of the run; the batch of a step is that of the run, shared by the
/// sites.
struct SitesQuestion {
  RequestedRun run;
  GivenAssumptions given;
  std::vector<Method> methods;  // the first is synchronous; the others as they were written
  std::vector<std::int64_t> sites;
  std::vector<BytesPerSecond> bandwidths;                // of a site, each way
  Seconds latency;                                       // of the link between sites, one way
  std::map<std::string, double, std::less<>> penalties;  // the user's, by the method's name: loss
                                                         // over that of synchronous training
  std::optional<double> data_exponent;                   // of loss by data, instead of the loss law
  bool extrapolate = false;  // by fitted laws and theory where nothing is published
};

/// As it was written; everything that is wrong with it at once.
struct SitesGiven {
  RunRequest fields;                                      // of the run and of scale_run_fields()
  std::vector<std::string> methods;                       // each as --method has it
  std::vector<std::string> sites, bandwidths, penalties;  // penalties: "gossip=1.02"
  std::string latency;
  std::optional<double> sync_every, data_exponent;
  bool extrapolate = false;
};
Result<SitesQuestion> read_sites_question(const SitesGiven& given);

/// How fast replicas that average with neighbours come to agree [LAW-7] [LAW-8] [LAW-9].
struct Mixing {
  double gap = 1;        // 1 - the mixing matrix's largest eigenvalue but one
  double agree = 0;      // steps until a hundredth of what they disagree on is left
  double transient = 0;  // steps from which they learn as fast as synchronous training
};

/// One method on a number of sites at a bandwidth.
struct SiteTime {
  std::size_t method = 0;  // of the question
  std::int64_t sites = 1;
  BytesPerSecond bandwidth = {};
  Seconds step = {};     // by the method's forecast
  Seconds exposed = {};  // of it, calls between sites that nothing hides
  Bytes sent = {};       // between sites, by each, the mean of a step
  Joules energy = {};    // of a step
  std::optional<double> penalty =
      {};  // loss over that of synchronous training; none: not published
  std::string penalty_from = {};
  std::optional<Mixing> mixing = {};  // of neighbours that average
  double tokens = 0;                  // to the loss [LAW-21]; infinite: it never comes to it
  Seconds time = {};  // of training alone, to the loss; without a penalty as if it were 1
};

/// Where a method is sooner at the loss than synchronous training on as many sites.
struct PaysBelow {
  std::size_t method = 0;
  std::int64_t sites = 1;
  bool everywhere = false, nowhere = false;
  BytesPerSecond bandwidth = {};  // below it
};

/// What fitted laws say of DiLoCo's settings for the model [LAW-1] [LAW-2].
struct LocalUpdateAdvice {
  std::int64_t replicas = 1;
  double batch_ratio = 1;            // the best batch over that of data parallelism
  double inner_rate = 0;             // the best
  std::optional<double> outer_rate;  // the best of those tried, from 335 M parameters on
  bool joint = false;                // by the law of any number of replicas, not by one of its own
};

struct SitesAnswer {
  SitesQuestion question;
  double loss = 0, parameters = 0;
  std::vector<SiteTime> rows = {};   // by bandwidth, sites, method
  std::vector<PaysBelow> pays = {};  // of methods whose penalty is known
  std::vector<SiteTime> first =
      {};  // for each bandwidth the soonest of those whose penalty is known
  std::vector<LocalUpdateAdvice> advice = {};  // where a method has an outer optimiser
  bool advice_extrapolated = false;            // the model is outside of the sizes of the fits
  std::vector<std::string> left_out = {};      // numbers of sites and methods, and why
};
Result<SitesAnswer> answer_sites(SitesQuestion question);

}  // namespace headway
