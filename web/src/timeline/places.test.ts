import { expect, test } from "vitest";

import { timelineOf, tracksOf } from "./timeline";
import { kDocument } from "./timelineForTest";
import { fitted, inRow, isClose, neighbour, placesOf, stageAt, timesAt, trackAt, type At } from "./places";
import { wordsOf } from "./words";

const timeline = timelineOf(kDocument);
const tracks = tracksOf(timeline, 0);

test("what a stage does at a time is found, and that it does nothing", () => {
  expect(stageAt(timeline, 0, 0.5)?.span.name).toBe("forward");
  expect(stageAt(timeline, 0, 2)).toBeNull();
  expect(stageAt(timeline, 0, 6.5)?.span.name).toBe("update");
  expect(stageAt(timeline, 9, 1)).toBeNull();
});

test("a stream's kernels are found one by one where they are drawn so", () => {
  expect(trackAt(tracks, 1, 5.3, true)).toMatchObject({ track: 1, task: 1 }); // the call of the backward slot
  expect(trackAt(tracks, 1, 5.6, true)).toBeNull();
  expect(trackAt(tracks, 1, 5.6, false)).toMatchObject({ track: 1, task: null });
  expect(trackAt(tracks, 2, 1.2, true)?.span.name).toBe("send to next stage");
});

test("keys lead through every kernel of a stream, and into the next slot", () => {
  const seen: [number, number][] = [];
  for (let at: At | null = inRow(timeline, tracks, 2, 0, true); at; at = neighbour(timeline, tracks, at, 1, true)) {
    seen.push(timesAt(at) as [number, number]);
  }
  expect(seen).toEqual([
    [0, 0.25],
    [0.5, 1],
    [5, 5.25],
    [5.5, 6],
    [6, 7],
  ]);
  const last = inRow(timeline, tracks, 2, 7, true)!;
  expect(neighbour(timeline, tracks, last, -1, true)).toMatchObject({ task: 2 });
});

test("words say how long it takes and what it waited for", () => {
  const backward = wordsOf(timeline, { track: null, span: timeline.rows[0]![1]!, task: null });
  expect(backward.title).toBe("backward of micro-batch 0, stage 0");
  expect(Object.fromEntries(backward.lines)).toEqual({
    "begins at": "5.00 s",
    takes: "1.00 s",
    "waited for": "backward of micro-batch 0 on stage 1, then 500 ms of transfer",
    "on the critical path": "yes",
  });
  const call = wordsOf(timeline, { track: 1, span: timeline.rows[0]![0]!, task: 1 });
  expect(Object.fromEntries(call.lines)).toMatchObject({ "waited for": "product", takes: "250 ms" });
});

test("names keep to their room, rows to theirs", () => {
  expect(fitted("send to next stage", 68)).toBe("send to n…");
  expect(fitted("tp", 62)).toBe("tp");
  const places = placesOf(64, 5, 400);
  expect(places.row * 64).toBeLessThan(300);
  expect(places.tracks + 5 * places.lane).toBeLessThanOrEqual(places.height);
});

test("kernels are drawn when slots are wide", () => {
  expect(isClose(timeline, 0, 7, 100)).toBe(false);
  expect(isClose(timeline, 5, 6, 100)).toBe(true);
});
