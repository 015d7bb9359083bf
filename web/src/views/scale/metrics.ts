// What of a point is drawn, and over which range the forecast may be off.
import { bytes, count, number, percent, seconds, si } from "../../lib/format";
import type { SweepPoint } from "./documents";

export interface Metric {
  readonly id: string;
  readonly label: string; // with unit and convention
  readonly value: (point: SweepPoint) => number | null;
  readonly text: (value: number) => string;
  /** What is counted and what is not, where a word could mean two things. */
  readonly note?: string;
  /** Numbers of the axis. */
  readonly tick?: (value: number) => string;
  /** How the value follows the step's time: "rate" falls as the step takes longer, "time" is it. */
  readonly follows?: "rate" | "time";
  /** Drawn on a logarithmic axis. */
  readonly log?: boolean;
  /** Whether twice the accelerators would ideally bring twice as much. */
  readonly grows?: boolean;
}

const multiple = (value: number) => si(value, "").trim();
const inPercent = (value: number) => `${Math.round(value * 100)} %`;

export const kMetrics: readonly Metric[] = [
  {
    id: "tokens",
    label: "tokens/s",
    value: (p) => p.tokens_per_s,
    text: (v) => si(v, "tokens/s"),
    tick: multiple,
    follows: "rate",
    log: true,
    grows: true,
  },
  { id: "each", label: "tokens/s per accelerator", value: (p) => p.tokens_per_s_per_gpu, text: count, follows: "rate" },
  {
    id: "mfu",
    label: "MFU (share of the peak)",
    note: "MFU: model FLOPs without recomputation, attention in full, over the peak of the precision.",
    value: (p) => p.mfu,
    tick: inPercent,
    text: percent,
    follows: "rate",
  },
  { id: "step", label: "step time (s)", value: (p) => p.step_time_s, text: seconds, follows: "time", log: true },
  { id: "energy", label: "tokens per joule", value: (p) => p.tokens_per_j, text: number, follows: "rate" },
  { id: "power", label: "power of an accelerator (W)", value: (p) => p.power_w_per_gpu, text: (v) => si(v, "W") },
  {
    id: "memory",
    label: "memory of the fullest rank (bytes)",
    value: (p) => p.memory_bytes_total,
    tick: bytes,
    text: bytes,
  },
  {
    id: "days",
    label: "time to train on the tokens (days, failures included)",
    value: (p) => (p.time_s === null ? null : p.time_s / 86400),
    text: (v) => `${number(v)} days`,
    follows: "time",
    log: true,
  },
  {
    id: "price",
    label: "price of the tokens (US dollars)",
    value: (p) => p.price_usd,
    tick: multiple,
    text: (v) => `$${si(v, "")}`,
    follows: "time",
  },
];

export function metricOf(id: string | undefined): Metric {
  return kMetrics.find((metric) => metric.id === id) ?? kMetrics[0]!;
}

/** Between which values four of five measured runs would lie; null where nothing is known of it. */
export function intervalOf(metric: Metric, point: SweepPoint): [number, number] | null {
  const value = metric.value(point);
  const interval = point.interval_step_time_s;
  if (value === null || !interval || !metric.follows) return null;
  const [low, high] = interval;
  const { step_time_s } = point;
  if (metric.follows === "time") return [(value * low) / step_time_s, (value * high) / step_time_s];
  return [(value * step_time_s) / high, (value * step_time_s) / low];
}

/** What perfect scaling from the first point would bring. */
export function idealOf(metric: Metric, points: readonly SweepPoint[]): { x: number; y: number }[] {
  const first = points[0];
  const value = first && metric.value(first);
  if (!metric.grows || !first || value === null || value === undefined || points.length < 2) return [];
  return points.map((point) => ({ x: point.gpus, y: (value * point.gpus) / first.gpus }));
}
