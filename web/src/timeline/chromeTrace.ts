// A timeline as a trace that Perfetto and chrome://tracing open: a process for each stage or rank, a thread for each
// stream. Times in microseconds, as the format has them.
import { timesOf, type Timeline } from "./timeline";

type Event = Readonly<Record<string, unknown>>;

const kMicro = 1e6;

export function chromeTrace(timeline: Timeline): string {
  const events: Event[] = [];
  const named = (what: string, name: string, pid: number, tid = 0): Event => ({ ph: "M", name: what, pid, tid, args: { name } });
  const placed = (name: string, cat: string, pid: number, tid: number, [start, end]: readonly [number, number], args: Event): Event => ({
    ph: "X",
    name,
    cat,
    pid,
    tid,
    ts: start * kMicro,
    dur: (end - start) * kMicro,
    args,
  });
  const slots = timeline.streams.length; // a thread of their own, above the streams
  timeline.stages.forEach((spans, stage) => {
    events.push(named("process_name", timeline.rowNames[stage]!, stage));
    if (spans.some((span) => span.program)) events.push(named("thread_name", "slots", stage, slots));
    timeline.streams.forEach((stream, i) => events.push(named("thread_name", stream, stage, i)));
    for (const span of spans) {
      const cause = span.waitsFor && timeline.stages[span.waitsFor.stage]![span.waitsFor.index]!;
      const args = { what: span.label, critical: span.critical, ...(cause ? { waited_for: `${cause.label}, ${timeline.rowNames[cause.stage]}` } : {}) };
      events.push(placed(span.name, span.part, stage, span.program ? slots : span.stream, [span.start, span.end], args));
      for (const task of span.program?.tasks ?? []) {
        events.push(placed(task.name, task.part, stage, task.stream, timesOf(span, task), { in: span.label, critical: task.critical }));
      }
    }
  });
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents: events }) + "\n";
}
