#include "fit/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/random/random.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/kernel_constants.hpp"
#include "fit/kernels/errors.hpp"
#include "fit/minimise.hpp"

namespace headway {
namespace {

using P = KernelParameters;

// The constants that one kind of measurement decides, in units of their own.
struct Knobs {
  std::vector<double> at, least, most;
};

// Which constants move: those that a kind of measurement decides, without those that follow, unless
// the rows tell their kernels apart, and without what quantises, unless a row was timed with it.
struct Moved {
  DecidedBy by;
  bool apart = false, quantised = false;

  bool moves(const std::string& name, const KernelConstant& row) const {
    return row.by == by && (quantised || name != "quantisation_start");
  }
  bool follows(const KernelConstant& row) const { return row.follows && !apart; }
};

// Gathers them as they are.
struct Gather {
  Moved moved;
  Knobs knobs = {};

  template <class Q>
  void operator()(const std::string& name, const Q& constant, const KernelConstant& row) {
    if (!moved.moves(name, row) || moved.follows(row)) return;
    knobs.at.push_back(std::clamp(value_of(constant) / row.unit, row.least, row.most));
    knobs.least.push_back(row.least);
    knobs.most.push_back(row.most);
  }
  template <class Walk>
  void table(const std::string&, Walk&& walk) {
    walk(*this);
  }

 private:
  static double value_of(double constant) { return constant; }
  static double value_of(Seconds constant) { return constant.value(); }
};

// Sets them to x.
struct Move {
  Moved moved;
  std::span<const double> x;
  std::size_t next = 0;
  double last = 0;

  template <class Q>
  void operator()(const std::string& name, Q& constant, const KernelConstant& row) {
    if (!moved.moves(name, row)) return;
    if (!moved.follows(row)) last = x[next++] * row.unit;
    constant = Q(last);
  }
  template <class Walk>
  void table(const std::string&, Walk&& walk) {
    walk(*this);
  }
};

Knobs knobs_of(Moved moved, const P& parameters) {
  Gather gather{moved};
  for_each_constant(parameters, gather);
  return gather.knobs;
}

P with(P parameters, Moved moved, std::span<const double> x) {
  for_each_constant(parameters, Move{moved, x});
  return parameters;
}

// The rows of one entry that one kind of kernel decides.
struct Sample {
  const KernelData* data = nullptr;
  std::vector<const KernelMeasurement*> rows;
  std::size_t all_rows = 0;  // with those left out for the check
  bool enough = false;       // all_rows decide the constants of this class
  bool apart = false;        // some are of flash3, named so
  bool quantised = false;    // some were timed with the quantisation of A
};

Moved moved_by(KernelClass kernel, const Sample& sample) {
  return {decided_by(kernel), sample.apart, sample.quantised};
}

// Huber's loss of the log ratio: quadratic within 10 %, linear beyond, so that kernels which a
// library chose badly do not decide.
double huber(double x) {
  constexpr double kDelta = 0.1;
  const double a = std::abs(x);
  return a < kDelta ? a * a / 2 : kDelta * (a - kDelta / 2);
}

// Products of few rows are a small part of training: they count less.
double weight(const KernelMeasurement& row) {
  return is_matmul(row.kernel) && row.product.m < 512 ? 0.3 : 1;
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

// A search moves the constants of all its entries alike.
struct Search {
  Moved moved;
  std::vector<std::pair<const Sample*, const P*>> entries;

  double loss_at(std::span<const double> x) const {
    double sum = 0;
    for (const auto& [sample, parameters] : entries) {
      sum += loss(*sample, with(*parameters, moved, x));
    }
    return sum;
  }
};

// The best values of the constants, from the present ones of the first entry and from two more
// points within the bounds.
std::vector<double> minimum_of(const Search& search) {
  const Knobs knobs = knobs_of(search.moved, *search.entries[0].second);
  std::vector<double> best = knobs.at;
  double least_loss = search.loss_at(best);
  for (const double place : {-1.0, 0.25, 0.75}) {
    std::vector<double> start = knobs.at;
    for (std::size_t i = 0; i < start.size() && place >= 0; ++i) {
      start[i] = knobs.least[i] + place * (knobs.most[i] - knobs.least[i]);
    }
    const Minimum found =
        minimise({SearchBy::subplex, start, knobs.least, knobs.most, {}, 1e-6, 0, 1500},
                 [&](std::span<const double> x, double*) { return search.loss_at(x); });
    if (!found.found || found.value >= least_loss) continue;
    best = found.at;
    least_loss = found.value;
  }
  return best;
}

void fit_class(KernelClass kernel, const Sample& sample, P& parameters) {
  if (!sample.enough || sample.rows.empty()) return;
  const Moved moved = moved_by(kernel, sample);
  parameters = with(parameters, moved, minimum_of({moved, {{&sample, &parameters}}}));
}

// One entry in the making.
struct Entry {
  std::string name;
  P parameters;
  std::array<Sample, kKernelClasses> samples;  // by KernelClass
};

Sample& sample_of(Entry& entry, KernelClass kernel) {
  return entry.samples[static_cast<std::size_t>(kernel)];
}

// Products first, tiles of all entries together and the rest of each in turn; then what builds upon
// their constants.
void fit_entries(std::vector<Entry>& entries) {
  constexpr int kRounds = 3;
  const auto fit = [](Entry& entry, KernelClass kernel) {
    fit_class(kernel, sample_of(entry, kernel), entry.parameters);
  };
  for (int round = 0; round < kRounds; ++round) {
    Search shared{{DecidedBy::all_products}, {}};
    for (Entry& entry : entries) {
      const Sample& sample = sample_of(entry, KernelClass::matmul);
      if (!sample.enough) continue;
      fit(entry, KernelClass::matmul);
      shared.entries.emplace_back(&sample, &entry.parameters);
    }
    if (shared.entries.empty()) continue;
    const auto x = minimum_of(shared);
    for (Entry& entry : entries) entry.parameters = with(entry.parameters, shared.moved, x);
  }
  for (Entry& entry : entries) {
    for (std::size_t i = 0; i < kKernelClasses; ++i) fit(entry, static_cast<KernelClass>(i));
  }
}

// Fewer rows than this for each constant of a class do not decide it.
constexpr std::size_t kRowsPerKnob = 4;

// The name of the entry of each accelerator of the data.
std::vector<std::string> entry_names(const KernelData& data, const Document& estimated) {
  std::vector<std::string> names;
  for (const Accelerator& accelerator : data.accelerators) {
    names.push_back(kernel_entry_for(estimated, accelerator));
  }
  return names;
}

// Which half of the shapes a row belongs to: equal shapes of all sources and accelerators fall
// together.
int half_of(const KernelMeasurement& row) {
  std::uint64_t hash = 0;
  for (const std::int64_t value :
       {row.product.m, row.product.n, row.product.k, row.product.batch, row.attention.queries,
        row.attention.heads, row.attention.kv_heads, row.attention.head_dim}) {
    hash = split_mixed(hash + static_cast<std::uint64_t>(value));
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
      sample.apart = sample.apart || row.algorithm == AttentionKernel::flash3;
      sample.quantised = sample.quantised || row.quantised_bytes > 0;
      if (half_of(row) != left_out) sample.rows.push_back(&row);
    }
  }
  for (Entry& entry : entries) {
    for (std::size_t i = 0; i < kKernelClasses; ++i) {
      Sample& sample = entry.samples[i];
      const Moved moved = moved_by(static_cast<KernelClass>(i), sample);
      const std::size_t knobs = knobs_of(moved, entry.parameters).at.size();
      sample.enough = sample.all_rows >= kRowsPerKnob * knobs;
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

DecidedBy decided_by(KernelClass kernel) {
  if (is_matmul(kernel)) return decided_by(static_cast<ProductFormat>(kernel));
  return kernel == KernelClass::grouped_matmul      ? DecidedBy::grouped_products
         : kernel == KernelClass::attention_forward ? DecidedBy::attention_forward
                                                    : DecidedBy::attention_backward;
}

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
