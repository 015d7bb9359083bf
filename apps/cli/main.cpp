// The command line: reads arguments, asks the library, prints. No formula stands here.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>

#include "../server/serve.hpp"
#include "api/commands.hpp"
#include "progress.hpp"

namespace {

using headway::CommandOutput;

// What every command takes.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
};

void add_common(CLI::App& command, Common& common) {
  command.add_flag("--json", common.json, "print one JSON document and nothing else");
  command.add_flag("--quiet", common.quiet, "no progress");
  command.add_option("--threads", common.threads, "threads to use; default: all cores")
      ->check(CLI::Range(0, 1024));
}

// The fields of a run as flags. Values stay text: the library reads them and reports all problems.
void add_fields(CLI::App& command, headway::RunRequest& request,
                std::span<const headway::RunField> fields) {
  for (const headway::RunField& field : fields) {
    const std::string flag = "--" + std::string(field.name);
    const std::string name(field.name);
    if (field.value.empty()) {
      command.add_flag_callback(
          flag,
          [&request, name] {
            request.push_back({name, "true"});
          },
          std::string(field.help));
    } else {
      command
          .add_option_function<std::string>(
              flag,
              [&request, name](const std::string& text) {
                request.push_back({name, text});
              },
              std::string(field.help))
          ->type_name(std::string(field.value));
    }
  }
}

const char* sweep_help(headway::SweepAxis axis) {
  switch (axis) {
    case headway::SweepAxis::weak:
      return "more accelerators, each with as much of the batch";
    case headway::SweepAxis::strong:
      return "more accelerators for the same batch";
    case headway::SweepAxis::model:
      return "larger models";
    case headway::SweepAxis::context:
      return "longer sequences";
    case headway::SweepAxis::hardware:
      return "generations of hardware, on their own and on the same network";
    case headway::SweepAxis::network:
      return "bandwidth, latency and NVLink domains";
    case headway::SweepAxis::layout:
      return "pure data parallelism against tensor, context and pipeline degrees";
  }
  return "";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

int print(const CommandOutput& output) {
  if (!output.problems.empty()) {
    std::fputs(headway::problems_text(output.problems).c_str(), stderr);
    return 2;
  }
  std::fputs(headway::warnings_text(output.warnings).c_str(), stderr);
  std::fputs(output.text.c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("headway: stdout: cannot be written\n", stderr);
    return 2;
  }
  return output.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Headway: how long a training step takes, where the time goes, whether it fits.");
  app.name("headway");
  app.require_subcommand(1);
  app.set_version_flag("--version", "headway " HEADWAY_VERSION);
  CommandOutput output;

  Common common;
  headway::PredictRequest predict;
  CLI::App* predict_command =
      app.add_subcommand("predict", "time, memory, calls and energy of one training step");
  predict_command->add_option(
      "RUN", predict.run_file,
      "a run file, or a configuration: Megatron-LM script, torchtitan .toml, DeepSpeed .json, "
      "nanotron .yaml; flags override its fields");
  add_fields(*predict_command, predict.fields, headway::run_fields());
  predict_command->add_option("--save", predict.save, "write the run to this file as well")
      ->type_name("RUN.toml");
  predict_command
      ->add_option("--emit", predict.emit,
                   "print the configuration that starts the run: megatron, torchtitan, deepspeed, "
                   "nanotron")
      ->type_name("NAME");
  add_common(*predict_command, common);
  predict_command->footer(
      "Example:\n  headway predict --model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 "
      "\\\n"
      "    --global-batch 128 --tp 8 --pp 2 --vpp 5 --recompute selective");
  predict_command->callback([&] {
    predict.json = common.json;
    output = headway::run_predict(predict);
  });

  headway::CommsRequest comms;
  CLI::App* comms_command = app.add_subcommand(
      "comms", "the calls of a step: expected, measured from traces, or both compared");
  comms_command->add_option("FILE", comms.files,
                            "a run file (.toml), or traces of one run, of any known format");
  comms_command
      ->add_option("--trace", comms.traces, "traces to compare with what the run is expected to do")
      ->type_name("TRACE");
  comms_command
      ->add_option("--trace-steps", comms.trace_steps,
                   "steps in the traces; default: found by marks, counts or repetition")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  add_fields(*comms_command, comms.fields, headway::run_fields());
  comms_command->add_option("--csv", comms.csv, "write the calls to this file")
      ->type_name("OUT.csv");
  comms_command->add_option("--save", comms.save, "write what was measured to a database")
      ->type_name("RUN.sqlite");
  comms_command->add_option("--plot", comms.plot, "draw to this folder")->type_name("DIR");
  comms_command
      ->add_option("--small", comms.small,
                   "messages below this size are small; default: where latency is more than half "
                   "of the time")
      ->type_name("SIZE");
  comms_command->add_flag("--study", comms.study,
                          "the communication study: GPT-NeoX 19M to 13B on Frontier");
  comms_command
      ->add_option("--report", comms.report,
                   "renew the generated tables of DIR/communication.md and the plots beside it")
      ->type_name("DIR");
  add_common(*comms_command, common);
  comms_command->footer(
      "Example:\n  headway comms --model gpt-neox-1.3b --cluster frontier --gpus 64 --seq 2048 \\\n"
      "    --global-batch 256 --micro-batch 4 --framework deepspeed --zero 1");
  comms_command->callback([&] {
    comms.json = common.json;
    headway::ProgressLine line("reading", "bytes", common.quiet);
    comms.progress = line.callback();
    output = headway::run_comms(comms);
  });

  headway::LimitsRequest limits;
  CLI::App* limits_command = app.add_subcommand(
      "limits", "how large a training run can become before moving data stops it");
  limits_command->add_option("SETTING.toml", limits.files, "settings of your own");
  limits_command
      ->add_option("--preset", limits.presets,
                   "published comparison: base_dense, base_sparse, grand_dense (default), "
                   "grand_sparse, batch; or beyond, relaxed")
      ->type_name("NAME");
  limits_command
      ->add_option("--gpu", limits.gpus,
                   "a machine of `headway list machines`, or a .toml of your own")
      ->type_name("G");
  limits_command->add_flag("--sparse", limits.sparse, "models with experts in every setting");
  limits_command->add_flag("--as-published", limits.as_published,
                           "with the slip of the study's program, to compare numbers");
  limits_command->add_flag("--explain", limits.explain,
                           "add what binds, what formulas say, and the model's weak points");
  limits_command->add_option("--rows", limits.rows, "write every model's best layout to this file")
      ->type_name("OUT.csv");
  limits_command->add_option("--plot", limits.plot, "draw to this folder")->type_name("DIR");
  limits_command->add_flag("--sensitivity", limits.sensitivity,
                           "how far each number of the machine moves the limits, and which most");
  limits_command->add_flag("--real", limits.real,
                           "beside each setting, real transformers: the prediction of their steps");
  limits_command
      ->add_option("--cluster", limits.cluster,
                   "of --real, a name or .toml; default: what the machine stands for")
      ->type_name("C");
  limits_command->add_option("--seq", limits.sequence, "tokens in a sequence; default: 2048")
      ->check(CLI::Range(1, 100000000));
  limits_command
      ->add_option("--relax", limits.relax,
                   "beside each setting, with less communication: local-sgd, diloco, "
                   "streaming-diloco, powersgd, one-bit-adam, asynchronous, local-updates, "
                   "subnetworks, federated, evolution")
      ->type_name("METHOD");
  limits_command->add_option("--sync-every", limits.sync_every, "steps between meetings");
  limits_command->add_option("--loose-level", limits.loose_level,
                             "level from which outwards replicas meet rarely");
  limits_command->add_option("--compression", limits.compression, "gradient bytes over bytes sent");
  limits_command->add_option("--blocks", limits.blocks, "blocks with losses of their own");
  limits_command->add_option("--submodels", limits.submodels, "submodels trained apart");
  limits_command->add_option("--sample-penalty", limits.sample_penalty,
                             "data needed, times that of synchronous training");
  limits_command->add_option("--sites", limits.sites, "data centres that share the run");
  limits_command
      ->add_option("--site-bandwidth", limits.site_bandwidth,
                   "of one GPU to other sites, \"1 GB/s\" or unlimited")
      ->type_name("B");
  limits_command
      ->add_option("--site-distance", limits.site_distance_km,
                   "between sites: light in glass takes 5 ms for 1000 km")
      ->type_name("KM");
  limits_command
      ->add_option("--report", limits.report,
                   "renew the tables of DIR/limits.md and the drawings beside it")
      ->type_name("DIR");
  add_common(*limits_command, common);
  limits_command->footer("Example:\n  headway limits --gpu h100-sxm --gpu gb200-nvl72 --explain");
  limits_command->callback([&] {
    limits.json = common.json;
    limits.threads = common.threads;
    headway::ProgressLine line("searching", limits.report.empty() ? "models" : "tables",
                               common.quiet);
    limits.progress = line.callback();
    output = headway::run_limits(limits);
  });

  headway::PlanRequest plan;
  CLI::App* plan_command =
      app.add_subcommand("plan", "the best layout of every legal one, and why it is");
  plan_command->add_option("RUN.toml", plan.run_file, "a run file; flags override its fields");
  add_fields(*plan_command, plan.fields, headway::run_fields());
  plan_command->add_option("--fix", plan.fixed, "keep a searched field at a value, as tp=8")
      ->type_name("NAME=VALUE");
  for (const std::string& name : headway::plan_counts()) {
    const std::string limit = "max-" + name;
    plan_command
        ->add_option_function<std::string>(
            "--" + limit,
            [&plan, name, limit](const std::string& text) {
              plan.most.push_back({name, text, headway::FieldName(limit)});
            },
            "keep " + name + " at most there")
        ->type_name("N");
  }
  plan_command->add_option("--objective", plan.objective,
                           "time (default), throughput, memory, energy, money");
  plan_command->add_option("--headroom", plan.headroom,
                           "share of the memory to leave free, as 10%");
  plan_command->add_option("--top", plan.top, "layouts of different kind; default: 5");
  plan_command->add_flag("--exhaustive", plan.exhaustive, "price every layout, without bounds");
  plan_command->add_option("--emit", plan.emit,
                           "print the configuration of the best: megatron, torchtitan, deepspeed, "
                           "nanotron");
  plan_command->add_option("--save", plan.save, "write the best as a run file")
      ->type_name("OUT.toml");
  plan_command->add_option("--plot", plan.plot, "draw to this folder")->type_name("DIR");
  add_common(*plan_command, common);
  plan_command->footer(
      "Example:\n  headway plan --model llama-3.1-70b --cluster dgx-h100 --gpus 256 --seq 8192 \\\n"
      "    --global-batch 512");
  plan_command->callback([&] {
    plan.json = common.json;
    plan.threads = common.threads;
    headway::ProgressLine line("searching", "layouts", common.quiet);
    plan.progress = line.callback();
    output = headway::run_plan(plan);
  });

  CLI::App* scale_command =
      app.add_subcommand("scale", "how far training scales: whole runs, and what they cost");
  scale_command->require_subcommand(1);
  headway::ScaleRunRequest scale_run;
  CLI::App* scale_run_command = scale_command->add_subcommand(
      "run", "a whole training run: days, accelerator-hours, energy, money, CO2");
  scale_run_command->add_option("RUN.toml", scale_run.run_file,
                                "a run file; flags override its fields");
  add_fields(*scale_run_command, scale_run.fields, headway::scale_run_fields());
  add_fields(*scale_run_command, scale_run.fields, headway::run_fields());
  scale_run_command
      ->add_option("--csv", scale_run.csv, "write the run by accelerators to this file")
      ->type_name("OUT.csv");
  scale_run_command->add_option("--plot", scale_run.plot, "draw to this folder")->type_name("DIR");
  add_common(*scale_run_command, common);
  scale_run_command->footer(
      "Example:\n  headway scale run --tokens 15.6T --model llama-3.1-405b --cluster dgx-h100 \\\n"
      "    --gpus 16384 --seq 8192 --global-batch 2048 --tp 8 --pp 16 --vpp 7 --zero 2");
  scale_run_command->callback([&] {
    scale_run.json = common.json;
    output = headway::run_scale_run(scale_run);
  });
  const std::string scale_example =
      " --model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 \\\n    --global-batch 128 "
      "--framework fsdp";
  std::array<headway::ScaleSweepRequest, headway::kSweepNames.size()> sweeps;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    headway::ScaleSweepRequest& sweep = sweeps[i];
    sweep.axis = static_cast<headway::SweepAxis>(i);
    const std::string name(headway::kSweepNames[i]);
    CLI::App* command = scale_command->add_subcommand(name, sweep_help(sweep.axis));
    command->add_option("RUN.toml", sweep.run_file, "a run file; flags override its fields");
    add_fields(*command, sweep.fields, headway::scale_sweep_fields(sweep.axis));
    add_fields(*command, sweep.fields, headway::scale_run_fields());
    add_fields(*command, sweep.fields, headway::run_fields());
    command->add_option("--csv", sweep.csv, "write the points to this file")->type_name("OUT.csv");
    command->add_option("--plot", sweep.plot, "draw to this folder")->type_name("DIR");
    add_common(*command, common);
    command->footer("Example:\n  headway scale " + name + scale_example);
    command->callback([&sweep, &common, &output] {
      sweep.json = common.json;
      sweep.threads = common.threads;
      output = headway::run_scale_sweep(sweep);
    });
  }
  headway::ScalePublishedRequest scale_published;
  CLI::App* scale_published_command = scale_command->add_subcommand(
      "published", "published whole runs beside what is predicted of them");
  scale_published_command
      ->add_option("--report", scale_published.report,
                   "renew the generated tables of DIR/scaling.md and the plots beside it")
      ->type_name("DIR");
  add_common(*scale_published_command, common);
  scale_published_command->footer("Example:\n  headway scale published");
  scale_published_command->callback([&] {
    scale_published.json = common.json;
    output = headway::run_scale_published(scale_published);
  });

  std::string listed;
  CLI::App* list_command =
      app.add_subcommand("list", "built-in models, clusters, accelerators, machines");
  list_command->add_option("WHAT", listed, "models, clusters, accelerators or machines (of limits)")
      ->required();
  add_common(*list_command, common);
  list_command->footer("Example:\n  headway list models");
  list_command->callback([&] { output = headway::run_list(listed, common.json); });

  headway::BenchRequest bench;
  CLI::App* bench_command =
      app.add_subcommand("bench", "the digest of fixed cases, and errors of the cost models");
  bench_command->add_option("WHAT", bench.what, "kernels, collectives, limits or plan");
  bench_command->add_flag("--signature", bench.signature, "digest of the fixed cases");
  bench_command
      ->add_option("--data", bench.data, "folder with measurements/; default: those built in")
      ->type_name("DIR");
  add_common(*bench_command, common);
  bench_command->footer("Example:\n  headway bench --signature");
  bench_command->callback([&] {
    bench.threads = common.threads;
    output = headway::run_bench(bench);
  });

  headway::ValidateRequest validate;
  CLI::App* validate_command =
      app.add_subcommand("validate", "predict measured runs and report the error");
  validate_command
      ->add_option("--corpus", validate.corpora,
                   "measured runs, given once or more; default: the built-in ones")
      ->type_name("FILE.csv");
  validate_command
      ->add_option("--by", validate.by,
                   "source (default), accelerator, framework, scale, parallelism")
      ->type_name("WHAT");
  validate_command->add_option("--rows", validate.rows, "write every row to this file")
      ->type_name("OUT.csv");
  validate_command
      ->add_option("--report", validate.report,
                   "renew the generated tables of DIR/validation.md and the plots beside it")
      ->type_name("DIR");
  validate_command
      ->add_option("--data", validate.data, "folder with measurements/; default: those built in")
      ->type_name("DIR");
  add_common(*validate_command, common);
  validate_command->footer("Example:\n  headway validate --by source");
  validate_command->callback([&] {
    validate.json = common.json;
    validate.threads = common.threads;
    headway::ProgressLine line("predicting", "rows", common.quiet);
    validate.progress = line.callback();
    output = headway::run_validate(validate);
  });

  headway::CalibrateRequest calibrate;
  CLI::App* calibrate_command =
      app.add_subcommand("calibrate", "fit the cost models to measurements");
  calibrate_command->add_option("WHAT", calibrate.what,
                                "steps (default), intervals, kernels, collectives");
  calibrate_command
      ->add_option("--data", calibrate.data, "folder with measurements/; default: those built in")
      ->type_name("DIR");
  calibrate_command->add_flag("--write", calibrate.write,
                              "renew DIR/calibration/*.toml of a checkout; default: data");
  calibrate_command
      ->add_option("--collectives", calibrate.logs,
                   "fit a cluster's network on nccl-tests or OSU logs, or traces, of it")
      ->type_name("LOG...");
  calibrate_command->add_option("--cluster", calibrate.cluster, "the cluster of the logs")
      ->type_name("C");
  calibrate_command
      ->add_option("--output", calibrate.output, "write the fitted cluster; default: print it")
      ->type_name("OUT.toml");
  calibrate_command
      ->add_option("--gpus-per-node", calibrate.gpus_per_node,
                   "ranks on a node where a log lists no hosts; default: as the cluster has")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  add_common(*calibrate_command, common);
  calibrate_command->footer(
      "Examples:\n  headway calibrate steps\n"
      "  headway calibrate --cluster dgx-a100-40gb --output mine.toml --collectives *.log");
  calibrate_command->callback([&] {
    calibrate.date = today();
    calibrate.threads = common.threads;
    calibrate.json = common.json;
    headway::ProgressLine line("fitting", "times", common.quiet);
    calibrate.progress = line.callback();
    output = headway::run_calibrate(calibrate);
  });

  headway::ServeOptions serve;
  CLI::App* serve_command =
      app.add_subcommand("serve", "the page and the API on a port of this machine");
  serve_command->add_option("--port", serve.port, "default: 8080; 0: any free one")
      ->check(CLI::Range(0, 65535));
  serve_command
      ->add_option("--host", serve.site.host,
                   "address to listen on; default: 127.0.0.1, which only this machine reaches")
      ->type_name("ADDRESS");
  serve_command
      ->add_option("--data", serve.site.data,
                   "folder with measurements/, for validate; default: those built in")
      ->type_name("DIR");
  serve_command
      ->add_option("--page", serve.site.page, "serve the page of this folder, not the built-in one")
      ->type_name("DIR");
  serve_command
      ->add_option("--threads", serve.site.threads,
                   "threads for one piece of long work; default: all cores")
      ->check(CLI::Range(0, 1024));
  serve_command->add_flag("--quiet", serve.quiet, "do not print the address");
  serve_command->footer("Example:\n  headway serve --port 8080");
  bool serves = false;
  serve_command->callback([&] { serves = true; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "headway: %s\n%s",
                 headway::argument_problem(error.what(), argc, argv).c_str(),
                 "See headway COMMAND --help.\n");
    return 2;
  }
  if (serves) return headway::serve(serve);
  if (headway::ProgressLine::interrupted() && !output.problems.empty()) {
    headway::end_interrupted();
  }
  return print(output);
}
