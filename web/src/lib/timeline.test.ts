import { describe, expect, test } from "vitest";

import { notDrawn, orderOf, timelineOf, type PipelineRun, type Slot } from "./timeline";

function equalStages(depth: number, given: Partial<PipelineRun> = {}): PipelineRun {
  const stage = { forward: 1, backward: 2, weightGradient: 1 };
  return {
    stages: Array.from({ length: depth }, () => stage),
    schedule: "1f1b",
    chunks: 1,
    microBatches: 8,
    send: 0,
    blocking: true,
    ...given,
  };
}

describe("the length is the closed form", () => {
  // [FORECAST-1] m (F + B) + (p - 1) (F + B) / v.
  test.each(["1f1b", "gpipe"])("%s, one chunk", (schedule) => {
    expect(timelineOf(equalStages(4, { schedule })).length).toBeCloseTo(8 * 3 + 3 * 3);
  });

  test.each([2, 3, 5])("interleaved, %i chunks", (chunks) => {
    expect(timelineOf(equalStages(4, { chunks })).length).toBeCloseTo(8 * 3 + (3 * 3) / chunks);
  });

  // [FORECAST-2] m (F + B) + (p - 1) (F + B - 2 W), with F = 1, B = 2, W = 1.
  test("zero-bubble", () => {
    expect(timelineOf(equalStages(4, { schedule: "zero-bubble" })).length).toBeCloseTo(8 * 3 + 3 * (3 - 2));
  });

  test("one stage is never idle", () => {
    expect(timelineOf(equalStages(1)).length).toBeCloseTo(8 * 3);
  });

  // The first activation and the last gradient cross every boundary; the sender waits for both of its
  // transfers of each micro-batch in the middle of the pipeline.
  test("transfers that the sender waits for make the pipeline longer by themselves", () => {
    const without = timelineOf(equalStages(2, { microBatches: 4 })).length;
    // Two stages send once for each micro-batch; the last gradient is under way when all else is done.
    const with_ = timelineOf(equalStages(2, { microBatches: 4, send: 0.1 })).length;
    expect(with_ - without).toBeCloseTo((4 + 1) * 0.1);
  });
});

describe("a schedule that could be run", () => {
  const runs: [string, PipelineRun][] = [
    ["1f1b", equalStages(4, { send: 0.1 })],
    ["gpipe", equalStages(3, { schedule: "gpipe", send: 0.1 })],
    ["interleaved", equalStages(4, { chunks: 3, send: 0.1, blocking: false })],
    ["interleaved, a rest", equalStages(4, { chunks: 2, microBatches: 10 })],
    ["zero-bubble", equalStages(4, { schedule: "zero-bubble", send: 0.1, blocking: false })],
    ["fewer micro-batches than stages", equalStages(6, { microBatches: 2 })],
    ["unequal", { ...equalStages(2), stages: [{ forward: 1, backward: 3, weightGradient: 1 }, { forward: 2, backward: 2, weightGradient: 1 }] }],
  ];

  test.each(runs)("%s: every micro-batch passes every chunk of every stage once each way", (_, run) => {
    const { slots } = timelineOf(run);
    for (const kind of ["forward", "backward"] as const) {
      const seen = new Set(slots.filter((slot) => slot.kind === kind).map((s) => `${s.stage}/${s.chunk}/${s.microBatch}`));
      expect(seen.size).toBe(run.stages.length * run.chunks * run.microBatches);
      expect(slots.filter((slot) => slot.kind === kind).length).toBe(seen.size);
    }
  });

  test.each(runs)("%s: a stage does one thing at a time", (_, run) => {
    const { slots } = timelineOf(run);
    run.stages.forEach((_stage, stage) => {
      const own = slots.filter((slot) => slot.stage === stage).sort((a, b) => a.start - b.start || a.end - b.end);
      for (let i = 1; i < own.length; ++i) expect(own[i]!.start).toBeGreaterThanOrEqual(own[i - 1]!.end - 1e-9);
    });
  });

  test.each(runs)("%s: nothing starts before what it needs has come", (_, run) => {
    const { slots } = timelineOf(run);
    const depth = run.stages.length;
    const find = (kind: Slot["kind"], position: number, microBatch: number) =>
      slots.find((s) => s.kind === kind && s.chunk * depth + s.stage === position && s.microBatch === microBatch)!;
    for (const slot of slots) {
      const position = slot.chunk * depth + slot.stage;
      if (slot.kind === "forward" && position > 0) {
        expect(slot.start).toBeGreaterThanOrEqual(find("forward", position - 1, slot.microBatch).end + run.send - 1e-9);
      }
      if (slot.kind === "backward" && position < depth * run.chunks - 1) {
        expect(slot.start).toBeGreaterThanOrEqual(find("backward", position + 1, slot.microBatch).end + run.send - 1e-9);
      }
      if (slot.kind === "weight") {
        expect(slot.start).toBeGreaterThanOrEqual(find("backward", position, slot.microBatch).end - 1e-9);
      }
    }
  });
});

test("1F1B never keeps more micro-batches than there are stages behind", () => {
  const run = equalStages(4);
  run.stages.forEach((_, stage) => {
    let kept = 0;
    for (const task of orderOf(run, stage)) {
      kept += task.kind === "forward" ? 1 : -1;
      expect(kept).toBeLessThanOrEqual(4 - stage);
    }
  });
});

test("a schedule without slots of its own is said not to be drawn", () => {
  expect(notDrawn(equalStages(4, { schedule: "dual-pipe" }))).toContain("dual-pipe");
  expect(notDrawn(equalStages(4, { microBatches: 100_000 }))).toContain("too many");
  expect(notDrawn(equalStages(4))).toBeNull();
});
