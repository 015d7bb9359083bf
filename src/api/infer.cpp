// infer: what serving a model takes.
#include "report/infer/infer.hpp"

#include <algorithm>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "platform/output.hpp"
#include "report/infer/curve.hpp"
#include "report/infer/plots.hpp"
#include "study/infer/question/options.hpp"
#include "study/infer/question/question.hpp"
#include "study/infer/search/goodput.hpp"

namespace headway {
namespace {

CommandOutput stopped() {
  return {.problems = {{"infer", "was stopped", Trouble::stopped}}};
}

// The answer, once what was to be drawn is written.
CommandOutput answered(const InferRequest& request, const std::vector<OutputFile>& plots,
                       CommandOutput output) {
  if (request.plot.empty()) return output;
  Problems problems = write_files(plots, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return output;
}

// What would make it fit, each with the accelerators that it takes where so many were asked for.
template <class S>
std::vector<ServingChange> changes_of(const S& serving, const ServingConstants& constants,
                                      const ServingQuestion& asked) {
  std::vector<ServingChange> out = smallest_changes(serving, constants, asked.load);
  for (ServingChange& change : out) {
    if (asked.gpus > 0 && change.ranks != asked.gpus) {
      change.flags.emplace_back("gpus", std::to_string(change.ranks));
    }
  }
  return out;
}

// Of both parts where they are apart.
std::vector<std::string> notes_of(const ServingQuestion& asked, const ServingConstants& constants) {
  if (!asked.apart) return notes_of(asked.serving, constants, asked.load);
  std::vector<std::string> out = notes_of(asked.apart->prefill, constants, asked.load);
  for (std::string& note : notes_of(asked.apart->decode, constants, asked.load)) {
    if (std::find(out.begin(), out.end(), note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

CommandOutput best_of(const ServingQuestion& asked, const ServingConstants& constants,
                      const InferRequest& request) {
  const std::vector<std::string> notes = notes_of(asked, constants);
  const ServedBeside beside{.notes = notes};
  if (asked.disaggregate) {
    const auto apart =
        best_apart(asked.serving, constants, asked.load, asked.space, asked.gpus, asked.streamed,
                   request.division, request.threads, request.progress);
    if (!apart) return {.problems = apart.problems()};
    if (request.division.only) return {};
    const auto plots =
        infer_best_plots(asked.serving, asked.load, asked.gpus, *apart, request.plot);
    return answered(
        request, plots,
        {.text = request.json ? infer_best_apart_json(asked.serving, asked.load, asked.space,
                                                      asked.gpus, *apart, beside)
                              : infer_best_apart_text(asked.serving, asked.load, asked.space,
                                                      asked.gpus, *apart, beside),
         .exit_code = apart->front.empty() ? 1 : 0});
  }
  const auto best = best_offers(asked.serving, constants, asked.load, asked.space, asked.gpus,
                                request.division, request.threads, request.progress);
  if (!best) return {.problems = best.problems()};
  if (request.division.only) return {};
  const auto plots = infer_best_plots(asked.serving, asked.load, asked.gpus, *best, request.plot);
  return answered(request, plots,
                  {.text = request.json ? infer_best_json(asked.serving, asked.load, asked.space,
                                                          asked.gpus, *best, beside)
                                        : infer_best_text(asked.serving, asked.load, asked.space,
                                                          asked.gpus, *best, beside),
                   .exit_code = best->front.empty() ? 1 : 0});
}

CommandOutput curve_of(const ServingQuestion& asked, const ServingConstants& constants,
                       const InferRequest& request) {
  const auto told = [&](const auto& serving) -> CommandOutput {
    const auto curve =
        load_curve(serving, constants, asked.load, *asked.curve, request.threads, request.progress);
    if (!curve) return stopped();
    const std::vector<std::string> notes = notes_of(asked, constants);
    std::vector<ServingChange> changes;
    if (curve->points.empty()) changes = changes_of(serving, constants, asked);
    const ServedBeside beside{.changes = changes, .notes = notes};
    const auto plots = infer_curve_plots(serving, asked.load, *curve, request.plot);
    return answered(request, plots,
                    {.text = request.json ? infer_curve_json(serving, asked.load, *curve, beside)
                                          : infer_curve_text(serving, asked.load, *curve, beside),
                     .exit_code = curve->points.empty() ? 1 : 0});
  };
  return asked.apart ? told(*asked.apart) : told(asked.serving);
}

// Of one way of serving under one load alone.
Problems ops_problems(const InferRequest& request, const RunRequest& fields) {
  if (!request.ops) return {};
  for (const GivenField& field : fields) {
    for (const char* other : {"best", "curve", "prefill", "decode"}) {
      if (field.name != other) continue;
      return {{FieldName("ops"), "are of one way of serving under one load, not of " + field.name}};
    }
  }
  return {};
}

// One way of serving has no parts, and a curve few.
Problems shard_problems(const InferRequest& request, const ServingQuestion& asked) {
  if (!request.division.divided() || asked.best) return {};
  return {{FieldName("shard"), "divides --best alone, which is missing"}};
}

// Of several ways or loads.
Problems plot_problems(const InferRequest& request, const ServingQuestion& asked) {
  if (request.plot.empty() || asked.best || asked.curve) return {};
  return {{FieldName("plot"), "draws what --best or --curve finds"}};
}

// Requests a second of which none meets another.
constexpr double kAlone = 0.01;

std::vector<std::string> notes_within(const ServingQuestion& asked,
                                      const ServingConstants& constants,
                                      std::optional<double> within) {
  std::vector<std::string> out = notes_of(asked, constants);
  if (within == 0.0) {
    out.push_back("so many keep to the limits at no rate: what is told is of " +
                  formatted("%g", asked.load.rate) + " requests a second");
  }
  return out;
}

// Of all copies; nothing where none is asked for.
std::optional<double> rate_of(ServingQuestion& asked, const ServingConstants& constants) {
  if (!asked.goodput) return std::nullopt;
  const double each = asked.apart
                          ? rate_within(*asked.apart, constants, asked.load, *asked.goodput)
                          : rate_within(asked.serving, constants, asked.load, *asked.goodput);
  if (asked.load.rate == 0) asked.load.rate = each > 0 ? each : kAlone;
  if (asked.load.count == 0) asked.load.count = kRequestsAtARate;
  return each * (asked.apart ? 1 : static_cast<double>(asked.serving.dp));
}

}  // namespace

CommandOutput run_infer(const InferRequest& request) {
  // What is served and what is asked of it, or everything that is wrong with either.
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};
  const auto question =
      read_serving(*fields, request.bounded ? Asker::another : Asker::whoever_runs_it,
                   {request.requests, request.arrivals});
  Problems problems = question ? Problems{} : question.problems();
  append(problems, ops_problems(request, *fields));
  if (question) append(problems, plot_problems(request, *question));
  if (question) append(problems, shard_problems(request, *question));
  if (!problems.empty()) return {.problems = std::move(problems)};
  ServingQuestion asked = *question;
  const auto constants = serving_constants(asked.serving.cluster);
  if (!constants) return {.problems = constants.problems()};

  // Every way of serving it on so many, or one way under ever more load.
  if (asked.best) return best_of(asked, *constants, request);
  if (asked.curve) return curve_of(asked, *constants, request);

  // The highest rate that keeps to the limits; that is the load where no rate is said.
  const std::optional<double> within = rate_of(asked, *constants);

  // Its passes in time, and what requests get of them.
  if (asked.apart) {
    ServedApart answer = served(*asked.apart, *constants, asked.load);
    answer.all.rate_within = within;
    const std::vector<std::string> notes = notes_within(asked, *constants, within);
    std::vector<ServingChange> changes;
    if (!answer.all.fits) changes = changes_of(*asked.apart, *constants, asked);
    ServedBeside beside{.changes = changes, .notes = notes};
    if (answer.all.fits && answer.all.stable()) {
      beside.intervals = intervals_of(*asked.apart, *constants, asked.load, answer.all);
    }
    return {.text = request.json ? infer_apart_json(*asked.apart, asked.load, answer, beside)
                                 : infer_apart_text(*asked.apart, asked.load, answer, beside),
            .exit_code = answer.all.fits && answer.all.stable() && within != 0.0 ? 0 : 1};
  }
  Served answer = served(asked.serving, *constants, asked.load);
  answer.rate_within = within;
  ServedIntervals intervals;
  if (answer.fits && answer.stable()) {
    intervals = intervals_of(asked.serving, *constants, asked.load, answer);
    answer.closed = in_closed_form(asked.serving, *constants, asked.load);
  }
  std::optional<PassOps> ops;
  if (request.ops && answer.fits) {
    ops = PassOps{op_table(asked.serving, *constants, answer.prefill_work),
                  op_table(asked.serving, *constants, answer.decode_work)};
  }
  // What would make it fit, where it does not.
  std::vector<ServingChange> changes;
  if (!answer.fits) changes = changes_of(asked.serving, *constants, asked);
  const std::vector<std::string> notes = notes_within(asked, *constants, within);
  const ServedBeside beside{ops ? &*ops : nullptr, changes, notes, intervals};
  return {.text = request.json ? infer_json(asked.serving, asked.load, answer, beside)
                               : infer_text(asked.serving, asked.load, answer, beside),
          .exit_code = answer.fits && answer.stable() && within != 0.0 ? 0 : 1};
}

Command infer_command() {
  auto request = std::make_shared<InferRequest>();
  Command out{.name = "infer",
              .help = "serving a model: time to the first token and of each after it, tokens/s",
              .examples = {"headway infer --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16"},
              .run = running(request, run_infer),
              .is_long = true,
              .divides = true,
              .doing = "searching",
              .things = "parts"};
  out.options = {operand("SERVING.toml", "a run file of serving; flags override its fields",
                         &request->run_file)};
  add_fields(out.options, request->fields, serving_fields(),
             {"model", "cluster", "input-len", "output-len"});
  add(out.options,
      {wordless("ops", "each kernel and call of both passes, and what binds it", request->ops),
       path("requests", "FILE", "CSV of input_len, output_len and, where it has them, arrival_s",
            &request->requests),
       path("arrivals", "FILE", "CSV of moments to all copies: arrival_s, rising",
            &request->arrivals),
       path("plot", "DIR", "draw the curve, or the front of the best, to this folder",
            &request->plot)});
  return out;
}

}  // namespace headway
