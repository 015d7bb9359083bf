// One line of progress on a terminal, and Ctrl-C as an orderly stop.
#pragma once

#include <chrono>
#include <string>

#include "platform/parallel.hpp"

namespace headway {

/// Shows "predicting 3,000 of 10,000 rows, 1,500 a second, 5 s left" on stderr where that is a
/// terminal, at most ten times a second and not before half a second has passed; erased in the end.
/// While it lives, Ctrl-C only sets a flag, so that the work is stopped between two pieces and no
/// file is left half written.
class ProgressLine {
 public:
  ProgressLine(std::string doing, std::string things, bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// To hand to the library; valid as long as this lives.
  Progress callback();
  static bool interrupted();
  /// Until it is shown again: something else is written.
  void erase();

 private:
  bool show(std::size_t done, std::size_t of);

  std::string doing_, things_;
  bool visible_, shown_ = false;
  std::chrono::steady_clock::time_point begun_, next_;
};

/// Ends the program as Ctrl-C does without a handler, so that a calling shell knows.
[[noreturn]] void end_interrupted();

}  // namespace headway
