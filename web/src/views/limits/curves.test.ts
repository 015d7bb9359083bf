import { describe, expect, it } from "vitest";

import { wholeOf } from "../../charts/stack";
import {
  degreesOf,
  endText,
  flops,
  kLimitParts,
  kMeasures,
  layoutText,
  markersOf,
  modelRows,
  partRows,
  seriesOf,
  wallSentences,
  type Curve,
} from "./curves";
import type { LimitsRow, LimitsSetting } from "./documents";

const row = (training_flop: number, utilization: number, parts: Record<string, number>): LimitsRow => ({
  training_flop,
  utilization,
  d_model: 12288,
  layers: 192,
  parameters: 1e12,
  batch_tokens: 4194304,
  n_gpus: 1024,
  run_time_s: 86400 * 30,
  layout: { dp: 8, tp_model: 4, tp_ff: 2, pp: 16, ep: 1, micro_batches: 64, interleave: 3, zero_bubble: false },
  times: { step_time_s: Object.values(parts).reduce((sum, each) => sum + each, 0), parts_s: parts },
});
const setting: LimitsSetting = {
  name: "mine",
  training: "synchronous training",
  machine: "h100-sxm",
  precision: "bf16",
  sparse: false,
  duration_s: 7885000,
  eta: 0.7,
  linear_share: 0.8,
  linear_scaling_end_flop: 1e28,
  linear_scaling_last_flop: 1e26,
  last_feasible_flop: 1e30,
  end: { reason: "too_slow", binds: "kernel latency", next_run_time_s: 8e6 },
  closed_forms: { implied_alpha: 0, implied_linear_flop: null, implied_latency_flop: null },
  rows: [
    row(1e26, 0.69, { arithmetic: 9, network: 1 }),
    row(1e28, 0.55, { arithmetic: 7, network: 1, kernel_latency: 2 }),
    row(1e30, 0.05, { arithmetic: 1, kernel_latency: 9 }),
  ],
};
const curve: Curve = { id: "own1/mine", colour: "red", machine: "h100-sxm", setting };

describe("a curve", () => {
  it("marks where linear scaling ends and the last feasible model", () => {
    expect(seriesOf(curve).points.map((p) => p.mark)).toEqual([undefined, "ring", "end"]);
  });
  it("says what a point loses most by", () => {
    const [first, , last] = seriesOf(curve).points;
    expect(first!.lines).toContainEqual(["largest loss", "network bandwidth 10.0 %"]);
    expect(last!.lines).toContainEqual(["largest loss", "kernel latency 90.0 %"]);
  });
  it("has lines for what is known alone", () => {
    expect(markersOf(curve).filter((m) => m.x !== undefined)).toHaveLength(2);
    const endless = { ...setting, linear_scaling_end_flop: null, last_feasible_flop: null };
    expect(markersOf({ ...curve, setting: endless }).map((m) => m.y)).toEqual([0.8 * 0.7]);
  });
  it("gives each model a row, and parts that make the whole step", () => {
    expect(modelRows([curve, curve])).toHaveLength(6);
    for (const each of partRows(setting)) expect(wholeOf(each, kLimitParts)).toBeCloseTo(1, 12);
  });
});

describe("what a curve is drawn by", () => {
  const valueOf = (id: string, price = 2) => kMeasures.find((each) => each.id === id)!.of(setting.rows[0]!, price);
  it("is arithmetic over time, over all GPUs or one", () => {
    expect(valueOf("total")).toBeCloseTo(1e26 / (86400 * 30), -10);
    expect(valueOf("rate") * 1024).toBeCloseTo(valueOf("total"), -10);
  });
  it("is hours of GPUs at their price", () => {
    expect(valueOf("money", 3)).toBe(1024 * 30 * 24 * 3);
    expect(valueOf("days")).toBe(30);
  });
  it("has no line of the share where shares are not drawn", () => {
    expect(markersOf(curve, kMeasures[1]).every((marker) => marker.y === undefined)).toBe(true);
  });
  it("is the layout, whose degrees make the GPUs", () => {
    expect(layoutText(setting.rows[0]!)).toBe("dp 8 · tp 4×2 · pp 16 ×3 chunks · 64 micro-batches");
    const product = degreesOf(setting).reduce((all, { points }) => all * points[0]!.y!, 1);
    expect(product).toBe(1024);
  });
});

describe("limits between the models of the curve", () => {
  const smooth = { ...setting, smooth: { linear_scaling_flop: 3e27, wall_flop: 1.4e30 } };
  it("are the lines of a setting that has them", () => {
    expect(markersOf({ ...curve, setting: smooth }).map((marker) => marker.x)).toEqual([undefined, 3e27, 1.4e30]);
  });
  it("each have a sentence that says what is lost there", () => {
    const [linear, wall] = wallSentences(smooth);
    expect(linear).toContain("Up to 3×10²⁷ FLOP");
    expect(linear).toContain("kernel latency (20.0 % of a step there)");
    expect(wall).toContain("Beyond 1.4×10³⁰ FLOP no number of GPUs ends a run in 3 months: kernel latency");
    const endless = { ...smooth, smooth: { linear_scaling_flop: null, wall_flop: null } };
    expect(wallSentences(endless)[0]).toContain("nothing ends linear scaling");
  });
});

describe("words", () => {
  it("say why a curve ends, also for a reason that is new", () => {
    expect(endText(setting)).toBe("the next model takes too long: kernel latency");
    expect(endText({ ...setting, end: { reason: "of_its_own", binds: null, next_run_time_s: null } })).toBe(
      "of its own",
    );
  });
  it("write FLOP as powers of ten", () => {
    expect(flops(2.0512e28)).toBe("2.05×10²⁸");
    expect(flops(null)).toBe("–");
  });
});

it("tells in a point the value that is drawn", () => {
  const told = (id: string) => seriesOf(curve, kMeasures.find((each) => each.id === id)!).points[0]!.lines!.map(([name]) => name);
  for (const { id, name } of kMeasures) {
    const other = { share: "utilisation", gpus: "GPUs" }[id];
    expect(told(id), id).toContain(other ?? name);
    expect(new Set(told(id)).size, id).toBe(told(id).length);
  }
});
