// A setting's curve as it is drawn, told and written to a file.
import { seriesColour, seriesDash, type Category } from "../../charts/palette";
import { tickLabel } from "../../charts/scales";
import { asShares, type Row } from "../../charts/stack";
import { numbers, type Column } from "../../charts/table";
import type { LinePoint, LineSeries, Marker } from "../../charts/LineChart";
import { compared, type Compared, type ComparedRow } from "../../lib/compared";
import { count, dollars, number, percent, seconds, si } from "../../lib/format";
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

function gpus(value: number): string {
  return value < 1e6 ? count(value) : flops(value);
}

/** Where linear scaling ends: between the models of the curve where that is known, else the first of them
 * that lies below; null where nothing ends it. */
export function linearTo(setting: LimitsSetting): number | null {
  return setting.smooth ? setting.smooth.linear_scaling_flop : setting.linear_scaling_end_flop;
}

/** The largest training that ends in time, in the same way. */
export function wallOf(setting: LimitsSetting): number | null {
  return setting.smooth?.wall_flop ?? setting.last_feasible_flop;
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

/** What takes most of a step but arithmetic, and its share of the step. */
export function lossOf(row: LimitsRow): { name: string; share: number } | null {
  const parts = row.times.parts_s;
  const [lost] = Object.keys(parts)
    .filter((key) => key !== "arithmetic")
    .sort((a, b) => parts[b]! - parts[a]!);
  const share = lost ? parts[lost]! / row.times.step_time_s : 0;
  return lost && share > 0 ? { name: kPartNames[lost] ?? lost, share } : null;
}

/** "dp 32,768 · tp 64×512 · pp 64 ×24 chunks · 64 micro-batches" */
export function layoutText({ layout }: LimitsRow): string {
  const chunks = layout.interleave > 1 ? ` ×${layout.interleave} chunks` : "";
  const experts = layout.ep > 1 ? ` · ep ${count(layout.ep)}` : "";
  return (
    `dp ${count(layout.dp)} · tp ${count(layout.tp_model)}×${count(layout.tp_ff)} · pp ${count(layout.pp)}${chunks}` +
    `${experts} · ${count(layout.micro_batches)} micro-batches${layout.zero_bubble ? ", no bubble" : ""}`
  );
}

function pointOf(setting: LimitsSetting, row: LimitsRow, measure: Measure, y: number, mark: LinePoint["mark"]): LinePoint {
  const lost = lossOf(row);
  const told = measure.id === "share" || measure.id === "gpus"; // below, whatever is drawn
  return {
    x: row.training_flop,
    y,
    mark,
    title: `${setting.name}: ${flops(row.training_flop)} FLOP`,
    lines: [
      ...(told ? [] : [[measure.name, measure.text(y)] as [string, string]]),
      ["utilisation", percent(row.utilization)],
      ["GPUs", count(row.n_gpus)],
      ["width, layers", `${count(row.d_model)}, ${count(row.layers)}`],
      ["batch", `${count(row.batch_tokens)} tokens`],
      ["layout", layoutText(row)],
      ["run", seconds(row.run_time_s)],
      ...(lost ? [["largest loss", `${lost.name} ${percent(lost.share)}`] as [string, string]] : []),
    ],
  };
}

/** What a curve may be drawn by, besides the share of the setting's own peak. */
export interface Measure {
  readonly id: string;
  readonly name: string; // in the choice
  readonly label: string; // of the axis
  readonly of: (row: LimitsRow, dollarsAnHour: number) => number;
  readonly text: (value: number) => string;
}

/** US$ of a GPU for an hour, where nothing is said. */
export const kPrice = 2;

export const kMeasures: readonly Measure[] = [
  {
    id: "share",
    name: "share of its own peak",
    label: "utilisation (share of the dense peak)",
    of: (row) => row.utilization,
    text: percent,
  },
  {
    id: "rate",
    name: "FLOP/s of a GPU",
    label: "useful arithmetic of a GPU (FLOP/s)",
    of: (row) => row.training_flop / row.run_time_s / row.n_gpus,
    text: (value) => si(value, "FLOP/s"),
  },
  {
    id: "total",
    name: "FLOP/s of all",
    label: "useful arithmetic of all GPUs (FLOP/s)",
    of: (row) => row.training_flop / row.run_time_s,
    text: flops,
  },
  {
    id: "gpus",
    name: "GPUs",
    label: "GPUs of the smallest cluster",
    of: (row) => row.n_gpus,
    text: gpus,
  },
  { id: "days", name: "days", label: "days of the run", of: (row) => row.run_time_s / 86400, text: number },
  {
    id: "money",
    name: "money",
    label: "cost of the run (US$)",
    of: (row, price) => (row.n_gpus * row.run_time_s * price) / 3600,
    text: dollars,
  },
];

/** The degrees of the best layout along a setting's curve. */
export function degreesOf(setting: LimitsSetting): LineSeries[] {
  const degrees: readonly [string, (row: LimitsRow) => number][] = [
    ["data", (row) => row.layout.dp],
    ["tensor", (row) => row.layout.tp_model * row.layout.tp_ff],
    ["pipeline", (row) => row.layout.pp],
    ["expert", (row) => row.layout.ep],
  ];
  return degrees
    .filter(([name, of]) => name !== "expert" || setting.rows.some((row) => of(row) > 1))
    .map(([name, of], i) => ({
      id: name,
      name,
      colour: seriesColour(i),
      dash: seriesDash(i),
      points: setting.rows.map((row) => ({
        x: row.training_flop,
        y: of(row),
        title: `${name} parallel: ${count(of(row))}`,
        lines: [["layout", layoutText(row)] as [string, string]],
      })),
    }));
}

const kSecondsOfAMonth = 3.154e7 / 12; // as the study has it

/** A sentence for each wall of a setting: what it is, and why it stands there. */
export function wallSentences(setting: LimitsSetting): string[] {
  const out: string[] = [];
  const share = percent(setting.linear_share);
  const linear = linearTo(setting);
  const behind = linear === null ? undefined : setting.rows.find((row) => row.training_flop >= linear);
  const months = String(Number((setting.duration_s / kSecondsOfAMonth).toPrecision(3)));
  if (linear === null) {
    const always = setting.rows.some((row) => row.utilization > setting.linear_share * setting.eta);
    out.push(
      always
        ? `Every model up to the last keeps more than ${share} of the sustained peak: nothing ends linear scaling.`
        : `No model keeps ${share} of the sustained peak, however small: the GPU itself holds them back.`,
    );
  } else {
    const lost = behind ? lossOf(behind) : null;
    out.push(
      `Up to ${flops(linear)} FLOP more GPUs bring almost as much as they are: ${share} of the sustained peak is kept.` +
        (lost ? ` Beyond, most is lost to ${lost.name} (${percent(lost.share)} of a step there).` : ""),
    );
  }
  const wall = wallOf(setting);
  const last = lastRow(setting);
  if (wall !== null && last) {
    const lost = lossOf(last);
    out.push(
      setting.end.reason === "widest"
        ? `The widest model asked for, ${flops(wall)} FLOP, still ends in ${months} months: the wall lies further out.`
        : `Beyond ${flops(wall)} FLOP no number of GPUs ends a run in ${months} months` +
            (lost ? `: ${lost.name} takes ${percent(lost.share)} of a step and does not shrink with more of them.` : "."),
    );
  }
  if (setting.closed_forms.implied_latency_flop !== null) {
    out.push(
      `The closed form puts the wall of latency at ${flops(setting.closed_forms.implied_latency_flop)} FLOP: there the` +
        " kernels and hops that must follow one another in each step take all the time there is.",
    );
  }
  return out;
}

/** The curve of utilisation, with the end of linear scaling and the last feasible model marked. */
export function seriesOf({ id, colour, dash, setting }: Curve, measure = kMeasures[0]!, price = kPrice): LineSeries {
  const last = lastRow(setting);
  const points = setting.rows.map((row) =>
    pointOf(
      setting,
      row,
      measure,
      measure.of(row, price),
      row === last ? "end" : row.training_flop === setting.linear_scaling_end_flop ? "ring" : undefined,
    ),
  );
  return { id, name: setting.name, colour, dash, points };
}

/** The lines that the chosen setting is told by. */
export function markersOf({ setting, colour }: Curve, measure: Measure = kMeasures[0]!): Marker[] {
  const out: Marker[] = [];
  if (measure.id === "share") {
    const share = percent(setting.linear_share);
    out.push({ y: setting.linear_share * setting.eta, label: `linear: ${share} of the sustained peak` });
  }
  const linear = linearTo(setting);
  if (linear !== null) out.push({ x: linear, label: `linear to ${flops(linear)}`, colour });
  const wall = wallOf(setting);
  if (wall !== null) {
    out.push({
      x: wall,
      label: `${setting.smooth ? "wall" : "last feasible"} ${flops(wall)}`,
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

const kCompared: readonly ComparedRow<LimitsSetting>[] = [
  ["linear scaling up to (FLOP)", linearTo, flops],
  ["wall (FLOP)", wallOf, flops],
  ["utilisation at the last model", (of) => lastRow(of)?.utilization, percent],
  ["GPUs of the last model", (of) => lastRow(of)?.n_gpus, gpus],
  ["latency wall, closed form (FLOP)", (of) => of.closed_forms.implied_latency_flop, flops],
  ["utilisation of the first model", (of) => of.rows[0]?.utilization, percent],
  ["GPUs of the first model", (of) => of.rows[0]?.n_gpus, gpus],
];

/** Two settings in numbers. */
export function beside(a: LimitsSetting, b: LimitsSetting): Compared[] {
  return compared(kCompared, a, b);
}

/** How far a setting goes, in a sentence. */
export function limitSentence(setting: LimitsSetting): string {
  const [linear, wall] = [linearTo(setting), wallOf(setting)];
  const first = linear === null ? `${setting.name} scales linearly as far as was looked` : `${setting.name} scales linearly up to ${flops(linear)} FLOP`;
  return wall === null ? `${first}.` : `${first}, and ends no training beyond ${flops(wall)} FLOP in time.`;
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
  numbers("linear_to_flop", "linear to (FLOP)", (c) => linearTo(c.setting), flops),
  numbers("wall_flop", "wall (FLOP)", (c) => wallOf(c.setting), flops),
  numbers("linear_scaling_end_flop", "first model below (FLOP)", (c) => c.setting.linear_scaling_end_flop, flops),
  numbers("linear_scaling_last_flop", "last above (FLOP)", (c) => c.setting.linear_scaling_last_flop, flops),
  numbers("last_feasible_flop", "last feasible (FLOP)", (c) => c.setting.last_feasible_flop, flops),
  numbers("last_utilization", "utilisation there", (c) => lastRow(c.setting)?.utilization, percent),
  numbers("last_n_gpus", "GPUs there", (c) => lastRow(c.setting)?.n_gpus, gpus),
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
  { key: "layout", head: "layout", value: (m) => layoutText(m.row), align: "left" },
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
