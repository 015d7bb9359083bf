// What a timeline says of each thing in it.
import type { Hint } from "../../charts/Tooltip";
import { seconds } from "../../lib/format";
import type { Span, Timeline } from "../../lib/timeline";
import { timesAt, type At } from "./places";

function waited(timeline: Timeline, span: Span): string {
  if (!span.waitsFor) return "nothing";
  const cause = timeline.stages[span.waitsFor.stage]![span.waitsFor.index]!;
  const where = cause.stage === span.stage ? "" : ` on stage ${cause.stage}`;
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
    const path = span.critical ? "yes" : "no";
    return {
      title: `${span.label}, stage ${span.stage}`,
      lines: [...times, ["waited for", waited(timeline, span)], ["on the critical path", path]],
    };
  }
  const { tasks } = span.program!;
  const of = tasks[task]!;
  return {
    title: `${of.name}, stage ${span.stage}`,
    lines: [
      ["in", span.label],
      ...times,
      ["waited for", of.waitsFor < 0 ? "the beginning of its slot" : tasks[of.waitsFor]!.name],
      ["on the critical path", span.critical && of.critical ? "yes" : "no"],
    ],
  };
}
