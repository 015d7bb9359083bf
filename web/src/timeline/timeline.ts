// A timeline as it is drawn: of a simulated step what each stage does when, kernel by kernel in its slots, and what
// each waited for; of traces (traced.ts) the same of each rank. A row is a stage or a rank; code calls both stages.
import type { ProgramDocument, TimelineDocument } from "../lib/simulated";

/** A slot of a micro-batch, or what a stage does once a step. */
export interface Span {
  readonly stage: number;
  /** Among the stage's spans. */
  readonly index: number;
  readonly name: string;
  /** What it says in full: "forward of micro-batch 3, chunk 1". */
  readonly label: string;
  readonly stream: number;
  readonly part: string;
  readonly chunk: number;
  readonly microBatch: number;
  /** What it runs; null: it is no slot. */
  readonly program: Program | null;
  readonly start: number;
  readonly end: number;
  /** Other spans of the stage run meanwhile. */
  readonly beside: boolean;
  readonly critical: boolean;
  readonly waitsFor: { readonly stage: number; readonly index: number } | null;
  /** Seconds of the transfer that it waited for. */
  readonly transfer: number;
  /** Seconds at its beginning in which it waits for what waitsFor says: of a call in a trace. */
  readonly waiting: number;
  /** The name of its colour in the style. */
  readonly colour: string;
  /** What it is a piece of, where it is one. */
  readonly whole: Span | null;
}

/** The colour of each kind of slot, and what a legend calls it. */
const kSlotColours: Readonly<Record<string, readonly [colour: string, name: string]>> = {
  forward: ["--slot-forward", "forward"],
  backward: ["--slot-backward", "backward"],
  "input-gradient": ["--slot-backward", "input gradient"],
  "weight-gradient": ["--slot-weight", "weight gradient"],
};

/** A kernel or a call of a slot; times are shares of the slot's. */
export interface Task {
  readonly name: string;
  readonly stream: number;
  readonly part: string;
  readonly start: number;
  readonly end: number;
  /** On the way that leads to the slot's end. */
  readonly critical: boolean;
  /** Among the program's tasks; -1: the slot's beginning. */
  readonly waitsFor: number;
}

export interface Program {
  readonly tasks: readonly Task[];
  /** Of each stream: its tasks by their number, in the order of time. */
  readonly ofStream: ReadonlyMap<number, readonly number[]>;
}

export interface Timeline {
  /** Seconds until the last stage ends. */
  readonly length: number;
  /** Chunks of layers on each stage. */
  readonly chunks: number;
  /** All spans of each stage. */
  readonly stages: readonly (readonly Span[])[];
  /** Those that follow one another, in the order of time. */
  readonly rows: readonly (readonly Span[])[];
  readonly streams: readonly string[];
  /** What a row is: "stage", "rank"; and what each is called. */
  readonly row: string;
  readonly rowNames: readonly string[];
  readonly legend: readonly (readonly [colour: string, name: string])[];
  /** Whether what leads to the end is known. */
  readonly hasPath: boolean;
}

/** A row of a stage looked at closely: the tasks of one stream, with what is done on it once a step, or
 * what runs beside slots under one name. */
export interface Track {
  readonly name: string;
  readonly stream: number | null;
  /** Spans with tasks of the stream, and those that are on it themselves, in the order of time. */
  readonly spans: readonly Span[];
}

function programOf(document: ProgramDocument, names: readonly string[], parts: readonly string[]): Program {
  const whole = document.time_s || 1;
  const ofStream = new Map<number, number[]>();
  const tasks = document.name.map((name, i) => {
    const stream = document.stream[i]!;
    const task: Task = {
      name: names[name]!,
      stream,
      part: parts[document.part[i]!]!,
      start: document.begin_s[i]! / whole,
      end: document.end_s[i]! / whole,
      critical: document.critical[i] === 1,
      waitsFor: document.waits_for[i]!,
    };
    if (task.end > task.start) {
      if (!ofStream.has(stream)) ofStream.set(stream, []);
      ofStream.get(stream)!.push(i);
    }
    return task;
  });
  return { tasks, ofStream };
}

export function timelineOf(document: TimelineDocument): Timeline {
  const { names, parts } = document;
  const programs = document.programs.map((each) => programOf(each, names, parts));
  const chunks = 1 + document.stages.reduce((most, stage) => stage.chunk.reduce((a, b) => Math.max(a, b), most), 0);
  const stages = document.stages.map((of, stage) =>
    of.name.map((name, index): Span => {
      const program = of.program[index]!;
      const [chunk, microBatch] = [of.chunk[index]!, of.micro_batch[index]!];
      const slot = `${names[name]} of micro-batch ${microBatch}${chunks > 1 ? `, chunk ${chunk}` : ""}`;
      return {
        stage,
        index,
        name: names[name]!,
        label: program < 0 ? names[name]! : slot,
        stream: of.stream[index]!,
        part: parts[of.part[index]!]!,
        chunk,
        microBatch,
        program: program < 0 ? null : programs[program]!,
        start: of.begin_s[index]!,
        end: of.end_s[index]!,
        beside: of.beside[index] === 1,
        critical: of.critical[index] === 1,
        waitsFor: of.waits_for[index]! < 0 ? null : { stage: of.waits_for_stage[index]!, index: of.waits_for[index]! },
        transfer: of.transfer_s[index]!,
        waiting: 0,
        colour: (program >= 0 && kSlotColours[names[name]!]?.[0]) || `--part-${parts[of.part[index]!]!}`,
        whole: null,
      };
    }),
  );
  const rows = stages.map((spans) => inTime(spans.filter((span) => !span.beside)));
  const kinds = new Set(rows.flatMap((spans) => spans.filter((span) => span.program).map((span) => span.name)));
  return {
    length: document.time_s,
    chunks,
    stages,
    rows,
    streams: document.streams,
    row: "stage",
    rowNames: rows.map((_, stage) => `stage ${stage}`),
    legend: Object.entries(kSlotColours).filter(([kind]) => kinds.has(kind)).map(([, entry]) => entry),
    hasPath: true,
  };
}

export function inTime(spans: readonly Span[]): Span[] {
  return [...spans].sort((a, b) => a.start - b.start || a.index - b.index);
}

/** The tracks of one stage: its streams, then what runs beside its slots. What overlaps on a stream of a trace has
 * more than one track. */
export function tracksOf(timeline: Timeline, stage: number): Track[] {
  const spans = inTime(timeline.stages[stage]!.filter((span) => !span.beside));
  const out: Track[] = [];
  timeline.streams.forEach((name, stream) => {
    const on = spans.filter((span) => (span.program ? span.program.ofStream.has(stream) : span.stream === stream));
    lanesOf(on).forEach((lane, i) => out.push({ name: i === 0 ? name : `${name} (${i + 1})`, stream, spans: lane }));
  });
  const beside = timeline.stages[stage]!.filter((span) => span.beside);
  for (const name of new Set(beside.map((span) => span.name))) {
    out.push({ name, stream: null, spans: inTime(beside.filter((span) => span.name === name)) });
  }
  return out;
}

const kMostLanes = 8;

// Spans in the order of time as lanes in each of which they follow one another; what finds no room is left out.
function lanesOf(spans: readonly Span[]): (readonly Span[])[] {
  const lanes: Span[][] = [];
  for (const span of spans) {
    const lane = lanes.find((each) => each[each.length - 1]!.end <= span.start + 1e-12);
    if (lane) lane.push(span);
    else if (lanes.length < kMostLanes) lanes.push([span]);
  }
  return lanes;
}

/** The first of the spans, which follow one another, that ends behind `time`; their number where none does. */
export function firstBehind(spans: readonly Span[], time: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** When a task of a span begins and ends: the slot's program, as long as the slot. */
export function timesOf(span: Span, task: Task): [start: number, end: number] {
  const length = span.end - span.start;
  return [span.start + task.start * length, span.start + task.end * length];
}


/** The critical path from the step's beginning to its end. */
export function criticalPath(timeline: Timeline): Span[] {
  return timeline.rows.flatMap((row) => row.filter((span) => span.critical)).sort((a, b) => a.start - b.start || a.end - b.end);
}
