import { describe, expect, it } from "vitest";

import type { SweepPoint } from "./documents";
import { idealOf, intervalOf, kMetrics, metricOf } from "./metrics";
import { returnsOf } from "./Returns";
import { kFirstSweep, kSweeps, sweepOf, scaleRequest } from "./sweeps";

const point = (patch: Partial<SweepPoint>): SweepPoint => ({
  label: "64",
  value: 64,
  model: "m",
  cluster: "c",
  gpus: 64,
  seq: 4096,
  global_batch: 64,
  precision: "bf16",
  layout: { dp: 64 },
  step_time_s: 2,
  interval_from: null,
  interval_step_time_s: [1, 4],
  parts_s: { compute: 2 },
  communication_s: 1,
  exposed_communication_s: 0,
  tokens_per_s: 1000,
  tokens_per_s_per_gpu: 15.625,
  mfu: 0.4,
  hfu: 0.4,
  memory_bytes_total: 1e9,
  power_w_per_gpu: 600,
  tokens_per_j: 1,
  time_s: 864000,
  gpu_hours: 1,
  energy_j: 1,
  price_usd: null,
  co2_kg: null,
  marginal_tokens_per_s_per_gpu: null,
  marginal_tokens_per_s_per_w: null,
  to_loss: null,
  notes: [],
  ...patch,
});

describe("an interval", () => {
  it("of a rate turns round: the longest step gives the least", () => {
    expect(intervalOf(metricOf("tokens"), point({}))).toEqual([500, 2000]);
    expect(intervalOf(metricOf("mfu"), point({}))).toEqual([0.2, 0.8]);
  });
  it("of a time is the step's own", () => {
    expect(intervalOf(metricOf("step"), point({}))).toEqual([1, 4]);
    expect(intervalOf(metricOf("days"), point({}))).toEqual([5, 20]);
  });
  it("holds the value that is drawn", () => {
    for (const metric of kMetrics) {
      const interval = intervalOf(metric, point({ price_usd: 10 }));
      if (!interval) continue;
      const value = metric.value(point({ price_usd: 10 }))!;
      expect(interval[0], metric.id).toBeLessThanOrEqual(value);
      expect(interval[1], metric.id).toBeGreaterThanOrEqual(value);
    }
  });
  it("is none where the forecast has none, the value is missing, or time says nothing of it", () => {
    expect(intervalOf(metricOf("tokens"), point({ interval_step_time_s: null }))).toBeNull();
    expect(intervalOf(metricOf("price"), point({}))).toBeNull();
    expect(intervalOf(metricOf("memory"), point({}))).toBeNull();
  });
});

describe("the ideal", () => {
  it("grows with the accelerators from the first point", () => {
    const points = [point({ gpus: 8, tokens_per_s: 100 }), point({ gpus: 32, tokens_per_s: 300 })];
    expect(idealOf(metricOf("tokens"), points)).toEqual([
      { x: 8, y: 100 },
      { x: 32, y: 400 },
    ]);
  });
  it("is drawn of what should grow alone", () => {
    expect(idealOf(metricOf("mfu"), [point({}), point({})])).toEqual([]);
    expect(idealOf(metricOf("tokens"), [point({})])).toEqual([]);
  });
});

describe("returns", () => {
  const points = [
    point({ gpus: 8, tokens_per_s_per_gpu: 100 }),
    point({ gpus: 16, marginal_tokens_per_s_per_gpu: 80 }),
    point({ gpus: 32, marginal_tokens_per_s_per_gpu: -10 }),
  ];
  it("are shares of what each of the first brings, and may be a loss", () => {
    expect(returnsOf(points)).toEqual([
      { x: 16, share: 0.8, each: 80 },
      { x: 32, share: -0.1, each: -10 },
    ]);
  });
  it("are none where nothing is added", () => {
    expect(returnsOf([])).toEqual([]);
    expect(returnsOf(points.slice(0, 1))).toEqual([]);
  });
});

describe("a sweep's request", () => {
  it("has the run's fields and its own", () => {
    expect(scaleRequest({ ...kFirstSweep, at: "32,64", threshold: "0.4", metric: "mfu" })).toEqual({
      sweep: "strong",
      at: "32,64",
      threshold: 0.4,
      model: "llama-2-7b",
      cluster: "dgx-h100",
      gpus: 32,
      seq: 4096,
      "global-batch": 1024,
      framework: "fsdp",
      "no-reshard": true,
    });
  });
  it("leaves out what another sweep asks", () => {
    const request = scaleRequest({ ...kFirstSweep, sweep: "network", at: "32,64", keep: "tokens", latency: "1,2" });
    expect(request).not.toHaveProperty("at");
    expect(request).not.toHaveProperty("keep");
    expect(request).toHaveProperty("latency", "1,2");
  });
  it("is the first one where the address names none that is known", () => {
    expect(sweepOf({ sweep: "sideways" })).toBe(kSweeps[0]);
  });
});
