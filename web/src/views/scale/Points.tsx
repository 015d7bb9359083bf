// Every point of a sweep as a row.
import type { Column } from "../../charts/table";
import { bytes, count, number, percent, seconds } from "../../lib/format";
import { layoutText } from "./Curves";
import type { SweepPoint, SweepSeries } from "./documents";

export interface PointRow {
  readonly series: string;
  readonly point: SweepPoint;
}

export function pointRows(series: readonly SweepSeries[]): PointRow[] {
  return series.flatMap(({ name, points }) => points.map((point) => ({ series: name, point })));
}

const optional = (value: number | null, text: (value: number) => string) => (value === null ? "–" : text(value));

/** The columns that tell something of these rows. */
export function pointColumns(series: readonly SweepSeries[]): Column<PointRow>[] {
  const named = series.some(({ name }) => name !== "");
  return kPointColumns.filter(({ key }) => key !== "series" || named);
}

const kPointColumns: Column<PointRow>[] = [
  { key: "series", head: "series", value: (r) => r.series, align: "left" },
  { key: "label", head: "point", value: (r) => r.point.label, align: "left" },
  { key: "gpus", head: "accelerators", value: (r) => r.point.gpus, text: (r) => count(r.point.gpus) },
  {
    key: "tokens_per_s",
    head: "tokens/s",
    value: (r) => r.point.tokens_per_s,
    text: (r) => count(r.point.tokens_per_s),
  },
  {
    key: "tokens_per_s_per_gpu",
    head: "each",
    value: (r) => r.point.tokens_per_s_per_gpu,
    text: (r) => count(r.point.tokens_per_s_per_gpu),
  },
  { key: "mfu", head: "MFU", value: (r) => r.point.mfu, text: (r) => percent(r.point.mfu) },
  { key: "step_time_s", head: "step", value: (r) => r.point.step_time_s, text: (r) => seconds(r.point.step_time_s) },
  {
    key: "interval_low_s",
    head: "80 % from",
    value: (r) => r.point.interval_step_time_s?.[0],
    text: (r) => optional(r.point.interval_step_time_s?.[0] ?? null, seconds),
  },
  {
    key: "interval_high_s",
    head: "to",
    value: (r) => r.point.interval_step_time_s?.[1],
    text: (r) => optional(r.point.interval_step_time_s?.[1] ?? null, seconds),
  },
  {
    key: "communication_s",
    head: "calls",
    value: (r) => r.point.communication_s,
    text: (r) => seconds(r.point.communication_s),
  },
  {
    key: "exposed_communication_s",
    head: "exposed",
    value: (r) => r.point.exposed_communication_s,
    text: (r) => seconds(r.point.exposed_communication_s),
  },
  {
    key: "memory_bytes_total",
    head: "memory",
    value: (r) => r.point.memory_bytes_total,
    text: (r) => bytes(r.point.memory_bytes_total),
  },
  {
    key: "power_w_per_gpu",
    head: "W each",
    value: (r) => r.point.power_w_per_gpu,
    text: (r) => optional(r.point.power_w_per_gpu, count),
  },
  {
    key: "tokens_per_j",
    head: "tokens/J",
    value: (r) => r.point.tokens_per_j,
    text: (r) => optional(r.point.tokens_per_j, number),
  },
  {
    key: "marginal_tokens_per_s_per_gpu",
    head: "added each",
    value: (r) => r.point.marginal_tokens_per_s_per_gpu,
    text: (r) => optional(r.point.marginal_tokens_per_s_per_gpu, count),
  },
  {
    key: "time_s",
    head: "days",
    value: (r) => r.point.time_s,
    text: (r) => optional(r.point.time_s, (v) => number(v / 86400)),
  },
  {
    key: "price_usd",
    head: "US dollars",
    value: (r) => r.point.price_usd,
    text: (r) => optional(r.point.price_usd, count),
  },
  { key: "layout", head: "layout", value: (r) => layoutText(r.point), align: "left" },
];
