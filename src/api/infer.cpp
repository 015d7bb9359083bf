// infer: what serving a model takes.
#include "report/infer/infer.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "report/infer/curve.hpp"
#include "study/infer/question/options.hpp"
#include "study/infer/question/question.hpp"

namespace headway {
namespace {

CommandOutput stopped() {
  return {.problems = {{"infer", "was stopped", Trouble::stopped}}};
}

CommandOutput best_of(const ServingQuestion& asked, const ServingConstants& constants,
                      const InferRequest& request) {
  const auto best = best_offers(asked.serving, constants, asked.load, asked.gpus, request.threads,
                                request.progress);
  if (!best) return stopped();
  return {.text = request.json ? infer_best_json(asked.serving, asked.load, asked.gpus, *best)
                               : infer_best_text(asked.serving, asked.load, asked.gpus, *best),
          .exit_code = best->front.empty() ? 1 : 0};
}

CommandOutput curve_of(const ServingQuestion& asked, const ServingConstants& constants,
                       const InferRequest& request) {
  const auto curve = load_curve(asked.serving, constants, asked.load, *asked.curve, request.threads,
                                request.progress);
  if (!curve) return stopped();
  return {.text = request.json ? infer_curve_json(asked.serving, asked.load, *curve)
                               : infer_curve_text(asked.serving, asked.load, *curve),
          .exit_code = curve->points.empty() ? 1 : 0};
}

}  // namespace

CommandOutput run_infer(const InferRequest& request) {
  // What is served and what is asked of it, or everything that is wrong with either.
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};
  const auto asked =
      read_serving(*fields, request.bounded ? Asker::another : Asker::whoever_runs_it);
  if (!asked) return {.problems = asked.problems()};
  const auto constants = serving_constants(asked->serving.cluster);
  if (!constants) return {.problems = constants.problems()};

  // Every way of serving it on so many, or one way under ever more load.
  if (asked->best) return best_of(*asked, *constants, request);
  if (asked->curve) return curve_of(*asked, *constants, request);

  // Its passes in time, and what requests get of them.
  const Served answer = served(asked->serving, *constants, asked->load);
  return {.text = request.json ? infer_json(asked->serving, asked->load, answer)
                               : infer_text(asked->serving, asked->load, answer),
          .exit_code = answer.fits && answer.stable() ? 0 : 1};
}

Command infer_command() {
  auto request = std::make_shared<InferRequest>();
  Command out{.name = "infer",
              .help = "serving a model: time to the first token and of each after it, tokens/s",
              .examples = {"headway infer --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16"},
              .run = running(request, run_infer),
              .is_long = true,
              .doing = "searching",
              .things = "parts"};
  out.options = {operand("SERVING.toml", "a run file of serving; flags override its fields",
                         &request->run_file)};
  add_fields(out.options, request->fields, serving_fields(),
             {"model", "cluster", "input-len", "output-len"});
  return out;
}

}  // namespace headway
