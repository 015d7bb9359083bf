import { describe, expect, it } from "vitest";

import { binaryUnit, domainOf, powerLabel, scaleOf, tickLabel, ticksOf, type Axis } from "./scales";

const axis = (kind: "linear" | "log", low: number, high: number, base?: 2 | 10): Axis => ({
  label: "x",
  kind,
  domain: [low, high],
  ...(base ? { base } : {}),
});
const labelled = (a: Axis, most: number) =>
  ticksOf(a, most)
    .filter((t) => t.label)
    .map((t) => t.value);

describe("domainOf", () => {
  it("takes no notice of what is missing, not finite, or not to be shown on a logarithmic axis", () => {
    const [low, high] = domainOf([null, NaN, Infinity, -3, 0, 10, 1000, undefined], "log", { pad: 0 });
    expect(low).toBe(10);
    expect(high).toBe(1000);
  });
  it("widens a logarithmic axis by the same share of decades at both ends", () => {
    const [low, high] = domainOf([1, 100], "log", { pad: 0.5 });
    expect(Math.log10(low)).toBeCloseTo(-1, 9);
    expect(Math.log10(high)).toBeCloseTo(3, 9);
  });
  it("keeps zero at the foot where zero is asked for", () => {
    expect(domainOf([2, 8], "linear", { zero: true, pad: 0.25 })).toEqual([0, 10]);
  });
  it("shows a loss below zero too", () => {
    const [low, high] = domainOf([-5, 5], "linear", { zero: true, pad: 0.1 });
    expect(low).toBeCloseTo(-6, 9);
    expect(high).toBeCloseTo(6, 9);
  });
  it("is a range even of nothing and of one value", () => {
    for (const kind of ["linear", "log"] as const) {
      for (const values of [[], [7], [7, 7]]) {
        const [low, high] = domainOf(values, kind);
        expect(high).toBeGreaterThan(low);
      }
    }
  });
});

describe("scaleOf", () => {
  it("gives each decade the same room", () => {
    const scale = scaleOf(axis("log", 1, 1e4), [0, 400]);
    expect([1, 10, 100, 1e4].map((v) => Math.round(scale(v)))).toEqual([0, 100, 200, 400]);
  });
  it("runs upwards when the range does", () => {
    const scale = scaleOf(axis("linear", 0, 10), [300, 0]);
    expect(scale(2.5)).toBeCloseTo(225, 9);
  });
});

describe("ticksOf", () => {
  it("labels every decade where there is room", () => {
    expect(labelled(axis("log", 1, 1e4), 8)).toEqual([1, 10, 100, 1000, 10000]);
  });
  it("labels every so many decades where there is not, and keeps lines for all", () => {
    const ticks = ticksOf(axis("log", 1e24, 1e34), 4);
    expect(ticks).toHaveLength(11);
    const exponents = ticks.filter((t) => t.label).map((t) => Math.round(Math.log10(t.value)));
    expect(exponents.length).toBeLessThanOrEqual(4);
    const strides = exponents.slice(1).map((e, i) => e - exponents[i]!);
    expect(new Set(strides).size).toBe(1);
  });
  it("divides accelerators by powers of two", () => {
    expect(labelled(axis("log", 30, 1100, 2), 8)).toEqual([32, 64, 128, 256, 512, 1024]);
  });
  it("has more than one label within a decade", () => {
    for (const [low, high] of [
      [1, 8],
      [3, 40],
      [0.4, 0.9],
      [120, 130],
    ] as const) {
      expect(labelled(axis("log", low, high), 6).length, `${low} to ${high}`).toBeGreaterThan(1);
    }
  });
  it("stands at round numbers of a unit", () => {
    const gib = { ...axis("linear", 0, 5.2 * 1024 ** 3), unit: binaryUnit(5.2 * 1024 ** 3) };
    expect(labelled(gib, 6).map((v) => v / 1024 ** 3)).toEqual([0, 1, 2, 3, 4, 5]);
    expect([1023, 1024, 1024 ** 4].map(binaryUnit)).toEqual([1, 1024, 1024 ** 4]);
  });
  it("never leaves the axis", () => {
    for (const a of [axis("log", 3, 7e5), axis("linear", -2, 9), axis("log", 9, 1000, 2), axis("log", 2, 3)]) {
      for (const tick of ticksOf(a, 6)) {
        expect(tick.value).toBeGreaterThanOrEqual(a.domain[0] - 1e-9 * Math.abs(a.domain[0]));
        expect(tick.value).toBeLessThanOrEqual(a.domain[1] * (1 + 1e-9));
      }
    }
  });
});

describe("labels", () => {
  it("write powers as they are read", () => {
    expect(powerLabel(28)).toBe("10²⁸");
    expect(powerLabel(-6)).toBe("10⁻⁶");
    expect(tickLabel(1e28)).toBe("10²⁸");
    expect(tickLabel(2.5e9)).toBe("2.5×10⁹");
  });
  it("write ordinary numbers in full", () => {
    expect([0, 0.05, 8, 1024, 65536].map(tickLabel)).toEqual(["0", "0.05", "8", "1,024", "65,536"]);
  });
});
