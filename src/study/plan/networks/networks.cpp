#include "study/plan/networks/networks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "model/count.hpp"
#include "run/network_fields.hpp"
#include "study/plan/networks/table_planner.hpp"

namespace headway {
namespace {

bool is_given(const RequestedRun& run, std::string_view name) {
  return std::any_of(run.given.begin(), run.given.end(),
                     [&](const GivenField& field) { return field.name == name; });
}

std::vector<double> counting(std::size_t end) {
  std::vector<double> out(end);
  std::iota(out.begin(), out.end(), 0.0);
  return out;
}

// A rank's part of the batch, and its halves as long as they are whole.
std::vector<double> micro_batches_of(const RequestedRun& run) {
  std::vector<double> out;
  const std::int64_t all = run.job.global_batch / std::max<std::int64_t>(1, run.layout.dp);
  for (std::int64_t size = all; size >= 1 && out.size() < 6; size /= 2) {
    out.push_back(static_cast<double>(size));
    if (size % 2 != 0) break;
  }
  return out;
}

// Of the numbers those with which the run, all else as it is, is legal.
std::vector<double> legal_alone(const RequestedRun& run, const FieldRow& row,
                                std::vector<double> numbers) {
  RequestedRun trial = run;
  std::erase_if(numbers, [&](double number) {
    set_number(trial, row, number);
    return !is_legal(trial);
  });
  return numbers;
}

class Space {
 public:
  Space(const RequestedRun& run, const std::vector<NetworkChoice>& choices)
      : run_(run), choices_(choices) {}

  std::uint64_t index(const std::vector<std::size_t>& digits) const {
    std::uint64_t out = 0;
    for (std::size_t i = choices_.size(); i-- > 0;) {
      out = out * choices_[i].numbers.size() + digits[i];
    }
    return out;
  }
  std::vector<std::size_t> digits(std::uint64_t index) const {
    std::vector<std::size_t> out;
    for (const NetworkChoice& choice : choices_) {
      out.push_back(index % choice.numbers.size());
      index /= choice.numbers.size();
    }
    return out;
  }
  Run run(std::uint64_t index) const {
    Run out = run_;
    const std::vector<std::size_t> at = digits(index);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      set_number(out, *choices_[i].row, choices_[i].numbers[at[i]]);
    }
    return out;
  }

 private:
  const RequestedRun& run_;
  const std::vector<NetworkChoice>& choices_;
};

// Of equal costs to TorchRec's planner the layout with the shorter step: a share that decides
// nothing else.
constexpr double kOfTime = 1e-6;

Seconds planner_cost(const Run& run) {
  const double batch =
      static_cast<double>(run.job.global_batch) / static_cast<double>(run.layout.dp);
  Seconds out;
  for (const Layer& layer : run.model.kinds) {
    for (const NetworkModule& module : layer.modules) {
      const auto* bags = std::get_if<EmbeddingBags>(&module.shape);
      if (bags != nullptr) out += table_planner::fullest_rank(*bags, run.layout, batch);
    }
  }
  return out;
}

struct Tried {
  bool legal = false, fits = false;
  double value = 0;
  Bytes memory{};
  Seconds floor{};
};

class Search {
 public:
  Search(const RequestedRun& run, const std::vector<NetworkChoice>& choices,
         const Calibration& calibration, const NetworkSearch& how)
      : choices_(choices), calibration_(calibration), how_(how), space_(run, choices) {}

  NetworkPlan run() {
    try_part(Shard());
    return finish();
  }

  std::optional<NetworkPart> run_part(const Shard& part) {
    try_part(part);
    if (out_.stopped) return std::nullopt;
    NetworkPart out{.best = {}, .seen = {}, .tried = known_.size()};
    const NetworkPlan found = finish();
    for (const FoundLayout& each : found.best) out.best.push_back({each.index, each.value});
    for (const auto& [index, of] : known_) {
      if (!found.exact) out.seen.push_back(index);
      out.any = out.any || of.legal;
    }
    out.least_memory = found.least_memory;
    out.floor = found.floor;
    return out;
  }

  // Whether the layout fits, and its value is that to all digits but the last.
  bool is_so(const NetworkPart::Point& point) const {
    if (point.index >= layouts_of(choices_)) return false;
    const Tried found = tried(point.index);
    return found.legal && found.fits &&
           std::abs(found.value - point.value) <= 1e-9 * std::abs(point.value);
  }

 private:
  void try_part(const Shard& part) {
    const std::uint64_t all = layouts_of(choices_);
    out_.exact = all <= how_.most;
    if (out_.exact) {
      std::vector<std::uint64_t> every;
      for (std::uint64_t i = 0; i < all; ++i) {
        if (part.has(i)) every.push_back(i);
      }
      try_all(every, every.size());
      return;
    }
    for (const std::uint64_t start : {0, 1, 2}) {
      if (part.has(start)) descend(static_cast<double>(start), all);
    }
  }

  Tried tried(std::uint64_t index) const {
    Tried out;
    const Run run = space_.run(index);
    if (!is_legal(run)) return out;
    const Forecast made = forecast(run, calibration_);
    out.legal = true;
    out.memory = made.memory.total();
    out.fits = made.fits && out.memory <= made.capacity * (1 - how_.headroom);
    out.floor = made.least_time;
    switch (how_.by) {
      case NetworkSearch::By::time:
        out.value = made.step_time.value();
        break;
      case NetworkSearch::By::memory:
        out.value = out.memory.value();
        break;
      case NetworkSearch::By::energy:
        out.value = made.energy.value();
        break;
      case NetworkSearch::By::planner:
        out.value = planner_cost(run).value() + kOfTime * made.step_time.value();
        break;
    }
    return out;
  }

  void try_all(std::vector<std::uint64_t> indices, std::uint64_t of) {
    std::erase_if(indices, [&](std::uint64_t index) { return known_.contains(index); });
    std::vector<Tried> found(indices.size());
    const std::size_t before = known_.size();
    const Progress told = how_.progress ? Progress([&](std::size_t done, std::size_t) {
      return how_.progress(before + done, static_cast<std::size_t>(of));
    })
                                        : Progress();
    const bool all = for_each_index(
        indices.size(), how_.threads,
        [&](std::size_t i, std::size_t) { found[i] = tried(indices[i]); }, told);
    out_.stopped = out_.stopped || !all;
    for (std::size_t i = 0; i < indices.size(); ++i) known_.emplace(indices[i], found[i]);
  }

  // One choice after the other is what is best with the others as they are, until none changes.
  void descend(double start, std::uint64_t of) {
    std::vector<std::size_t> at(choices_.size(), 0);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const auto& numbers = choices_[i].numbers;
      const bool strategy = choices_[i].row->field.form.names.size() == kStrategyNames.size() &&
                            choices_[i].row->field.form.names.data() == kStrategyNames.data();
      const auto found = std::find(numbers.begin(), numbers.end(), start);
      if (strategy && found != numbers.end()) {
        at[i] = static_cast<std::size_t>(found - numbers.begin());
      }
    }
    try_all({space_.index(at)}, of);
    for (bool moved = true; moved && !out_.stopped;) {
      moved = false;
      for (std::size_t i = 0; i < choices_.size(); ++i) {
        std::vector<std::uint64_t> line;
        for (std::size_t j = 0; j < choices_[i].numbers.size(); ++j) {
          std::vector<std::size_t> other = at;
          other[i] = j;
          line.push_back(space_.index(other));
        }
        try_all(line, of);
        const std::uint64_t here = space_.index(at);
        const std::uint64_t best = *std::min_element(line.begin(), line.end(),
                                                     [&](auto a, auto b) { return before(a, b); });
        if (!before(best, here)) continue;
        at = space_.digits(best);
        moved = true;
      }
    }
  }

  // What fits before what does not, of these the one nearer to it; the smaller value.
  bool before(std::uint64_t a, std::uint64_t b) const {
    const Tried &x = known_.at(a), &y = known_.at(b);
    if (x.legal != y.legal) return x.legal;
    if (x.fits != y.fits) return x.fits;
    const double left = x.fits ? x.value : x.memory.value();
    const double right = y.fits ? y.value : y.memory.value();
    return left != right ? left < right : a < b;
  }

  NetworkPlan finish() {
    std::vector<std::uint64_t> fitting;
    bool any = false;
    for (const auto& [index, of] : known_) {
      if (!of.legal) continue;
      out_.least_memory = any ? std::min(out_.least_memory, of.memory) : of.memory;
      out_.floor = any ? std::min(out_.floor, of.floor) : of.floor;
      any = true;
      if (of.fits) fitting.push_back(index);
    }
    out_.tried = known_.size();
    std::sort(fitting.begin(), fitting.end(), [&](auto a, auto b) { return before(a, b); });
    if (fitting.size() > how_.top) fitting.resize(how_.top);
    for (const std::uint64_t index : fitting) {
      out_.best.push_back({index, space_.run(index).layout, known_.at(index).value});
    }
    return std::move(out_);
  }

  const std::vector<NetworkChoice>& choices_;
  const Calibration& calibration_;
  const NetworkSearch& how_;
  Space space_;
  std::map<std::uint64_t, Tried> known_;
  NetworkPlan out_;
};

}  // namespace

std::vector<NetworkChoice> network_choices(const RequestedRun& run) {
  std::vector<NetworkChoice> out;
  const auto add = [&](std::string_view name, std::vector<double> numbers, bool alone = true) {
    const FieldRow& row = *field_row(name);
    const bool given = is_given(run, name);
    if (given) {
      numbers = {*number_of(run, row)};
    } else if (alone) {
      numbers = legal_alone(run, row, std::move(numbers));
    }
    if (given || numbers.size() > 1) out.push_back({&row, std::move(numbers)});
  };
  add("micro-batch", micro_batches_of(run), /*alone=*/false);
  add("zero", has_tables(run.model) ? counting(2) : counting(4));
  add("recompute", {0.0, static_cast<double>(Recompute::full)});
  const bool several = run.layout.dp > 1;
  if (has_tables(run.model) && several) {
    // Small tables cannot be cut by rows: they are copied, or not.
    add("copy-below", {0.0, static_cast<double>(run.layout.dp), 100'000.0}, /*alone=*/false);
    add("tables", counting(kTableSchemeNames.size()), /*alone=*/false);
  }
  for (const std::string_view name : fields_of_networks().subspan(fields_of_tables().size())) {
    if (several) add(name, counting(kStrategyNames.size()));
  }
  return out;
}

std::uint64_t layouts_of(const std::vector<NetworkChoice>& choices) {
  return std::accumulate(choices.begin(), choices.end(), std::uint64_t{1},
                         [](std::uint64_t product, const NetworkChoice& choice) {
                           return product * choice.numbers.size();
                         });
}

NetworkPlan plan_network(const RequestedRun& run, const std::vector<NetworkChoice>& choices,
                         const Calibration& calibration, const NetworkSearch& how) {
  return Search(run, choices, calibration, how).run();
}

std::optional<NetworkPart> plan_network_part(const RequestedRun& run,
                                             const std::vector<NetworkChoice>& choices,
                                             const Calibration& calibration,
                                             const NetworkSearch& how, const Shard& part) {
  return Search(run, choices, calibration, how).run_part(part);
}

std::optional<NetworkPlan> plan_network_of_parts(const RequestedRun& run,
                                                 const std::vector<NetworkChoice>& choices,
                                                 const Calibration& calibration,
                                                 const NetworkSearch& how,
                                                 const std::vector<NetworkPart>& parts) {
  NetworkPlan out;
  out.exact = layouts_of(choices) <= how.most;
  std::vector<NetworkPart::Point> best;
  std::set<std::uint64_t> seen;
  bool any = false;
  for (const NetworkPart& part : parts) {
    best.insert(best.end(), part.best.begin(), part.best.end());
    seen.insert(part.seen.begin(), part.seen.end());
    if (out.exact) out.tried += part.tried;
    if (!part.any) continue;
    out.least_memory = any ? std::min(out.least_memory, part.least_memory) : part.least_memory;
    out.floor = any ? std::min(out.floor, part.floor) : part.floor;
    any = true;
  }
  if (!out.exact) out.tried = seen.size();
  std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) {
    return a.value != b.value ? a.value < b.value : a.index < b.index;
  });
  // Ways from different starts meet.
  const auto same = [](const auto& a, const auto& b) { return a.index == b.index; };
  best.erase(std::unique(best.begin(), best.end(), same), best.end());
  if (best.size() > how.top) best.resize(how.top);
  const Search search(run, choices, calibration, how);
  const Space space(run, choices);
  for (const NetworkPart::Point& point : best) {
    if (!search.is_so(point)) return std::nullopt;
    out.best.push_back({point.index, space.run(point.index).layout, point.value});
  }
  return out;
}

}  // namespace headway
