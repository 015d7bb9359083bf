// The constants of engines' hosts [INFER-8], data/serving/engines.toml, fitted on measured serving.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit/serving/asked.hpp"
#include "fit/serving/tables.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// A measured quantity of a row, predicted by the constants fitted on all rows, and by those fitted
/// without its source, without its source's rows of its model, and without these and all of its
/// accelerator, whose kernels are then estimates, too. Tokens a second stand as seconds a token, so
/// that the host adds to all.
struct ServedResidual {
  std::size_t of = 0;                                                     // the case
  std::size_t quantity = 0;                                               // of kServedQuantities
  double measured = 0, fitted = 0;                                        // s
  double without_source = 0, without_model = 0, without_accelerator = 0;  // s; 0: not asked for
  // Enough rows were left of its engine.
  bool source_known = false, model_known = false, accelerator_known = false;
};

/// The error of `predicted` seconds, less 1: of tokens a second where those are measured.
double residual_error(const ServedResidual& residual, double predicted);

struct HostFit {
  std::vector<Engine> engines;  // in the order of the file; those without rows as they stood
  std::map<std::string, std::size_t> rows;  // that each was fitted on; absent: none
  std::map<std::string, std::vector<std::string>> sources, machines;
  std::vector<ServedResidual> residuals;
  bool left_out = false;
};

/// Each engine's `step`, `sequence`, `request` and `layer` by architecture, by least mean loss of
/// log errors; the measurements of one quantity, source, accelerator and model count together by
/// the power 0.75 of their number. All are drawn a little to zero, so that what rows do not decide
/// is not there. What is left out leaves engines that nothing else measured as the others of their
/// age. Nothing where `progress` stops it.
std::optional<HostFit> fit_hosts(const std::vector<ServedCase>& cases,
                                 const std::vector<Engine>& start, bool left_out, int threads,
                                 const Progress& progress = {});

/// A line for each source and quantity: errors of all rows' constants, and of those without it.
UnitTable host_table(const HostFit& fit, const std::vector<ServedCase>& cases);
/// The same, and the constants.
std::string to_text(const HostFit& fit, const std::vector<ServedCase>& cases);
/// The text of data/serving/engines.toml, `current`, with the lines renewed that a fit decides.
std::string renewed_engines(const std::string& current, const HostFit& fit,
                            const std::vector<ServedCase>& cases, const std::string& date);

}  // namespace headway
