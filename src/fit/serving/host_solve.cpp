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

constexpr std::size_t kOfAll = kLayer;  // constants before it are of all architectures

// The constants of each architecture: where its knobs are.
struct Knobs {
  std::map<std::string, std::size_t> layer, untuned;  // untuned: kProducts, the others behind it
  std::vector<HostConstant> of;                       // what each is

  HostConstants at(std::span<const double> x, const std::string& architecture) const {
    HostConstants out{};
    for (std::size_t k = 0; k < kOfAll; ++k) out[k] = x[k] * kHostUnit[k];
    const std::size_t own = layer.at(architecture);
    out[kLayer] = x[own] * kHostUnit[kLayer];
    const auto kernels = untuned.find(architecture);
    for (std::size_t k = kProducts; kernels != untuned.end() && k <= kWeights; ++k) {
      out[k] = x[kernels->second + k - kProducts] * kHostUnit[k];
    }
    return out;
  }
};
Knobs knobs_of(const Engine& engine, const std::vector<const HostLine*>& own) {
  Knobs out;
  for (std::size_t k = 0; k < kOfAll; ++k) out.of.push_back(static_cast<HostConstant>(k));
  for (const HostLine* line : own) out.layer.emplace(line->accelerator->architecture, 0);
  for (auto& [name, at] : out.layer) {
    at = out.of.size();
    out.of.push_back(kLayer);
  }
  for (const auto& [name, at] : out.layer) {
    if (!engine.untuned.contains(name)) continue;
    out.untuned[name] = out.of.size();
    out.of.insert(out.of.end(), {kProducts, kAttention, kWeights});
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
  engine.first = seconds(kFirst);
  for (const auto& [name, at] : knobs.untuned) {
    engine.untuned[name] = {one_over(x[at] * kHostUnit[kProducts]),
                            one_over(x[at + 1] * kHostUnit[kAttention]),
                            one_over(x[at + 2] * kHostUnit[kWeights])};
  }
  engine.layer.clear();
  Seconds sum(0);
  for (const auto& [name, knob] : knobs.layer) sum += engine.layer[name] = seconds(knob);
  engine.layer["default"] = sum / static_cast<double>(knobs.layer.size());
  return engine;
}

}  // namespace

HostConstants host_constants(const Engine& engine, const Accelerator& accelerator) {
  const auto untuned = engine.untuned.find(accelerator.architecture);
  const Untuned of = untuned != engine.untuned.end() ? untuned->second : Untuned();
  return {engine.step.value(),    engine.sequence.value(),
          engine.request.value(), engine.prompt.value(),
          engine.token.value(),   engine.launch.value(),
          engine.first.value(),   gap_of_layer(engine, accelerator).value(),
          one_over(of.products),  one_over(of.attention),
          one_over(of.weights)};
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
  for (const HostLine* line : own) {
    const std::string& architecture = line->accelerator->architecture;
    const HostConstants now = host_constants(engine, *line->accelerator);
    const bool stands = settled.contains(architecture);
    const auto begin = [&](std::size_t knob, bool fixed) {
      const HostConstant constant = knobs.of[knob];
      start[knob] = std::clamp(now[constant] / kHostUnit[constant], least[knob], most[knob]);
      if (fixed) least[knob] = most[knob] = start[knob];
    };
    for (std::size_t k = 0; k < kOfAll; ++k) begin(k, !settled.empty());
    begin(knobs.layer.at(architecture), stands);
    const auto kernels = knobs.untuned.find(architecture);
    if (kernels == knobs.untuned.end()) continue;
    for (std::size_t k = 0; k <= kWeights - kProducts; ++k) {
      const bool measured = !(now[kProducts + k] > 0);  // these kernels are as measured
      begin(kernels->second + k, stands || measured);
    }
  }
  std::vector<std::size_t> of_line;  // the architecture of each, among those of the layers
  for (const HostLine* line : own) {
    const auto found = knobs.layer.find(line->accelerator->architecture);
    of_line.push_back(static_cast<std::size_t>(std::distance(knobs.layer.begin(), found)));
  }
  const auto loss = [&](std::span<const double> x, double*) {
    std::vector<HostConstants> at;
    for (const auto& [name, knob] : knobs.layer) at.push_back(knobs.at(x, name));
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
  Minimum best{start, loss(start, nullptr), true};
  for (int round = 0; round < 3; ++round) {
    const Minimum found = minimise({SearchBy::subplex, best.at, least, most,
                                    std::vector<double>(count, 0.5), 1e-7, 1e-4, 3000},
                                   loss);
    if (found.value < best.value) best = found;
  }
  return engine_by(engine, knobs, best.at);
}

}  // namespace headway
