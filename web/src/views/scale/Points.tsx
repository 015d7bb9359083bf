// Every point of a sweep as a row.
import { numbers, type Column } from "../../charts/table";
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

/** The columns that tell something of these rows. */
export function pointColumns(series: readonly SweepSeries[]): Column<PointRow>[] {
  const named = series.some(({ name }) => name !== "");
  return kPointColumns.filter(({ key }) => key !== "series" || named);
}

const days = (time: number) => number(time / 86400);

const kPointColumns: Column<PointRow>[] = [
  { key: "series", head: "series", value: (r) => r.series, align: "left" },
  { key: "label", head: "point", value: (r) => r.point.label, align: "left" },
  numbers("gpus", "accelerators", (r) => r.point.gpus, count),
  numbers("tokens_per_s", "tokens/s", (r) => r.point.tokens_per_s, count),
  numbers("tokens_per_s_per_gpu", "each", (r) => r.point.tokens_per_s_per_gpu, count),
  numbers("mfu", "MFU", (r) => r.point.mfu, percent),
  numbers("step_time_s", "step", (r) => r.point.step_time_s, seconds),
  numbers("interval_low_s", "80 % from", (r) => r.point.interval_step_time_s?.[0], seconds),
  numbers("interval_high_s", "to", (r) => r.point.interval_step_time_s?.[1], seconds),
  numbers("communication_s", "calls", (r) => r.point.communication_s, seconds),
  numbers("exposed_communication_s", "exposed", (r) => r.point.exposed_communication_s, seconds),
  numbers("memory_bytes_total", "memory", (r) => r.point.memory_bytes_total, bytes),
  numbers("power_w_per_gpu", "W each", (r) => r.point.power_w_per_gpu, count),
  numbers("tokens_per_j", "tokens/J", (r) => r.point.tokens_per_j, number),
  numbers("marginal_tokens_per_s_per_gpu", "added each", (r) => r.point.marginal_tokens_per_s_per_gpu, count),
  numbers("time_s", "days", (r) => r.point.time_s, days),
  numbers("price_usd", "US dollars", (r) => r.point.price_usd, count),
  { key: "layout", head: "layout", value: (r) => layoutText(r.point), align: "left" },
];
