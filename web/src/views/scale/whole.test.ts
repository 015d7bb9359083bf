import { describe, expect, it } from "vitest";

import { isRun, type RunDocument, type ScaledRun, type SweepDocument } from "./documents";
import { isWholeRun, kFirstSweep, kFirstWhole, scaleGroups, scaleRequest } from "./sweeps";
import {
  assumed,
  energyParts,
  factsOf,
  kRunMetrics,
  kScaledColumns,
  luckOf,
  overheadRows,
  stepInterval,
  timeParts,
} from "./whole";

const kDay = 86400;

// Ten days of training and one of everything else that takes time.
const run: RunDocument = {
  model: "m",
  cluster: "c",
  gpus: 64,
  tokens: 1e12,
  global_batch_tokens: 4e6,
  steps: 250_000,
  step_time_s: 3.456,
  mfu: 0.4,
  tokens_per_s: 1.157e6,
  fits: true,
  time_s: {
    training: 10 * kDay,
    checkpoints: kDay,
    lost_work: kDay,
    restarts: kDay,
    waiting: kDay,
    total: 14 * kDay,
  },
  interval_time_s: [13 * kDay, 15 * kDay],
  goodput: 10 / 14,
  interruptions: 7.24,
  mean_time_between_interruptions_s: 2 * kDay,
  checkpoint: { bytes: 2 ** 40, blocking_s: 2, hidden_s: 0, interval_s: 1800, best_interval_s: 1740 },
  spare_nodes: 2,
  gpu_hours: 21504,
  spare_gpu_hours: 5376,
  power_w_per_gpu: 640,
  energy_j: { training: 10, checkpoints: 1, lost_work: 1, restarts: 1, waiting: 1, spares: 1, total: 15 },
  co2_kg: 16_000,
  price_usd: 67_200,
  loss_nats_per_token: 2.0862,
  critical_batch_tokens: 6e6,
  token_factor: 1.6667,
  step_factor: 2.5,
  interval_from: null,
    interval_step_time_s: [1.728, 6.912],
  by_gpus: [],
  left_out: [],
  assumptions: [
    { name: "price", value: "2.5", source: "cluster c" },
    { name: "pue", value: "1.2", source: "cluster c" },
    { name: "carbon", value: "0.385", source: "grid" },
    { name: "loss-law", value: "besiroglu", source: "arXiv 2404.10102" },
  ],
  notes: [],
};
const scaled = (patch: Partial<ScaledRun>): ScaledRun => ({ ...run, factor: 1, batch_grown: false, ...patch });
const fact = (document: RunDocument, name: string) => factsOf(document).find((each) => each.name === name)!;

describe("a whole run in numbers", () => {
  it("says how long and how much, with what is counted", () => {
    expect(fact(run, "Time").value).toBe("14.0 days");
    expect(fact(run, "Cost")).toMatchObject({ value: "$67,200", about: "$2.5 an accelerator-hour, spares too" });
    expect(fact(run, "Goodput").value).toBe("71.4 %");
    expect(fact(run, "CO2 equivalent").value).toBe("16.0 t");
    expect(fact(run, "Interruptions")).toMatchObject({ value: "7.2", about: "one in 2.00 days" });
    expect(fact(run, "Checkpoint every").value).toBe("30.0 min");
  });
  it("has two intervals: of the step's time, which the whole follows, and of the luck of failures", () => {
    expect(stepInterval(run)).toEqual([7 * kDay, 28 * kDay]);
    expect(fact(run, "Time").about).toEqual([
      "80 % by the step's interval: 7.00 days to 28.0 days",
      "80 % by the luck of failures: 13.0 days to 15.0 days",
    ]);
    expect(stepInterval({ ...run, interval_step_time_s: null })).toBeNull();
  });
  it("says what is not known, and that nothing fails where nothing is to fail", () => {
    expect(fact({ ...run, price_usd: null }, "Cost")).toMatchObject({ value: "not known" });
    const whole = { ...run, interruptions: 0, mean_time_between_interruptions_s: null, spare_nodes: 0 };
    expect(fact(whole, "Interruptions")).toMatchObject({ value: "0.0", about: "none are taken" });
    expect(fact(whole, "Accelerator-hours").about).toBe("no spare nodes");
  });
  it("has no two numbers of one name", () => {
    const names = factsOf(run).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("parts", () => {
  const sum = (parts: readonly { value: number }[]) => parts.reduce((all, { value }) => all + value, 0);
  it("of the time and of the energy sum to the whole", () => {
    expect(sum(timeParts(run))).toBe(run.time_s.total);
    expect(sum(energyParts(run))).toBe(run.energy_j.total);
  });
  it("that are not training are shares of the time", () => {
    const [row] = overheadRows([scaled({ gpus: 128 })]);
    expect(row!.label).toBe("128");
    expect(row!.parts).toEqual({ checkpoints: 1 / 14, lost_work: 1 / 14, restarts: 1 / 14, waiting: 1 / 14 });
  });
});

describe("by accelerators", () => {
  it("the luck of failures is known of the time alone", () => {
    expect(luckOf(kRunMetrics[0]!, run)).toEqual([13, 15]);
    for (const metric of kRunMetrics.slice(1)) expect(luckOf(metric, run), metric.id).toBeNull();
  });
  it("each quantity has a number and a text", () => {
    for (const metric of kRunMetrics) expect(metric.text(metric.value(run)!), metric.id).toMatch(/\d/);
  });
  it("the table tells how the batch went along", () => {
    const column = kScaledColumns.find(({ key }) => key === "batch_grown")!;
    expect([scaled({}), scaled({ batch_grown: true })].map(column.value)).toEqual(["same", "grows"]);
  });
});

describe("a whole run's request", () => {
  it("has the run, its tokens and what is assumed of it, and nothing of a sweep", () => {
    const sweeps = { at: "32,64", threshold: "0.4", best: "true" };
    expect(scaleRequest({ ...kFirstWhole, mtbf: "1000 h", price: "2", spares: "3", ...sweeps })).toEqual({
      sweep: "run",
      tokens: "15.6T",
      price: 2,
      mtbf: "1000 h",
      spares: 3,
      model: "llama-3.1-405b",
      cluster: "dgx-h100",
      gpus: 16384,
      seq: 8192,
      "global-batch": 2048,
      tp: 8,
      pp: 16,
      vpp: 7,
      zero: 2,
    });
  });
  it("keeps what is assumed when it becomes a sweep", () => {
    expect(scaleRequest({ ...kFirstSweep, price: "2", mtbf: "none" })).toMatchObject({
      sweep: "strong",
      price: 2,
      mtbf: "none",
    });
  });
  it("asks each field once", () => {
    for (const sweep of ["run", "strong", "network"]) {
      const names = scaleGroups({ sweep }).flatMap((group) => group.fields.map(({ name }) => name));
      expect(new Set(names).size, sweep).toBe(names.length);
    }
  });
  it("is told from a sweep by the address, its answer by what it holds", () => {
    expect([isWholeRun(kFirstWhole), isWholeRun(kFirstSweep), isWholeRun({})]).toEqual([true, false, false]);
    expect(isRun(run)).toBe(true);
    expect(isRun({ axis: "strong" } as SweepDocument)).toBe(false);
  });
});

describe("an assumption", () => {
  it("is found by its flag", () => {
    expect(assumed(run, "pue")).toBe("1.2");
    expect(assumed(run, "nothing")).toBe("?");
  });
});
