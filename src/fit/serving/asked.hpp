// What a row of measured serving asks: the serving and its requests, as a prediction takes them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fit/serving/serving.hpp"
#include "study/infer/apart.hpp"

namespace headway {

struct AskedServing {
  Serving serving;
  std::optional<ServingApart> apart;  // prefill and decode, where it is
  Load load;
  std::shared_ptr<const ServingConstants> constants;
  bool fitted = true;         // constants are, on such rows
  double cold = 0;            // [INFER-37] requests that wait for the engine's first passes, of all
  std::string start{kUsual};  // how its release starts, of Engine::starts
  bool full = false;          // a first pass is as long as steps get: all clients' prompts fill it
  bool pooled = false;        // its memory is what the engine took at once, whatever it needs
  bool at_capacity = false;   // the row states no batch: as many as memory holds
  /// [INFER-35] Of a batch that memory does not hold at once: whoever finds no room waits.
  bool in_turns = false;
};

/// A row, and what it asks; nothing where it is skipped.
struct ServedCase {
  ServedRow row;  // as measured
  std::optional<AskedServing> asked;
};

/// Every row of a file; missing columns are problems of the file.
Result<std::vector<ServedCase>> read_serving(const Csv& csv);

/// What requests wait in the mean for an engine that has just been started.
Seconds cold_time(const AskedServing& asked, const Engine& engine);

Served served(const AskedServing& asked);
ServedNumbers numbers_of(const Served& served);
/// As the row has them: of a batch that is answered in turns the time of all of it.
ServedNumbers numbers_of(const AskedServing& asked, const Served& served, const Engine& engine);
/// ServedRow::of_capacity, by the constants in force.
std::optional<double> share_of_capacity(const AskedServing& asked);

}  // namespace headway
