// One pipeline's slots: which stage works at which micro-batch when. Times are the forecast's, for one
// micro-batch of each stage; the order is the schedule's own, so that nothing in the picture is free.
// With equal stages the length is the forecast's closed form ([FORECAST-1], [FORECAST-2]).

export interface StageTimes {
  /** Seconds for one micro-batch through all chunks of the stage. */
  readonly forward: number;
  /** With recomputation and weight gradients. */
  readonly backward: number;
  /** Part of backward. */
  readonly weightGradient: number;
}

export interface PipelineRun {
  /** One entry for each stage. */
  readonly stages: readonly StageTimes[];
  readonly schedule: string;
  readonly chunks: number;
  readonly microBatches: number;
  /** Seconds of a transfer between neighbours. */
  readonly send: number;
  /** The sender waits for its transfers; otherwise they run beside its work. */
  readonly blocking: boolean;
}

/** forward, backward (without the weight gradient where that is a slot of its own), weight gradient,
 * a transfer that the sender waits for. */
export type SlotKind = "forward" | "backward" | "weight" | "send";

export interface Slot {
  readonly stage: number;
  readonly kind: SlotKind;
  readonly chunk: number;
  readonly microBatch: number;
  readonly start: number;
  readonly end: number;
}

export interface Timeline {
  readonly slots: readonly Slot[];
  /** Seconds from the first slot to the end of the last. */
  readonly length: number;
}

/** More slots than this are not drawn. */
export const kMostSlots = 200_000;

const kDrawn = ["1f1b", "gpipe", "zero-bubble"];

/** Why a run's timeline cannot be drawn; null where it can. */
export function notDrawn(run: PipelineRun): string | null {
  if (!kDrawn.includes(run.schedule)) {
    return `The slots of ${run.schedule} are not drawn here; the forecast knows its idle time.`;
  }
  if (run.schedule === "zero-bubble" && run.chunks > 1) return "Zero-bubble slots are drawn for one chunk a stage.";
  if (2 * run.stages.length * run.microBatches * run.chunks > kMostSlots) {
    return "There are too many micro-batches to draw.";
  }
  return null;
}

type Task = { kind: Exclude<SlotKind, "send">; chunk: number; microBatch: number };

/** What a stage does, in order. */
export function orderOf(run: PipelineRun, stage: number): Task[] {
  if (run.schedule === "gpipe") return gpipe(run);
  if (run.schedule === "zero-bubble") return zeroBubble(run, stage);
  return oneForwardOneBackward(run, stage);
}

// All forward passes, then all backward passes, the last chunk's first.
function gpipe({ chunks, microBatches }: PipelineRun): Task[] {
  const tasks: Task[] = [];
  for (let chunk = 0; chunk < chunks; ++chunk) {
    for (let microBatch = 0; microBatch < microBatches; ++microBatch) tasks.push({ kind: "forward", chunk, microBatch });
  }
  for (let chunk = chunks - 1; chunk >= 0; --chunk) {
    for (let microBatch = 0; microBatch < microBatches; ++microBatch) tasks.push({ kind: "backward", chunk, microBatch });
  }
  return tasks;
}

// arXiv 2104.04473 §2.2: one forward, one backward after the forward passes that fill the pipeline; with
// several chunks a stage takes as many micro-batches as there are stages through one chunk, then through
// the next.
function oneForwardOneBackward({ stages, chunks, microBatches }: PipelineRun, stage: number): Task[] {
  const depth = stages.length;
  const visits: { chunk: number; microBatch: number }[] = [];
  for (let group = 0; group < microBatches; group += depth) {
    for (let chunk = 0; chunk < chunks; ++chunk) {
      for (let i = group; i < Math.min(group + depth, microBatches); ++i) visits.push({ chunk, microBatch: i });
    }
  }
  const filling = chunks === 1 ? depth - 1 - stage : 2 * (depth - 1 - stage) + (chunks - 1) * depth;
  const warm = Math.min(filling, visits.length);
  const tasks: Task[] = [];
  const back = (at: number) => {
    const { chunk, microBatch } = visits[at]!;
    tasks.push({ kind: "backward", chunk: chunks - 1 - chunk, microBatch });
  };
  for (let i = 0; i < visits.length; ++i) {
    tasks.push({ kind: "forward", ...visits[i]! });
    if (i >= warm) back(i - warm);
  }
  for (let i = visits.length - warm; i < visits.length; ++i) back(i);
  return tasks;
}

// ZB-H1, arXiv 2401.10241: 1F1B whose weight gradients wait, as many of them as the stage is deep, and
// fill what would be idle at the end.
function zeroBubble({ stages, microBatches }: PipelineRun, stage: number): Task[] {
  const warm = Math.min(stages.length - 1 - stage, microBatches);
  const tasks: Task[] = [];
  const add = (kind: Task["kind"], microBatch: number) => tasks.push({ kind, chunk: 0, microBatch });
  for (let i = 0; i < warm; ++i) add("forward", i);
  for (let i = 0; i < microBatches; ++i) {
    if (warm + i < microBatches) add("forward", warm + i);
    add("backward", i);
    if (i >= stage) add("weight", i - stage);
  }
  for (let i = Math.max(0, microBatches - stage); i < microBatches; ++i) add("weight", i);
  return tasks;
}

/** Every slot of the run; call notDrawn() before. */
export function timelineOf(run: PipelineRun): Timeline {
  const { stages, chunks, microBatches } = run;
  const depth = stages.length;
  const split = run.schedule === "zero-bubble";
  const orders = stages.map((_, stage) => orderOf(run, stage));
  const next = stages.map(() => 0);
  const free = stages.map(() => 0);
  const slots: Slot[] = [];
  // When what a position of the pipeline (chunk by chunk, stage by stage) needs is there.
  const at = (chunk: number, stage: number, microBatch: number) => (chunk * depth + stage) * microBatches + microBatch;
  const ready = { forward: new Float64Array(depth * chunks * microBatches).fill(-1), backward: new Float64Array(depth * chunks * microBatches).fill(-1) };
  for (let i = 0; i < microBatches; ++i) ready.forward[at(0, 0, i)] = 0;

  const place = (stage: number, task: Task): boolean => {
    const { kind, chunk, microBatch } = task;
    // The weight gradient needs what the same stage had before.
    const when = kind === "weight" ? 0 : ready[kind][at(chunk, stage, microBatch)]!;
    if (when < 0) return false;
    const times = stages[stage]!;
    const whole =
      kind === "forward"
        ? times.forward
        : kind === "weight"
          ? times.weightGradient
          : times.backward - (split ? times.weightGradient : 0);
    const start = Math.max(free[stage]!, when);
    let end = start + whole / chunks;
    slots.push({ stage, kind, chunk, microBatch, start, end });
    if (kind !== "weight") end = handOn(stage, task, end);
    free[stage] = end;
    return true;
  };

  // Tells the neighbour, and says from when on the stage is free.
  const handOn = (stage: number, { kind, chunk, microBatch }: Task, end: number): number => {
    const position = chunk * depth + stage;
    const forward = kind === "forward";
    const target = forward ? position + 1 : position - 1;
    if (forward && position === depth * chunks - 1) {
      ready.backward[position * microBatches + microBatch] = end;
      return end;
    }
    if (target < 0) return end;
    const there = depth > 1 ? run.send : 0;
    ready[forward ? "forward" : "backward"][target * microBatches + microBatch] = end + there;
    if (!run.blocking || there === 0) return end;
    slots.push({ stage, kind: "send", chunk, microBatch, start: end, end: end + there });
    return end + there;
  };

  for (let moved = true; moved; ) {
    moved = false;
    for (let stage = 0; stage < depth; ++stage) {
      while (next[stage]! < orders[stage]!.length && place(stage, orders[stage]![next[stage]!]!)) {
        next[stage] = next[stage]! + 1;
        moved = true;
      }
    }
  }
  return { slots, length: free.reduce((most, each) => Math.max(most, each), 0) };
}

/** Seconds that a stage works at something. */
export function busyOf(timeline: Timeline, stage: number): number {
  return timeline.slots.reduce((sum, slot) => (slot.stage === stage ? sum + slot.end - slot.start : sum), 0);
}
