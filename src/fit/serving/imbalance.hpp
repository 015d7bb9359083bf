// How unevenly routers choose experts [INFER-3], data/serving/routing.toml, fitted on measured
// serving.
#pragma once

#include <string>
#include <vector>

#include "fit/serving/asked.hpp"
#include "fit/serving/tables.hpp"
#include "platform/parallel.hpp"

namespace headway {

struct ImbalanceFit {
  struct Tried {
    double imbalance = 0, loss = 0;
    double median = 0, p90 = 0;  // absolute errors of what is answered
  };
  std::vector<Tried> tried;
  double imbalance = 0;  // that of the least loss
  std::size_t rows = 0;  // that tell a time per token of a model with experts
  std::size_t models = 0;
};

/// By least mean loss of the time per token, of clients, of models with experts, by the constants
/// of hosts in force: a pass reads the weights of all experts that any of its tokens chose. Of no
/// rows where none tells; nothing where `progress` stops it.
std::optional<ImbalanceFit> fit_imbalance(const std::vector<ServedCase>& cases, int threads,
                                          const Progress& progress = {});

UnitTable imbalance_table(const ImbalanceFit& fit);
/// The text of data/serving/routing.toml.
std::string to_toml(const ImbalanceFit& fit, const std::string& date);

}  // namespace headway
