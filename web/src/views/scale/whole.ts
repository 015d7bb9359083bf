// A whole run in words, in parts, and beside the same run with more or fewer accelerators.
import type { Fact } from "../../app/Facts";
import type { Category } from "../../charts/palette";
import type { Row } from "../../charts/stack";
import type { BarPart } from "../../charts/SumBar";
import { numbers, type Column } from "../../charts/table";
import { bytes, count, dollars, duration, energy, many, mass, number, percent, seconds, si } from "../../lib/format";
import { kRunParts, type RunCost, type RunDocument, type RunPart, type ScaledRun } from "./documents";

const kDay = 86400;

/** What a run's time and energy are taken by. */
export const kRunCategories: readonly (Category & { readonly key: RunPart | "spares"; readonly meaning: string })[] = [
  { key: "training", name: "training", colour: "var(--series-1)", meaning: "steps that stay" },
  { key: "checkpoints", name: "checkpoints", colour: "var(--series-6)", meaning: "training stopped for them" },
  { key: "lost_work", name: "lost work", colour: "var(--series-2)", meaning: "steps done again since a checkpoint" },
  { key: "restarts", name: "restarts", colour: "var(--series-4)", meaning: "until training goes on again" },
  { key: "waiting", name: "waiting for nodes", colour: "var(--series-8)", meaning: "no spare node is left" },
  { key: "spares", name: "spare nodes", colour: "var(--series-5)", meaning: "idle all along" },
];

function partsOf(amounts: Readonly<Partial<Record<RunPart | "spares", number>>>): BarPart[] {
  return kRunCategories.flatMap(({ key, ...part }) => {
    const value = amounts[key];
    return value === undefined ? [] : [{ ...part, value }];
  });
}

export const timeParts = (run: RunCost): BarPart[] => partsOf(run.time_s);
export const energyParts = (run: RunCost): BarPart[] => partsOf(run.energy_j);

/** The value that was taken for an assumption, by the name of its flag. */
export function assumed(run: Pick<RunDocument, "assumptions">, name: string): string {
  return run.assumptions.find((each) => each.name === name)?.value ?? "?";
}

/** Between which times four of five runs would end if the step took as long as its own interval says. */
export function stepInterval(run: RunDocument): [number, number] | null {
  const interval = run.interval_step_time_s;
  if (!interval) return null;
  return [(run.time_s.total * interval[0]) / run.step_time_s, (run.time_s.total * interval[1]) / run.step_time_s];
}

const fromTo = ([low, high]: readonly [number, number]) => `${duration(low)} to ${duration(high)}`;
const times = (factor: number) => `${factor.toFixed(2)} x`;
const few = (value: number) => (value < 10 ? value.toFixed(1) : count(value));

/** The run in a few numbers. */
export function factsOf(run: RunDocument): Fact[] {
  const byStep = stepInterval(run);
  const { checkpoint, mean_time_between_interruptions_s: between } = run;
  const stopped = `${bytes(checkpoint.bytes)}, training stopped for ${seconds(checkpoint.blocking_s)}`;
  const beside = checkpoint.hidden_s > 0 ? `${duration(checkpoint.hidden_s)} more written beside it` : "";
  const best = checkpoint.best_interval_s;
  const nodes = run.spare_nodes === 1 ? "node" : "nodes";
  return [
    {
      name: "Time",
      value: duration(run.time_s.total),
      about: [
        byStep ? `80 % by the step's interval: ${fromTo(byStep)}` : "no measured runs to judge the step by",
        run.interval_time_s ? `80 % by the luck of failures: ${fromTo(run.interval_time_s)}` : "",
      ],
    },
    { name: "Goodput", value: percent(run.goodput), about: "training's share of the time" },
    {
      name: "Accelerator-hours",
      value: count(run.gpu_hours),
      about:
        run.spare_nodes > 0
          ? `and ${count(run.spare_gpu_hours)} of ${count(run.spare_nodes)} spare ${nodes}`
          : "no spare nodes",
    },
    {
      name: "Cost",
      value: run.price_usd === null ? "not known" : dollars(run.price_usd),
      about:
        run.price_usd === null
          ? "the cluster has no price: give one"
          : `$${assumed(run, "price")} an accelerator-hour, spares too`,
    },
    {
      name: "Energy",
      value: energy(run.energy_j.total),
      about: [
        `hosts, spares and cooling too (PUE ${assumed(run, "pue")})`,
        `${si(run.power_w_per_gpu, "W")} an accelerator in training, itself`,
      ],
    },
    { name: "CO2 equivalent", value: mass(run.co2_kg), about: `${assumed(run, "carbon")} kg a kWh` },
    {
      name: "Interruptions",
      value: few(run.interruptions),
      about: between === null ? "none are taken" : `one in ${duration(between)}`,
    },
    {
      name: "Checkpoint every",
      value: checkpoint.interval_s === null ? "never" : duration(checkpoint.interval_s),
      about: [best === null ? stopped : `${stopped}; best: ${duration(best)}`, beside],
    },
    {
      name: "Steps",
      value: count(run.steps),
      about: `${seconds(run.step_time_s)} each, of ${many(run.global_batch_tokens)} tokens`,
    },
    {
      name: "MFU",
      value: percent(run.mfu),
      about: ["model FLOPs over peak, no recomputation", `${count(run.tokens_per_s)} tokens/s while training`],
    },
    {
      name: "Loss",
      value: run.loss_nats_per_token.toFixed(3),
      about: `nats a token, by the law of ${assumed(run, "loss-law")}`,
    },
    {
      name: "Critical batch",
      value: `${many(run.critical_batch_tokens)} tokens`,
      about: [
        `this batch takes ${times(run.token_factor)} the tokens of a small one`,
        `and ${times(run.step_factor)} the steps of a large one`,
      ],
    },
  ];
}

/** One quantity by accelerators. */
export interface RunMetric {
  readonly id: string;
  readonly label: string;
  readonly value: (run: RunCost) => number | null;
  readonly text: (value: number) => string;
  readonly tick?: (value: number) => string;
  readonly note: string;
  /** Drawn from zero, not on a logarithmic axis. */
  readonly share?: boolean;
}

const days = (value: number) => `${number(value)} days`;

export const kRunMetrics: readonly RunMetric[] = [
  {
    id: "days",
    label: "time (days, failures included)",
    value: (run) => run.time_s.total / kDay,
    text: days,
    note: "Band: 80 % of runs by the luck of failures alone.",
  },
  {
    id: "price",
    label: "cost (US dollars)",
    value: (run) => run.price_usd,
    text: dollars,
    tick: (value) => `$${si(value, "").trim()}`,
    note: "Accelerators and spares by the hour.",
  },
  {
    id: "energy",
    label: "energy (Wh)",
    value: (run) => run.energy_j.total,
    text: energy,
    tick: energy,
    note: "Accelerators, hosts, spares and cooling.",
  },
  {
    id: "hours",
    label: "accelerator-hours",
    value: (run) => run.gpu_hours,
    text: count,
    note: "Spares apart.",
  },
  {
    id: "goodput",
    label: "goodput (share of the time)",
    value: (run) => run.goodput,
    text: percent,
    tick: (value) => `${Number((100 * value).toFixed(1))} %`,
    note: "Training without checkpoints, lost work, restarts and waiting.",
    share: true,
  },
];

export function runMetricOf(id: string | undefined): RunMetric {
  return kRunMetrics.find((metric) => metric.id === id) ?? kRunMetrics[0]!;
}

/** What lies between four of five runs; of the time alone. */
export function luckOf(metric: RunMetric, run: RunCost): readonly [number, number] | null {
  if (metric.id !== "days" || !run.interval_time_s) return null;
  return [run.interval_time_s[0] / kDay, run.interval_time_s[1] / kDay];
}

/** The two ways in which a run takes more accelerators. */
export const kGrowth = [
  { grown: false, name: "same batch" },
  { grown: true, name: "batch grows, tokens for the same loss" },
] as const;

/** Shares of the time that are not training, by accelerators. */
export function overheadRows(runs: readonly ScaledRun[]): Row[] {
  return runs.map((run) => ({
    label: count(run.gpus),
    parts: Object.fromEntries(
      kRunParts.filter((part) => part !== "training").map((part) => [part, run.time_s[part] / run.time_s.total]),
    ),
    detail: [
      ["interruptions", few(run.interruptions)],
      ["checkpoint every", run.checkpoint.interval_s === null ? "never" : duration(run.checkpoint.interval_s)],
    ],
  }));
}

export const kScaledColumns: Column<ScaledRun>[] = [
  { key: "batch_grown", head: "batch", value: (r) => (r.batch_grown ? "grows" : "same"), align: "left" },
  numbers("gpus", "accelerators", (r) => r.gpus, count),
  numbers("global_batch_tokens", "tokens a step", (r) => r.global_batch_tokens, count),
  numbers("tokens", "tokens", (r) => r.tokens, many),
  numbers("days", "days", (r) => r.time_s.total / kDay, number),
  numbers("days_low", "80 % from", (r) => r.interval_time_s && r.interval_time_s[0] / kDay, number),
  numbers("days_high", "to", (r) => r.interval_time_s && r.interval_time_s[1] / kDay, number),
  numbers("goodput", "goodput", (r) => r.goodput, percent),
  numbers("mfu", "MFU", (r) => r.mfu, percent),
  numbers("gpu_hours", "accelerator-hours", (r) => r.gpu_hours, count),
  numbers("energy_j", "energy", (r) => r.energy_j.total, energy),
  numbers("co2_kg", "CO2", (r) => r.co2_kg, mass),
  numbers("price_usd", "US dollars", (r) => r.price_usd, count),
  numbers("interruptions", "interruptions", (r) => r.interruptions, few),
];
