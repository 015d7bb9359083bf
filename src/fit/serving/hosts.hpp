// The constants of engines' hosts [INFER-8], data/serving/engines.toml, fitted on measured serving.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit/serving/asked.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// A measured quantity of a row: predicted by the constants fitted on all rows, and by those fitted
/// without its source. Tokens a second stand as seconds a token, so that the host adds to all.
struct ServedResidual {
  std::size_t of = 0;        // the case
  std::size_t quantity = 0;  // of kServedQuantities
  double measured = 0, fitted = 0, left_out = 0;  // s
  bool engine_known = true;  // rows of other sources are of its engine
};

struct HostFit {
  std::vector<Engine> engines;                // in the order of the file; those without rows as they stood
  std::map<std::string, std::size_t> rows;    // that each was fitted on; absent: none
  std::map<std::string, std::vector<std::string>> sources, machines;
  std::vector<ServedResidual> residuals;
};

/// Each engine's `step`, `sequence`, `request` and `layer` by architecture, by least mean loss of
/// log errors; the measurements of one quantity, source, accelerator and model count together by the
/// root of their number. Nothing is drawn below zero, and a little to it, so that what rows do not
/// decide is not there. A source left out leaves engines that no other measured as the others of
/// their age. Nothing where `progress` stops it.
std::optional<HostFit> fit_hosts(const std::vector<ServedCase>& cases,
                                 const std::vector<Engine>& start, int threads,
                                 const Progress& progress = {});

/// A line for each source and quantity: errors of all rows' constants, and of those without it.
std::string to_text(const HostFit& fit, const std::vector<ServedCase>& cases);
/// The text of data/serving/engines.toml, `current`, with the lines renewed that a fit decides.
std::string renewed_engines(const std::string& current, const HostFit& fit,
                            const std::vector<ServedCase>& cases, const std::string& date);

}  // namespace headway
