import { expect, test } from "vitest";

import { timelineOf, tracksOf } from "./timeline";
import { kDocument } from "./timelineForTest";
import { timesAt } from "./places";
import { atOf, namesOf, resultsOf } from "./search";

const timeline = timelineOf(kDocument);
const tracks = tracksOf(timeline, 0);
const starts = (text: string) => resultsOf(timeline, tracks, text).map(({ start }) => start);

test("what every stage does is found by its name, in the order of time", () => {
  expect(starts("backward")).toEqual([3.5, 5]);
  expect(starts("Backward STAGE 0")).toEqual([5]);
  expect(starts("update")).toEqual([6]);
});

test("kernels and calls of the chosen stage are found, those that take no time are not", () => {
  expect(starts("product")).toEqual([0, 0.5, 5, 5.5]);
  expect(starts("all_reduce")).toEqual([0.25, 5.25]);
});

test("no word finds nothing, nor does a name that there is not", () => {
  expect(starts("")).toEqual([]);
  expect(starts("  ")).toEqual([]);
  expect(starts("gather")).toEqual([]);
});

test("what was found stands where it is drawn", () => {
  const at = (text: string) => atOf(timeline, 0, tracks, resultsOf(timeline, tracks, text)[0]!).at;
  expect(at("forward stage 1")).toMatchObject({ track: null, task: null });
  const call = at("all_reduce");
  expect(tracks[call.track!]!.name).toBe("tp");
  expect(timesAt(call)).toEqual([0.25, 0.5]);
  expect(tracks[at("send").track!]!.name).toBe("send to next stage"); // beside the slots
});

test("the names that there are", () => {
  expect(namesOf(timeline, tracks)).toEqual(["backward", "forward", "product", "send to next stage", "tp all_reduce", "update"]);
});
