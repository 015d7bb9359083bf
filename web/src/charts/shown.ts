// What a reader made of a chart's axes: each linear or logarithmic, and a part of them drawn large.
import { domainOf, type Axis, type ScaleKind } from "./scales";

export type Part = readonly [number, number];

/** Whether a logarithm says anything of the axis: of numbers, all above nothing. */
export function mayTurn(axis: Axis, values: readonly number[]): boolean {
  return !axis.ticks && values.length > 1 && values.every((value) => value > 0);
}

/** The axis as it is asked for; what is turned begins with all its values. */
export function shownAxis(axis: Axis, values: readonly number[], kind: ScaleKind, part: Part | null): Axis {
  const turned: Axis = kind === axis.kind ? axis : { ...axis, kind, domain: domainOf(values, kind, { zero: kind === "linear" }) };
  return part ? { ...turned, domain: [part[0], part[1]] } : turned;
}

/** The value at a share of the axis, 0 at its beginning. */
export function valueAt({ kind, domain: [low, high] }: Axis, share: number): number {
  return kind === "log" ? low * (high / low) ** share : low + (high - low) * share;
}

/** Where a value lies between both ends, as a share. */
function shareOf({ kind, domain: [low, high] }: Axis, value: number): number {
  return kind === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** A part `factor` times as long about a value, within `whole`; null where that is all of it. */
export function partAbout(axis: Axis, whole: Axis, value: number, factor: number): Part | null {
  const at = shareOf(axis, value);
  const ends: Part = [valueAt(axis, at - at * factor), valueAt(axis, at + (1 - at) * factor)];
  const [low, high] = [Math.max(ends[0], whole.domain[0]), Math.min(ends[1], whole.domain[1])];
  return low <= whole.domain[0] && high >= whole.domain[1] ? null : [low, high];
}

export const within = ({ domain: [low, high] }: Axis, value: number): boolean => value >= low && value <= high;
