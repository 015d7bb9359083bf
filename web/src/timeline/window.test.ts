import { expect, test } from "vitest";

import { about, kAll, moved, showing, zoomed } from "./window";

test("closer keeps its place under the pointer, farther ends at the whole", () => {
  const close = zoomed(kAll, 4, 0.25);
  expect(close[1] - close[0]).toBeCloseTo(0.25);
  expect((0.25 - close[0]) / (close[1] - close[0])).toBeCloseTo(0.25);
  expect(zoomed(close, 0.01, 0.25)).toEqual(kAll);
});

test("what is seen stays inside the whole", () => {
  expect(zoomed([0, 0.1], 0.5, 0)[0]).toBe(0);
  expect(moved([0.5, 0.75], 10)).toEqual([0.75, 1]);
  expect(moved([0.5, 0.75], -10)).toEqual([0, 0.25]);
  const closest = zoomed([0.5, 0.5 + 1e-8], 100);
  expect(closest[1] - closest[0]).toBeGreaterThan(0);
});

test("what is meant comes into sight, and nothing moves where it is seen already", () => {
  expect(showing([0, 0.5], 0.1, 0.2)).toEqual([0, 0.5]);
  const [from, to] = showing([0, 0.1], 0.5, 0.55);
  expect(from).toBeLessThan(0.5);
  expect(to).toBeGreaterThan(0.55);
  expect(to - from).toBeCloseTo(0.1);
  const [left, right] = showing([0, 0.1], 0.5, 0.9);
  expect(left).toBeLessThan(0.5);
  expect(right).toBeGreaterThan(0.9);
});

test("a closer look has some room about it", () => {
  expect(about(0.4, 0.6)[0]).toBeCloseTo(0.35);
  expect(about(0.4, 0.6)[1]).toBeCloseTo(0.65);
});
