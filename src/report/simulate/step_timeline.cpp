#include "report/simulate/step_timeline.hpp"

#include <algorithm>
#include <vector>

#include "base/draw/numbered.hpp"
#include "report/simulate/step.hpp"
#include "simulate/step/critical.hpp"

namespace headway {
namespace {

using Names = Numbered<std::string>;
using Programs = Numbered<const SlotProgram*>;

template <class Of>
auto each(std::size_t count, const Of& of) {
  std::vector<decltype(of(0))> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = of(i);
  return out;
}

// Of a step's time, what a span is where it counts.
Part part_of(const StepSpan& span) {
  if (span.program || span.stream == kHost) return span.program ? Part::compute : Part::other;
  if (is_of_calls(span.stream)) return kGroups[span.stream - stream_of(Group{})].part;
  const auto most = std::max_element(
      kParts.begin(), kParts.end(),
      [&](const PartRow& a, const PartRow& b) { return span.parts[a.part] < span.parts[b.part]; });
  return most->part;
}

void write_program(JsonWriter& out, const SlotProgram& program, Names& names) {
  const auto tasks = program.list.tasks();
  const auto& placed = program.placed;
  std::vector<std::int64_t> critical(tasks.size(), 0);
  for (const TaskList::Index at : critical_tasks(placed)) critical[at] = 1;
  const auto column = [&](std::string_view name, const auto& of) {
    out.column(name, each(tasks.size(), of));
  };
  out.begin_object();
  out.member("time_s", to_nanosecond(program.time));
  column("name", [&](std::size_t i) { return names.number(program.list.name_of(tasks[i])); });
  column("stream", [&](std::size_t i) { return std::int64_t{tasks[i].stream}; });
  column("part", [&](std::size_t i) { return static_cast<std::int64_t>(tasks[i].part); });
  column("begin_s", [&](std::size_t i) { return to_nanosecond(placed[i].begin); });
  column("end_s", [&](std::size_t i) { return to_nanosecond(placed[i].end); });
  column("waits_for", [&](std::size_t i) {
    return placed[i].cause == i ? std::int64_t{-1} : std::int64_t{placed[i].cause};
  });
  out.column("critical", critical);
  out.end_object();
}

void write_spans(JsonWriter& out, const std::vector<StepSpan>& spans,
                 const std::vector<std::int64_t>& critical, Names& names, Programs& programs) {
  const auto column = [&](std::string_view name, const auto& of) {
    out.column(name, each(spans.size(), [&](std::size_t i) { return of(spans[i]); }));
  };
  const auto of_slot = [](const StepSpan& span, std::int64_t value) {
    return span.program ? value : std::int64_t{-1};
  };
  out.begin_object();
  column("name", [&](const StepSpan& span) {
    return span.program ? static_cast<std::int64_t>(span.work) : names.number(span.name);
  });
  column("stream", [](const StepSpan& span) { return std::int64_t{span.stream}; });
  column("part", [](const StepSpan& span) { return static_cast<std::int64_t>(part_of(span)); });
  column("chunk", [&](const StepSpan& span) { return of_slot(span, span.chunk); });
  column("micro_batch", [&](const StepSpan& span) { return of_slot(span, span.micro_batch); });
  column("program", [&](const StepSpan& span) {
    return span.program ? programs.number(span.program.get()) : std::int64_t{-1};
  });
  column("begin_s", [](const StepSpan& span) { return to_nanosecond(span.begin); });
  column("end_s", [](const StepSpan& span) { return to_nanosecond(span.end); });
  column("beside", [](const StepSpan& span) { return std::int64_t{span.beside}; });
  column("waits_for_stage", [](const StepSpan& span) { return span.cause_rank; });
  column("waits_for", [](const StepSpan& span) {
    return span.cause_rank < 0 ? std::int64_t{-1} : static_cast<std::int64_t>(span.cause);
  });
  column("transfer_s", [](const StepSpan& span) { return to_nanosecond(span.came); });
  out.column("critical", critical);
  out.end_object();
}

}  // namespace

std::int64_t count_timeline_rows(const SimulatedStep& step) {
  std::size_t out = 0;
  Programs programs;
  for (const RankTimeline& rank : step.ranks) {
    out += rank.spans.size();
    for (const StepSpan& span : rank.spans) {
      if (span.program) programs.number(span.program.get());
    }
  }
  for (const SlotProgram* program : programs.all) out += program->list.tasks().size();
  return static_cast<std::int64_t>(out);
}

void write_step_timeline(JsonWriter& out, const SimulatedStep& step) {
  std::vector<std::vector<std::int64_t>> critical;
  for (const RankTimeline& rank : step.ranks) critical.emplace_back(rank.spans.size(), 0);
  for (const SpanPlace& place : critical_path(step.ranks, step.last)) {
    critical[place.rank][place.span] = 1;
  }
  Names names;
  for (const std::string_view work : kSlotWorkNames) names.number(std::string(work));
  Programs programs;

  out.begin_object();
  out.member("time_s", to_nanosecond(step.placed));
  out.key("streams");
  out.begin_array();
  for (StreamId stream = 0; stream < kStreams; ++stream) out.value(stream_name(stream));
  out.end_array();
  out.key("parts");
  out.begin_array();
  for (const PartRow& row : kParts) out.value(row.name);
  out.end_array();
  out.key("stages");
  out.begin_array();
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    write_spans(out, step.ranks[r].spans, critical[r], names, programs);
  }
  out.end_array();
  out.key("programs");
  out.begin_array();
  for (const SlotProgram* program : programs.all) write_program(out, *program, names);
  out.end_array();
  out.key("names");
  out.begin_array();
  for (const std::string& name : names.all) out.value(name);
  out.end_array();
  out.end_object();
}

}  // namespace headway
