import { expect, test } from "vitest";

import { criticalPath, firstBehind, timelineOf, timesOf, tracksOf } from "./timeline";
import { kDocument } from "./timelineForTest";

test("every span of the document is there, those that follow one another in rows", () => {
  const timeline = timelineOf(kDocument);
  expect(timeline.length).toBe(7);
  expect(timeline.chunks).toBe(1);
  expect(timeline.stages.map((spans) => spans.length)).toEqual([4, 2]);
  expect(timeline.rows.map((row) => row.map((span) => span.label))).toEqual([
    ["forward of micro-batch 0", "backward of micro-batch 0", "update"],
    ["forward of micro-batch 0", "backward of micro-batch 0"],
  ]);
  expect(timeline.rows[0]![1]!.waitsFor).toEqual({ stage: 1, index: 1 });
});

test("a slot's tasks are as long as the slot", () => {
  const slowed = timelineOf(kDocument).stages[1]![0]!;
  const tasks = slowed.program!.tasks;
  expect(tasks.map((task) => timesOf(slowed, task))).toEqual([
    [1.5, 2],
    [2, 2.5],
    [2.5, 3.5],
    [3.5, 3.5],
  ]);
  expect(slowed.program!.ofStream.get(0)).toEqual([0, 2]); // the one that takes no time is not to be seen
});

test("a stage has a track for each stream that is used, and for what runs beside its slots", () => {
  const timeline = timelineOf(kDocument);
  const names = (stage: number) => tracksOf(timeline, stage).map((track) => [track.name, track.spans.length]);
  expect(names(0)).toEqual([
    ["kernels", 3],
    ["tp", 2],
    ["send to next stage", 1],
  ]);
  expect(names(1)).toEqual([
    ["kernels", 2],
    ["tp", 2],
  ]);
});

test("the critical path leads over both stages in the order of time", () => {
  const path = criticalPath(timelineOf(kDocument)).map((span) => [span.stage, span.name]);
  expect(path).toEqual([
    [0, "forward"],
    [1, "forward"],
    [1, "backward"],
    [0, "backward"],
    [0, "update"],
  ]);
});

test("what runs at a time is found among spans that follow one another", () => {
  const row = timelineOf(kDocument).rows[0]!;
  expect([-1, 0.5, 1, 5.5, 6, 7].map((time) => firstBehind(row, time))).toEqual([0, 0, 1, 1, 2, 3]);
});
