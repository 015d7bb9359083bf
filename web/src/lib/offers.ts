// What would be right in place of a number that is refused, as far as the refusal says so: the page offers it by
// a click. A browser test asks the engine and takes what is offered.
import type { Problem } from "./api";

/** The nearest legal numbers below and above the one that was given; none where the refusal names none. */
export function offersOf(problem: Problem, given: string): readonly number[] {
  const value = countOf(given);
  const near = /the nearest with one: (\d+)(?: and (\d+))?/.exec(problem.message);
  if (near) return near.slice(1).filter((each) => each !== undefined).map(Number);
  const of = Number(/legal: a multiple of (\d+)$/.exec(problem.message)?.[1]);
  if (!(of > 0) || value === null || value <= 0) return [];
  const below = Math.floor(value / of) * of;
  return [below, below + of].filter((each) => each > 0 && each !== value);
}

/** A whole number as people write it: "2,048", "8k" (of 1,024), as the engine reads counts; null for anything else. */
export function countOf(text: string): number | null {
  const match = /^(\d+|\d{1,3}(?:,\d{3})+)([kKmM]?)$/.exec(text.trim());
  if (!match) return null;
  const times = match[2] === "" ? 1 : /k/i.test(match[2]!) ? 1024 : 1024 ** 2;
  return Number(match[1]!.replaceAll(",", "")) * times;
}
