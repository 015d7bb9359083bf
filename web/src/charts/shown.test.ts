import { expect, test } from "vitest";

import type { Axis } from "./scales";
import { mayTurn, partAbout, shownAxis, valueAt, within } from "./shown";

const kLinear: Axis = { label: "s", kind: "linear", domain: [0, 10] };
const kLog: Axis = { label: "s", kind: "log", domain: [1, 10_000] };

test("an axis is turned where all its values are above nothing", () => {
  expect(mayTurn(kLinear, [1, 2])).toBe(true);
  expect(mayTurn(kLinear, [0, 2])).toBe(false);
  expect(mayTurn({ ...kLinear, ticks: [{ value: 1, label: "a" }] }, [1, 2])).toBe(false);
});

test("a turned axis holds all values; linear it begins at nothing", () => {
  const log = shownAxis(kLinear, [2, 9], "log", null);
  expect(log.kind).toBe("log");
  for (const value of [2, 9]) expect(within(log, value)).toBe(true);
  expect(shownAxis(kLog, [2, 9], "linear", null).domain[0]).toBe(0);
  expect(shownAxis(kLinear, [2, 9], "linear", null)).toBe(kLinear);
});

test("half an axis is half of what is drawn, by logarithms where it has them", () => {
  expect(valueAt(kLinear, 0.5)).toBe(5);
  expect(valueAt(kLog, 0.5)).toBeCloseTo(100);
});

test("a closer look keeps its middle in its place; back from it all is seen", () => {
  const near = partAbout(kLog, kLog, 100, 0.5)!;
  expect(near[0]).toBeCloseTo(10);
  expect(near[1]).toBeCloseTo(1000);
  expect(partAbout({ ...kLog, domain: [near[0], near[1]] }, kLog, 100, 2)).toBeNull();
});
