// What of a timeline has a name: what each stage does, and the kernels and calls of one stage's slots.
import type { At } from "./places";
import { timesOf, tracksOf, type Span, type Timeline, type Track } from "./timeline";

export interface Found {
  readonly span: Span;
  /** Of the span's program; null: the span itself. */
  readonly task: number | null;
  readonly start: number;
}

/** Everything whose name has each word of the text, in any case, in the order of time; nothing where there is no word.
 * A number belongs to the word before it: "stage 1" is neither stage 10 nor micro-batch 1. */
export function resultsOf(timeline: Timeline, tracks: readonly Track[], text: string): Found[] {
  const words = (text.match(/\S+(?:\s+\d+(?!\S))?/g) ?? []).map(asPattern);
  if (words.length === 0) return [];
  const known = new Map<string, boolean>(); // few names, of many things
  const named = (name: string) => {
    let has = known.get(name);
    if (has === undefined) known.set(name, (has = words.every((word) => word.test(name))));
    return has;
  };
  const out: Found[] = [];
  for (const [stage, spans] of timeline.stages.entries()) {
    for (const span of spans) if (named(`${span.label}, ${timeline.rowNames[stage]}`)) out.push({ span, task: null, start: span.start });
  }
  for (const { span, task } of tasksOf(tracks)) {
    const { name } = span.program!.tasks[task]!;
    if (named(name)) out.push({ span, task, start: timesOf(span, span.program!.tasks[task]!)[0] });
  }
  return out.sort((a, b) => a.start - b.start);
}

function asPattern(word: string): RegExp {
  const literal = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/, "\\s+");
  return new RegExp(/\s\d+$/.test(word) ? `${literal}(?!\\d)` : literal, "i");
}

/** The names that there are to be found, each once. */
export function namesOf(timeline: Timeline, tracks: readonly Track[]): string[] {
  const out = new Set(timeline.stages.flatMap((spans) => spans.map((span) => span.name)));
  const programs = new Set(tracks.flatMap(({ spans }) => spans.map((span) => span.program)));
  for (const program of programs) for (const { name } of program?.tasks ?? []) out.add(name);
  return [...out].sort();
}

/** Where what was found stands in the drawing, and the stage whose tracks must be shown for it. `tracks`: of `stage`. */
export function atOf(
  timeline: Timeline,
  stage: number,
  tracks: readonly Track[],
  { span, task }: Pick<Found, "span" | "task">,
): { readonly stage: number; readonly at: At } {
  if (task !== null) {
    const { stream } = span.program!.tasks[task]!;
    return { stage, at: { track: tracks.findIndex((track) => track.stream === stream), span, task } };
  }
  if (timeline.rows[span.stage]!.includes(span)) return { stage, at: { track: null, span, task } };
  const own = span.stage === stage ? tracks : tracksOf(timeline, span.stage);
  const track = own.findIndex(({ spans }) => spans.includes(span));
  return { stage: track < 0 ? stage : span.stage, at: { track: track < 0 ? null : track, span, task } };
}

// Tasks that a track draws, each once.
function* tasksOf(tracks: readonly Track[]): Generator<{ span: Span; task: number }> {
  for (const { stream, spans } of tracks) {
    if (stream === null) continue;
    for (const span of spans) for (const task of span.program?.ofStream.get(stream) ?? []) yield { span, task };
  }
}
