// The commands: from a request to the text to print. The one door for the command line.
#pragma once

#include <string>
#include <string_view>

#include "api/run.hpp"
#include "base/parallel.hpp"
#include "base/result.hpp"

namespace headway {

struct CommandOutput {
  std::string text = {};   // for stdout
  Problems problems = {};  // if any, nothing is for stdout and the exit code is 2
  int exit_code = 0;       // 0 done, 1 no feasible answer
};

struct PredictRequest {
  std::string run_file;  // empty: none
  RunRequest fields;     // flags; they override the file
  std::string save;      // empty: none
  bool json = false;
};
CommandOutput run_predict(const PredictRequest& request);

struct CommsRequest {
  std::vector<std::string> files;   // a run file (.toml), or traces
  std::vector<std::string> traces;  // traces beside a run
  RunRequest fields;                // flags of the run; they override the file
  std::string csv;                  // file for the calls; empty: none
  std::string save;                 // SQLite file for what was measured; empty: none
  std::string plot;                 // folder for drawings; empty: none
  bool json = false;
};
/// With a run, its expected calls; with traces, those measured; with both, the two compared.
CommandOutput run_comms(const CommsRequest& request);

struct ScaleRunRequest {
  std::string run_file;  // empty: none
  RunRequest fields;     // flags of the run and of scale_run_fields(); they override the file
  std::string csv;       // file for the series over accelerators; empty: none
  std::string plot;      // folder for drawings; empty: none
  bool json = false;
};
/// What `scale run` takes besides the fields of a run, which may stand in a run file as well.
std::span<const RunField> scale_run_fields();
/// A whole training run: days, accelerator-hours, energy, money, CO2.
CommandOutput run_scale_run(const ScaleRunRequest& request);

struct ScalePublishedRequest {
  std::string report;  // folder of scaling.md, whose table is renewed; empty: none
  bool json = false;
};
/// Published whole runs beside what is predicted of them.
CommandOutput run_scale_published(const ScalePublishedRequest& request);

/// `what`: models, clusters or accelerators.
CommandOutput run_list(std::string_view what, bool json);

struct BenchRequest {
  std::string what;  // kernels, collectives; empty: the signature
  bool signature = false;
  std::string data = "data";
};
CommandOutput run_bench(const BenchRequest& request);

struct ValidateRequest {
  std::vector<std::string> corpora;  // files; none: the corpus in `data`
  std::string by = "source";         // a name of kValidateByNames
  std::string rows;                  // file for the rows as CSV; empty: none
  std::string report;                // folder of validation.md, to be renewed; empty: none
  std::string data = "data";
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // told of rows; stops the command where it says so
};
CommandOutput run_validate(const ValidateRequest& request);

struct CalibrateRequest {
  std::string what = "steps";  // kernels, collectives, steps, intervals
  std::string data = "data";
  bool write = false;
  bool json = false;
  std::string date;  // as 2026-11-21, stated in what is written
  int threads = 0;   // 0: one a core
  Progress progress = {};
};
CommandOutput run_calibrate(const CalibrateRequest& request);

/// Problems as text for stderr, one a line, harmless to a terminal.
std::string problems_text(const Problems& problems);

/// What the argument parser said, with the nearest known flag for an unknown one.
std::string argument_problem(const std::string& what, int argc, char** argv);

/// Digest of the forecasts of the fixed cases, 16 hexadecimal digits (DESIGN §4.7).
Result<std::string> signature();

}  // namespace headway
