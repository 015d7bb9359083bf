#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "fit/minimise.hpp"
#include "fit/serving/host_lines.hpp"
#include "fit/serving/loss.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

constexpr int kLeastOfStart = 20;       // fewer lines decide no start of a release
constexpr std::size_t kOfAll = kFirst;  // constants before it are of all

// Where the knobs are of each release and architecture.
struct Knobs {
  std::map<std::string, std::size_t> starts;  // kFirst, kFull behind it
  std::map<std::string, std::size_t> layer;
  std::map<std::string, Seconds> late;         // of these
  std::map<std::string, std::size_t> untuned;  // kProducts, the others behind it
  std::vector<HostConstant> of;                // what each is

  HostConstants at(std::span<const double> x, const std::string& architecture,
                   const std::string& start) const {
    HostConstants out{};
    for (std::size_t k = 0; k < kOfAll; ++k) out[k] = x[k] * kHostUnit[k];
    const std::size_t first = starts.at(start);
    for (const std::size_t k : {kFirst, kFull}) out[k] = x[first + k - kFirst] * kHostUnit[k];
    out[kLayer] = x[layer.at(architecture)] * kHostUnit[kLayer];
    const auto kernels = untuned.find(architecture);
    for (std::size_t k = kProducts; kernels != untuned.end() && k <= kBlocks; ++k) {
      out[k] = x[kernels->second + k - kProducts] * kHostUnit[k];
    }
    return out;
  }
};
Knobs knobs_of(const Engine& engine, const std::vector<const HostLine*>& own) {
  Knobs out;
  for (std::size_t k = 0; k < kOfAll; ++k) out.of.push_back(static_cast<HostConstant>(k));
  for (const HostLine* line : own) out.starts.emplace(line->start, 0);
  for (auto& [name, at] : out.starts) {
    at = out.of.size();
    out.of.insert(out.of.end(), {kFirst, kFull});
  }
  for (const HostLine* line : own) {
    out.layer.emplace(line->accelerator->architecture, 0);
    out.late.emplace(line->accelerator->architecture, late_starts(*line->accelerator));
  }
  for (auto& [name, at] : out.layer) {
    at = out.of.size();
    out.of.push_back(kLayer);
  }
  for (const auto& [name, at] : out.layer) {
    if (!engine.untuned.contains(name)) continue;
    out.untuned[name] = out.of.size();
    out.of.insert(out.of.end(), {kProducts, kAttention, kWeights, kBlocks});
  }
  return out;
}

Engine engine_by(Engine engine, const Knobs& knobs, std::span<const double> x) {
  const auto seconds = [&](std::size_t k) { return Seconds(x[k] * kHostUnit[knobs.of[k]]); };
  engine.step = seconds(kStep);
  engine.sequence = seconds(kSequence);
  engine.request = seconds(kRequest);
  engine.prompt = seconds(kPrompt);
  engine.token = seconds(kToken);
  engine.launch = seconds(kLaunch);
  engine.experts = seconds(kExperts);
  engine.starts.clear();
  for (const auto& [name, at] : knobs.starts) {
    const Start start{seconds(at), seconds(at + 1)};
    if (start.first + start.full > Seconds(0)) engine.starts[name] = start;
  }
  for (const auto& [name, at] : knobs.untuned) {
    Untuned& of = engine.untuned[name];
    for (std::size_t k = kProducts; k <= kBlocks; ++k) {
      untuned_share(of, k) = one_over(x[at + k - kProducts] * kHostUnit[k]);
    }
  }
  engine.layer.clear();
  Seconds sum(0);
  for (const auto& [name, knob] : knobs.layer) {
    engine.layer[name] = seconds(knob);
    sum += std::max(Seconds(0), engine.layer[name] - knobs.late.at(name));
  }
  engine.layer[std::string(kUsual)] = sum / static_cast<double>(knobs.layer.size());
  return engine;
}

}  // namespace

HostConstants host_constants(const Engine& engine, const Accelerator& accelerator,
                             std::string_view start) {
  const Start begun = start_of(engine, start);
  const auto untuned = engine.untuned.find(accelerator.architecture);
  Untuned of = untuned != engine.untuned.end() ? untuned->second : Untuned();
  HostConstants out{};
  out[kStep] = engine.step.value();
  out[kSequence] = engine.sequence.value();
  out[kRequest] = engine.request.value();
  out[kPrompt] = engine.prompt.value();
  out[kToken] = engine.token.value();
  out[kLaunch] = engine.launch.value();
  out[kFirst] = begun.first.value();
  out[kFull] = begun.full.value();
  out[kExperts] = engine.experts.value();
  out[kLayer] = gap_of_layer(engine, accelerator).value();
  for (std::size_t k = kProducts; k <= kBlocks; ++k) out[k] = one_over(untuned_share(of, k));
  return out;
}

Engine host_solved(const Engine& engine, const std::vector<const HostLine*>& own,
                   const std::set<std::string>& settled) {
  const Knobs knobs = knobs_of(engine, own);
  const std::size_t count = knobs.of.size();
  std::vector<double> least(count, 0), most(count), start(count);  // in units of their own
  for (std::size_t k = 0; k < count; ++k) {
    most[k] = kMostOfHost[knobs.of[k]] / kHostUnit[knobs.of[k]];
  }
  least[kLaunch] = kLeastLaunch / kHostUnit[kLaunch];
  for (const auto& [name, at] : knobs.untuned) least[at + kBlocks - kProducts] = 1;
  std::map<std::size_t, int> told;  // lines that tell of a start, by its knob
  for (const HostLine* line : own) {
    const std::size_t first = knobs.starts.at(line->start);
    for (const std::size_t k : {kFirst, kFull}) told[first + k - kFirst] += line->slopes[k] > 0;
  }
  for (const HostLine* line : own) {
    const std::string& architecture = line->accelerator->architecture;
    const HostConstants now = host_constants(engine, *line->accelerator, line->start);
    const bool stands = settled.contains(architecture);
    const auto begin = [&](std::size_t knob, bool fixed) {
      const HostConstant constant = knobs.of[knob];
      start[knob] = std::clamp(now[constant] / kHostUnit[constant], least[knob], most[knob]);
      if (fixed) least[knob] = most[knob] = start[knob];
    };
    for (std::size_t k = 0; k < kOfAll; ++k) begin(k, !settled.empty());
    const std::size_t first = knobs.starts.at(line->start);
    for (const std::size_t knob : {first, first + 1}) {
      const bool decided = line->start != kUsual && told[knob] >= kLeastOfStart;
      begin(knob, !settled.empty() || !decided);
      if (settled.empty() && !decided) most[knob] = start[knob] = 0;
    }
    begin(knobs.layer.at(architecture), stands);
    const auto kernels = knobs.untuned.find(architecture);
    if (kernels == knobs.untuned.end()) continue;
    for (std::size_t k = kProducts; k <= kBlocks; ++k) {
      const std::size_t knob = kernels->second + k - kProducts;
      if (!(now[k] > 0)) least[knob] = most[knob] = 0;  // these kernels are as measured
      begin(knob, stands);
    }
  }
  // Of each line its architecture and release, of which there are few pairs.
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::size_t> of_line;
  for (const HostLine* line : own) {
    const std::pair pair(line->accelerator->architecture, line->start);
    const auto found = std::find(pairs.begin(), pairs.end(), pair);
    of_line.push_back(static_cast<std::size_t>(found - pairs.begin()));
    if (found == pairs.end()) pairs.push_back(pair);
  }
  const auto loss = [&](std::span<const double> x, double*) {
    std::vector<HostConstants> at;
    for (const auto& [architecture, release] : pairs)
      at.push_back(knobs.at(x, architecture, release));
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      sum += own[i]->weight *
             robust_loss(std::log(own[i]->predicted(at[of_line[i]]) / own[i]->measured));
      weights += own[i]->weight;
    }
    double drawn = 0;
    for (const double value : x) drawn += value;
    return sum / weights + 1e-3 * drawn;
  };
  const auto down = [&](Minimum best) {
    for (int round = 0; round < 3; ++round) {
      const Minimum found = minimise({SearchBy::subplex, best.at, least, most,
                                      std::vector<double>(count, 0.5), 1e-7, 1e-4, 3000},
                                     loss);
      if (found.value < best.value) best = found;
    }
    return best;
  };
  // Launches are hidden or not, so that the loss has several valleys: from where it stood, and from
  // hosts that launch soon and late.
  Minimum best = down({start, loss(start, nullptr), true});
  constexpr double kSomeExperts = 2e-3;
  for (const auto& [launch, experts] : {std::pair(kLeastLaunch, 0.0),
                                        {kLaunchesTried[3], 0.0},
                                        {kLaunchesTried[1], kSomeExperts}}) {
    std::vector<double> other = start;
    other[kLaunch] = std::clamp(launch / kHostUnit[kLaunch], least[kLaunch], most[kLaunch]);
    other[kExperts] = std::clamp(experts / kHostUnit[kExperts], least[kExperts], most[kExperts]);
    const Minimum found = down({other, loss(other, nullptr), true});
    if (found.value < best.value) best = found;
  }
  return engine_by(engine, knobs, best.at);
}

}  // namespace headway
