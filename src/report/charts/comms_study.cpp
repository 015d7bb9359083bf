#include "report/charts/comms_study.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/quantity_text.hpp"
#include "report/charts/operations.hpp"
#include "report/comms_study.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

constexpr std::string_view kGrid = "stroke=\"#e7eaed\"", kBox = "fill=\"none\" stroke=\"#c9d1d9\"";
constexpr std::string_view kMiddleGrey = "text-anchor=\"middle\" fill=\"#6e7781\"";
constexpr std::string_view kModelColours[] = {kBlue, kVermilion, kGreen, kPurple};

std::string_view colour_of_model(std::size_t index) {
  return kModelColours[index % std::size(kModelColours)];
}

// "13b" of "NAME-13b".
std::string short_name(std::string_view model) {
  return std::string(model.substr(model.rfind('-') + 1));
}

std::vector<const StudiedRun*> runs_of(const CommunicationStudy& study, StudyPart part,
                                       std::string_view model) {
  std::vector<const StudiedRun*> out;
  for (const StudiedRun& run : study.runs) {
    if (run.part == part && run.model == model) out.push_back(&run);
  }
  return out;
}

}  // namespace

std::string plot_study_volume(const CommunicationStudy& study) {
  constexpr double kTop = 92, kBottom = 300, kLeft = 60, kWidth = 170, kGap = 12, kMost = 3.5;
  constexpr CollectiveOp kDrawn[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                     CollectiveOp::reduce_scatter};
  Svg svg(796, kBottom + 54, "What a rank sends in a step at each ZeRO stage, by operation");
  draw_heading(svg, "Data parallelism over 64 ranks: what a rank sends in one step",
               "In units of m (d-1)/d, m the model's weights in 16 bit. " + study.software +
                   ", one micro-batch.");
  draw_operations(svg, {kLeft, 68}, kDrawn);
  const Scale y = {0, kMost, kBottom, kTop};
  double left = kLeft;
  for (const StudiedModel& model : study.models) {
    for (const double value : {0.0, 1.0, 2.0, 3.0}) {
      svg.line({left, y.at(value)}, {left + kWidth, y.at(value)}, kGrid);
      if (left > kLeft) continue;
      svg.text({left - 6, y.at(value) + 4}, tick_label(value),
               "text-anchor=\"end\" fill=\"#6e7781\"");
    }
    const auto runs = runs_of(study, StudyPart::data, model.model);
    const double step = kWidth / static_cast<double>(std::max<std::size_t>(1, runs.size()));
    double x = left + step / 2;
    for (const StudiedRun* run : runs) {
      const double ranks = static_cast<double>(run->layout.dp);
      const Bytes unit = run->weights * ((ranks - 1) / ranks);
      double below = 0;
      for (const CollectiveOp op : kDrawn) {
        const double part = wire_of(run->calls, op) / unit;
        if (part < 0.01) continue;  // the norm's few bytes
        svg.rect({x - 12, y.at(below + part)}, 24, y.at(below) - y.at(below + part),
                 fill(colour_of(op)));
        below += part;
      }
      svg.text({x, y.at(below) - 5}, to_text(sum_of(run->calls).wire),
               "text-anchor=\"middle\" font-size=\"8\"");
      svg.text({x, kBottom + 14}, form_of(*run), "text-anchor=\"middle\" font-size=\"9\"");
      x += step;
    }
    svg.rect({left, kTop}, kWidth, kBottom - kTop, kBox);
    svg.text({left + kWidth / 2, kBottom + 36},
             short_name(model.model) + ", m = " + to_text(model.weights),
             "text-anchor=\"middle\" font-weight=\"600\"");
    left += kWidth + kGap;
  }
  svg.text_upwards({20, (kTop + kBottom) / 2}, "bytes on the wire, m (d-1)/d");
  return svg.str();
}

std::string plot_study_sizes(const CommunicationStudy& study) {
  constexpr double kTop = 88, kHigh = 30, kLeft = 150, kRight = 730;
  constexpr int kFirst = 2, kLast = 34;  // 4 B to 16 GiB
  constexpr CollectiveOp kDrawn[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                     CollectiveOp::reduce_scatter, CollectiveOp::send_receive};
  std::vector<const StudiedRun*> rows;
  for (const StudiedModel& model : study.models) {
    for (const StudiedRun& run : study.runs) {
      const bool shown = (run.part == StudyPart::data && run.layout.zero % 2 == 1) ||
                         (run.part == StudyPart::tensor && run.layout.tp == 4) ||
                         (run.part == StudyPart::pipeline && run.layout.pp == 4) ||
                         run.part == StudyPart::combined;
      if (shown && run.model == model.model) rows.push_back(&run);
    }
  }
  const double bottom = kTop + kHigh * static_cast<double>(rows.size());
  Svg svg(760, bottom + 48, "How many messages of which size each form of parallelism sends");
  draw_heading(svg, "Messages of one step by size",
               "Height of a bar: share of the run's calls in a class of sizes (powers of two); the "
               "whole row is 100 %.");
  draw_operations(svg, {kLeft, 68}, kDrawn);
  const double width = (kRight - kLeft) / (kLast - kFirst);
  const auto left_of = [&](int power) {
    return kLeft + width * (std::clamp(power, kFirst, kLast - 1) - kFirst);
  };
  for (int power = kFirst; power <= kLast; power += 4) {
    const double x = kLeft + width * (power - kFirst);
    svg.line({x, kTop}, {x, bottom}, kGrid);
    svg.text({x, bottom + 14}, to_text(Bytes(std::ldexp(1.0, power))), kMiddleGrey);
  }
  double y = kTop;
  std::string before;
  for (const StudiedRun* run : rows) {
    y += kHigh;
    const bool first = run->model != before;
    before = run->model;
    if (first) {
      svg.line({16, y - kHigh}, {kRight, y - kHigh}, "stroke=\"#c9d1d9\"");
      svg.text({16, y - kHigh + 18}, short_name(run->model), "font-weight=\"600\"");
    }
    svg.text({kLeft - 8, y - 6}, form_of(*run), "text-anchor=\"end\"");
    svg.line({kLeft, y}, {kRight, y}, kGrid);
    const double all = sum_of(run->calls).calls;
    std::vector<double> stacked(kLast, 0);
    for (const CollectiveOp op : kDrawn) {
      std::vector<TrafficCall> calls;
      for (const TrafficCall& call : run->calls) {
        if (call.call.op == op) calls.push_back(call);
      }
      for (const SizeClass& size : size_histogram(calls)) {
        if (!(size.sum.calls > 0)) continue;
        // What is rare stays visible.
        const double high = std::max(1.5, (kHigh - 4) * size.sum.calls / all);
        double& below = stacked[static_cast<std::size_t>(std::clamp(size.power, 0, kLast - 1))];
        svg.rect({left_of(size.power) + 1, y - below - high}, width - 2, high, fill(colour_of(op)));
        below += high;
      }
    }
  }
  svg.rect({kLeft, kTop}, kRight - kLeft, bottom - kTop, kBox);
  svg.text({(kLeft + kRight) / 2, bottom + 34}, "size of a message, as nccl-tests counts it",
           "text-anchor=\"middle\"");
  return svg.str();
}

std::string plot_study_sequence(const CommunicationStudy& study) {
  constexpr double kTop = 92, kBottom = 330;
  Svg svg(760, kBottom + 50, "Volume and throughput over the sequence length");
  draw_heading(svg, "Sequence length: what a rank sends, and tokens per second",
               "Tensor 4 x data 16, ZeRO-1, one sequence a micro-batch. Lines: tensor-parallel "
               "bytes; dashed: data-parallel bytes.");
  std::vector<LegendEntry> entries;
  std::vector<double> lengths, volumes, rates;
  for (std::size_t i = 0; i < study.models.size(); ++i) {
    entries.push_back({short_name(study.models[i].model), colour_of_model(i)});
    for (const StudiedRun* run : runs_of(study, StudyPart::sequence, study.models[i].model)) {
      lengths.push_back(static_cast<double>(run->sequence));
      volumes.push_back(wire_of(run->calls, Group::tp).value() / 1e9);
      volumes.push_back(wire_of(run->calls, Group::dp).value() / 1e9);
      rates.push_back(run->tokens_per_second_per_accelerator);
    }
  }
  draw_legend(svg, {64, 68}, entries);
  const Panel left = {log_scale(lengths, 64, 366), log_scale(volumes, kBottom, kTop)};
  const Panel right = {log_scale(lengths, 440, 742), log_scale(rates, kBottom, kTop)};
  draw_panel(svg, left);
  draw_panel(svg, right);
  draw_axis_titles(svg, left, "tokens in a sequence", "a rank sends in a step, GB");
  svg.text({(right.x.from + right.x.to) / 2, kBottom + 32}, "tokens in a sequence",
           "text-anchor=\"middle\"");
  svg.text_upwards({right.x.from - 50, (kTop + kBottom) / 2}, "tokens/s of a rank");
  const auto draw = [&](const Panel& panel, std::string_view model, std::string_view colour,
                        bool dashed, auto value_of) {
    const std::string style = "stroke=\"" + std::string(colour) + "\" stroke-width=\"1.8\"" +
                              (dashed ? " stroke-dasharray=\"4 3\"" : "");
    std::vector<Point> points;
    for (const StudiedRun* run : runs_of(study, StudyPart::sequence, model)) {
      const double value = value_of(*run);
      points.push_back({panel.x.at(static_cast<double>(run->sequence)), panel.y.at(value)});
      if (points.size() > 1) svg.line(points[points.size() - 2], points.back(), style);
    }
    if (!dashed) svg.dots(points, 2.6, colour);
  };
  for (std::size_t i = 0; i < study.models.size(); ++i) {
    draw(left, study.models[i].model, colour_of_model(i), false,
         [](const StudiedRun& run) { return wire_of(run.calls, Group::tp).value() / 1e9; });
    draw(left, study.models[i].model, colour_of_model(i), true,
         [](const StudiedRun& run) { return wire_of(run.calls, Group::dp).value() / 1e9; });
    draw(right, study.models[i].model, colour_of_model(i), false,
         [](const StudiedRun& run) { return run.tokens_per_second_per_accelerator; });
  }
  return svg.str();
}

std::vector<OutputFile> study_plots(const CommunicationStudy& study, const std::string& folder) {
  return {{folder + "/volume.svg", plot_study_volume(study)},
          {folder + "/sizes.svg", plot_study_sizes(study)},
          {folder + "/sequence.svg", plot_study_sequence(study)}};
}

}  // namespace headway
