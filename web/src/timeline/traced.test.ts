import { expect, test } from "vitest";

import { chromeTrace } from "./chromeTrace";
import { atOf, resultsOf } from "./search";
import { tracksOf } from "./timeline";
import { timelineOfTraces, type TracedDocument, type TracedRank } from "./traced";
import { wordsOf } from "./words";

// Two ranks: a kernel, then a call that is half under another kernel; rank 0 waits 2 of its call's 5 for rank 1.
const rank = (label: string, call: [number, number], waiting: number, critical: number): TracedRank => ({
  label,
  name: [0, 1, 0],
  stream: [0, 1, 0],
  part: [0, 1, 0],
  begin_s: [0, call[0], 6],
  end_s: [3, call[1], 9],
  waiting_s: [0, waiting, 0],
  waits_for_rank: waiting > 0 ? [-1, 1, -1] : [-1, -1, -1],
  waits_for: waiting > 0 ? [-1, 1, -1] : [-1, -1, -1],
  critical: [critical, critical, critical],
});
const document: TracedDocument = {
  time_s: 9,
  ranks: [rank("rank 0", [2, 7], 2, 0), rank("rank 1", [4, 7], 0, 1)],
  streams: ["stream 7", "stream 20"],
  parts: ["computation", "all_reduce"],
  names: ["gemm", "all_reduce default_pg"],
  critical_path: true,
  left_out: 0,
  unplaced_ranks: 0,
};
const timeline = timelineOfTraces(document);

test("a rank's row has its kernels, and of its calls what no kernel covers", () => {
  const row = timeline.rows[0]!.map((span) => [span.name, span.start, span.end, span.whole !== null]);
  expect(row).toEqual([
    ["gemm", 0, 3, false],
    ["all_reduce default_pg", 3, 6, true],
    ["gemm", 6, 9, false],
  ]);
  // It waits from 2 to 4: of the piece from 3 on, 1.
  expect(timeline.rows[0]![1]!.waiting).toBe(1);
});

test("on the streams of a rank everything stands whole", () => {
  const tracks = tracksOf(timeline, 0);
  expect(tracks.map(({ name, spans }) => [name, spans.length])).toEqual([
    ["stream 7", 2],
    ["stream 20", 1],
  ]);
  expect(tracks[1]!.spans[0]).toMatchObject({ start: 2, end: 7, whole: null });
});

test("what overlaps on one stream stands in tracks below each other", () => {
  const twice = { ...document, ranks: [{ ...rank("rank 0", [2, 7], 0, 0), stream: [0, 0, 0] }] };
  expect(tracksOf(timelineOfTraces(twice), 0).map(({ name, spans }) => [name, spans.length])).toEqual([
    ["stream 7", 2],
    ["stream 7 (2)", 1],
  ]);
});

test("a call says for whom it waited and how long", () => {
  const words = wordsOf(timeline, { track: null, span: timeline.stages[0]![1]!, task: null });
  expect(words.title).toBe("all_reduce default_pg, rank 0");
  expect(Object.fromEntries(words.lines)).toMatchObject({
    takes: "5.00 s",
    "waited for": "all_reduce default_pg on rank 1, for 2.00 s",
    "on the critical path": "no",
  });
  const kernel = wordsOf(timeline, { track: null, span: timeline.stages[0]![0]!, task: null });
  expect(kernel.lines.map(([name]) => name)).not.toContain("waited for");
});

test("what is found on another rank is shown on that rank's streams", () => {
  const [found] = resultsOf(timeline, tracksOf(timeline, 0), "all_reduce rank 1");
  expect(found!.span.stage).toBe(1);
  const { stage, at } = atOf(timeline, 0, tracksOf(timeline, 0), found!);
  expect(stage).toBe(1);
  expect(tracksOf(timeline, 1)[at.track!]!.name).toBe("stream 20");
});

test("it is carried to Perfetto with a process for each rank", () => {
  const { traceEvents } = JSON.parse(chromeTrace(timeline)) as { traceEvents: { ph: string; pid: number; args: { name?: string } }[] };
  expect(traceEvents.filter(({ ph }) => ph === "X")).toHaveLength(6);
  const names = traceEvents.filter(({ ph }) => ph === "M").map(({ pid, args }) => `${pid} ${args.name}`);
  expect(names).toEqual(expect.arrayContaining(["0 rank 0", "1 rank 1", "0 stream 7"]));
  expect(names).not.toContain("0 slots");
});

test("without a known way to the end none is told", () => {
  const unknown = timelineOfTraces({ ...document, critical_path: false });
  const words = wordsOf(unknown, { track: null, span: unknown.stages[0]![0]!, task: null });
  expect(words.lines.map(([name]) => name)).not.toContain("on the critical path");
});
