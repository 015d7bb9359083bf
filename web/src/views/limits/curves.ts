// A setting's curve as it is drawn, told and written to a file.
import type { Category } from "../../charts/palette";
import { tickLabel } from "../../charts/scales";
import { asShares, type Row } from "../../charts/stack";
import { numbers, type Column } from "../../charts/table";
import type { LinePoint, LineSeries, Marker } from "../../charts/LineChart";
import { count, percent, seconds } from "../../lib/format";
import type { LimitsRow, LimitsSetting } from "./documents";

/** A setting with what tells it from the others. */
export interface Curve {
  readonly id: string;
  readonly colour: string;
  readonly dash?: string | undefined;
  readonly machine: string; // in words, where it has no name
  readonly setting: LimitsSetting;
}

/** FLOP as the study writes them: "2.05e28" is 2.05×10²⁸. */
export function flops(value: number | null): string {
  if (value === null) return "–";
  return tickLabel(Number(value.toPrecision(3)));
}

/** The last model that ends in time. */
export function lastRow(setting: LimitsSetting): LimitsRow | undefined {
  return setting.rows[setting.rows.length - 1];
}

const kPartNames: Readonly<Record<string, string>> = {
  arithmetic: "arithmetic",
  memory: "memory inside the GPU",
  kernel_latency: "kernel latency",
  network: "network bandwidth",
  bubble: "pipeline bubble",
  network_latency: "network latency",
};

/** What a step of the idealised machine is made of. */
export const kLimitParts: readonly Category[] = [
  ["arithmetic", "var(--part-compute)"],
  ["memory", "var(--series-6)"],
  ["kernel_latency", "var(--series-2)"],
  ["network", "var(--series-3)"],
  ["bubble", "var(--part-bubble)"],
  ["network_latency", "var(--series-5)"],
].map(([key, colour]) => ({ key: key!, name: kPartNames[key!]!, colour: colour! }));

function pointOf(setting: LimitsSetting, row: LimitsRow, mark: LinePoint["mark"]): LinePoint {
  const parts = row.times.parts_s;
  const [lost] = Object.keys(parts)
    .filter((key) => key !== "arithmetic")
    .sort((a, b) => parts[b]! - parts[a]!);
  const share = lost ? parts[lost]! / row.times.step_time_s : 0;
  return {
    x: row.training_flop,
    y: row.utilization,
    mark,
    title: `${setting.name}: ${flops(row.training_flop)} FLOP`,
    lines: [
      ["utilisation", percent(row.utilization)],
      ["GPUs", count(row.n_gpus)],
      ["width, layers", `${count(row.d_model)}, ${count(row.layers)}`],
      ["batch", `${count(row.batch_tokens)} tokens`],
      ["run", seconds(row.run_time_s)],
      ...(lost && share > 0
        ? [["largest loss", `${kPartNames[lost] ?? lost} ${percent(share)}`] as [string, string]]
        : []),
    ],
  };
}

/** The curve of utilisation, with the end of linear scaling and the last feasible model marked. */
export function seriesOf({ id, colour, dash, setting }: Curve): LineSeries {
  const last = lastRow(setting);
  const points = setting.rows.map((row) =>
    pointOf(
      setting,
      row,
      row === last ? "end" : row.training_flop === setting.linear_scaling_end_flop ? "ring" : undefined,
    ),
  );
  return { id, name: setting.name, colour, dash, points };
}

/** The lines that the chosen setting is told by. */
export function markersOf({ setting, colour }: Curve): Marker[] {
  const out: Marker[] = [
    { y: setting.linear_share * setting.eta, label: `linear: ${percent(setting.linear_share)} of the sustained peak` },
  ];
  if (setting.linear_scaling_end_flop !== null) {
    out.push({
      x: setting.linear_scaling_end_flop,
      label: `linear to ${flops(setting.linear_scaling_end_flop)}`,
      colour,
    });
  }
  if (setting.last_feasible_flop !== null) {
    out.push({
      x: setting.last_feasible_flop,
      label: `last feasible ${flops(setting.last_feasible_flop)}`,
      colour,
      dash: "none",
    });
  }
  if (setting.closed_forms.implied_latency_flop !== null) {
    out.push({
      x: setting.closed_forms.implied_latency_flop,
      label: "latency wall (closed form)",
      colour,
      dash: "1 4",
    });
  }
  return out;
}

const kReasons: Readonly<Record<string, string>> = {
  too_slow: "the next model takes too long",
  widest: "the widest model asked for",
  low_utilization: "utilisation falls below the least that counts",
};

/** Why the curve ends, in words. */
export function endText(setting: LimitsSetting): string {
  const { reason, binds } = setting.end;
  return (kReasons[reason] ?? reason.replaceAll("_", " ")) + (binds ? `: ${binds}` : "");
}

export const kSettingColumns: Column<Curve>[] = [
  { key: "setting", head: "setting", value: (c) => c.setting.name, align: "left" },
  { key: "machine", head: "machine", value: (c) => c.machine, align: "left" },
  { key: "precision", head: "precision", value: (c) => c.setting.precision, align: "left" },
  numbers("linear_scaling_end_flop", "linear to (FLOP)", (c) => c.setting.linear_scaling_end_flop, flops),
  numbers("linear_scaling_last_flop", "last above (FLOP)", (c) => c.setting.linear_scaling_last_flop, flops),
  numbers("last_feasible_flop", "last feasible (FLOP)", (c) => c.setting.last_feasible_flop, flops),
  numbers("last_utilization", "utilisation there", (c) => lastRow(c.setting)?.utilization, percent),
  numbers("last_n_gpus", "GPUs there", (c) => lastRow(c.setting)?.n_gpus, (n) => (n < 1e6 ? count(n) : flops(n))),
  numbers("implied_latency_flop", "latency wall (FLOP)", (c) => c.setting.closed_forms.implied_latency_flop, flops),
  { key: "end", head: "ends because", value: (c) => endText(c.setting), align: "left" },
];

/** Every model of every curve. */
export interface ModelRow {
  readonly curve: Curve;
  readonly row: LimitsRow;
}

export function modelRows(curves: readonly Curve[]): ModelRow[] {
  return curves.flatMap((curve) => curve.setting.rows.map((row) => ({ curve, row })));
}

export const kModelColumns: Column<ModelRow>[] = [
  { key: "setting", head: "setting", value: (m) => m.curve.setting.name, align: "left" },
  numbers("training_flop", "FLOP", (m) => m.row.training_flop, flops),
  numbers("utilization", "utilisation", (m) => m.row.utilization, percent),
  numbers("n_gpus", "GPUs", (m) => m.row.n_gpus, count),
  numbers("d_model", "width", (m) => m.row.d_model, count),
  numbers("layers", "layers", (m) => m.row.layers, count),
  numbers("batch_tokens", "batch (tokens)", (m) => m.row.batch_tokens, count),
  numbers("run_time_s", "run", (m) => m.row.run_time_s, seconds),
  numbers("step_time_s", "step", (m) => m.row.times.step_time_s, seconds),
];

/** Where the time of each model's step goes, as shares of it. */
export function partRows(setting: LimitsSetting): Row[] {
  const inSeconds = setting.rows.map((row): Row => ({
    label: flops(row.training_flop),
    parts: row.times.parts_s,
    detail: [
      ["step", seconds(row.times.step_time_s)],
      ["GPUs", count(row.n_gpus)],
    ],
  }));
  return asShares(inSeconds, kLimitParts);
}
