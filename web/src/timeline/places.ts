// Where everything of a timeline stands in its drawing, and what stands at a place: a row for each stage, the
// axis, then the tracks of one stage.
import { firstBehind, timesOf, type Span, type Timeline, type Track } from "./timeline";

/** What is pointed at: a span, or a task of it. `track`: null in the row of the stage. */
export interface At {
  readonly track: number | null;
  readonly span: Span;
  readonly task: number | null;
}

export interface Places {
  readonly width: number;
  readonly height: number;
  /** Room for names at the left. */
  readonly left: number;
  /** The height of a stage's row, and of a track. */
  readonly row: number;
  readonly lane: number;
  readonly axis: number;
  readonly tracks: number;
}

const kAxis = 26;
const kHeading = 22;

export function placesOf(stages: number, tracks: number, width: number): Places {
  const row = stages <= 8 ? 22 : stages <= 16 ? 16 : Math.max(3, Math.floor(280 / stages));
  const lane = 17;
  const axis = row * stages;
  const top = axis + kAxis + kHeading;
  return { width, height: top + lane * tracks + 2, left: width < 560 ? 74 : 132, row, lane, axis, tracks: top };
}

/** A name in the room that it has. */
export function fitted(name: string, pixels: number): string {
  const most = Math.max(3, Math.floor(pixels / 6.8));
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** What a stage or one of its tracks does at a time; null: nothing. */
export function stageAt(timeline: Timeline, stage: number, time: number): At | null {
  const row = timeline.rows[stage] ?? [];
  const span = row[firstBehind(row, time)];
  return span && span.start <= time ? { track: null, span, task: null } : null;
}
export function trackAt(tracks: readonly Track[], track: number, time: number, close: boolean): At | null {
  const of = tracks[track];
  const span = of?.spans[firstBehind(of.spans, time)];
  if (!of || !span || span.start > time) return null;
  if (!span.program || of.stream === null || !close) return { track, span, task: null };
  const task = taskBehind(span, of.stream, time);
  return task !== null && timesOf(span, span.program.tasks[task]!)[0] <= time ? { track, span, task } : null;
}

/** The first task of a stream in a slot that ends behind a time. */
function taskBehind(span: Span, stream: number, time: number): number | null {
  const tasks = span.program?.ofStream.get(stream) ?? [];
  const share = (time - span.start) / (span.end - span.start);
  return tasks.find((task) => span.program!.tasks[task]!.end > share) ?? null;
}

/** When what is pointed at begins and ends. */
export function timesAt(at: At): [start: number, end: number] {
  return at.task === null ? [at.span.start, at.span.end] : timesOf(at.span, at.span.program!.tasks[at.task]!);
}

/** What stands beside it in its row: the next (`by` 1) or the one before (-1); null: none. */
export function neighbour(timeline: Timeline, tracks: readonly Track[], at: At, by: 1 | -1, close: boolean): At | null {
  const track = at.track === null ? null : tracks[at.track]!;
  const spans = track?.spans ?? timeline.rows[at.span.stage]!;
  const tasksOf = (span: Span | undefined) =>
    (track && track.stream !== null && close && span?.program?.ofStream.get(track.stream)) || null;
  const tasks = tasksOf(at.span);
  if (tasks && at.task !== null) {
    const task = tasks[tasks.indexOf(at.task) + by];
    if (task !== undefined) return { ...at, task };
  }
  const span = spans[spans.indexOf(at.span) + by];
  if (!span) return null;
  const next = tasksOf(span);
  return { track: at.track, span, task: next ? next[by > 0 ? 0 : next.length - 1]! : null };
}

/** The nearest to a time in a row of its own: 0 ... the stages, behind them the tracks. */
export function inRow(timeline: Timeline, tracks: readonly Track[], row: number, time: number, close: boolean): At | null {
  const stages = timeline.rows.length;
  const track = row < stages ? null : row - stages;
  const spans = track === null ? timeline.rows[row] : tracks[track]?.spans;
  if (!spans || spans.length === 0) return null;
  const span = spans[Math.min(spans.length - 1, firstBehind(spans, time))]!;
  const stream = track === null ? null : tracks[track]!.stream;
  if (stream === null || !close || !span.program) return { track, span, task: null };
  const tasks = span.program.ofStream.get(stream)!;
  return { track, span, task: taskBehind(span, stream, Math.max(time, span.start)) ?? tasks[tasks.length - 1]! };
}

/** Whether kernels are wide enough to be seen: a slot in the middle of what is seen has so many pixels. */
export function isClose(timeline: Timeline, from: number, to: number, pixels: number): boolean {
  const row = timeline.rows.find((each) => each.some((span) => span.program)) ?? [];
  const slots = row.filter((span) => span.program && span.end > from && span.start < to);
  const mean = slots.reduce((sum, span) => sum + span.end - span.start, 0) / (slots.length || 1);
  return slots.length === 0 || (mean / (to - from)) * pixels > 60;
}
