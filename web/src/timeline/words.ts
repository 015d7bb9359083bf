// What a timeline says of each thing in it.
import type { Hint } from "../charts/Tooltip";
import { seconds } from "../lib/format";
import type { Span, Timeline } from "./timeline";
import { timesAt, type At } from "./places";

function waited(timeline: Timeline, span: Span): string {
  if (!span.waitsFor) return "nothing";
  const cause = timeline.stages[span.waitsFor.stage]![span.waitsFor.index]!;
  const where = cause.stage === span.stage ? "" : ` on ${timeline.rowNames[cause.stage]}`;
  if (span.waiting > 0) return `${cause.label}${where}, for ${seconds(span.waiting)}`;
  return `${cause.label}${where}${span.transfer > 0 ? `, then ${seconds(span.transfer)} of transfer` : ""}`;
}

/** What is pointed at, in words. */
export function wordsOf(timeline: Timeline, at: At): Pick<Hint, "title" | "lines"> {
  const { span, task } = at;
  const [start, end] = timesAt(at);
  const times: [string, string][] = [
    ["begins at", seconds(start)],
    ["takes", seconds(end - start)],
  ];
  if (task === null) {
    const { whole } = span;
    const lines: [string, string][] = [...times];
    if (whole) lines.push(["a piece of one that takes", seconds(whole.end - whole.start)]);
    // A trace says what a call waited for, of kernels nothing.
    if (timeline.row === "stage" || span.waitsFor) lines.push(["waited for", waited(timeline, span)]);
    if (timeline.hasPath) lines.push(["on the critical path", span.critical ? "yes" : "no"]);
    return { title: `${span.label}, ${timeline.rowNames[span.stage]}`, lines };
  }
  const { tasks } = span.program!;
  const of = tasks[task]!;
  return {
    title: `${of.name}, ${timeline.rowNames[span.stage]}`,
    lines: [
      ["in", span.label],
      ...times,
      ["waited for", of.waitsFor < 0 ? "the beginning of its slot" : tasks[of.waitsFor]!.name],
      ["on the critical path", span.critical && of.critical ? "yes" : "no"],
    ],
  };
}
