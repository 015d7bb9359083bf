#include "fit/kernels/kernels.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cost/calibration/calibration.hpp"
#include "cost/calibration/kernel_entries.hpp"
#include "fit/kernels/errors.hpp"

namespace headway {
namespace {

using P = KernelParameters;

// One constant that a fit may move, within physical bounds.
struct Knob {
  double (*get)(const P&);
  void (*set)(P&, double);
  double least, most;
};
using Knobs = std::vector<Knob>;

// Times are moved in microseconds, so that all knobs are of like size.
Knobs matmul_knobs() {
  return {
      {[](const P& p) { return p.matmul_ceiling; }, [](P& p, double x) { p.matmul_ceiling = x; },
       0.3, 1},
      {[](const P& p) { return p.loop_prologue / 256; },
       [](P& p, double x) { p.loop_prologue = x * 256; }, 0, 4},
      {[](const P& p) { return p.wave_loss; }, [](P& p, double x) { p.wave_loss = x; }, 0, 1},
      {[](const P& p) { return p.memory_overlap_loss; },
       [](P& p, double x) { p.memory_overlap_loss = x; }, 0, 1},
      {[](const P& p) { return p.matmul_start.value() * 1e6; },
       [](P& p, double x) { p.matmul_start = Seconds(x * 1e-6); }, 2, 5},
  };
}

// The large tiles are the measure (1); smaller ones reach less of the peak.
template <int Index>
Knob tile_knob(double least) {
  return {[](const P& p) { return p.tile_efficiency[Index]; },
          [](P& p, double x) { p.tile_efficiency[Index] = x; }, least, 1};
}
Knobs tile_knobs() {
  return {tile_knob<2>(0.7), tile_knob<3>(0.5), tile_knob<4>(0.3)};
}

Knobs grouped_knobs() {
  return {
      {[](const P& p) { return p.grouped_efficiency; },
       [](P& p, double x) { p.grouped_efficiency = x; }, 0.3, 1},
      {[](const P& p) { return p.grouped_start.value() * 1e6; },
       [](P& p, double x) { p.grouped_start = Seconds(x * 1e-6); }, 0.01, 20},
  };
}

// flash2 and flash3 move as one: the rows are of the best kernel of their library.
template <FlashParameters P::*Direction>
Knobs flash_knobs() {
  return {
      {[](const P& p) { return (p.*Direction).ceiling[1]; },
       [](P& p, double x) { (p.*Direction).ceiling[1] = (p.*Direction).ceiling[2] = x; }, 0.2, 1},
      {[](const P& p) { return (p.*Direction).tail; },
       [](P& p, double x) { (p.*Direction).tail = x; }, 0, 1},
      {[](const P& p) { return (p.*Direction).unequal_dims; },
       [](P& p, double x) { (p.*Direction).unequal_dims = x; }, 0.5, 1},
  };
}

// The rows of one entry that one kind of kernel decides.
struct Sample {
  const KernelData* data = nullptr;
  std::vector<const KernelMeasurement*> rows;
  std::size_t all_rows = 0;  // with those left out for the check
  bool enough = false;       // all_rows decide the constants of this class
};

// Huber's loss of the log ratio: quadratic within 10 %, linear beyond, so that kernels which a
// library chose badly do not decide.
double huber(double x) {
  constexpr double kDelta = 0.1;
  const double a = std::abs(x);
  return a < kDelta ? a * a / 2 : kDelta * (a - kDelta / 2);
}

// Products of few rows are a small part of training: they count less.
double weight(const KernelMeasurement& row) {
  return row.kernel == KernelClass::matmul && row.product.m < 512 ? 0.3 : 1;
}

double ratio(const KernelData& data, const KernelMeasurement& row, const P& parameters) {
  return predicted_time(row, data.accelerators[row.accelerator], parameters) / row.time;
}

double loss(const Sample& sample, const P& parameters) {
  double sum = 0;
  for (const KernelMeasurement* row : sample.rows) {
    sum += weight(*row) * huber(std::log(ratio(*sample.data, *row, parameters)));
  }
  return sum;
}

P with(P parameters, const Knobs& knobs, const double* x) {
  for (std::size_t i = 0; i < knobs.size(); ++i) knobs[i].set(parameters, x[i]);
  return parameters;
}

// What a search needs in its callback: it moves the knobs of all entries alike.
struct Search {
  const Knobs* knobs;
  std::vector<std::pair<const Sample*, const P*>> entries;
};

double total_loss(unsigned, const double* x, double*, void* data) {
  const auto& problem = *static_cast<const Search*>(data);
  double sum = 0;
  for (const auto& [sample, parameters] : problem.entries) {
    sum += loss(*sample, with(*parameters, *problem.knobs, x));
  }
  return sum;
}

// The best values of the knobs by subplex (Rowan 1990, in NLopt), which is deterministic, from the
// present values of the first entry and from two more points within the bounds.
std::vector<double> minimum_of(Search search) {
  const Knobs& knobs = *search.knobs;
  std::vector<double> least, most, start;
  for (const Knob& knob : knobs) {
    least.push_back(knob.least);
    most.push_back(knob.most);
    start.push_back(std::clamp(knob.get(*search.entries[0].second), knob.least, knob.most));
  }
  std::vector<double> best = start;
  double least_loss = total_loss(0, start.data(), nullptr, &search);
  for (const double place : {-1.0, 0.25, 0.75}) {
    std::vector<double> x = start;
    for (std::size_t i = 0; i < x.size() && place >= 0; ++i) {
      x[i] = least[i] + place * (most[i] - least[i]);
    }
    nlopt_opt optimiser = nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(knobs.size()));
    nlopt_set_min_objective(optimiser, total_loss, &search);
    nlopt_set_lower_bounds(optimiser, least.data());
    nlopt_set_upper_bounds(optimiser, most.data());
    nlopt_set_ftol_rel(optimiser, 1e-6);
    nlopt_set_maxeval(optimiser, 1500);
    double value = 0;
    const bool found = nlopt_optimize(optimiser, x.data(), &value) > 0;
    nlopt_destroy(optimiser);
    if (!found || value >= least_loss) continue;
    best = x;
    least_loss = value;
  }
  return best;
}

void fit_knobs(const Knobs& knobs, const Sample& sample, P& parameters) {
  if (!sample.enough || sample.rows.empty()) return;
  const auto x = minimum_of({&knobs, {{&sample, &parameters}}});
  parameters = with(parameters, knobs, x.data());
}

// One entry in the making.
struct Entry {
  std::string name;
  P parameters;
  std::array<Sample, 4> samples;  // by KernelClass
};

Sample& sample_of(Entry& entry, KernelClass kernel) {
  return entry.samples[static_cast<std::size_t>(kernel)];
}

// Products first, tiles of all entries together and the rest of each in turn; then what builds upon
// their constants.
void fit_entries(std::vector<Entry>& entries) {
  constexpr int kRounds = 3;
  const Knobs matmul = matmul_knobs(), tiles = tile_knobs();
  for (int round = 0; round < kRounds; ++round) {
    Search shared{&tiles, {}};
    for (Entry& entry : entries) {
      const Sample& sample = sample_of(entry, KernelClass::matmul);
      if (!sample.enough) continue;
      fit_knobs(matmul, sample, entry.parameters);
      shared.entries.emplace_back(&sample, &entry.parameters);
    }
    if (shared.entries.empty()) continue;
    const auto x = minimum_of(shared);
    for (Entry& entry : entries) entry.parameters = with(entry.parameters, tiles, x.data());
  }
  for (Entry& entry : entries) {
    P& p = entry.parameters;
    fit_knobs(matmul, sample_of(entry, KernelClass::matmul), p);
    fit_knobs(grouped_knobs(), sample_of(entry, KernelClass::grouped_matmul), p);
    fit_knobs(flash_knobs<&P::flash_forward>(), sample_of(entry, KernelClass::attention_forward),
              p);
    fit_knobs(flash_knobs<&P::flash_backward>(), sample_of(entry, KernelClass::attention_backward),
              p);
  }
}

// Fewer rows than this for each constant of a class do not decide it.
constexpr std::size_t kRowsPerKnob = 4;

// The number of knobs of each KernelClass.
std::array<std::size_t, 4> knob_counts() {
  return {matmul_knobs().size(), grouped_knobs().size(), flash_knobs<&P::flash_forward>().size(),
          flash_knobs<&P::flash_backward>().size()};
}

// The name of the entry of each accelerator of the data.
std::vector<std::string> entry_names(const KernelData& data, const Document& estimated) {
  std::vector<std::string> names;
  for (const Accelerator& accelerator : data.accelerators) {
    names.push_back(kernel_entry_for(estimated, accelerator));
  }
  return names;
}

// Which half of the shapes a row belongs to: equal shapes of all sources and accelerators fall
// together. The multipliers are those of splitmix64.
int half_of(const KernelMeasurement& row) {
  const auto mix = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  std::uint64_t hash = 0;
  for (const std::int64_t value :
       {row.product.m, row.product.n, row.product.k, row.product.batch, row.attention.queries,
        row.attention.heads, row.attention.kv_heads, row.attention.head_dim}) {
    hash = mix(hash + 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(value));
  }
  return static_cast<int>(hash & 1);
}

// Entries with the estimates to start from and the rows to fit; those of half `left_out` (0, 1) are
// left out, -1: none.
Result<std::vector<Entry>> prepare(const KernelData& data, const Document& estimated,
                                   const std::vector<std::string>& names, int left_out) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < data.accelerators.size(); ++i) {
    const auto same = [&](const Entry& entry) { return entry.name == names[i]; };
    auto entry = std::find_if(entries.begin(), entries.end(), same);
    if (entry == entries.end()) {
      const auto start = kernel_parameters_from(estimated, nullptr, data.accelerators[i]);
      if (!start) return start.problems();
      entry = entries.insert(entry, Entry{names[i], *start, {}});
      for (Sample& sample : entry->samples) sample.data = &data;
    }
    for (const KernelMeasurement& row : data.rows) {
      if (row.accelerator != i || !row.fitted) continue;
      Sample& sample = sample_of(*entry, row.kernel);
      ++sample.all_rows;
      if (half_of(row) != left_out) sample.rows.push_back(&row);
    }
  }
  const auto counts = knob_counts();
  for (Entry& entry : entries) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      entry.samples[i].enough = entry.samples[i].all_rows >= kRowsPerKnob * counts[i];
    }
  }
  return entries;
}

FittedKernels fitted_from(const Entry& entry, const KernelData& data) {
  FittedKernels fitted{entry.name, entry.parameters, {}, {}, {}, {}};
  std::set<std::string> accelerators, sources;
  for (std::size_t i = 0; i < entry.samples.size(); ++i) {
    std::vector<double> ratios;
    fitted.moved[i] = entry.samples[i].enough;
    if (!fitted.moved[i]) continue;
    for (const KernelMeasurement* row : entry.samples[i].rows) {
      ratios.push_back(ratio(data, *row, entry.parameters));
      accelerators.insert(data.accelerators[row->accelerator].name);
      sources.insert(row->source);
    }
    fitted.errors[i] = errors_of(std::move(ratios));
  }
  fitted.accelerators.assign(accelerators.begin(), accelerators.end());
  fitted.sources.assign(sources.begin(), sources.end());
  return fitted;
}

const P& parameters_of(const std::vector<Entry>& entries, const std::string& name) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const Entry& entry) { return entry.name == name; })
      ->parameters;
}

}  // namespace

Result<KernelFit> fit_kernels(std::string_view csv, std::string file) {
  const auto data = parse_kernel_data(csv, std::move(file));
  if (!data) return data.problems();
  const auto estimated = estimated_kernel_entries();
  if (!estimated) return estimated.problems();
  const std::vector<std::string> names = entry_names(*data, *estimated);

  // What a fit to the one half of the shapes says of the other.
  std::vector<double> held_out(data->rows.size(), 0);
  for (const int half : {0, 1}) {
    auto entries = prepare(*data, *estimated, names, half);
    if (!entries) return entries.problems();
    fit_entries(*entries.operator->());
    for (std::size_t i = 0; i < data->rows.size(); ++i) {
      const KernelMeasurement& row = data->rows[i];
      if (half_of(row) != half) continue;
      held_out[i] = ratio(*data, row, parameters_of(*entries, names[row.accelerator]));
    }
  }

  auto entries = prepare(*data, *estimated, names, -1);
  if (!entries) return entries.problems();
  fit_entries(*entries.operator->());
  KernelFit fit;
  for (const Entry& entry : *entries) {
    FittedKernels fitted = fitted_from(entry, *data);
    const auto& moved = fitted.moved;
    if (std::find(moved.begin(), moved.end(), true) == moved.end()) continue;
    fit.entries.push_back(std::move(fitted));
  }
  if (!entries->empty()) fit.tile_efficiency = (*entries)[0].parameters.tile_efficiency;
  std::vector<double> ratios;
  for (const KernelMeasurement& row : data->rows) {
    ratios.push_back(ratio(*data, row, parameters_of(*entries, names[row.accelerator])));
  }
  fit.report = {error_lines(*data, ratios, held_out), data->skipped};
  return fit;
}

Result<KernelReport> kernel_report(std::string_view csv, std::string file) {
  const auto data = parse_kernel_data(csv, std::move(file));
  if (!data) return data.problems();
  std::vector<P> parameters;
  for (const Accelerator& accelerator : data->accelerators) {
    const auto found = kernel_parameters_for(accelerator);
    if (!found) return found.problems();
    parameters.push_back(*found);
  }
  std::vector<double> ratios;
  for (const KernelMeasurement& row : data->rows) {
    ratios.push_back(ratio(*data, row, parameters[row.accelerator]));
  }
  return KernelReport{error_lines(*data, ratios, {}), data->skipped};
}

}  // namespace headway
