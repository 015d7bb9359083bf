import { expect, test } from "vitest";

import { chromeTrace } from "./chromeTrace";
import { timelineOf } from "./timeline";
import { kDocument } from "./timelineForTest";

interface Event {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

const { traceEvents } = JSON.parse(chromeTrace(timelineOf(kDocument))) as { traceEvents: Event[] };
const placed = traceEvents.filter(({ ph }) => ph === "X");

test("every span and every kernel of a slot is in the trace, in microseconds", () => {
  const slots = kDocument.stages.flatMap(({ program }) => program.filter((each) => each >= 0));
  const spans = kDocument.stages.flatMap(({ name }) => name);
  expect(placed).toHaveLength(spans.length + slots.length * kDocument.programs[0]!.name.length);
  expect(Math.max(...placed.map(({ ts, dur }) => ts + dur))).toBeCloseTo(7e6);
  // The second stage is slowed to twice its program: its call takes from 2 s to 2.5 s.
  const call = placed.find(({ pid, name }) => pid === 1 && name === "tp all_reduce")!;
  expect([call.ts, call.dur]).toEqual([2e6, 0.5e6]);
});

test("stages are processes, streams threads, and spans say what they waited for", () => {
  const names = traceEvents.filter(({ ph }) => ph === "M").map(({ pid, args }) => `${pid} ${String(args.name)}`);
  expect(names).toEqual(expect.arrayContaining(["0 stage 0", "1 stage 1", "0 tp", "1 slots"]));
  const second = placed.find(({ pid, name, args }) => pid === 1 && name === "forward" && "waited_for" in args)!;
  expect(second.args.waited_for).toBe("forward of micro-batch 0, stage 0");
  // What follows one another on a thread does not overlap: slots are on a thread of their own.
  for (const tid of new Set(placed.map((each) => each.tid))) {
    const on = placed.filter((each) => each.tid === tid && each.pid === 0).sort((a, b) => a.ts - b.ts);
    for (let i = 1; i < on.length; ++i) expect(on[i]!.ts).toBeGreaterThanOrEqual(on[i - 1]!.ts + on[i - 1]!.dur - 1e-6);
  }
});
