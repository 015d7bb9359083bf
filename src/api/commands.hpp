// The requests of the commands, and what makes of each the text to print.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "platform/parallel.hpp"
#include "platform/shard.hpp"
#include "report/problems.hpp"
#include "run/run.hpp"
#include "simulate/collectives/question.hpp"
#include "study/budget/question.hpp"
#include "study/lifetime/assumptions.hpp"
#include "study/limits/question.hpp"
#include "study/sweep/question.hpp"

namespace headway {

/// Shows how an answer begins, while the rest is worked out: the beginning of a text, which is not
/// printed again, or a whole document that holds less.
using Begun = std::function<void(const std::string& text)>;

struct CommandOutput {
  std::string text = {};   // for stdout, behind what was shown already
  Problems problems = {};  // if any, nothing is for stdout and the exit code is 2
  int exit_code = 0;       // 0 done, 1 no feasible answer
  Problems warnings = {};  // for stderr beside the text: what could not be read, and is not in it
};

/// A name, or what stands in place of it: described in a document.
struct NameOrDescription {
  std::string name;
  std::optional<Document> described;
};

struct PredictRequest {
  std::string run_file;   // or a framework's configuration; empty: none
  RunRequest fields;      // flags; they override the file
  std::string save;       // empty: none
  std::string emit;       // a name of kLaunchers: print its configuration instead; empty: none
  bool timeline = false;  // the slots of the pipeline, in JSON
  bool ops = false;       // the op table
  bool json = false;
};
CommandOutput run_predict(const PredictRequest& request);
/// The fields of a run that a text says: a launch script, a framework's configuration or a run
/// file.
CommandOutput run_given(const std::string& text);

struct PlanRequest {
  std::string run_file;            // empty: none
  RunRequest fields;               // flags of the run; they override the file
  std::vector<std::string> fixed;  // "tp=8": searched fields that stand there
  RunRequest most;                 // searched fields that are at most that
  std::string objective = "time";  // a name of kObjectiveNames
  std::string headroom;            // "10%" of the memory stays free; empty: nothing
  std::size_t top = 5;             // layouts of different kind
  bool exhaustive = false;         // price everything
  std::string emit;                // a name of kLaunchers: print the configuration of the
                                   // best layout instead; empty: none
  std::string save;                // run file of the best layout; empty: none
  std::string plot;                // folder for drawings; empty: none
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // stops the search where it says so
  Begun begun = {};        // the best layouts, before what follows from them; not where a file can
                           // go wrong behind it
  Division division = {};  // of the space
};
/// The best layouts of a run on a number of accelerators.
CommandOutput run_plan(const PlanRequest& request);
struct Plan;  // study/plan/plan.hpp
/// The same as a value. `found`: told of it before what follows from the best layouts.
Result<Plan> make_plan(const PlanRequest& request, std::function<void(const Plan&)> found = {});

struct CommsRequest {
  std::vector<std::string> files;     // a run file (.toml), or traces
  std::vector<std::string> traces;    // traces beside a run
  std::vector<std::string> compare;   // two recordings, before and after; empty: none
  RunRequest fields;                  // flags of the run; they override the file
  std::string csv;                    // file for the calls; empty: none
  std::string csv_steps;              // file for measured steps; empty: none
  std::string csv_kernels;            // file for measured kernels; empty: none
  std::string save;                   // SQLite file for what was measured; empty: none
  std::string plot;                   // folder for drawings; empty: none
  std::string small;                  // "16 KiB": messages below it are small; empty: by their time
  bool study = false;                 // the communication study instead of one run
  std::string report;                 // folder of communication.md, to be renewed; empty: none
  std::vector<std::string> clusters;  // the run on each of them; empty: on its own
  double trace_steps = 0;             // optimiser steps in the traces; 0: to be found out
  std::string steps;                  // "10..20": of the traces alone; empty: all
  bool timeline = false;              // with JSON: everything that traces hold in its place
  bool json = false;
  Progress progress = {};  // told of bytes of traces; stops the command where it says so
};
/// With a run, its expected calls; with traces, those measured; with both, the two compared.
CommandOutput run_comms(const CommsRequest& request);

struct AdviseRequest {
  std::string run_file;             // empty: none
  RunRequest fields;                // flags of the run; they override the file
  std::vector<std::string> traces;  // of the run
  double trace_steps = 0;           // optimiser steps in them; 0: to be found out
  std::string steps;                // "10..20": of the traces alone; empty: all
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // told of bytes of traces; stops the command where it says so
};
/// The changes that bring a run most, by its own trace.
CommandOutput run_advise(const AdviseRequest& request);

struct LimitsRequest : LimitsQuestion {
  BudgetQuestion machine;  // machine and layout under a budget, where it asks for anything
  bool explain = false;
  bool sensitivity = false;
  bool smooth = false;  // with the limits that change smoothly
  std::string rows;     // file for the models as CSV; empty: none
  std::string plot;     // folder for drawings; empty: none
  std::string report;   // folder of limits.md, to be renewed; empty: none
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // told of models; with `report` of tables
  Division division = {};  // of the numbers of `sensitivity`
};
CommandOutput run_limits(const LimitsRequest& request);
/// Machine and layout under a budget (src/api/budget).
CommandOutput run_limits_budget(const LimitsRequest& request,
                                const std::vector<limits::Setting>& settings);

struct ScaleRunRequest {
  std::string run_file;  // empty: none
  RunRequest fields;     // flags of the run and of scale_run_fields(); they override the file
  std::string csv;       // file for the series over accelerators; empty: none
  std::string plot;      // folder for drawings; empty: none
  std::string phases;    // file of a run in phases; empty: none
  std::optional<Document> phases_here;  // the same in place
  bool json = false;
};
/// A run in phases, each in the layout that pays (src/api/laws).
CommandOutput run_scale_phases(const ScaleRunRequest& request);
/// A whole training run: days, accelerator-hours, energy, money, CO2.
CommandOutput run_scale_run(const ScaleRunRequest& request);

struct ScaleSweepRequest {
  SweepAxis axis = SweepAxis::weak;
  std::string run_file;  // empty: none
  RunRequest fields;     // flags of the run, its assumptions and the axis; they override the file
  std::string csv;       // file for the points; empty: none
  std::string plot;      // folder for drawings; empty: none
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // told of points; stops the command where it says so
  Division division = {};  // of the points whose best layout is looked for
};
/// One run along one axis: throughput, power, cost, and what more of it brings.
CommandOutput run_scale_sweep(const ScaleSweepRequest& request);

struct ScalePublishedRequest {
  std::string report;  // folder of scaling.md, whose tables and plots are renewed; empty: none
  bool json = false;
};
/// Published whole runs beside what is predicted of them.
CommandOutput run_scale_published(const ScalePublishedRequest& request);

struct SimulateStepRequest {
  std::string run_file;                 // empty: none
  RunRequest fields;                    // flags of the run; they override the file
  std::string perfetto;                 // file for the timeline, as Perfetto reads it; empty: none
  std::string chrome;                   // the same as Chrome's JSON
  std::vector<std::string> algorithms;  // "tp.all_reduce=ring"
  RunRequest ranks;                     // of ranks_fields(): what makes them differ
  std::string chakra;                   // folder for Chakra's traces, one a rank; empty: none
  bool timeline = false;                // everything in its place, in JSON
  bool json = false;
  int threads = 0;  // 0: all cores
};
/// The step of a run placed in time, beside its forecast.
CommandOutput run_simulate_step(const SimulateStepRequest& request);

struct SimulateCodesignRequest {
  std::string run_file;                 // empty: none
  RunRequest fields;                    // flags of the run; they override the file
  std::vector<std::string> algorithms;  // of the run as it is
  std::vector<std::string> choices;     // "compression=powersgd:4"; empty: the usual ones
  bool json = false;
};
/// What each choice about communication brings, alone and together.
CommandOutput run_simulate_codesign(const SimulateCodesignRequest& request);

struct SimulatePipelineRequest {
  RunRequest fields;   // of simulate_pipeline_fields()
  std::string stages;  // file of the times of each stage; empty: all are alike
  std::string svg;     // file for the timeline; empty: none
  bool json = false;
};
/// A schedule of a pipeline placed in time.
CommandOutput run_simulate_pipeline(const SimulatePipelineRequest& request);

struct SimulateReplayRequest {
  std::string file;      // of measured passes
  std::string ops;       // the same as text, instead
  std::string transfer;  // between stages, "1 ms"; empty: by their passes
  bool json = false;
};
/// Measured pipelines run again, as they were and as they might have been.
CommandOutput run_simulate_replay(const SimulateReplayRequest& request);

struct SimulateNetworkRequest {
  std::string file;                 // of links and flows
  std::optional<Document> network;  // the same in place, instead
  bool bounded = false;             // no more flows than kMostBoundedFlows
  bool json = false;
};
/// Flows over links that they share.
CommandOutput run_simulate_network(const SimulateNetworkRequest& request);

struct SimulateCollectiveRequest : network::CollectiveText {
  NameOrDescription on;  // the topology
  bool bounded = false;  // no more ranks than kMostBoundedRanks
  bool json = false;
};
/// One collective over a topology.
CommandOutput run_simulate_collective(const SimulateCollectiveRequest& request);

struct SimulateRecordingRequest {
  std::vector<std::string> files;      // traces of one run
  network::CollectiveText on;          // the network's topology; empty: none
  std::optional<std::string> cluster;  // instead
  bool json = false;
  Progress progress = {};  // told of bytes of traces; stops the command where it says so
};
/// A recorded step run again, as it was and on another network.
CommandOutput run_simulate_recording(const SimulateRecordingRequest& request);

/// What can be listed: models, clusters, accelerators, machines (of the limits study), fields of a
/// run, schemas of requests and answers (JSON Schema, of who runs the program).
std::vector<std::string> list_kinds();
/// `what`: one of them.
CommandOutput run_list(std::string_view what, bool json);

/// What can be measured besides the signature.
std::vector<std::string> bench_kinds();
struct BenchRequest {
  std::string what;  // kernels, collectives, limits; empty: the signature
  bool signature = false;
  std::string data;       // folder with measurements/; empty: those that the binary carries
  bool left_out = false;  // of collectives: each system by constants fitted without it, too
  std::string report;     // folder of models/collectives.md, to be renewed; empty: none
  bool json = false;
  int threads = 0;  // 0: all cores
};
CommandOutput run_bench(const BenchRequest& request);

struct ValidateRequest {
  std::vector<std::string> corpora;  // files of one kind; none: training.csv of the measurements
  std::string cluster;               // on which measured collectives ran; empty: as they say
  std::string by = "source";         // a name of kValidateByNames
  std::string rows;                  // file for the rows as CSV; empty: none
  bool rows_in_document = false;     // with json: the rows as well
  std::string report;                // folder of validation.md, to be renewed; empty: none
  std::string data;                  // folder with measurements/; empty: those of the binary
  bool runs = false;                 // published runs instead; report: of flagship.md
  Division division = {};            // of rows of measured serving
  std::string calibration;           // what own runs say; empty: none
  bool json = false;
  int threads = 0;         // 0: all cores
  Progress progress = {};  // told of rows; stops the command where it says so
};
CommandOutput run_validate(const ValidateRequest& request);

struct InferRequest {
  std::string run_file;            // of serving; empty: none
  std::string requests, arrivals;  // files of lengths and of moments; empty: none
  std::string plot;                // folder for drawings; empty: none
  Division division = {};          // of the ways of `best` that are placed in time
  RunRequest fields;               // of serving_fields(); they override the file
  bool bounded = false;            // nothing that takes minutes
  bool ops = false;                // the op tables of both passes
  bool json = false;
  int threads = 0;  // 0: all cores
  Progress progress =
      {};  // told of splits, or of loads of a curve; stops the search where it says so
};
/// What serving a model takes; exit code 1 where it does not fit.
CommandOutput run_infer(const InferRequest& request);

struct DesignRequest {
  std::vector<std::string> words;  // a run file at most, and more axes
  RunRequest fields;               // flags of the run, or of what is served; they override the file
  std::vector<std::string> vary;   // "memory=hbm3,hbm4", "bandwidth=1TB/s..16TB/s:9"
  std::string csv;                 // file for the machines; empty: none
  std::string plot;                // folder for drawings; empty: none
  bool bounded = false;            // nothing that takes minutes
  bool json = false;
  Progress progress = {};  // told of machines; stops the command where it says so
};
/// What which part of a machine brings.
CommandOutput run_design(const DesignRequest& request);

struct JobsRequest {
  std::string stream_file;              // empty: none
  std::optional<Document> stream = {};  // the same in place, instead
  std::string arrivals;                 // a table of when jobs come; empty: none
  std::string replay;                   // a table of jobs to decide anew; empty: none
  std::string profile;                  // of one more model; empty: none
  bool as_published = false;
  std::vector<std::string> policies;  // instead of the file's
  std::optional<std::int64_t> seeds;
  std::string plot;      // folder for drawings; empty: none
  bool bounded = false;  // nothing that takes minutes
  bool json = false;
  int threads = 0;
  Progress progress = {};  // told of streams; stops the command where it says so
};
/// A stream of jobs on one machine, under policies.
CommandOutput run_jobs(const JobsRequest& request);

struct CalibrateRequest {
  std::string what;    // kernels, collectives, steps, intervals, serving, ...; empty: steps
  std::string data;    // folder with measurements/; empty: those that the binary carries
  bool write = false;  // renew the constants in `data`, empty: in the folder data of a checkout,
                       // from the measurements there
  bool json = false;
  std::string date;                  // as 2026-11-21, stated in what is written
  std::vector<std::string> runs;     // files of measured steps of one's own; empty: none
  std::vector<std::string> entries;  // of steps: only these are renewed; empty: all
  std::string steps;  // file of steps to a target by the batch, of one's own; empty: none
  std::string rows;   // of intervals: a table of the runs that were left out; empty: none
  // Of serving: files of measured kernels and of measured serving, and whether to fit without each
  // source, accelerator and size.
  std::string kernels, corpus;
  bool left_out = false;
  std::string report;  // folder of documents whose tables are renewed; empty: none
  // Of one cluster's collectives alone.
  std::vector<std::string> logs;   // benchmarks or traces measured on it; empty: none
  std::string cluster;             // a name or a file
  std::string output;              // file to write, of the cluster or the runs; empty: to stdout
  std::int64_t gpus_per_node = 0;  // 0: as the logs list hosts, else as the cluster has
  int threads = 0;                 // 0: one a core
  Progress progress = {};
};
CommandOutput run_calibrate(const CalibrateRequest& request);

}  // namespace headway
