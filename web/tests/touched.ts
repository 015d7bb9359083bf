// Which fields of the address a reader touched.
import type { Fields } from "../src/lib/url";

/** What a view shows: those it opens with, `first`, until the first change writes them out. */
export function withFirst(given: Fields, first: Fields): Fields {
  return Object.keys(first).some((name) => name in given) ? given : { ...first, ...given };
}

/** The fields that were given, changed or cleared, in the order of the alphabet. */
export function touched(before: Fields, after: Fields): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).sort();
}
