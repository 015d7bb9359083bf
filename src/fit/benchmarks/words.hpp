// What the words of benchmark files mean: data/corpus/benchmarks.toml.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/kernels/kernels.hpp"
#include "cost/serving/formats.hpp"
#include "cost/serving/serving.hpp"

namespace headway::benchmarks {

/// A cell in lower case, with spaces for _ and -.
std::string plain(std::string_view cell);

/// The accelerator that a cell names.
struct Machine {
  std::string accelerator, cluster;  // built-in names; cluster empty: none is known
  int parts = 1;                     // the cell's device is one of as many equal parts
  std::string skip;                  // why rows of it are not predicted; empty: they are
};

/// The numbers that a cell names.
struct Format {
  Precision precision = Precision::bf16;
  Scaling scaling = Scaling::whole;
  const WeightFormat* stored = nullptr;  // of weights that lie otherwise than products read them
};

/// "fp8 by blocks".
std::string name_of(const Format& format);

class Words {
 public:
  static const Result<Words>& embedded();

  const Machine* machine(std::string_view cell) const;
  const Format* format(std::string_view cell) const;

  Seconds experts_start;  // of kernels in serving engines, beside their work
  std::vector<std::pair<std::string, Machine>> machines;  // by what the cell has in it
  std::map<std::string, Format, std::less<>> formats;     // by what the cell says
};

/// An accelerator with its constants; a cluster with those of its levels.
struct Accelerated {
  Accelerator accelerator;
  KernelParameters kernels;
  ServingKernels serving;
  FormatKernels formats;
};
struct Joined {
  Cluster cluster;
  LevelParameters levels;
};

/// Loaded once each.
class Machines {
 public:
  const Result<Accelerated>& accelerator(const std::string& name);
  const Result<Joined>& cluster(const std::string& name);

 private:
  std::map<std::string, Result<Accelerated>> accelerators_;
  std::map<std::string, Result<Joined>> clusters_;
};

}  // namespace headway::benchmarks
