// The part of a timeline that is seen, as shares of the whole: 0 to 1 is all of it.

export type Seen = readonly [from: number, to: number];

export const kAll: Seen = [0, 1];
/** The closest look: less than a kernel of a step of days. */
const kLeast = 1e-8;

/** A window as it may be: inside the whole, its width kept where it can be. */
function inside(from: number, width: number): Seen {
  const wide = Math.min(1, Math.max(kLeast, width));
  const left = Math.min(1 - wide, Math.max(0, from));
  return [left, left + wide];
}

/** `factor` times as close (less than one: farther); what stands at `at` stays where it is. */
export function zoomed([from, to]: Seen, factor: number, at = (from + to) / 2): Seen {
  const width = Math.min(1, Math.max(kLeast, (to - from) / factor));
  return inside(at - ((at - from) / (to - from)) * width, width);
}

/** Moved by a share of what is seen. */
export function moved([from, to]: Seen, by: number): Seen {
  return inside(from + by * (to - from), to - from);
}

/** Moved as little as shows what lies between two places; closer or farther only where it is larger. */
export function showing(seen: Seen, from: number, to: number): Seen {
  const width = Math.max(seen[1] - seen[0], (to - from) * 1.1);
  if (from >= seen[0] && to <= seen[1]) return seen;
  const room = (width - (to - from)) * 0.1;
  return from < seen[0] ? inside(from - room, width) : inside(to + room - width, width);
}

/** A window about what lies between two places. */
export function about(from: number, to: number): Seen {
  const width = Math.max(kLeast, to - from);
  return inside(from - width * 0.25, width * 1.5);
}
