#include "fit/serving/kernels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/minimise.hpp"
#include "fit/serving/loss.hpp"
#include "platform/parallel.hpp"

namespace headway {
namespace {

// A measured kernel.
struct Kernel {
  const BenchmarkRow* row;
  const Accelerator* accelerator;
  const KernelParameters* flash;
};
using Kernels = std::vector<Kernel>;

// Kernels that share no constant with others: by what their constants' names begin with.
enum class Family : std::uint8_t {
  decode,
  latent,
  prompt,
  dispatch,
  combine,
  quick,
  wide_experts,
  experts,
  reduce
};
constexpr std::array kFamilies = {Family::decode,       Family::latent,  Family::prompt,
                                  Family::dispatch,     Family::combine, Family::quick,
                                  Family::wide_experts, Family::experts, Family::reduce};

Family family_of(const ServingKernel& kernel) {
  if (std::holds_alternative<PromptAttention>(kernel)) return Family::prompt;
  if (const auto* experts = std::get_if<ExpertProducts>(&kernel)) {
    return experts->precision < Precision::fp8 ? Family::wide_experts : Family::experts;
  }
  if (const auto* exchange = std::get_if<ExpertExchange>(&kernel)) {
    if (exchange->quick) return Family::quick;
    return exchange->combine ? Family::combine : Family::dispatch;
  }
  const auto* attention = std::get_if<CachedAttention>(&kernel);
  if (attention == nullptr) return Family::reduce;
  return attention->latent ? Family::latent : Family::decode;
}

Family family_of(std::string_view constant) {
  return constant.starts_with("decode_")     ? Family::decode
         : constant.starts_with("latent_")   ? Family::latent
         : constant.starts_with("prompt_")   ? Family::prompt
         : constant.starts_with("dispatch_") ? Family::dispatch
         : constant.starts_with("combine_")  ? Family::combine
         : constant.starts_with("quick_")    ? Family::quick
         : constant == "experts_wide"        ? Family::wide_experts
         : constant.starts_with("experts_")  ? Family::experts
                                             : Family::reduce;
}

// Constants as numbers between bounds: microseconds, GB/s, shares of the data sheet.
constexpr double kMicrosecond = 1e-6, kGigabyte = 1e9;
struct GatherServing {
  Family family;
  std::vector<double> at = {}, least = {}, most = {};

  void operator()(const char* name, const Seconds& start) {
    if (family_of(name) == family) add(start.value() / kMicrosecond, 0.5, 60);
  }
  // A unit loads and stores some 16 bytes a cycle.
  void operator()(const char* name, const BytesPerSecond& rate) {
    if (family_of(name) == family) add(rate.value() / kGigabyte, 1, 60);
  }
  void operator()(const char* name, const double& share) {
    // Nothing is faster than its data sheet says by more than what that rounds. Passes are counted.
    const double most = std::string_view(name).ends_with("_passes") ? 10 : 1.05;
    if (family_of(name) == family) add(share, 0.02, most);
  }

 private:
  void add(double value, double lower, double upper) {
    at.push_back(std::clamp(value, lower, upper));
    least.push_back(lower);
    most.push_back(upper);
  }
};
struct MoveServing {
  Family family;
  std::span<const double> x;
  std::size_t next = 0;

  void operator()(const char* name, Seconds& start) {
    if (family_of(name) == family) start = Seconds(x[next++] * kMicrosecond);
  }
  void operator()(const char* name, BytesPerSecond& rate) {
    if (family_of(name) == family) rate = BytesPerSecond(x[next++] * kGigabyte);
  }
  void operator()(const char* name, double& share) {
    if (family_of(name) == family) share = x[next++];
  }
};

// Where a search begins: near what one kernel alone shows.
ServingKernels first_guess() {
  ServingKernels out;
  out.decode = out.latent = {Seconds(10e-6), 0.8, 0.3};
  out.prompt = {Seconds(15e-6), 1.5, 0.8, 0.7};
  out.dispatch = out.combine = {Seconds(30e-6), BytesPerSecond(20e9), 0.7, Seconds(15e-6), 0.5};
  out.exchange_far = 0.7;
  out.once_start = Seconds(4e-6);
  out.twice_start = Seconds(10e-6);
  out.once_share = out.twice_share = 0.6;
  return out;
}

double log_error(const Kernel& kernel, const ServingKernels& constants) {
  return std::log(time_of(*kernel.row->serving, *kernel.accelerator, *kernel.flash, constants) /
                  *kernel.row->measured);
}

std::vector<double> kernel_weights(const Kernels& kernels) {
  std::map<std::pair<std::string, std::string>, double> count;
  const auto key = [](const Kernel& kernel) {
    return std::pair(kernel.row->machine, kernel.row->engine);
  };
  for (const Kernel& kernel : kernels) count[key(kernel)] += 1;
  std::vector<double> out;
  for (const Kernel& kernel : kernels) out.push_back(1 / std::sqrt(count[key(kernel)]));
  return out;
}

// Those of one family; unchanged where too few rows decide them.
void fit_family(Family family, const Kernels& kernels, ServingKernels& constants) {
  constexpr std::size_t kLeastRows = 20;
  Kernels own;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(own),
               [&](const Kernel& kernel) { return family_of(*kernel.row->serving) == family; });
  if (own.size() < kLeastRows) return;
  const std::vector<double> weights = kernel_weights(own);
  GatherServing start{family};
  for_each_constant(std::as_const(constants), start);
  const auto loss = [&](std::span<const double> x, double*) {
    ServingKernels moved = constants;
    for_each_constant(moved, MoveServing{family, x});
    double sum = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      sum += weights[i] * robust_loss(log_error(own[i], moved));
    }
    return sum;
  };
  Minimum best{start.at, loss(start.at, nullptr), true};
  constexpr int kRounds = 3;  // the longer of two leaves ridges where a simplex stops
  for (int round = 0; round < kRounds; ++round) {
    const Minimum found =
        minimise({SearchBy::subplex, best.at, start.least, start.most, {}, 1e-7, 1e-5, 2000}, loss);
    if (found.value < best.value) best = found;
  }
  for_each_constant(constants, MoveServing{family, best.at});
}

ServingKernels fitted_to(const Kernels& kernels, ServingKernels start) {
  for (const Family family : kFamilies) fit_family(family, kernels, start);
  return start;
}

using Wanted = std::function<bool(const Kernel&)>;
Kernels those(const Kernels& kernels, const Wanted& wanted) {
  Kernels out;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(out), wanted);
  return out;
}

// Of the architecture where it has rows, else of all.
ServingKernels fitted_for(const std::string& architecture, const Kernels& kernels) {
  const ServingKernels all = fitted_to(kernels, first_guess());
  return fitted_to(
      those(kernels,
            [&](const Kernel& kernel) { return kernel.accelerator->architecture == architecture; }),
      all);
}

double error_of(const Kernel& kernel, const ServingKernels& constants) {
  return std::exp(log_error(kernel, constants)) - 1;
}

// Each kernel by constants fitted without all that share with it what `key` names.
std::vector<double> errors_without(const Kernels& kernels,
                                   const std::function<std::string(const Kernel&)>& key,
                                   int threads) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    groups[{kernels[i].accelerator->architecture, key(kernels[i])}].push_back(i);
  }
  std::vector<double> out(kernels.size());
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::size_t>>> all;
  for (const auto& group : groups) all.emplace_back(group);
  for_each_index(
      all.size(), threads,
      [&](std::size_t g, std::size_t) {
        const auto& [name, members] = all.at(g);
        const ServingKernels constants = fitted_for(
            name.first,
            those(kernels, [&](const Kernel& kernel) { return key(kernel) != name.second; }));
        for (const std::size_t i : members) out[i] = error_of(kernels[i], constants);
      },
      {}, /*grain=*/1);
  return out;
}

}  // namespace

Result<ServingKernelFit> fit_serving_kernels(const std::vector<BenchmarkRow>& rows, bool left_out,
                                             int threads) {
  // What was measured, with its accelerator.
  std::map<std::string, std::pair<Accelerator, KernelParameters>> accelerators;
  Kernels kernels;
  for (const BenchmarkRow& row : rows) {
    if (!row.serving || !row.measured) continue;
    auto known = accelerators.find(row.machine);
    if (known == accelerators.end()) {
      const auto loaded = load_accelerator(row.machine);
      if (!loaded) return loaded.problems();
      const auto flash = kernel_parameters_for(*loaded);
      if (!flash) return flash.problems();
      known = accelerators.emplace(row.machine, std::pair(*loaded, *flash)).first;
    }
    kernels.push_back({&row, &known->second.first, &known->second.second});
  }
  if (kernels.empty()) return Problem{"kernels", "hold no kernel of serving that was measured"};

  // The constants of each architecture.
  ServingKernelFit out;
  out.entries["default"] = fitted_to(kernels, first_guess());
  for (const auto& [name, machine] : accelerators) {
    const std::string& architecture = machine.first.architecture;
    out.machines[architecture].push_back(name);
    out.machines["default"].push_back(name);
    if (out.entries.contains(architecture)) continue;
    out.entries[architecture] = fitted_for(architecture, kernels);
  }

  // Their errors.
  std::vector<double> without_machine, without_size;
  if (left_out) {
    without_machine = errors_without(
        kernels, [](const Kernel& kernel) { return kernel.row->machine; }, threads);
    without_size = errors_without(
        kernels, [](const Kernel& kernel) { return kernel.row->op + kernel.row->size; }, threads);
  }
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::array<std::vector<double>, 3>> groups, all;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const BenchmarkRow& row = *kernels[i].row;
    for (auto* errors :
         {&groups[{row.machine, row.engine, row.op, row.size}], &all[{"all", "", row.op, ""}]}) {
      (*errors)[0].push_back(
          error_of(kernels[i], out.entries.at(kernels[i].accelerator->architecture)));
      if (!left_out) continue;
      (*errors)[1].push_back(without_machine[i]);
      (*errors)[2].push_back(without_size[i]);
    }
  }
  for (const auto* each : {&groups, &all}) {
    for (const auto& [key, errors] : *each) {
      const auto& [machine, engine, op, size] = key;
      out.lines.push_back({machine, engine, op, size, summarise(errors[0]), summarise(errors[1]),
                           summarise(errors[2])});
    }
  }
  return out;
}

}  // namespace headway
