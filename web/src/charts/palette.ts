// Colours of charts. style.css defines them for light and dark; parts of a step keep theirs on every page.
import { kParts, partColour } from "../lib/parts";

/** One of several things that are stacked. */
export interface Category {
  readonly key: string;
  readonly name: string;
  readonly colour: string;
}

/** The parts of a step as categories of a chart, in the order in which they are always stacked. */
export const kPartCategories: readonly Category[] = kParts.map((key) => ({ key, name: key, colour: partColour(key) }));

export const kSeriesColours = 8;

/** Colour of the n-th of several things that are compared; repeats after kSeriesColours. */
export function seriesColour(index: number): string {
  return `var(--series-${(index % kSeriesColours) + 1})`;
}

/** Dashes tell apart what shares a colour after kSeriesColours. */
export function seriesDash(index: number): string | undefined {
  return [undefined, "7 3", "2 3"][Math.floor(index / kSeriesColours) % 3];
}
