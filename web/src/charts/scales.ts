import { scaleLinear, scaleLog } from "d3-scale";

// Axes as values: what they count, from where to where, and where ticks stand.

export type ScaleKind = "linear" | "log";

/** An axis of names, one after the other: 0, 1, 2, ... */
export function namedAxis(label: string, names: readonly string[]): Axis {
  const ticks = names.map((name, value) => ({ value, label: name }));
  return { label, kind: "linear", domain: [-0.5, Math.max(0, names.length - 1) + 0.5], ticks };
}

export interface Axis {
  label: string; // with the unit: "step time (s)"
  kind: ScaleKind;
  domain: [number, number];
  base?: 2 | 10; // of a log axis; 2 where the numbers are accelerators
  format?: (value: number) => string;
  unit?: number; // ticks stand at round numbers of it: 1024 ** 3 for GiB
  ticks?: readonly Tick[]; // where names stand instead of numbers
}

export interface Tick {
  value: number;
  label: string; // '' for a minor one
}

export type Scale = (value: number) => number;

const kSuperscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** "10²⁸": powers as they are read, not as a computer writes them. */
export function powerLabel(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((d) => kSuperscripts[Number(d)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

const kSixDigits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6 }); // made once: making takes long

/** Digits as many as a tick needs: "1,024", "0.05", "10²⁸". */
export function tickLabel(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const exponent = Math.floor(Math.log10(size) + 1e-9);
    const mantissa = value / 10 ** exponent;
    if (Math.abs(mantissa - 1) < 1e-6) return powerLabel(exponent);
    return `${Number(mantissa.toPrecision(3))}×${powerLabel(exponent)}`;
  }
  return kSixDigits.format(value);
}

/** From the least to the largest of the values that the axis can show, widened so that none lies on the edge. */
export function domainOf(
  values: Iterable<number | null | undefined>,
  kind: ScaleKind,
  options: { zero?: boolean; pad?: number } = {},
): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined || !Number.isFinite(value)) continue;
    if (kind === "log" && value <= 0) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return kind === "log" ? [1, 10] : [0, 1];
  const pad = options.pad ?? 0.04;
  if (kind === "log") {
    const wide = Math.max(Math.log10(high / low), 0.2);
    return [low / 10 ** (wide * pad), high * 10 ** (wide * pad)];
  }
  if (options.zero) {
    low = Math.min(low, 0);
    high = Math.max(high, 0);
  }
  const wide = high - low || Math.abs(high) || 1;
  return [options.zero && low === 0 ? 0 : low - wide * pad, options.zero && high === 0 ? 0 : high + wide * pad];
}

export function scaleOf(axis: Axis, range: [number, number]): Scale {
  const scale = axis.kind === "log" ? scaleLog() : scaleLinear();
  return scale.domain(axis.domain).range(range).clamp(false) as unknown as Scale;
}

function logTicks(axis: Axis, most: number): Tick[] {
  const base = axis.base ?? 10;
  const log = base === 2 ? Math.log2 : Math.log10;
  const label = axis.format ?? tickLabel;
  const first = Math.ceil(log(axis.domain[0]) - 1e-9);
  const last = Math.floor(log(axis.domain[1]) + 1e-9);
  const powers = last - first + 1;
  // Within less than two decades the powers alone would leave an axis of one tick.
  if (base === 10 && powers <= 2) {
    const out: Tick[] = [];
    for (let exponent = first - 1; exponent <= last; ++exponent) {
      for (const mantissa of [1, 2, 3, 5, 7]) {
        const value = mantissa * 10 ** exponent;
        if (value >= axis.domain[0] && value <= axis.domain[1]) out.push({ value, label: label(value) });
      }
    }
    if (out.length >= 2 && out.length <= most) return out;
    const rough = out.filter((t) => /^[125]/.test(t.value.toExponential()));
    if (rough.length >= 2 && rough.length <= most) return rough;
    return linearTicks(axis, Math.max(2, most - 1));
  }
  const stride = Math.max(1, Math.ceil(powers / most));
  const out: Tick[] = [];
  for (let exponent = first; exponent <= last; ++exponent) {
    const value = base ** exponent;
    const major = (exponent - first) % stride === 0;
    out.push({ value, label: major ? label(value) : "" });
  }
  return out;
}

function linearTicks(axis: Axis, most: number): Tick[] {
  const label = axis.format ?? tickLabel;
  const unit = axis.unit ?? 1;
  return scaleLinear()
    .domain([axis.domain[0] / unit, axis.domain[1] / unit])
    .ticks(most)
    .map((round) => ({ value: round * unit, label: label(round * unit) }));
}

/** The binary multiple in which the largest of an axis's bytes are told. */
export function binaryUnit(most: number): number {
  return 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(1, most)) / 10));
}

/** Ticks of an axis, at most about `most` of them with a label. */
export function ticksOf(axis: Axis, most: number): Tick[] {
  if (axis.ticks) return [...axis.ticks];
  return axis.kind === "log" ? logTicks(axis, most) : linearTicks(axis, most);
}
