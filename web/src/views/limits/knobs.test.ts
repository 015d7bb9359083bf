import { describe, expect, it } from "vitest";

import type { MachineNumbers } from "./documents";
import { factorText, positionOf, positions, valueAt, valueText } from "../../lib/knob";
import { knobsOf, usualPrecision } from "./knobs";

const machine: MachineNumbers = {
  name: "m",
  title: "a machine",
  peak_flop_per_s: { bf16: 1e15, fp8: 2e15 },
  sustained_share: 0.7,
  compute_units: 132,
  register_blocks: 4,
  registers_bytes: 65536,
  shared_bytes_per_s: 3e13,
  l2_bytes_per_s: 6e12,
  l2_bytes: 50 * 1024 * 1024,
  memory_bytes_per_s: 3.352e12,
  memory_bytes: 80e9,
  kernel_latency_s: 4.5e-6,
  levels: [
    { name: "node", size: 8, bytes_per_s: 4.5e11, latency_s: 1.125e-6 },
    { name: "fabric", size: null, bytes_per_s: null, latency_s: 1.125e-6 },
  ],
};
const knobs = knobsOf(machine, "bf16");
const knob = (key: string) => knobs.find((each) => each.key === key)!;

describe("knobs of a machine", () => {
  it("are all its numbers: arithmetic, memory, and each level's size, bandwidth and latency", () => {
    const keys = knobs.map((each) => each.key);
    for (const key of [
      "peak.bf16",
      "sustained",
      "compute_units",
      "kernel_latency",
      "memory",
      "memory_bandwidth",
      "l2",
    ]) {
      expect(keys).toContain(key);
    }
    expect(keys).toContain("levels.node.size");
    expect(keys).toContain("levels.node.bandwidth");
    expect(new Set(keys).size).toBe(keys.length);
  });
  it("offer no end of the outermost level, nor a bandwidth that is unlimited", () => {
    const keys = knobs.map((each) => each.key);
    expect(keys).toContain("levels.fabric.latency");
    expect(keys).not.toContain("levels.fabric.size");
    expect(keys).not.toContain("levels.fabric.bandwidth");
  });
  it("take the peak of the precision asked for", () => {
    expect(knobsOf(machine, "fp8")[0]).toMatchObject({ key: "peak.fp8", base: 2e15 });
    expect(usualPrecision(machine)).toBe("bf16");
    expect(usualPrecision({ ...machine, peak_flop_per_s: { fp32: 1, fp16: 1 } })).toBe("fp16");
  });
});

describe("a slider", () => {
  it("stands at the base in its middle and doubles by equal steps", () => {
    const bandwidth = knob("memory_bandwidth");
    expect(valueAt(bandwidth, 0)).toBe(3.352e12);
    expect(valueAt(bandwidth, 4)).toBeCloseTo(6.704e12, -9);
    expect(valueAt(bandwidth, -8)).toBeCloseTo(0.838e12, -9);
  });
  it("finds its place again from any value it can have", () => {
    for (const each of knobs) {
      const [least, most] = positions(each);
      for (const position of [least, most, Math.round((least + most) / 2)]) {
        const value = valueAt(each, position);
        expect(valueAt(each, positionOf(each, value)), each.key).toBe(value);
      }
    }
  });
  it("keeps to its ends", () => {
    const latency = knob("kernel_latency");
    expect(positionOf(latency, 1e9)).toBe(positions(latency)[1]);
    expect(positionOf(latency, 1e-30)).toBe(positions(latency)[0]);
  });
  it("gives whole numbers of what is counted, at least one", () => {
    const size = knob("levels.node.size");
    const [least, most] = positions(size);
    for (let p = least; p <= most; ++p) {
      const value = valueAt(size, p);
      expect(Number.isInteger(value) && value >= 1).toBe(true);
    }
    expect(valueAt(size, 4)).toBe(16);
  });
  it("says its value with the unit, and its factor", () => {
    expect(valueText(knob("memory"), 80e9)).toBe("80.0 GB");
    expect(valueText(knob("l2"), 52428800)).toBe("50.0 MiB");
    expect(valueText(knob("kernel_latency"), 4.5e-6)).toBe("4.50 us");
    expect(valueText(knob("levels.node.size"), 65536)).toBe("65,536");
    expect(valueText(knob("batch.exponent"), 1 / 6)).toBe("0.1667");
    expect(factorText(knob("memory"), 160e9)).toBe("×2");
    expect(factorText(knob("memory"), 80e9)).toBe("");
  });
});
