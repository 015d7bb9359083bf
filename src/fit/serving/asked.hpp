// What a row of measured serving asks: the serving and its requests, as a prediction takes them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
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

/// What a row of a benchmark asks whose run was tuned: on each accelerator alone, until the best
/// split of all is chosen [INFER-38].
class TunedServing {
 public:
  /// The best split, and what it serves.
  struct Best {
    AskedServing asked;
    Served served;
  };

  /// `steps`: tokens of one, any of them; `share`: of random requests that keep to the load's
  /// limits, 0: all are there at once.
  TunedServing(AskedServing alone, std::int64_t accelerators, std::vector<std::int64_t> steps,
               double share)
      : alone_(std::move(alone)),
        accelerators_(accelerators),
        steps_(std::move(steps)),
        share_(share) {}

  /// Searched for once, whoever asks first; nothing where no split serves it.
  const std::optional<Best>& best() const;

 private:
  AskedServing alone_;
  std::int64_t accelerators_ = 1;
  std::vector<std::int64_t> steps_;
  double share_ = 0;
  mutable std::once_flag once_;
  mutable std::optional<Best> best_;
};

/// A row, and what it asks, of a split of its own or of the best; nothing where it is skipped.
struct ServedCase {
  ServedRow row;  // as measured
  std::optional<AskedServing> asked{};
  std::shared_ptr<const TunedServing> tuned{};  // rows that ask the same share it
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
