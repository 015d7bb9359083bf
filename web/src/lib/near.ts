// How many measured runs stand behind a range, and how near to them a run is.
import type { IntervalFrom } from "./documents";
import { count, number } from "./format";

// Four digits of the ends of each of the three are kept, which is to half a hundredth of a doubling: a run at three
// ends may seem to lie three times that beyond them.
const kAmong = 0.02; // doublings

/** Null where no measured runs tell a range. */
export function nearWords(from: IntervalFrom | null, framework: string): string | null {
  if (!from) return null;
  const some = (runs: number) => (runs > 0 ? count(runs) : "none");
  const setup = `of ${framework} on any accelerator of its architecture with as many bits`;
  const both = from.of_framework > 0 && from.on_accelerator > 0;
  const alike = from.of_setup > 0 ? `, ${count(from.of_setup)} ${setup}` : both ? `, but none ${setup}` : "";
  const all =
    `The range is told by ${count(from.runs)} measured runs that the constants had not seen: ` +
    `${some(from.of_framework)} of ${framework}, ${some(from.on_accelerator)} on this accelerator` +
    alike;
  return `${all}. ${farWords("This run", from)}`;
}

/** How far from the measured runs one lies. */
function farWords(what: string, from: IntervalFrom): string {
  return from.doublings_away < kAmong
    ? `${what} lies among them in accelerators, parameters and sequence.`
    : `${what} lies ${number(from.doublings_away)} doublings of accelerators, parameters and sequence beyond them.`;
}

/** Of several runs, each with its name: what is known of the one that is the farthest from measured ones. */
export function nearOfAll(runs: readonly (readonly [name: string, from: IntervalFrom | null])[], framework: string): string | null {
  const known = runs.flatMap(([name, from]) => (from ? [{ name, from }] : []));
  const [first, ...rest] = known;
  if (!first) return null;
  const same = rest.every(({ from }) => from.on_accelerator === first.from.on_accelerator && from.of_setup === first.from.of_setup);
  const [told] = nearWords(first.from, framework)!.split(". ");
  const farthest = known.reduce((most, each) => (each.from.doublings_away > most.from.doublings_away ? each : most), first);
  const all = farthest.from.doublings_away < kAmong ? farWords("Each", farthest.from) : farWords(`${farthest.name}, the farthest,`, farthest.from);
  return `${told}${same ? "" : ` (${first.name}; others differ)`}. ${all}`;
}
