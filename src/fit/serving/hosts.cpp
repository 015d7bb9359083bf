#include "fit/serving/hosts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <tuple>

#include "fit/minimise.hpp"
#include "fit/serving/loss.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr std::size_t kLeastOfEngine = 20;  // fewer decide no engine
constexpr double kAlike = 0.25;             // n rows alike count as n to the power of 1 less this

// Those that are fitted, in the order of knobs; layers of each architecture follow the first of
// them. Of kernels that are not tuned one over their shares: time is linear in that.
enum Constant : std::size_t {
  kStep,
  kSequence,
  kRequest,
  kProducts,
  kAttention,
  kPrompt,
  kToken,
  kLaunch,
  kLayer
};
using Constants = std::array<double, 9>;  // s, none; of one architecture

double over(double share) {
  return share > 0 ? 1 / share : 0;
}

Constants constants_of(const Engine& engine, const Accelerator& accelerator) {
  const auto untuned = engine.untuned.find(accelerator.architecture);
  const Untuned of = untuned != engine.untuned.end() ? untuned->second : Untuned();
  return {engine.step.value(),  engine.sequence.value(), engine.request.value(),
          over(of.products),    over(of.attention),      engine.prompt.value(),
          engine.token.value(), engine.launch.value(),   gap_of_layer(engine, accelerator).value()};
}

// The largest that a search tries, s, and what one of its steps is.
constexpr Constants kMost = {10e-3, 400e-6, 1, 100, 20, 20e-3, 5e-6, 200e-6, 400e-6};
constexpr Constants kUnit = {1e-3, 50e-6, 50e-3, 10, 1, 1e-3, 0.5e-6, 20e-6, 20e-6};
// A kernel is launched in no less.
constexpr double kLeastLaunch = 5e-6;

// Seconds of a quantity, of each token where tokens a second are told.
double in_seconds(std::size_t quantity, double value) {
  return kServedQuantities[quantity].starts_with("throughput") ? 1 / value : value;
}

// A measured quantity, near which the prediction is linear in the constants.
struct Line {
  std::size_t of, quantity;
  double measured, at = 0;
  Constants point, slopes{};
  double weight = 1;

  double predicted(const Constants& x) const {
    double out = at;
    for (std::size_t k = 0; k < x.size(); ++k) out += slopes[k] * (x[k] - point[k]);
    return std::max(out, 0.01 * at);
  }
};

// What does not change with the host is lowered once.
class Predictor {
 public:
  Predictor(const std::vector<ServedCase>& cases, int threads)
      : cases_(cases), steps_(cases.size()), threads_(threads) {
    for_each_index(cases.size(), threads, [&](std::size_t i, std::size_t) {
      const auto& asked = cases[i].asked;
      if (!asked || asked->apart || asked->load.arrivals == Arrivals::together) return;
      steps_[i] =
          step_times(asked->serving, *asked->constants, asked->load.input, asked->load.output);
    });
  }

  // Every quantity, in seconds; nothing where it does not fit.
  std::optional<ServedNumbers> seconds(std::size_t i, const Engine& engine) const {
    const AskedServing& asked = *cases_[i].asked;
    Serving serving = asked.serving;
    const Policy policy = serving.engine.policy;  // the row's own
    serving.engine = engine;
    serving.engine.policy = policy;
    std::optional<StepTimes> steps = steps_[i];
    if (steps) set_host(*steps, serving);
    const Served said = served(serving, *asked.constants, asked.load, steps ? &*steps : nullptr);
    if (!said.fits || !said.stable()) return std::nullopt;
    ServedNumbers out = numbers_of(said, asked.chunk);
    for (std::size_t q = 0; q < out.size(); ++q) out[q] = in_seconds(q, *out[q]);
    return out;
  }

  // The lines of all cases, by the constants of their engines.
  std::vector<Line> lines(const std::map<std::string, Engine>& engines, bool slopes,
                          const Progress& progress) const {
    std::vector<std::vector<Line>> of_case(cases_.size());
    const bool done = for_each_index(
        cases_.size(), threads_,
        [&](std::size_t i, std::size_t) {
          const ServedCase& each = cases_[i];
          const auto engine = each.asked ? engines.find(each.row.engine) : engines.end();
          // Of what is predicted some is not fitted on.
          if (engine != engines.end() && each.asked->fitted)
            of_case[i] = lines_of(i, engine->second, slopes);
        },
        progress);
    std::vector<Line> out;
    if (!done) return out;
    for (const auto& each : of_case) out.insert(out.end(), each.begin(), each.end());
    return out;
  }

 private:
  std::vector<Line> lines_of(std::size_t i, const Engine& engine, bool slopes) const {
    const ServedCase& each = cases_[i];
    std::vector<Line> out;
    const auto here = seconds(i, engine);
    if (!here) return out;
    const Accelerator& accelerator = each.asked->serving.cluster.accelerator;
    for (std::size_t q = 0; q < here->size(); ++q) {
      if (!each.row.measured[q]) continue;
      out.push_back({.of = i,
                     .quantity = q,
                     .measured = in_seconds(q, *each.row.measured[q]),
                     .at = *(*here)[q],
                     .point = constants_of(engine, accelerator)});
    }
    const bool clients = each.asked->load.arrivals != Arrivals::together;
    for (std::size_t k = 0; slopes && k < kUnit.size(); ++k) {
      if (k == kRequest) {  // on the way, whatever steps take
        for (Line& line : out) line.slopes[k] = clients ? request_slope(line, *here) : 0;
        continue;
      }
      // Launches count where they take longer than the kernels: a long step sees whether they
      // would.
      const double step = k == kLaunch ? kUnit[k] : kUnit[k] / 10;
      Engine moved = engine;
      if (k == kStep) moved.step += Seconds(step);
      if (k == kSequence) moved.sequence += Seconds(step);
      if (k == kPrompt) moved.prompt += Seconds(step);
      if (k == kToken) moved.token += Seconds(step);
      if (k == kLaunch) moved.launch += Seconds(step);
      if (k == kProducts || k == kAttention) {
        const auto untuned = moved.untuned.find(accelerator.architecture);
        if (untuned == moved.untuned.end()) continue;
        double& share = k == kProducts ? untuned->second.products : untuned->second.attention;
        share = 1 / (over(share) + step);
      }
      if (k == kLayer) {
        moved.layer[accelerator.architecture] = gap_of_layer(engine, accelerator) + Seconds(step);
      }
      const auto there = seconds(i, moved);
      for (Line& line : out) {
        if (there) line.slopes[k] = (*(*there)[line.quantity] - line.at) / step;
      }
    }
    return out;
  }

  // Of seconds a token as clients wait longer; the first token and the whole come later.
  static double request_slope(const Line& line, const ServedNumbers& here) {
    const std::string_view name = kServedQuantities[line.quantity];
    if (name == "tpot_s") return 0;
    return name.starts_with("throughput") ? line.at / *here[2] : 1;
  }

  const std::vector<ServedCase>& cases_;
  std::vector<std::optional<StepTimes>> steps_;
  int threads_;
};

class Fitter {
 public:
  Fitter(const std::vector<ServedCase>& cases, std::vector<Line> lines)
      : cases_(cases), lines_(std::move(lines)) {
    using Key = std::tuple<std::size_t, std::string, std::string, std::string>;
    std::map<Key, double> count;
    const auto key = [&](const Line& line) {
      const ServedRow& row = cases_[line.of].row;
      return Key(line.quantity, row.source_key, row.machine, row.model);
    };
    for (const Line& line : lines_) count[key(line)] += 1;
    for (Line& line : lines_) line.weight = std::pow(count[key(line)], -kAlike);
  }

  const std::vector<Line>& lines() const { return lines_; }

  // The engine by those of the lines that are `wanted`; nothing where there are too few.
  template <class Wanted>
  std::optional<Engine> fit(Engine engine, const Wanted& wanted) const {
    std::vector<const Line*> own, measured;
    for (const Line& line : lines_) {
      if (!wanted(cases_[line.of].row)) continue;
      own.push_back(&line);
      if (cases_[line.of].asked->constants->kernels.measured) measured.push_back(&line);
    }
    if (own.size() < kLeastOfEngine) return std::nullopt;
    // Where kernels are estimates, their errors would stand in the host: it is found without them,
    // where there are others, and they then decide what is of their architecture alone.
    const bool apart = measured.size() >= kLeastOfEngine && measured.size() < own.size();
    if (!apart) return solved(engine, own, {});
    std::set<std::string> settled;
    for (const Line* line : measured) settled.insert(architecture_of(*line));
    Engine host = engine;
    host.untuned.clear();
    host = solved(host, measured, {});
    host.untuned = engine.untuned;
    return solved(host, own, settled);
  }

 private:
  // By those lines. What is of all architectures, and layers of those that are `settled`, stand
  // where there are any.
  Engine solved(Engine engine, const std::vector<const Line*>& own,
                const std::set<std::string>& settled) const {
    std::map<std::string, std::size_t> layer_at;
    for (const Line* line : own) layer_at.emplace(architecture_of(*line), 0);
    std::size_t knobs = kLayer;
    for (auto& [name, at] : layer_at) at = knobs++;
    std::vector<std::size_t> layers;
    for (const Line* line : own) layers.push_back(layer_at.at(architecture_of(*line)));

    // In units of their own.
    std::vector<double> least(knobs, 0), most(knobs), start(knobs);
    for (std::size_t k = 0; k < knobs; ++k)
      most[k] = kMost[std::min<std::size_t>(k, kLayer)] / unit(k);
    const auto at = [&](std::span<const double> x, std::size_t layer) {
      return Constants{x[kStep] * unit(kStep),           x[kSequence] * unit(kSequence),
                       x[kRequest] * unit(kRequest),     x[kProducts] * unit(kProducts),
                       x[kAttention] * unit(kAttention), x[kPrompt] * unit(kPrompt),
                       x[kToken] * unit(kToken),         x[kLaunch] * unit(kLaunch),
                       x[layer] * unit(kLayer)};
    };
    const auto loss = [&](std::span<const double> x, double*) {
      double sum = 0, weights = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        sum += own[i]->weight *
               robust_loss(std::log(own[i]->predicted(at(x, layers[i])) / own[i]->measured));
        weights += own[i]->weight;
      }
      double drawn = 0;
      for (const double value : x) drawn += value;
      return sum / weights + 1e-3 * drawn;
    };
    start[kStep] = engine.step.value() / unit(kStep);
    start[kSequence] = engine.sequence.value() / unit(kSequence);
    start[kRequest] = engine.request.value() / unit(kRequest);
    start[kPrompt] = engine.prompt.value() / unit(kPrompt);
    start[kToken] = engine.token.value() / unit(kToken);
    start[kLaunch] = engine.launch.value() / unit(kLaunch);
    least[kLaunch] = kLeastLaunch / unit(kLaunch);
    const bool tuned = engine.untuned.empty();
    if (tuned) most[kProducts] = most[kAttention] = 0;
    for (const auto& [architecture, untuned] : engine.untuned) {
      start[kProducts] = over(untuned.products) / unit(kProducts);
      start[kAttention] = over(untuned.attention) / unit(kAttention);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      start[layers[i]] = gap_of_layer(engine, accelerator_of(*own[i])).value() / unit(kLayer);
    }
    for (std::size_t k = 0; k < knobs; ++k) start[k] = std::clamp(start[k], least[k], most[k]);
    const auto stands = [&](std::size_t k) { least[k] = most[k] = start[k]; };
    for (const auto& [architecture, at_knob] : layer_at) {
      if (settled.contains(architecture)) stands(at_knob);
    }
    if (!settled.empty()) {
      for (const std::size_t k : {kStep, kSequence, kRequest, kPrompt, kToken, kLaunch}) stands(k);
    }
    Minimum best{start, loss(start, nullptr), true};
    for (int round = 0; round < 3; ++round) {
      const Minimum found = minimise({SearchBy::subplex, best.at, least, most,
                                      std::vector<double>(knobs, 0.5), 1e-7, 1e-4, 3000},
                                     loss);
      if (found.value < best.value) best = found;
    }

    const auto seconds = [&](std::size_t k) { return Seconds(best.at[k] * unit(k)); };
    engine.step = seconds(kStep);
    engine.sequence = seconds(kSequence);
    engine.request = seconds(kRequest);
    engine.prompt = seconds(kPrompt);
    engine.token = seconds(kToken);
    engine.launch = seconds(kLaunch);
    for (auto& [architecture, untuned] : engine.untuned) {
      untuned = {over(best.at[kProducts] * unit(kProducts)),
                 over(best.at[kAttention] * unit(kAttention))};
    }
    engine.layer.clear();
    Seconds sum(0);
    for (const auto& [name, knob] : layer_at) sum += engine.layer[name] = seconds(knob);
    engine.layer["default"] = sum / static_cast<double>(layer_at.size());
    return engine;
  }

  static double unit(std::size_t knob) { return kUnit[std::min<std::size_t>(knob, kLayer)]; }
  const Accelerator& accelerator_of(const Line& line) const {
    return cases_[line.of].asked->serving.cluster.accelerator;
  }
  const std::string& architecture_of(const Line& line) const {
    return accelerator_of(line).architecture;
  }

  const std::vector<ServedCase>& cases_;
  std::vector<Line> lines_;
};

// The engine without some rows: by its other rows, by those of others of its age, by none.
struct WithoutRows {
  Engine engine;
  bool known = false;
};
template <class LeftOut>
WithoutRows without_rows(const Fitter& fitter, const std::map<std::string, Engine>& engines,
                         const Engine& engine, const LeftOut& left_out) {
  if (const auto own = fitter.fit(engine, [&](const ServedRow& row) {
        return row.engine == engine.name && !left_out(row);
      })) {
    return {*own, true};
  }
  Engine none = engine;
  none.untuned.clear();
  if (const auto others = fitter.fit(none, [&](const ServedRow& row) {
        return row.engine != engine.name && !left_out(row) &&
               engines.at(row.engine).age == engine.age;
      })) {
    return {*others};
  }
  none.step = none.sequence = none.request = none.prompt = none.token = Seconds(0);
  none.launch = Seconds(kLeastLaunch);
  none.layer.clear();
  return {none};
}

// What is left out together: an engine's rows of a source, and of those one model's.
using Left = std::array<std::string, 3>;  // engine, source, model; no model: all

void leave_out(HostFit& fit, const std::vector<ServedCase>& cases, const Predictor& predictor,
               const Fitter& fitter, const std::map<std::string, Engine>& engines, int threads) {
  std::map<Left, WithoutRows> without;
  for (const ServedResidual& each : fit.residuals) {
    const ServedRow& row = cases[each.of].row;
    without.try_emplace({row.engine, row.source_key, ""});
    without.try_emplace({row.engine, row.source_key, row.model});
  }
  std::vector<std::pair<const Left, WithoutRows>*> all;
  for (auto& each : without) all.push_back(&each);
  for_each_index(
      all.size(), threads,
      [&](std::size_t i, std::size_t) {
        const auto& [engine, source, model] = all[i]->first;
        all[i]->second =
            without_rows(fitter, engines, engines.at(engine), [&](const ServedRow& row) {
              return row.source_key == source && (model.empty() || row.model == model);
            });
      },
      {}, /*grain=*/1);
  // Each case once by either.
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < fit.residuals.size(); ++i) {
    if (i == 0 || fit.residuals[i].of != fit.residuals[i - 1].of) firsts.push_back(i);
  }
  for_each_index(firsts.size(), threads, [&](std::size_t f, std::size_t) {
    const std::size_t of = fit.residuals[firsts[f]].of;
    const ServedRow& row = cases[of].row;
    const WithoutRows& source = without.at({row.engine, row.source_key, ""});
    const WithoutRows& model = without.at({row.engine, row.source_key, row.model});
    const auto by_source = predictor.seconds(of, source.engine);
    const auto by_model = predictor.seconds(of, model.engine);
    for (std::size_t i = firsts[f]; i < fit.residuals.size() && fit.residuals[i].of == of; ++i) {
      ServedResidual& each = fit.residuals[i];
      each.without_source = by_source ? *(*by_source)[each.quantity] : each.fitted;
      each.without_model = by_model ? *(*by_model)[each.quantity] : each.fitted;
      each.source_known = source.known;
      each.model_known = model.known;
    }
  });
}

}  // namespace

std::optional<HostFit> fit_hosts(const std::vector<ServedCase>& cases,
                                 const std::vector<Engine>& start, bool left_out, int threads,
                                 const Progress& progress) {
  // Every engine fitted on its own rows, about where it was fitted before.
  constexpr int kRounds = 2;
  const Predictor predictor(cases, threads);
  std::map<std::string, Engine> engines;
  for (const Engine& engine : start) engines[engine.name] = engine;
  std::optional<Fitter> fitter;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Line> lines = predictor.lines(engines, true, progress);
    if (lines.empty()) return std::nullopt;
    fitter.emplace(cases, std::move(lines));
    for (auto& [name, engine] : engines) {
      const auto fitted =
          fitter->fit(engine, [&](const ServedRow& row) { return row.engine == name; });
      if (fitted) engine = *fitted;
    }
  }

  // What rows are predicted by all, and by others.
  HostFit out;
  for (const Line& line : predictor.lines(engines, false, progress)) {
    out.residuals.push_back({line.of, line.quantity, line.measured, line.at});
  }
  out.left_out = left_out;
  if (left_out) leave_out(out, cases, predictor, *fitter, engines, threads);

  // Who decided what.
  std::map<std::string, std::set<std::size_t>> rows;
  std::map<std::string, std::set<std::string>> sources, machines;
  for (const ServedResidual& each : out.residuals) {
    const ServedRow& row = cases[each.of].row;
    rows[row.engine].insert(each.of);
    sources[row.engine].insert(row.source_key);
    machines[row.engine].insert(row.machine);
  }
  for (const Engine& engine : start) {
    out.engines.push_back(engines.at(engine.name));
    const auto known = rows.find(engine.name);
    if (known == rows.end()) continue;
    out.rows[engine.name] = known->second.size();
    out.sources[engine.name].assign(sources[engine.name].begin(), sources[engine.name].end());
    out.machines[engine.name].assign(machines[engine.name].begin(), machines[engine.name].end());
  }
  return out;
}

}  // namespace headway
