import { describe, expect, it } from "vitest";

import { across, moved, nearestSpot, stepped } from "./nearest";

describe("nearestSpot", () => {
  const spots = [
    { x: 0, y: 0 },
    { x: 30, y: 40 },
    { x: NaN, y: 3 },
  ];
  it("takes the nearest by distance in both directions", () => {
    expect(nearestSpot(spots, 20, 40)).toBe(1);
    expect(nearestSpot(spots, 14, 18)).toBe(0);
  });
  it("finds nothing out of reach, nor among nothing", () => {
    expect(nearestSpot(spots, 30, 80, 39)).toBe(-1);
    expect(nearestSpot(spots, 30, 80, 40)).toBe(1);
    expect(nearestSpot([], 0, 0)).toBe(-1);
  });
});

describe("moved", () => {
  const series = [
    {
      points: [
        { x: 0, y: 0 },
        { x: 10, y: 0 },
        { x: 20, y: 0 },
      ],
    },
    { points: [] },
    {
      points: [
        { x: 9, y: 5 },
        { x: 19, y: 5 },
      ],
    },
  ];
  it("enters at the first point, and by End at the last", () => {
    expect(moved(series, null, "ArrowRight")).toEqual({ series: 0, index: 0 });
    expect(moved(series, null, "End")).toEqual({ series: 0, index: 2 });
  });
  it("goes along a series and stops at its ends", () => {
    expect(moved(series, { series: 0, index: 1 }, "ArrowRight")).toEqual({ series: 0, index: 2 });
    expect(moved(series, { series: 0, index: 2 }, "ArrowRight")).toEqual({ series: 0, index: 2 });
    expect(moved(series, { series: 0, index: 0 }, "ArrowLeft")).toEqual({ series: 0, index: 0 });
    expect(moved(series, { series: 0, index: 1 }, "Home")).toEqual({ series: 0, index: 0 });
  });
  it("goes to the neighbour of the next series that has points, and round", () => {
    expect(moved(series, { series: 0, index: 2 }, "ArrowDown")).toEqual({ series: 2, index: 1 });
    expect(moved(series, { series: 2, index: 0 }, "ArrowDown")).toEqual({ series: 0, index: 1 });
    expect(moved(series, { series: 0, index: 0 }, "ArrowUp")).toEqual({ series: 2, index: 0 });
  });
  it("starts again where the place is gone", () => {
    expect(moved(series, { series: 5, index: 3 }, "ArrowLeft")).toEqual({ series: 0, index: 0 });
    expect(moved([], null, "ArrowLeft")).toBeNull();
  });
});

describe("across", () => {
  const series = [
    { points: [{ x: 0, y: 5 }, { x: 10, y: 900 }] },
    { points: [{ x: 12, y: 0 }, { x: 9, y: NaN }] },
    { points: [{ x: 40, y: 0 }] },
    { points: [] },
  ];
  it("takes of each series what stands there, however high, and no gap", () => {
    expect(across(series, 10, 8)).toEqual([1, 0, -1, -1]);
  });
});

describe("stepped", () => {
  it("goes along a row and stays in it", () => {
    expect(stepped(3, 1, "ArrowRight")).toBe(2);
    expect(stepped(3, 2, "ArrowRight")).toBe(2);
    expect(stepped(3, 1, "ArrowLeft")).toBe(0);
    expect(stepped(3, 2, "Home")).toBe(0);
    expect(stepped(3, 0, "End")).toBe(2);
  });
  it("starts at the first point, with End at the last", () => {
    for (const key of ["ArrowRight", "ArrowLeft", "Home"]) expect(stepped(3, null, key)).toBe(0);
    expect(stepped(3, null, "End")).toBe(2);
  });
  it("passes over a page where there are pages", () => {
    expect(stepped(200, 10, "PageDown", 50)).toBe(60);
    expect(stepped(200, 10, "PageUp", 50)).toBe(0);
    expect(stepped(200, 10, "PageDown")).toBeNull();
  });
  it("leads nowhere by other keys, nor among nothing", () => {
    expect(stepped(3, 1, "Tab")).toBeNull();
    expect(stepped(0, null, "End")).toBeNull();
  });
});
