// Numbers that a slider moves: by factors of what they are at first, or by steps.
import { bytes, count, seconds, si } from "./format";

export interface Knob {
  /** Where it stands in what is described: "kernel_latency", "levels.node.size", "batch.tokens". */
  readonly key: string;
  readonly label: string;
  readonly group: string;
  /** As the machine or the study has it, in SI units. */
  readonly base: number;
  readonly unit: "FLOP/s" | "B" | "B/s" | "s" | "";
  readonly whole?: boolean;
  /** Exponents and shares move by steps from `least` to `most`, all others by factors. */
  readonly linear?: { readonly least: number; readonly most: number; readonly step: number };
  /** Doublings below and above the base that the slider reaches. */
  readonly reach?: readonly [number, number];
}

const kReach = [-6, 6] as const;
const kStepsOfADoubling = 4;

/** Positions of the slider, whole numbers; 0 is the base of a knob that moves by factors. */
export function positions(knob: Knob): [number, number] {
  if (knob.linear) return [0, Math.round((knob.linear.most - knob.linear.least) / knob.linear.step)];
  const [down, up] = knob.reach ?? kReach;
  return [down * kStepsOfADoubling, up * kStepsOfADoubling];
}

export function valueAt(knob: Knob, position: number): number {
  if (knob.linear) return Number((knob.linear.least + position * knob.linear.step).toPrecision(6));
  if (position === 0) return knob.base;
  const value = knob.base * 2 ** (position / kStepsOfADoubling);
  return knob.whole ? Math.max(1, Math.round(value)) : Number(value.toPrecision(4));
}

/** The position nearest to a value, within the slider. */
export function positionOf(knob: Knob, value: number): number {
  const [least, most] = positions(knob);
  const exact = knob.linear
    ? (value - knob.linear.least) / knob.linear.step
    : Math.log2(value / knob.base) * kStepsOfADoubling;
  return Math.min(most, Math.max(least, Math.round(exact)));
}

// What is counted in powers of two is told in them, as machines' data sheets do.
const kBinary = new Set(["registers", "l2"]);

export function valueText(knob: Knob, value: number): string {
  if (knob.unit === "s") return seconds(value);
  if (knob.unit === "B") return kBinary.has(knob.key) ? bytes(value) : si(value, "B");
  if (knob.unit !== "") return si(value, knob.unit);
  if (knob.whole || value >= 10000) return count(value);
  return String(Number(value.toPrecision(4)));
}

/** "x2.38", where a value is not the base. */
export function factorText(knob: Knob, value: number): string {
  return value === knob.base ? "" : `×${Number((value / knob.base).toPrecision(3))}`;
}
