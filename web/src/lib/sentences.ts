// Headings that say what there is to be seen.
import { percent } from "./format";

interface Amount {
  readonly name: string;
  readonly value: number;
}

/** "81.0 % of the time is computation, 15.0 % dp.": the two largest, where the second is worth a word. */
export function mostOf(whole: string, parts: readonly Amount[]): string {
  const sum = parts.reduce((all, { value }) => all + Math.max(0, value), 0);
  const [first, second] = [...parts].sort((a, b) => b.value - a.value);
  if (!first || !(sum > 0)) return `There is nothing of ${whole}.`;
  const part = ({ name, value }: Amount, of = "") => `${percent(Math.max(0, value) / sum)}${of} ${name}`;
  const rest = second && second.value > 0.005 * sum ? `, ${part(second)}` : "";
  return `${part(first, ` of ${whole} is`)}${rest}.`;
}
