import { expect, test } from "vitest";

import type { TimelineDocument } from "./documents";
import { busyOf, timelineOf } from "./timeline";

// Two ranks, one micro-batch in each of two chunks; the first waits for its transfer.
const kDocument: TimelineDocument = {
  time_s: 9,
  works: ["forward", "backward", "input-gradient", "weight-gradient"],
  ranks: [
    { work: [0, 1], chunk: [0, 0], micro_batch: [0, 0], begin_s: [0, 7], end_s: [1, 9], free_s: [1.5, 9] },
    {
      work: [0, 0, 1, 2, 3],
      chunk: [0, 1, 0, 1, 1],
      micro_batch: [0, 0, 0, 0, 0],
      begin_s: [1.5, 2, 2, 5, 6],
      end_s: [2, 5, 5, 6, 6.5],
      free_s: [2, 5, 5, 6, 6.5],
    },
  ],
};

test("every slot of the document is drawn, and the transfers that a sender waits for", () => {
  const timeline = timelineOf(kDocument);
  expect(timeline.length).toBe(9);
  expect(timeline.chunks).toBe(2);
  expect(timeline.slots.filter((slot) => slot.kind !== "send")).toHaveLength(7);
  expect(timeline.slots.filter((slot) => slot.kind === "send")).toEqual([
    { stage: 0, kind: "send", chunk: 0, microBatch: 0, start: 1, end: 1.5 },
  ]);
  expect(timeline.slots.filter((slot) => slot.stage === 1).map((slot) => slot.kind)).toEqual([
    "forward",
    "forward",
    "backward",
    "backward",
    "weight",
  ]);
});

test("of two slots that run together each has half of the row", () => {
  const halves = timelineOf(kDocument).slots.map((slot) => slot.half);
  expect(halves).toEqual([undefined, undefined, undefined, undefined, 0, 1, undefined, undefined]);
});

test("a stage is busy once while two of its slots run together", () => {
  const timeline = timelineOf(kDocument);
  expect(busyOf(timeline, 0)).toBeCloseTo(1.5 + 2);
  expect(busyOf(timeline, 1)).toBeCloseTo(0.5 + 3 + 1 + 0.5);
});
