#include "fit/serving/hosts.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <set>
#include <span>
#include <tuple>

#include "base/statistics.hpp"
#include "fit/serving/host_lines.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr std::size_t kLeastOfEngine = 20;  // fewer decide no engine
constexpr double kAlike = 0.25;             // n rows alike count as n to the power of 1 less this

// Seconds of a quantity, of each token where tokens a second are told.
double in_seconds(std::size_t quantity, double value) {
  return kServedQuantities[quantity].starts_with("throughput") ? 1 / value : value;
}

// What does not change with the host is lowered once.
class Predictor {
 public:
  Predictor(const std::vector<ServedCase>& cases, int threads)
      : cases_(cases), steps_(cases.size()), experts_(cases.size()), threads_(threads) {
    for_each_index(cases.size(), threads, [&](std::size_t i, std::size_t) {
      const auto& asked = cases[i].asked;
      if (!asked || asked->apart) return;
      const PassTime prompt = time_of(asked->serving, *asked->constants, {.replayed = false});
      experts_[i] = static_cast<double>(layers_with_experts(asked->serving.model)) / prompt.kernels;
      if (asked->load.arrivals == Arrivals::together) return;
      steps_[i] =
          step_times(asked->serving, *asked->constants, asked->load.input, asked->load.output);
    });
  }

  // Every quantity, in seconds; nothing where it does not fit.
  std::optional<ServedNumbers> seconds(std::size_t i, const Engine& engine) const {
    const Serving serving = by(i, engine);
    const AskedServing& asked = *cases_[i].asked;
    std::optional<StepTimes> steps = steps_[i];
    if (steps && blocks_of(serving) != blocks_of(asked.serving)) {
      steps = step_times(serving, *asked.constants, asked.load.input, asked.load.output);
    }
    if (steps) set_host(*steps, serving);
    return seconds_of(i, serving, *asked.constants, steps ? &*steps : nullptr);
  }

  // The same as of an accelerator that nobody measured: its data sheet, with what others reach of
  // theirs. Where the kernels are estimates they are so already.
  std::optional<ServedNumbers> seconds_unmeasured(std::size_t i, const Engine& engine) const {
    if (!cases_[i].asked->constants->kernels.measured) return seconds(i, engine);
    Serving serving = by(i, engine);
    serving.cluster.accelerator.name = serving.cluster.accelerator.architecture = "unmeasured";
    const auto constants = serving_constants(serving.cluster);
    if (!constants) return std::nullopt;
    return seconds_of(i, serving, *constants, nullptr);
  }

  // The lines of all cases, by the constants of their engines.
  std::vector<HostLine> lines(const std::map<std::string, Engine>& engines, bool slopes,
                              const Progress& progress) const {
    std::vector<std::vector<HostLine>> of_case(cases_.size());
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
    std::vector<HostLine> out;
    if (!done) return out;
    for (const auto& each : of_case) out.insert(out.end(), each.begin(), each.end());
    return out;
  }

 private:
  // The one share on which steps of clients hang; the others are of engines whose rows are batches.
  static double blocks_of(const Serving& serving) {
    const auto& untuned = serving.engine.untuned;
    const auto known = untuned.find(serving.cluster.accelerator.architecture);
    return known != untuned.end() ? known->second.blocks : 0;
  }

  Serving by(std::size_t i, const Engine& engine) const {
    Serving serving = cases_[i].asked->serving;
    Engine by = engine;
    by.policy = serving.engine.policy;  // the row's own, and its memory, and how its ranks sum
    by.memory = serving.engine.memory;
    by.own_all_reduce = serving.engine.own_all_reduce;
    serving.engine = std::move(by);
    return serving;
  }

  std::optional<ServedNumbers> seconds_of(std::size_t i, const Serving& serving,
                                          const ServingConstants& constants,
                                          const StepTimes* steps) const {
    const AskedServing& asked = *cases_[i].asked;
    const Served said = served(serving, constants, asked.load, steps);
    if (!said.fits || !said.stable()) return std::nullopt;
    ServedNumbers out = numbers_of(asked, said, serving.engine);
    for (std::size_t q = 0; q < out.size(); ++q) out[q] = in_seconds(q, *out[q]);
    return out;
  }

  std::vector<HostLine> lines_of(std::size_t i, const Engine& engine, bool slopes) const {
    const ServedCase& each = cases_[i];
    std::vector<HostLine> out;
    const auto here = seconds(i, engine);
    if (!here) return out;
    const Accelerator& accelerator = each.asked->serving.cluster.accelerator;
    for (std::size_t q = 0; q < here->size(); ++q) {
      if (!each.row.measured[q]) continue;
      out.push_back({.of = i,
                     .quantity = q,
                     .measured = in_seconds(q, *each.row.measured[q]),
                     .at = *(*here)[q],
                     .accelerator = &accelerator,
                     .start = each.asked->start,
                     .point = host_constants(engine, accelerator, each.asked->start),
                     .experts = experts_[i]});
    }
    const bool clients = each.asked->load.arrivals != Arrivals::together && !each.asked->in_turns;
    for (std::size_t k = 0; slopes && k < kHostUnit.size(); ++k) {
      if (k == kRequest) {  // on the way, whatever steps take
        for (HostLine& line : out) line.slopes[k] = clients ? request_slope(line, *here) : 0;
        continue;
      }
      if (k == kFirst || k == kFull) {
        const double share = k == kFirst || each.asked->full ? each.asked->cold : 0;
        for (HostLine& line : out) line.slopes[k] = share * request_slope(line, *here);
        continue;
      }
      if (k == kExperts) continue;  // with launches
      if (k == kLaunch) {
        by_launches(i, engine, out);
        continue;
      }
      const double step = kHostUnit[k] / 10;
      Engine moved = engine;
      if (k == kStep) moved.step += Seconds(step);
      if (k == kSequence) moved.sequence += Seconds(step);
      if (k == kPrompt) moved.prompt += Seconds(step);
      if (k == kToken) moved.token += Seconds(step);
      if (k >= kProducts) {
        const auto untuned = moved.untuned.find(accelerator.architecture);
        if (untuned == moved.untuned.end()) continue;
        double& share = untuned_share(untuned->second, k);
        if (!(share > 0)) continue;  // these kernels are as measured
        share = 1 / (one_over(share) + step);
      }
      if (k == kLayer) {
        moved.layer[accelerator.architecture] = gap_of_layer(engine, accelerator) + Seconds(step);
      }
      const auto there = seconds(i, moved);
      for (HostLine& line : out) {
        if (there) line.slopes[k] = (*(*there)[line.quantity] - line.at) / step;
      }
    }
    return out;
  }

  void by_launches(std::size_t i, const Engine& engine, std::vector<HostLine>& lines) const {
    for (std::size_t t = 0; t < kLaunchesTried.size(); ++t) {
      Engine moved = engine;
      moved.launch = Seconds(kLaunchesTried[t]);
      moved.experts = Seconds(0);
      const auto there = seconds(i, moved);
      for (HostLine& line : lines) {
        if (there) line.launched[t] = *(*there)[line.quantity] - line.at;
      }
    }
  }

  // Of seconds a token as clients wait longer; the first token and the whole come later.
  static double request_slope(const HostLine& line, const ServedNumbers& here) {
    const std::string_view name = kServedQuantities[line.quantity];
    if (name == "tpot_s") return 0;
    return name.starts_with("throughput") ? line.at / *here[2] : 1;
  }

  const std::vector<ServedCase>& cases_;
  std::vector<std::optional<StepTimes>> steps_;
  std::vector<double> experts_;  // layers with experts for each kernel of a pass
  int threads_;
};

// [INFER-12] Whether passes that decode are of other kernels there than those that were measured.
bool has_other_kernels(const Engine& engine, const Accelerator& accelerator) {
  const auto known = engine.untuned.find(accelerator.architecture);
  if (known == engine.untuned.end()) return false;
  const Untuned& of = known->second;
  return of.products > 0 || of.attention > 0 || of.weights > 0;
}

class Fitter {
 public:
  Fitter(const std::vector<ServedCase>& cases, std::vector<HostLine> lines)
      : cases_(cases), lines_(std::move(lines)) {
    using Key = std::tuple<std::size_t, std::string, std::string, std::string>;
    std::map<Key, double> count;
    const auto key = [&](const HostLine& line) {
      const ServedRow& row = cases_[line.of].row;
      return Key(line.quantity, row.source_key, row.machine, row.model);
    };
    for (const HostLine& line : lines_) count[key(line)] += 1;
    for (HostLine& line : lines_) line.weight = std::pow(count[key(line)], -kAlike);
  }

  const std::vector<HostLine>& lines() const { return lines_; }

  // The engine by those of the lines that are `wanted`; nothing where there are too few.
  template <class Wanted>
  std::optional<Engine> fit(Engine engine, const Wanted& wanted) const {
    std::vector<const HostLine*> own, measured;
    for (const HostLine& line : lines_) {
      if (!wanted(cases_[line.of])) continue;
      own.push_back(&line);
      if (cases_[line.of].asked->constants->kernels.measured) measured.push_back(&line);
    }
    if (own.size() < kLeastOfEngine) return std::nullopt;
    // Where kernels are estimates, their errors would stand in the host: it is found without them,
    // where there are others, and they then decide what is of their architecture alone.
    // An engine whose kernels are others than those that were measured knows none of its own.
    const bool others = std::any_of(measured.begin(), measured.end(), [&](const HostLine* line) {
      return has_other_kernels(engine, *line->accelerator);
    });
    const bool apart = !others && measured.size() >= kLeastOfEngine && measured.size() < own.size();
    if (!apart) return host_solved(engine, own, {});
    std::set<std::string> settled;
    for (const HostLine* line : measured) settled.insert(line->accelerator->architecture);
    Engine host = engine;
    std::erase_if(host.untuned, [&](const auto& each) { return !settled.contains(each.first); });
    host = host_solved(host, measured, {});
    host.untuned.insert(engine.untuned.begin(), engine.untuned.end());  // what is not settled
    return host_solved(host, own, settled);
  }

 private:
  const std::vector<ServedCase>& cases_;
  std::vector<HostLine> lines_;
};

// An engine of which nothing is known, nor of any of its age. What hosts add to a pass of decoding
// hangs on their age, and is none, but that kernels of a graph do not follow on each other at once:
// 0.6 us after each of eight in a layer (estimated; up to 1 us is told of graphs); prompts are
// launched and read as by engines in the middle of those that tell, each constant by itself.
// Batches tell nothing of the way in and out: a server, a tokenizer and queues between processes
// (estimated).
Engine in_the_middle(Engine of, const std::vector<Engine>& known) {
  constexpr Seconds kWay(25e-3), kGapOfLayer(5e-6);
  const auto over = [&](const auto& part) {
    std::vector<double> all;
    for (const Engine& each : known) {
      if (each.launch > Seconds(1.1 * kLeastLaunch)) all.push_back(part(each).value());
    }
    return Seconds(quantile(all, 0.5).value_or(0));
  };
  of.prompt = over([](const Engine& each) { return each.prompt; });
  of.token = over([](const Engine& each) { return each.token; });
  of.launch = std::max(Seconds(kLeastLaunch), over([](const Engine& each) { return each.launch; }));
  of.experts = over([](const Engine& each) { return each.experts; });
  of.step = of.sequence = Seconds(0);
  of.starts.clear();
  of.layer = {{std::string(kUsual), kGapOfLayer}};
  of.request = kWay;
  return of;
}

// The engine without some rows: by its other rows, by those of others of its age, as all are in the
// middle. Of others, where their kernels are not those that were measured, the host is not told
// from them.
struct WithoutRows {
  Engine engine;
  bool known = false;
};
template <class LeftOut>
WithoutRows without_rows(const Fitter& fitter, const std::map<std::string, Engine>& engines,
                         const Engine& engine, const LeftOut& left_out) {
  if (const auto own = fitter.fit(engine, [&](const ServedCase& each) {
        return each.row.engine == engine.name && !left_out(each.row);
      })) {
    return {*own, true};
  }
  Engine none = engine;
  none.untuned.clear();
  if (const auto kin = fitter.fit(none, [&](const ServedCase& each) {
        return each.row.engine == engine.like && !left_out(each.row);
      })) {
    return {*kin};
  }
  if (const auto others = fitter.fit(none, [&](const ServedCase& each) {
        const Engine& other = engines.at(each.row.engine);
        return other.name != engine.name && other.age == engine.age && !left_out(each.row) &&
               !has_other_kernels(other, each.asked->serving.cluster.accelerator);
      })) {
    return {*others};
  }
  std::vector<Engine> known;
  for (const auto& [name, other] : engines) {
    const auto fitted = fitter.fit(other, [&](const ServedCase& each) {
      return each.row.engine == other.name && !left_out(each.row);
    });
    if (fitted) known.push_back(*fitted);
  }
  return {in_the_middle(std::move(none), known)};
}

// What an engine's constants did not see: rows of a source, of one model of it (empty: of all), and
// where an accelerator is named all of that, too.
struct Left {
  std::string engine, source, model, accelerator;

  bool has(const ServedRow& row) const {
    return (source == row.source_key && (model.empty() || model == row.model)) ||
           accelerator == row.machine;
  }
  auto operator<=>(const Left&) const = default;
};
Left source_of(const ServedRow& row) {
  return {row.engine, row.source_key, "", ""};
}
Left model_of(const ServedRow& row) {
  return {row.engine, row.source_key, row.model, ""};
}
Left accelerator_of(const ServedRow& row) {
  return {row.engine, row.source_key, row.model, row.machine};
}

void leave_out(HostFit& fit, const std::vector<ServedCase>& cases, const Predictor& predictor,
               const Fitter& fitter, const std::map<std::string, Engine>& engines, int threads) {
  std::map<Left, WithoutRows> without;
  for (const ServedResidual& each : fit.residuals) {
    const ServedRow& row = cases[each.of].row;
    for (const Left& left : {source_of(row), model_of(row), accelerator_of(row)}) {
      without.try_emplace(left);
    }
  }
  std::vector<std::pair<const Left, WithoutRows>*> all;
  for (auto& each : without) all.push_back(&each);
  for_each_index(
      all.size(), threads,
      [&](std::size_t i, std::size_t) {
        const Left& left = all[i]->first;
        all[i]->second = without_rows(fitter, engines, engines.at(left.engine),
                                      [&](const ServedRow& row) { return left.has(row); });
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
    const WithoutRows& source = without.at(source_of(row));
    const WithoutRows& model = without.at(model_of(row));
    const WithoutRows& accelerator = without.at(accelerator_of(row));
    const auto by_source = predictor.seconds(of, source.engine);
    const auto by_model = predictor.seconds(of, model.engine);
    const auto by_accelerator = predictor.seconds_unmeasured(of, accelerator.engine);
    for (std::size_t i = firsts[f]; i < fit.residuals.size() && fit.residuals[i].of == of; ++i) {
      ServedResidual& each = fit.residuals[i];
      const auto told = [&](const std::optional<ServedNumbers>& by) {
        return by ? *(*by)[each.quantity] : each.fitted;
      };
      each.without_source = told(by_source);
      each.without_model = told(by_model);
      each.without_accelerator = told(by_accelerator);
      each.source_known = source.known;
      each.model_known = model.known;
      each.accelerator_known = accelerator.known;
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
  std::set<std::string> decided;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<HostLine> lines = predictor.lines(engines, true, progress);
    if (lines.empty()) return std::nullopt;
    fitter.emplace(cases, std::move(lines));
    for (auto& [name, engine] : engines) {
      const auto fitted =
          fitter->fit(engine, [&](const ServedCase& each) { return each.row.engine == name; });
      if (!fitted) continue;
      engine = *fitted;
      decided.insert(name);
    }
  }

  // What rows are predicted by all, and by others.
  HostFit out;
  for (const HostLine& line : predictor.lines(engines, false, progress)) {
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
    if (known == rows.end() || !decided.contains(engine.name)) continue;
    out.rows[engine.name] = known->second.size();
    out.sources[engine.name].assign(sources[engine.name].begin(), sources[engine.name].end());
    out.machines[engine.name].assign(machines[engine.name].begin(), machines[engine.name].end());
  }
  return out;
}

}  // namespace headway
