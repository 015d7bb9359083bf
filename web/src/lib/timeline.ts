// One pipeline's slots, as the forecast has placed them: which stage works at which micro-batch when.
import type { TimelineDocument } from "./documents";

/** forward, backward (the input's gradient alone where the weights' is a slot of its own), weight
 * gradient, a transfer that the sender waits for. */
export type SlotKind = "forward" | "backward" | "weight" | "send";

export interface Slot {
  readonly stage: number;
  readonly kind: SlotKind;
  readonly chunk: number;
  readonly microBatch: number;
  readonly start: number;
  readonly end: number;
  /** Of two slots that run together, which one: a forward pass under a backward pass. */
  readonly half?: 0 | 1;
}

export interface Timeline {
  readonly slots: readonly Slot[];
  /** Chunks of layers on each stage. */
  readonly chunks: number;
  /** Seconds from the first slot to the end of the last. */
  readonly length: number;
}

const kKinds: Readonly<Record<string, SlotKind>> = {
  forward: "forward",
  backward: "backward",
  "input-gradient": "backward",
  "weight-gradient": "weight",
};

export function timelineOf(document: TimelineDocument): Timeline {
  const kinds = document.works.map((name) => kKinds[name] ?? "forward");
  const slots: Slot[] = [];
  let chunks = 1;
  document.ranks.forEach((rank, stage) => {
    rank.work.forEach((work, i) => {
      const place = { stage, chunk: rank.chunk[i]!, microBatch: rank.micro_batch[i]! };
      const end = rank.end_s[i]!;
      const free = rank.free_s[i]!;
      chunks = Math.max(chunks, place.chunk + 1);
      const start = rank.begin_s[i]!;
      const before = slots.at(-1);
      const together = before?.stage === stage && before.kind !== "send" && before.start === start && start < end;
      if (together) slots[slots.length - 1] = { ...before, half: 0 };
      slots.push({ ...place, kind: kinds[work]!, start, end, ...(together ? { half: 1 } : {}) });
      if (free > end) slots.push({ ...place, kind: "send", start: end, end: free });
    });
  });
  return { slots, chunks, length: document.time_s };
}

/** Seconds that a stage works at something. Slots that run together count once. */
export function busyOf(timeline: Timeline, stage: number): number {
  let busy = 0;
  let last = 0;
  for (const slot of timeline.slots) {
    if (slot.stage !== stage) continue;
    busy += Math.max(0, slot.end - Math.max(slot.start, last));
    last = Math.max(last, slot.end);
  }
  return busy;
}
